#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "app/scene/fields.h"
#include "app/scene/json_reader.h"
#include "app/scene/links/link.h"
#include "app/scene/links/packed_text.h"
#include "app/scene/models/scene_model.h"
#include "app/scene/patch_json.h"
#include "app/scene/scene_files.h"
#include "app/scene/text/number_text.h"

namespace headscope::app {

using attention::Error;
using attention::Result;
using attention::Status;

namespace {

constexpr const char* kPage = "cursor.page";
constexpr const char* kModel = "subject.model";

std::string_view trimmed(std::string_view text) {
  constexpr const char* kSpaces = " \t\r\n";
  const std::size_t from = text.find_first_not_of(kSpaces);
  return from == std::string_view::npos ? "" : text.substr(from, text.find_last_not_of(kSpaces) + 1 - from);
}

/// The part after "#".
std::string_view fragmentOf(std::string_view link) {
  const std::size_t at = link.find('#');
  return at == std::string_view::npos ? "" : link.substr(at + 1);
}

/// The values of a link's parameters.
struct Parameters {
  std::optional<std::string_view> scene, lesson, step;
};

Result<Parameters> parametersOf(std::string_view fragment) {
  Parameters found;
  while (!fragment.empty()) {
    const std::string_view one = fragment.substr(0, fragment.find('&'));
    fragment.remove_prefix(std::min(one.size() + 1, fragment.size()));
    const std::size_t equals = one.find('=');
    const std::string_view name = one.substr(0, equals);
    std::optional<std::string_view>* to = name == "scene"    ? &found.scene
                                          : name == "lesson" ? &found.lesson
                                          : name == "step"   ? &found.step
                                                             : nullptr;
    if (!to || equals == std::string_view::npos)
      return Error{"the link has " + attention::quotedText(name) + ", expected scene=, or lesson= and step="};
    if (*to) return Error{"the link says " + attention::quotedText(name) + " twice"};
    *to = one.substr(equals + 1);
  }
  if (found.scene.has_value() == found.lesson.has_value() || (found.scene && found.step))
    return Error{"the link is cut off or damaged, expected #scene=, or #lesson= and step="};
  return found;
}

/// A link must not name files: they would be opened without the user having chosen them.
Status refuseFiles(const Scene& scene, const char* who) {
  if (const auto files = namedFiles(scene); !files.empty())
    return Error{
        fmt::format("{} names the file {}, and a link opens no files: share the scene's file instead", who,
                    attention::quotedText(files.front()))};
  return attention::success();
}

Result<Scene> lessonScene(std::string_view lesson, std::optional<std::string_view> step) {
  Scene scene = openingScene();
  scene.cursor.page = "lessons";
  scene.cursor.lesson.lesson = lesson;
  const bool named =
      !lesson.empty() && lesson.size() <= 40 &&
      lesson.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
  if (!named)
    return Error{"the link's lesson is " + attention::quotedText(lesson) + ", expected its id or number"};
  if (!step) return scene;
  Index at = 0;
  const auto [end, error] = std::from_chars(step->data(), step->data() + step->size(), at);
  if (error != std::errc() || end != step->data() + step->size() || at < 1 || at > 1000)
    return Error{"the link's step is " + attention::quotedText(*step) + ", expected 1 to 1000"};
  scene.cursor.lesson.step = at - 1;
  return scene;
}

Result<Scene> patchedScene(std::string_view json, const std::stop_token& stop) {
  const auto located = [](const std::string& message) { return Error{"the link: " + message}; };
  if (const Status good = checkJson(json, stop); !good) return located(good.error().message);
  JsonFault fault;
  ObjectReader patch(JsonText(json), "", fault);
  Scene scene = openingScene();
  // Checked before the model is opened. Every other file is opened when it is shown.
  std::string model;
  patch.read(kModel, model);
  if (model != kLearned) scene.setup.subject.model = model;
  if (const Status none = refuseFiles(scene, "the link"); !none) return none.error();
  scene = openingScene();
  OpenModels models;
  std::vector<std::string> changed;
  if (fault.empty()) readPatch(patch, {}, models, stop, scene, changed);
  if (!fault.empty()) return located(fault.message);
  if (const Status none = refuseFiles(scene, "the link"); !none) return none.error();
  if (scene.cursor.lesson != LessonCursor())
    return located("cursor.lesson is given, expected a lesson's own link, #lesson=");
  // The views of a talk may use the bundled model, too.
  if (!scene.talk->views.empty())
    if (const Status opened = openSubject(scene, stop); !opened) return located(opened.error().message);
  return scene;
}

}  // namespace

bool isLink(std::string_view text) {
  const std::string_view link = trimmed(text), fragment = fragmentOf(link);
  return link.starts_with(kLinkAddress) || fragment.starts_with("scene=") || fragment.starts_with("lesson=");
}

bool showsLesson(const Scene& scene) {
  return scene.cursor.page == "lessons" && !scene.cursor.lesson.lesson.empty();
}

Result<std::string> linkTo(const Scene& scene, const std::string& base) {
  if (std::any_of(base.begin(), base.end(), [](char c) { return c <= ' ' || c > '~' || c == '#'; }))
    return Error{"the address is " + attention::quotedText(base) + ", expected one without spaces and #"};
  if (showsLesson(scene))
    return fmt::format("{}#lesson={}&step={}", base, scene.cursor.lesson.lesson,
                       scene.cursor.lesson.step + 1);
  if (const Status none = refuseFiles(scene, "the scene"); !none) return none.error();
  const Scene opening = openingScene();
  Json patch = patchJson(opening, scene, {});
  if (scene.cursor.page != opening.cursor.page) patch[kPage] = scene.cursor.page;
  if (scene.cursor.view != opening.cursor.view) patch["cursor.view"] = scene.cursor.view;
  const std::string text = patch.dump(-1, ' ', false, Json::error_handler_t::replace);
  const std::string packed = packText(text, kLinkVersion);
  if (std::max(text.size(), packed.size()) > kMaxLinkBytes)
    return Error{
        fmt::format("the scene is larger than {} MiB, which a link can't hold: save it as a file instead",
                    kMaxLinkBytes >> 20)};
  return base + "#scene=" + packed;
}

Result<Scene> readLink(std::string_view text, const std::stop_token& stop) {
  const Result<Parameters> found = parametersOf(fragmentOf(trimmed(text)));
  if (!found) return found.error();
  if (found->lesson) return lessonScene(*found->lesson, found->step);
  const Result<std::string> json = unpackText(*found->scene, kLinkVersion, kMaxLinkBytes);
  if (!json) return Error{"the link " + json.error().message};
  return patchedScene(*json, stop);
}

std::string longLinkNote(std::string_view link) {
  if (link.size() <= kLongLink) return "";
  return fmt::format(
      "The link has {} characters; some programs cut links of more than {}. A file always holds the whole "
      "scene.",
      countText(link.size()), countText(kLongLink));
}

}  // namespace headscope::app
