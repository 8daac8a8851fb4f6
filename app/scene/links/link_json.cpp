#include <fmt/core.h>
#include <zlib.h>

#include <cctype>
#include <charconv>
#include <new>

#include "app/scene/document.h"
#include "app/scene/fields.h"
#include "app/scene/json_text.h"
#include "app/scene/links/link.h"
#include "app/scene/models/scene_model.h"
#include "app/scene/text/number_text.h"
#include "attention/formats/base64.h"
#include "attention/formats/quote.h"

namespace headscope::app {

using attention::Error;
using attention::Result;

namespace {

/// A zlib stream that is read to its end.
class Inflater {
 public:
  explicit Inflater(std::string_view stream) {
    if (inflateInit(&stream_) != Z_OK) throw std::bad_alloc();
    // zlib's pointer isn't const, but zlib doesn't write here.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(stream.data()));
    stream_.avail_in = static_cast<uInt>(stream.size());
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  Result<std::string> readAll(std::size_t maxBytes) {
    std::string text;
    std::vector<char> part(std::size_t{1} << 16);
    for (;;) {
      stream_.next_out = reinterpret_cast<Bytef*>(part.data());
      stream_.avail_out = static_cast<uInt>(part.size());
      const int code = inflate(&stream_, Z_NO_FLUSH);
      if (code == Z_MEM_ERROR) throw std::bad_alloc();
      if (code == Z_BUF_ERROR) return Error{"is cut off"};
      if (code != Z_OK && code != Z_STREAM_END) return Error{"is damaged"};
      const std::size_t read = part.size() - stream_.avail_out;
      if (read > maxBytes - text.size())
        return Error{fmt::format("unpacks to more than {} MiB, expected no more", maxBytes >> 20)};
      text.append(part.data(), read);
      if (code != Z_STREAM_END) continue;
      if (stream_.avail_in > 0) return Error{"is damaged: something follows its end"};
      return text;
    }
  }

 private:
  z_stream stream_{};
};

}  // namespace

std::string packText(std::string_view text, int version) {
  uLongf size = compressBound(static_cast<uLong>(text.size()));
  std::string bytes(size + 1, static_cast<char>(version));
  const int code = compress2(reinterpret_cast<Bytef*>(bytes.data() + 1), &size,
                             reinterpret_cast<const Bytef*>(text.data()), static_cast<uLong>(text.size()),
                             Z_BEST_COMPRESSION);
  if (code != Z_OK) throw std::bad_alloc();  // the only possible failure with a buffer of that size
  bytes.resize(size + 1);
  return attention::toBase64({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()},
                             attention::Base64::url);
}

Result<std::string> unpackText(std::string_view packed, int version, std::size_t maxBytes) {
  if (packed.size() > maxBytes)
    return Error{fmt::format("has {} characters, expected no more than {}", packed.size(), maxBytes)};
  const std::optional<std::string> bytes = attention::fromBase64(packed, attention::Base64::url);
  if (!bytes) {
    const auto other = std::find_if_not(packed.begin(), packed.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '-' || c == '_';
    });
    return Error{fmt::format("has the character {}, expected letters, digits, - and _",
                             attention::quotedText(packed.substr(other - packed.begin(), 1)))};
  }
  if (bytes->empty()) return Error{"is cut off"};
  const int found = static_cast<std::uint8_t>(bytes->front());
  if (found > version)
    return Error{fmt::format("has version {}, this program reads version {}: a newer Headscope opens it",
                             found, version)};
  if (found != version) return Error{fmt::format("has version {}, expected {}", found, version)};
  return Inflater(std::string_view(*bytes).substr(1)).readAll(maxBytes);
}

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
  replaceFormerTab(scene.cursor);
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
