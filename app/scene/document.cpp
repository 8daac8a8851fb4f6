#include "app/scene/document.h"

#include <limits>

namespace headscope::app {

namespace {
constexpr double kEditSettles = 0.45;  // seconds after which a drag or a burst of typing becomes a step
}

std::vector<UnsavedScene> Document::unsaved() const {
  std::vector<UnsavedScene> unsaved = history_.unsavedElsewhere();
  if (dirty()) unsaved.push_back({file(), std::make_shared<const Scene>(scene_)});
  return unsaved;
}

void Document::open(Scene scene, SceneFile file) {
  record();
  scene_ = std::move(scene);
  history_.begin(scene_, std::make_shared<SceneFile>(std::move(file)));
}

void Document::openInTalk(Scene scene, SceneFile file) {
  if (!scene.talk->views.empty() || scene_.talk->views.empty())
    return open(std::move(scene), std::move(file));
  record();
  scene.talk = scene_.talk;
  scene_ = std::move(scene);
  record();
}

void Document::open(Scene scene, std::filesystem::path path, std::optional<attention::ContentMark> content) {
  // Opening the same scene again, such as resetting an unchanged one, is not a step.
  if (path == this->path() && file()->holds(scene) && !dirty()) {
    scene_ = std::move(scene);
    file()->content = content;
    return;
  }
  SceneFile file{std::move(path), scene, content};
  openInTalk(std::move(scene), std::move(file));
}

void Document::closeTalk() {
  record();
  scene_.talk = {};
  history_.begin(scene_, std::make_shared<SceneFile>(SceneFile{"", scene_}));
}

bool Document::note(const Scene& before, const std::string& edit, bool held, double now) {
  if (!sameDocument(scene_, before)) {
    history_.noteLook(before);
    if (!edit_.empty() && edit_ != edit) history_.record(before);
    edit_ = edit;
    editedAt_ = now;
    if (edit.empty()) history_.record(scene_);
    return true;
  }
  if (!edit_.empty() && !held && now - editedAt_ > kEditSettles) record();
  return false;
}

void Document::record() {
  history_.record(scene_);
  edit_.clear();
}

double Document::secondsToStep(double now) const {
  return edit_.empty() ? std::numeric_limits<double>::infinity() : editedAt_ + kEditSettles + 0.02 - now;
}

void Document::undo() {
  record();
  history_.undo(scene_);
}

void Document::goTo(std::size_t step) {
  record();
  history_.goTo(step, scene_);
}

void Document::redo() {
  record();
  history_.redo(scene_);
}

}  // namespace headscope::app
