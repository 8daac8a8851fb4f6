#include "app/scene/scene_files.h"

namespace headscope::app {

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
      file = relative.empty() || *relative.begin() == ".." ? full.string() : relative.string();
    });
  });
}

}  // namespace headscope::app
