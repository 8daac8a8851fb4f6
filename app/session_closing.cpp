// The part of Session that keeps work from being lost: what is unsaved, leaving, and recovery.

#include <algorithm>
#include <ctime>
#include <utility>

#include "app/session.h"
#include "app/shell/shell.h"
#include "app/widgets/file_picker.h"

namespace headscope::app {

namespace {

/// "3 minutes"; of what lies in the future, because a clock was set, "a moment".
std::string duration(std::chrono::seconds past) {
  const auto counted = [](std::int64_t count, const char* unit) {
    return std::to_string(count) + " " + unit + (count == 1 ? "" : "s");
  };
  if (past < std::chrono::minutes(1)) return "a moment";
  if (past < std::chrono::hours(1)) return counted(past / std::chrono::minutes(1), "minute");
  if (past < std::chrono::days(1)) return counted(past / std::chrono::hours(1), "hour");
  return counted(past / std::chrono::days(1), "day");
}

/// "24 November 2026, 02:46", where the person is.
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

std::vector<UnsavedScene> Session::unsaved() const {
  std::vector<UnsavedScene> unsaved = document_->unsaved();
  for (const auto& page : pages_) {
    for (const Staged& staged : page->stages())
      for (UnsavedScene& each : staged.document->unsaved()) {
        // It may have been taken over into the window's document.
        const auto same = [&](const UnsavedScene& other) { return sameDocument(*other.scene, *each.scene); };
        if (std::none_of(unsaved.begin(), unsaved.end(), same)) unsaved.push_back(std::move(each));
      }
  }
  return unsaved;
}

void Session::requestQuit() {
  View& view = services_.view;
  view.redraw();
  if (leaving_ == Leaving::whenWritten) {
    leaving_ = Leaving::now;
    return;
  }
  const std::vector<UnsavedScene> unsaved = this->unsaved();
  if (unsaved.empty()) return leave();
  if (view.dialog && view.dialog->name() == "discard") return;
  std::vector<UnsavedLine> lines;
  for (const UnsavedScene& each : unsaved)
    lines.push_back({Document::sceneName(each.file->path), placeOf(each), !each.file->path.empty()});
  view.dialog = std::make_shared<LeaveQuestion>(
      std::move(lines), [this, unsaved](std::size_t i) { saveAndQuit(unsaved[i]); },
      [this] {
        discards_ = true;
        leave();
      });
}

/// Where a person finds it.
std::string Session::placeOf(const UnsavedScene& unsaved) const {
  for (const auto& page : pages_)
    for (const Staged& staged : page->stages())
      if (staged.document->file() == unsaved.file) return staged.place;
  return unsaved.file == document_->file() ? "edited" : "edited before another scene was opened";
}

void Session::saveAndQuit(const UnsavedScene& unsaved) {
  const auto saveTo = [this, unsaved](const std::filesystem::path& path, const Outcome& outcome) {
    save(unsaved, path, outcome, [this] { requestQuit(); });
  };
  services_.view.dialog.reset();
  if (!unsaved.file->path.empty()) return saveTo(unsaved.file->path, Outcome(services_.view));
  FileQuestion question{"Save the scene", {".json"}, "scene.headscope.json", {}};
  question.chosen = [saveTo](Scene&, const auto& path, const Outcome& outcome) { saveTo(path, outcome); };
  services_.view.dialog = std::make_shared<FilePicker>(std::move(question), services_.folders);
}

void Session::leave() {
  services_.view.dialog.reset();
  leaving_ = services_.files.writesPending() ? Leaving::whenWritten : Leaving::now;
  if (leaving_ == Leaving::now) return;
  // What is being read may take long, and nobody waits for it any more.
  services_.files.stop();
  services_.view.say("Headscope closes when the file is written. Close again to quit at once.");
}

bool Session::wantsToQuit() const {
  return leaving_ == Leaving::now || (leaving_ == Leaving::whenWritten && !services_.files.writesPending());
}

bool Session::stop(std::chrono::milliseconds within) {
  if (recovery_.store) {
    noteUnsaved();
    (void)recovery_.store->write();
  }
  services_.workers.stop();
  services_.files.stop();
  return services_.workers.finished(within) && services_.files.stopped(within / 4);
}

void Session::recoverWith(std::shared_ptr<RecoveryStore> store) {
  recovery_.store = std::move(store);
  using Found = std::vector<std::shared_ptr<Recovery>>;
  services_.files.read<Found>(
      recovery_.store->folder(),
      [store = recovery_.store]() -> attention::Result<Found> { return store->abandoned(); },
      [this](attention::Result<Found> found) {
        if (!found) return;
        recovery_.waiting = *std::move(found);
        recovery_.offers = !recovery_.waiting.empty();
      });
}

/// After every frame: what is kept for the next start, however this window ends.
void Session::noteUnsaved() {
  if (!recovery_.store) return;
  const std::string problem = recovery_.store->problem();
  if (problem != std::exchange(recovery_.problem, problem) && !problem.empty())
    services_.view.messages.fail("Can't keep unsaved work for the next start: " + problem);
  std::vector<KeptScene> kept;
  if (!discards_)
    for (const UnsavedScene& each : unsaved()) kept.push_back({each.file->path, each.scene});
  recovery_.store->note(std::move(kept));
  if (recovery_.store->outdated())
    services_.files.keep(recovery_.store->folder(), [store = recovery_.store] { return store->write(); });
}

/// The newest that is not answered yet, once no other question is open.
void Session::offerRecovery() {
  View& view = services_.view;
  if (!recovery_.offers || view.dialog) return;
  recovery_.offers = false;
  if (recovery_.waiting.empty()) return view.say("There is no unsaved work to restore.");
  const std::shared_ptr<Recovery> recovery = recovery_.waiting.front();
  const auto past =
      std::chrono::duration_cast<std::chrono::seconds>(RecoveryStore::Clock::now() - recovery->at);
  RecoveryQuestion::Offer offer{localTime(recovery->at), duration(past), {}, recovery->problem};
  for (const Recovery::Entry& entry : recovery->entries)
    offer.scenes.push_back(
        {Document::sceneName(entry.path), std::string(rows_[rowOf(entry.page)].info.name), entry.words});
  const auto previewed = [this, recovery] {
    services_.files.keep(recovery->claim.file, [recovery] {
      RecoveryStore::endPreview(*recovery);
      return attention::success();
    });
  };
  offer.preview = std::make_shared<RecoveryPreview>();
  offer.previewed = previewed;
  previewRecovery(recovery, offer.preview);
  const auto answered = [this, previewed] {
    previewed();
    services_.view.dialog.reset();
    recovery_.waiting.erase(recovery_.waiting.begin());
    recovery_.offers = !recovery_.waiting.empty();
  };
  view.dialog = std::make_shared<RecoveryQuestion>(
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

/// Reads its scenes for the pictures of what would come back.
void Session::previewRecovery(const std::shared_ptr<Recovery>& recovery,
                              const std::shared_ptr<RecoveryPreview>& preview) {
  services_.files.read<std::vector<Scene>>(
      recovery->claim.file,
      [recovery, rows = rows_,
       stop = services_.files.stopToken()]() -> attention::Result<std::vector<Scene>> {
        if (!RecoveryStore::beginPreview(*recovery))
          return attention::Error{"the last attempt to draw it didn't end"};
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

/// Its scenes one after the other, each a step that can be undone, and none of them saved yet.
void Session::restore(const std::shared_ptr<Recovery>& recovery) {
  using Scenes = std::vector<Scene>;
  services_.files.read<Scenes>(
      recovery->claim.file,
      [recovery, rows = rows_, stop = services_.files.stopToken()] {
        return recoveredScenes(*recovery, rows, stop);
      },
      [this, recovery](attention::Result<Scenes> scenes) {
        // The file stays: the next start offers it again.
        if (!scenes) return services_.view.messages.fail(scenes.error().message);
        for (std::size_t i = 0; i < scenes->size(); ++i)
          openScene(std::move((*scenes)[i]), {recovery->entries[i].path, std::nullopt});
        noteUnsaved();
        recovery_.store->adopt(recovery);
        services_.view.say("Restored. It is unsaved until you save it.");
      });
}

}  // namespace headscope::app
