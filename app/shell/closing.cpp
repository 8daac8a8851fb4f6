#include <fmt/core.h>

#include <ctime>

#include "app/platform/track.h"
#include "app/shell/workspace.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app {

// The questions about unsaved work.

namespace {

constexpr float kRowHeight = 32, kPictureRowHeight = 112, kRowsHeight = 2 * kPictureRowHeight;

/// Returns the height for that many rows, limited to what is shown without scrolling; `rest` is everything
/// else, in layout units.
float questionHeight(std::size_t rows, float rest, float rowHeight = kRowHeight) {
  return rest + std::min(rowHeight * static_cast<float>(rows), kRowsHeight);
}

/// Shows rows below each other; scrolls those that don't fit.
template <typename Row>
void questionRows(const View& view, std::size_t count, const Row& row, float rowHeight = kRowHeight) {
  const float height = view.px(questionHeight(count, 0, rowHeight));
  if (ImGui::BeginChild("rows", ImVec2(0, height), false, ImGuiWindowFlags_NoBackground))
    for (std::size_t i = 0; i < count; ++i) {
      const ImVec2 at = ImGui::GetCursorScreenPos();
      row(i, at, ImGui::GetContentRegionAvail().x);
      ImGui::SetCursorScreenPos(ImVec2(at.x, at.y + view.px(rowHeight)));
      ImGui::Dummy(ImVec2(1, 0));
    }
  compat::endChild();
}

}  // namespace

void QuitDialog::draw(Scene&, View& view, bool) {
  // Keeps this dialog alive, since a callback may replace it.
  const std::shared_ptr<Dialog> self = view.dialog;
  std::function<void()> answer;
  if (beginDialog(view, "discard", "Close without saving?", 520, questionHeight(unsaved_.size(), 118))) {
    questionRows(view, unsaved_.size(), [&](std::size_t i, ImVec2 at, float width) {
      const UnsavedLine& line = unsaved_[i];
      const float y = at.y + view.px(14), buttonRoom = view.px(66);
      const Canvas list = *ImGui::GetWindowDrawList();
      const float name = std::min(textWidth(view.fonts->bold, line.name) + 1, (width - buttonRoom) / 2);
      paintFitted(view, list, view.fonts->bold, ImVec2(at.x, y), name, view.theme->text, line.name);
      paintFitted(view, list, view.fonts->text, ImVec2(at.x + name + view.px(10), y),
                  width - buttonRoom - name - view.px(20), view.theme->secondary, line.place);
      const char* label = line.hasFile ? "Save" : "Save…";
      ImGui::SetCursorScreenPos(ImVec2(at.x + width - buttonRoom, at.y));
      if (button(view, fmt::format("discard.save.{}", i), label)) answer = [this, i] { save_(i); };
    });
    gap(view, 10);
    if (button(view, "discard.leave", "Close")) answer = leave_;
    ImGui::SameLine(0, view.px(8));
    if (button(view, "discard.stay", "Cancel")) view.dialog.reset();
  }
  endDialog();
  if (answer) answer();
}

void ChangedFileDialog::draw(Scene&, View& view, bool) {
  // Keeps this dialog alive, since a callback may replace it.
  const std::shared_ptr<Dialog> self = view.dialog;
  const std::function<void()>* answer = nullptr;
  if (beginDialog(view, "changed", "Replace the changed file?", 520, 168)) {
    hint(view, "Another window or program has changed " + file_ +
                   " since you opened or saved it here. If you replace it, those changes are lost.");
    gap(view, 10);
    if (button(view, "changed.replace", "Replace")) answer = &replace_;
    ImGui::SameLine(0, view.px(8));
    if (button(view, "changed.save_as", "Save as…")) answer = &saveAs_;
    ImGui::SameLine(0, view.px(8));
    if (button(view, "changed.cancel", "Cancel")) view.dialog.reset();
  }
  endDialog();
  if (!answer) return;
  view.dialog.reset();
  (*answer)();
}

