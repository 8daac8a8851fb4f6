#include "app/shell/closing.h"

#include <utility>

#include "app/shell/unsaved_dialogs.h"

namespace headscope::app {

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
