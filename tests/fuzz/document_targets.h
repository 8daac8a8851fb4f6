#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "app/compute/cost/cost_catalogue.h"
#include "app/platform/preferences.h"
#include "app/scene/document.h"
#include "app/scene/fields.h"
#include "app/scene/lessons/lesson.h"
#include "app/scene/links/link.h"
#include "app/scene/models/open_model.h"
#include "app/scene/recovery_store.h"
#include "app/scene/scene_json.h"
#include "attention/models/config/model_catalogue.h"
#include "tests/support/temporary_folder.h"

/// The fuzz targets for files of the program itself. They are separate because they need the document.
namespace headscope::fuzz {

inline void holdDocument(bool condition) {
  if (!condition) std::abort();
}

inline std::string_view textOf(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A scene that was read is valid, and writing and reading it gives the same scene.
inline void fuzzScene(std::span<const std::uint8_t> bytes) {
  using namespace app;
  const auto scene = parseScene(textOf(bytes), "fuzz");
  if (!scene) {
    const std::string& message = scene.error().message;
    return holdDocument(message.starts_with("fuzz") && message.size() < 2000);
  }
  holdDocument(validate(*scene).ok());
  const std::string written = formatScene(*scene);
  const auto back = parseScene(written, "fuzz");
  holdDocument(back.ok() && *back == *scene && formatScene(*back) == written);
}

/// Reads the text as a link, and as a link's content. A scene that was read is valid, names no file, and its
/// link can be read as the same scene.
inline void fuzzLink(std::span<const std::uint8_t> bytes) {
  using namespace app;
  const std::string text(textOf(bytes));
  for (const std::string& link : {text, "#scene=" + packText(text, kLinkVersion)}) {
    const auto scene = readLink(link);
    if (!scene) {
      const std::string& message = scene.error().message;
      holdDocument(message.starts_with("the link") && message.size() < 2000);
      continue;
    }
    holdDocument(validate(*scene).ok() && namedFiles(*scene).empty());
    const auto again = linkTo(*scene);
    holdDocument(again.ok() && isLink(*again));
    const auto back = readLink(*again);
    holdDocument(back.ok() && formatScene(*back) == formatScene(*scene));
  }
}

/// Reads the text as models.json and as machines.json. Each entry is valid or reported, and a shape can be
/// written and read again.
inline void fuzzCatalogue(std::span<const std::uint8_t> bytes) {
  using namespace app;
  const std::string text(textOf(bytes));
  const CostCatalogue read = readCatalogue(text, text);
  for (const std::string& problem : read.problems)
    holdDocument(problem.starts_with("models.json") || problem.starts_with("machines.json"));
  for (const attention::ModelShape& shape : read.shapes) {
    const auto* published = attention::findShape(attention::modelShapes(), shape.name);
    if (published && *published == shape) continue;
    holdDocument(attention::validate(shape).ok());
    const CostCatalogue again = readCatalogue("[" + shapeJson(shape) + "]", {"[]"});
    holdDocument(again.problems.empty() &&
                 std::find(again.shapes.begin(), again.shapes.end(), shape) != again.shapes.end());
  }
  for (const attention::Machine& machine : read.machines)
    holdDocument(!machine.name.empty() && machine.memoryGb > 0 && machine.bandwidth > 0 && machine.flops > 0);
}

/// Reads the text as the file of a window that has ended: its scenes are offered, or why they can't be.
inline void fuzzRecovery(std::string_view text) {
  static const test::TemporaryFolder folder;
  test::putFile(folder / "1-0.json", text);
  const auto found = app::RecoveryStore(folder.path()).abandoned();
  holdDocument(found.size() == 1 && found[0]->entries.empty() != found[0]->problem.empty());
}

/// Reads the text as each file that stores user data. What was read can be written and read again.
inline void fuzzSettings(std::span<const std::uint8_t> bytes) {
  using namespace app;
  const std::string_view text = textOf(bytes);
  fuzzRecovery(text);
  const auto recent = parseRecent(text);
  holdDocument(recent.size() <= 3 * kRecentOfAKind && parseRecent(formatRecent(recent)) == recent);
  const Preferences preferences = parsePreferences(text);
  holdDocument(preferences.textSize >= 0.8F && preferences.textSize <= 2.5F &&
               parsePreferences(formatPreferences(preferences)) == preferences);
  const Progress progress = parseProgress(text);
  holdDocument(parseProgress(formatProgress(progress)) == progress);
  for (const auto& [id, lesson] : progress.lessons)
    for (const auto& [step, guess] : lesson.guesses) holdDocument(guess.option >= 0);
  const auto learned = parseLearned(text, "fuzz");
  if (!learned) return holdDocument(learned.error().message.starts_with("fuzz: "));
  for (const LearnedSkill& skill : learned->skills)
    holdDocument(skill.right >= 0 && skill.of >= 0 &&
                 (!skill.head || (skill.head->layer >= 0 && skill.head->head >= 0)));
}

/// A hub's folder: the first line is the model's name, the rest is refs/main. Whatever they contain, the
/// model is found once, as one of its two revisions.
inline void fuzzHub(std::span<const std::uint8_t> bytes) {
  namespace fs = std::filesystem;
  static const test::TemporaryFolder hub;
  const auto make = [] {
    const fs::path model = hub / "models--a";
    for (const char* revision : {"0123abcd", "main"}) {
      fs::create_directories(model / "snapshots" / revision);
      test::putFile(model / "snapshots" / revision / "config.json", std::string_view("{}"));
    }
    fs::create_directories(model / "refs");
    return model;
  };
  static fs::path model = make();
  const std::string_view text = textOf(bytes);
  const std::size_t line = std::min(text.find('\n'), text.size());
  std::string name(text.substr(0, std::min<std::size_t>(line, 200)));
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '/' || c == '\0'; }, '-');
  fs::rename(model, hub / ("models--" + name));
  model = hub / ("models--" + name);
  test::putFile(model / "refs" / "main", text.substr(std::min(line + 1, text.size())));
  const auto found = app::cachedModels(hub.path());
  holdDocument(found.size() == 1 && found[0].folder.parent_path() == fs::absolute(model / "snapshots"));
}

