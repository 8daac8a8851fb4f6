#include "app/shell/unsaved_work.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

#include "app/pages/pages.h"
#include "app/shell/unsaved_dialogs.h"

namespace headscope::app {

namespace {

/// Returns "3 minutes"; "a moment" for times in the future, because a clock was set.
std::string duration(std::chrono::seconds past) {
  const auto counted = [](std::int64_t count, const char* unit) {
    return std::to_string(count) + " " + unit + (count == 1 ? "" : "s");
  };
  if (past < std::chrono::minutes(1)) return "a moment";
  if (past < std::chrono::hours(1)) return counted(past / std::chrono::minutes(1), "minute");
  if (past < std::chrono::days(1)) return counted(past / std::chrono::hours(1), "hour");
  return counted(past / std::chrono::days(1), "day");
}

/// Returns "24 November 2026, 02:46" in the local time zone.
std::string localTime(std::chrono::system_clock::time_point at) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(at);
  std::tm parts{};
  char text[64] = {};
  if (!::localtime_r(&seconds, &parts)) return "an unknown day";
  return std::to_string(parts.tm_mday) +
         std::string(text, std::strftime(text, sizeof text, " %B %Y, %H:%M", &parts));
}

attention::Result<std::vector<Scene>> recoveredScenes(const Recovery& recovery, std::span<const PageRow> rows,
                                                      const std::stop_token& stop) {
  std::vector<Scene> scenes;
  for (const Recovery::Entry& entry : recovery.entries) {
    attention::Result<Scene> scene = recoveredScene(entry, stop);
    if (!scene) return scene.error();
    if (const auto page = checkPage(*scene, rows); !page) return page.error();
    scenes.push_back(*std::move(scene));
  }
  return scenes;
}

}  // namespace

void UnsavedWork::keepIn(std::shared_ptr<RecoveryStore> store) {
  store_ = std::move(store);
  look();
}

void UnsavedWork::look() {
  using Found = std::vector<std::shared_ptr<Recovery>>;
  services_.files.read<Found>(
      store_->folder(), [store = store_]() -> attention::Result<Found> { return store->abandoned(); },
      [this](attention::Result<Found> found) {
        if (!found) return;
        waiting_ = *std::move(found);
        offers_ = !waiting_.empty();
      });
}

void UnsavedWork::note() {
  if (!store_) return;
  const std::string problem = store_->problem();
  if (problem != std::exchange(problem_, problem) && !problem.empty())
    services_.view.messages.fail("Can't keep unsaved work for the next start: " + problem);
  std::vector<KeptScene> kept;
  if (!discards_)
    for (const UnsavedScene& each : workspace_.unsaved())
      kept.push_back({each.file->path, each.scene, each.file->content});
  store_->note(std::move(kept));
  if (store_->outdated()) services_.files.keep(store_->folder(), [store = store_] { return store->write(); });
}

void UnsavedWork::offer() {
  View& view = services_.view;
  if (!offers_ || view.dialog) return;
  offers_ = false;
  if (waiting_.empty()) return view.say("There is no unsaved work to restore.");
  const std::shared_ptr<Recovery> recovery = waiting_.front();
  const auto past =
      std::chrono::duration_cast<std::chrono::seconds>(RecoveryStore::Clock::now() - recovery->at);
  RecoveryDialog::Offer offer{localTime(recovery->at), duration(past), {}, recovery->problem};
  for (const Recovery::Entry& entry : recovery->entries)
    offer.scenes.push_back({Document::sceneName(entry.path),
                            std::string(workspace_.pages().info(entry.page).name), entry.words});
  const auto previewed = [this, recovery] {
    services_.files.keep(recovery->claim.file, [recovery] {
      RecoveryStore::endPreview(*recovery);
      return attention::success();
    });
  };
  offer.preview = std::make_shared<RecoveryPreview>();
  offer.previewed = previewed;
  preview(recovery, offer.preview);
  const auto answered = [this, previewed] {
    previewed();
    services_.view.dialog.reset();
    waiting_.erase(waiting_.begin());
    offers_ = !waiting_.empty();
    if (!offers_) look();  // there may be more than are read at once
  };
  view.dialog = std::make_shared<RecoveryDialog>(
      std::move(offer),
      [this, recovery, answered] {
        answered();
        restore(recovery);
      },
      [this, recovery, answered] {
        answered();
        services_.files.keep(recovery->claim.file, [recovery] {
          RecoveryStore::discard(*recovery);
          return attention::success();
        });
      });
  view.redraw();
}

/// Reads the recovery's scenes for the pictures of what would be restored.
void UnsavedWork::preview(const std::shared_ptr<Recovery>& recovery,
                          const std::shared_ptr<RecoveryPreview>& preview) {
  services_.files.read<std::vector<Scene>>(
      recovery->claim.file,
      [recovery, rows = workspace_.pages().rows(),
       stop = services_.files.stopToken()]() -> attention::Result<std::vector<Scene>> {
        if (!RecoveryStore::beginPreview(*recovery))
          return attention::Error{"the last attempt to draw it crashed"};
        return recoveredScenes(*recovery, rows, stop);
      },
      [this, preview](attention::Result<std::vector<Scene>> scenes) {
        preview->refused = !scenes.ok();
        if (scenes)
          for (Scene& scene : *scenes)
            preview->scenes.push_back(std::make_shared<const Scene>(std::move(scene)));
        services_.view.redraw();
      });
}

/// Opens the recovered scenes one by one. Each becomes a separate undo step, and none is saved yet.
void UnsavedWork::restore(const std::shared_ptr<Recovery>& recovery) {
  using Scenes = std::vector<Scene>;
  services_.files.read<Scenes>(
      recovery->claim.file,
      [recovery, rows = workspace_.pages().rows(), stop = services_.files.stopToken()] {
        return recoveredScenes(*recovery, rows, stop);
      },
      [this, recovery](attention::Result<Scenes> scenes) {
        // Keeps the file, so that the next start offers it again.
        if (!scenes) return services_.view.messages.fail(scenes.error().message);
        for (std::size_t i = 0; i < scenes->size(); ++i)
          workspace_.open(std::move((*scenes)[i]),
                          SceneFile{recovery->entries[i].path, std::nullopt, recovery->entries[i].content});
        note();
        store_->adopt(recovery);
        services_.view.say("Restored. It is unsaved until you save it.");
      });
}

void UnsavedWork::write() {
  if (!store_) return;
  note();
  (void)store_->write();
}

}  // namespace headscope::app
