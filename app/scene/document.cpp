#include "app/scene/document.h"

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

namespace {

/// Applies a change to a scene and to the views of its talk.
template <typename Change>
void changeAll(Scene& scene, const Change& change) {
  change(scene);
  if (scene.talk->views.empty()) return;
  for (TalkView& view : scene.talk.edit().views) {
    Scene changed = *view.scene;
    change(changed);
    if (changed != *view.scene) view.scene = std::make_shared<const Scene>(std::move(changed));
  }
}

/// Visits every file name in a scene.
template <typename Visit>
void visitFiles(attention::MaskLayers& layers, const Visit& visit) {
  for (attention::Layer& layer : layers) {
    visitFiles(layer.group, visit);
    visitFiles(layer.pattern.inner, visit);
    if (!layer.isGroup() && layer.pattern.kind == attention::PatternKind::file &&
        !layer.pattern.arguments.empty() && layer.pattern.arguments.front())
      visit(layer.pattern.arguments.front()->text);
  }
}
template <typename Visit>
void visitFiles(Scene& scene, const Visit& visit) {
  if (scene.setup.subject.model != kLearned) visit(scene.setup.subject.model);
  visit(scene.setup.subject.picture);
  visit(scene.setup.subject.features);
  visit(scene.setup.weights.file);
  visit(scene.map.file);
  visit(scene.cost.config);
  visit(scene.compare.recorded);
  if (scene.compare.texts != kExampleTexts) visit(scene.compare.texts);
  visitFiles(scene.setup.mask.layers.edit(), visit);
  visitFiles(scene.setup.mask.other.edit(), visit);
}

}  // namespace

void resolveFiles(Scene& scene, const std::filesystem::path& folder) {
  changeAll(scene, [&](Scene& each) {
    visitFiles(each, [&](std::string& file) {
      if (!file.empty() && std::filesystem::path(file).is_relative())
        file = (folder / file).lexically_normal().string();
    });
  });
}

std::vector<std::string> namedFiles(const Scene& scene) {
  std::vector<std::string> files;
  Scene visited = scene;
  changeAll(visited, [&](Scene& each) {
    visitFiles(each, [&](const std::string& file) {
      if (!file.empty()) files.push_back(file);
    });
  });
  return files;
}

void relativeFiles(Scene& scene, const std::filesystem::path& folder) {
  std::error_code ignored;
  const std::filesystem::path from = std::filesystem::absolute(folder, ignored).lexically_normal();
  changeAll(scene, [&](Scene& each) {
    visitFiles(each, [&](std::string& file) {
      if (ignored || file.empty()) return;
      const std::filesystem::path full = std::filesystem::absolute(file, ignored).lexically_normal();
      const std::filesystem::path relative = full.lexically_relative(from);
      // Written with slashes, which every system reads.
      file = (relative.empty() || *relative.begin() == ".." ? full : relative).generic_string();
    });
  });
}

}  // namespace headscope::app
