// The part of Session that keeps work from being lost: unsaved scenes, and closing the window.

#include <algorithm>
#include <utility>

#include "app/session.h"
#include "app/shell/unsaved_dialogs.h"
#include "app/widgets/file_picker.h"

namespace headscope::app {

std::vector<UnsavedScene> Session::unsaved() const {
  std::vector<UnsavedScene> unsaved = document_->unsaved();
  for (const auto& page : pages_) {
    for (const Staged& staged : page->stages())
      for (UnsavedScene& each : staged.document->unsaved()) {
        // The window's document may already contain it.
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
        recovery_.discard();
        leave();
      });
}

/// Where to find the scene, in words.
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
  // Reads may take long, and nobody waits for them any more.
  services_.files.stop();
  services_.view.say("Headscope closes when the file is written. Close again to quit at once.");
}

bool Session::wantsToQuit() const {
  return leaving_ == Leaving::now || (leaving_ == Leaving::whenWritten && !services_.files.writesPending());
}

bool Session::stop(std::chrono::milliseconds within) {
  recovery_.write();
  services_.workers.stop();
  services_.files.stop();
  return services_.workers.finished(within) && services_.files.stopped(within / 4);
}

}  // namespace headscope::app