namespace {

/// Shows the scene's picture. Returns whether there is nothing more to wait for.
bool recoveryPicture(View& view, const RecoveryPreview& preview, std::size_t i, const ImRect& area) {
  const Canvas list = *ImGui::GetWindowDrawList();
  track("recovery.picture." + std::to_string(i), area.Min, area.Max);
  if (!preview.refused)
    return paintScene(view, list, i < preview.scenes.size() ? preview.scenes[i] : nullptr, area);
  list.AddRectFilled(area.Min, area.Max, view.theme->raised);
  paintText(list, view.fonts->small, area.GetCenter(), view.theme->secondary, "No picture", Align::center);
  return true;
}

/// Shows picture, name, page and text, so that the user recognises the scene. Returns whether the picture is
/// settled.
bool recoveryLine(View& view, const RecoveryDialog::Offer& offer, std::size_t i, ImVec2 at, float width) {
  const RecoveryDialog::OfferedScene& scene = offer.scenes[i];
  const float high = view.px(kPictureRowHeight - 12), wide = std::round(high * 16 / 9);
  const bool settled = recoveryPicture(view, *offer.preview, i, ImRect(at, ImVec2(at.x + wide, at.y + high)));
  const Canvas list = *ImGui::GetWindowDrawList();
  const float x = at.x + wide + view.px(16), room = at.x + width - x;
  float y = at.y + high / 2 - view.px(24);
  const auto line = [&](ImFont* font, std::uint32_t color, const std::string& text) {
    paintFitted(view, list, font, ImVec2(x, y), room, color, text);
    y += view.px(24);
  };
  line(view.fonts->bold, view.theme->text, scene.name);
  line(view.fonts->text, view.theme->secondary, scene.page);
  if (!scene.words.empty())
    line(view.fonts->text, view.theme->secondary, "“" + scene.words.substr(0, scene.words.find('\n')) + "”");
  return settled;
}

}  // namespace

void RecoveryDialog::draw(Scene&, View& view, bool) {
  const std::shared_ptr<Dialog> self = view.dialog;
  std::function<void()> answer;
  const bool readable = offer_.problem.empty();
  const float height = readable ? questionHeight(offer_.scenes.size(), 148, kPictureRowHeight) : 200;
  if (beginDialog(view, "recovery", "Restore unsaved work?", 640, height)) {
    if (readable) {
      hint(view,
           "Headscope closed without saving. This was kept " + offer_.ago + " ago, on " + offer_.when + ":");
      gap(view, 4);
      bool settled = true;
      questionRows(
          view, offer_.scenes.size(),
          [&](std::size_t i, ImVec2 at, float width) {
            settled = recoveryLine(view, offer_, i, at, width) && settled;
          },
          kPictureRowHeight);
      if (settled && !std::exchange(previewed_, true)) offer_.previewed();
    } else {
      hint(view,
           "Headscope closed without saving, and the recovery file can't be read: " + offer_.problem + ".");
    }
    gap(view, 10);
    if (readable) {
      if (button(view, "recovery.restore", "Restore")) answer = restore_;
      ImGui::SameLine(0, view.px(8));
    }
    if (button(view, "recovery.discard", "Discard")) answer = discard_;
    ImGui::SameLine(0, view.px(8));
    if (button(view, "recovery.later", "Not now")) {
      if (offer_.previewed) offer_.previewed();
      view.dialog.reset();
    }
  }
  endDialog();
  if (answer) answer();
}

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

Closing::Closing(PageServices& services, Workspace& workspace, DocumentFiles& files)
    : services_(services), workspace_(workspace), files_(files), recovery_(services, workspace) {}

void Closing::request() {
  View& view = services_.view;
  view.redraw();
  if (leaving_ == Leaving::whenWritten) {
    leaving_ = Leaving::now;
    return;
  }
  const std::vector<UnsavedScene> unsaved = workspace_.unsaved();
  if (unsaved.empty()) return leave();
  if (view.dialog && view.dialog->name() == "discard") return;
  std::vector<UnsavedLine> lines;
  for (const UnsavedScene& each : unsaved)
    lines.push_back(
        {Document::sceneName(each.file->path), workspace_.placeOf(each), !each.file->path.empty()});
  view.dialog = std::make_shared<QuitDialog>(
      std::move(lines), [this, unsaved](std::size_t i) { saveAndLeave(unsaved[i]); },
      [this] {
        recovery_.discard();
        leave();
      });
}

void Closing::saveAndLeave(const UnsavedScene& unsaved) {
  const auto again = [this] { request(); };
  services_.view.dialog.reset();
  if (unsaved.file->path.empty()) return files_.saveAs(unsaved, again);
  files_.save(unsaved, unsaved.file->path, DocumentFiles::Existing::askIfChanged, Outcome(services_.view),
              again);
}

void Closing::leave() {
  services_.view.dialog.reset();
  leaving_ = services_.files.writesPending() ? Leaving::whenWritten : Leaving::now;
  if (leaving_ == Leaving::now) return;
  // Reads may take long, and nobody waits for them any more.
  services_.files.stop();
  services_.view.say("Headscope closes when the file is written. Close again to quit at once.");
}

bool Closing::done() const {
  return leaving_ == Leaving::now || (leaving_ == Leaving::whenWritten && !services_.files.writesPending());
}

std::vector<Action> Closing::actions() {
  return {{.id = "scene.recover",
           .name = "Restore unsaved work…",
           .whileTyping = true,
           .words = "recovery recover crash lost backup autosave",
           .run = [this](Scene&) { recovery_.offerAgain(); }}};
}

}  // namespace headscope::app