/// A lesson or a single sentence. A lesson that was read has complete scenes, and another step can be
/// appended to it.
inline void fuzzLesson(std::span<const std::uint8_t> bytes) {
  using namespace app;
  const std::string_view text = textOf(bytes);
  const auto lesson = parseLesson(text, "fuzz", {}, "/nowhere");
  if (!lesson) {
    const std::string& message = lesson.error().message;
    return holdDocument(message.starts_with("fuzz") && message.size() < 2000);
  }
  const Lesson& read = **lesson;
  holdDocument(!read.steps.empty() && read.steps.size() <= kMaxLessonSteps &&
               read.stepAt(read.coverStep) >= 0);
  for (std::size_t i = 0; i < read.steps.size(); ++i) {
    const LessonStep& step = read.steps[i];
    holdDocument(read.stepAt(step.id) == static_cast<int>(i) && !step.text.empty() &&
                 validate(step.scene).ok());
    holdDocument(step.from == kOpeningStep || read.stepAt(step.from) < static_cast<int>(i));
    holdDocument(step.compare.empty() || read.stepAt(step.compare) >= 0);
    if (step.question)
      holdDocument(step.question->options.size() >= kMinLessonOptions &&
                   step.question->options.size() <= kMaxLessonOptions);
  }
  Scene now = read.steps.back().scene;
  now.setup.model.sharpness = now.setup.model.sharpness == 2 ? 3 : 2;
  const auto grown = appendStep(text, now, "More", "/nowhere");
  if (!grown)
    return holdDocument(read.steps.size() == kMaxLessonSteps || text.size() + 4096 > kMaxLessonBytes);
  const auto back = parseLesson(*grown, "fuzz", {}, "/nowhere");
  holdDocument(back.ok() && (*back)->steps.size() == read.steps.size() + 1 &&
               (*back)->steps.back().scene.setup.model.sharpness == now.setup.model.sharpness);
}

}  // namespace headscope::fuzz
