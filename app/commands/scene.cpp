#include <algorithm>
#include <memory>
#include <string_view>

#include "app/commands/commands.h"
#include "app/commands/report.h"
#include "app/pages/pages.h"
#include "app/platform/assets.h"
#include "app/scene/fields.h"
#include "app/scene/lessons/lesson.h"
#include "app/scene/lessons/lesson_file.h"
#include "app/scene/links/link.h"
#include "app/scene/models/open_model.h"
#include "app/scene/models/scene_model.h"
#include "app/scene/scene_json.h"
#include "attention/formats/files/regular_file.h"
#include "attention/models/gguf/gguf_source.h"

namespace headscope::app {

bool hasRecordedExtension(const std::string& path) {
  const std::string ending = recordedFile(path).path.extension().string();
  constexpr std::string_view kEndings[] = {".npz", ".npy", ".safetensors", ".pt", ".pth"};
  return std::find(std::begin(kEndings), std::end(kEndings), ending) != std::end(kEndings);
}

std::filesystem::path lessonOr(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path lesson = assetFolder() / "lessons" / (path + ".json");
  return !std::filesystem::exists(path, ignored) && std::filesystem::exists(lesson, ignored)
             ? lesson
             : std::filesystem::path(path);
}

attention::Result<Scene> sceneOrOpening(const std::string& named) {
  if (isLink(named)) {
    attention::Result<Scene> scene = readLink(named);
    if (scene.ok())
      if (const auto page = checkPage(*scene, pageTable()); !page)
        return attention::Error{"the link: " + page.error().message};
    return scene;
  }
  const std::filesystem::path path = lessonOr(named);
  if (path.empty()) return openingScene();
  std::error_code ignored;
  const bool learned = path == kLearned && !std::filesystem::exists(path, ignored);
  if (learned || hasRecordedExtension(path) ||
      std::filesystem::is_directory(attention::groupedPath(path).path, ignored) || attention::isGguf(path)) {
    const std::string folder =
        learned ? kLearned : std::filesystem::absolute(path, ignored).lexically_normal().string();
    auto opened = openModel(folder);
    if (!opened) return opened.error();
    Scene scene = openingScene();
    adoptModel(scene, folder, *std::move(opened));
    scene.cursor.page = "model";
    return scene;
  }
  if (isLessonFile(path)) {
    auto lesson = readLesson(path);
    if (!lesson) return lesson.error();
    return (*lesson)->steps.front().scene;
  }
  attention::Result<Scene> scene = readScene(path);
  if (scene.ok())
    if (const auto page = checkPage(*scene, pageTable()); !page)
      return attention::Error{attention::shownPath(path.filename()) + ": " + page.error().message};
  return scene;
}

void addSceneCommand(CLI::App& app, int& exitCode) {
  CLI::App* command = app.add_subcommand("scene", "Print the opening scene's JSON, to start your own from");
  const auto fields = std::make_shared<bool>(false);
  command->add_flag("--fields", *fields, "Print the manual's table of all fields of a scene");
  command->callback([fields, &exitCode] {
    exitCode = *fields ? print(fieldsMarkdown()) : print(formatScene(openingScene()), Printed::json);
  });
}

}  // namespace headscope::app
