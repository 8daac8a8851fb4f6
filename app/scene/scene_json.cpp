#include "app/scene/scene_json.h"

#include <fmt/core.h>

#include "app/scene/document.h"
#include "app/scene/fields.h"
#include "app/scene/json_text.h"
#include "app/scene/models/scene_model.h"
#include "app/scene/scene.h"

namespace headscope::app {

// The talk in a scene file: "talk": [{"name": …, "notes": …, "page": …, "scene": {…}}, …]. "scene" has the
// fields in which the view differs from the opening scene, by path.

/// Reads the talk if the object has one. Notes errors with their place: "talk[2].scene.…". Opens nothing that
/// a view names.
void readTalk(ObjectReader& root, Scene& scene);
/// The list; empty if there is no talk.
Json talkJson(const Scene& scene);

using attention::Error;
using attention::Result;
using attention::Status;

namespace {

/// Reads the fields of one object. Their paths begin with the object's own path of `prefix` characters.
void readObject(ObjectReader& reader, std::span<const Field> fields, std::size_t prefix, int version,
                Scene& scene) {
  for (std::size_t i = 0; i < fields.size();) {
    const std::string_view rest = fields[i].path.substr(prefix);
    const std::size_t dot = rest.find('.');
    const std::string key(rest.substr(0, dot));
    if (dot == std::string_view::npos) {
      readField(reader, key.c_str(), fields[i], scene);
      for (const auto& [former, now] : kFormerPaths)
        if (now == fields[i].path) readField(reader, former.substr(prefix).data(), fields[i], scene);
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < fields.size() && fields[end].path.substr(prefix).starts_with(key + ".")) ++end;
    reader.object(key.c_str(), [&](ObjectReader& inner) {
      if (version == 1 && key == "mask")
        readFirstMask(inner, scene.setup.mask);
      else
        readObject(inner, fields.subspan(i, end - i), prefix + dot + 1, version, scene);
    });
    i = end;
  }
}

void readDocument(const JsonText& json, Scene& scene, JsonFault& fault) {
  ObjectReader root(json, "", fault);
  std::string format;
  int version = 0;
  root.read("format", format);
  root.read("version", version);
  if (fault.empty() && format != "headscope scene")
    root.note("this is not a Headscope scene: \"format\" is " + attention::quotedText(format) +
              ", expected \"headscope scene\"");
  if (fault.empty() && (version < 1 || version > kSceneVersion))
    root.note(
        fmt::format("the scene has version {}, this program reads versions 1 to {}", version, kSceneVersion));
  readObject(root, allFields(), 0, version, scene);
  replaceFormerTab(scene.cursor);
  readTalk(root, scene);
  // In version 1, masks never acted between two texts.
  if (version == 1 && scene.setup.input.cross)
    for (attention::Layer& layer : scene.setup.mask.layers.edit())
      layer.on = layer.on && !attention::comparesPositions({layer});
  root.finish();
}

}  // namespace

std::string formatScene(const Scene& scene) {
  Json json;
  json["format"] = "headscope scene";
  json["version"] = kSceneVersion;
  for (const Field& field : allFields()) {
    Json* at = &json;
    std::string_view path = field.path;
    for (std::size_t dot; (dot = path.find('.')) != std::string_view::npos; path.remove_prefix(dot + 1))
      at = &(*at)[std::string(path.substr(0, dot))];
    (*at)[std::string(path)] = fieldJson(field, scene);
  }
  if (!scene.talk->views.empty()) json["talk"] = talkJson(scene);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Scene> parseScene(std::string_view text, const std::string& name, const std::stop_token& stop) {
  const auto located = [&](const std::string& message) { return Error{name + ": " + message}; };
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (const Status json = checkJson(text, stop); !json) return located(json.error().message);
  Scene scene = openingScene();
  JsonFault fault;
  readDocument(JsonText(text), scene, fault);
  if (fault.empty() && !scene.setup.subject.model.empty()) {
    // Fields missing from a model's scene keep the model's values.
    scene = openingScene();
    forgetLayer(scene.setup);
    readDocument(JsonText(text), scene, fault);
  }
  if (!fault.empty()) return located(fault.message);
  dropEmptyNames(scene.setup.mask.additive);
  if (const Status valid = validate(scene); !valid) return located(valid.error().message);
  return scene;
}

Result<Scene> readScene(const std::filesystem::path& path, const std::stop_token& stop,
                        attention::ContentMark* content) {
  constexpr std::uint64_t kMaxBytes = std::uint64_t{512} << 20;
  Result<std::vector<std::uint8_t>> bytes = attention::readFile(path, kMaxBytes);
  if (!bytes) return bytes.error();
  const std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  if (content) *content = attention::contentMark(text);
  Result<Scene> scene = parseScene(text, attention::shownPath(path.filename()), stop);
  // File names are relative to the scene's file.
  if (scene.ok()) resolveFiles(*scene, path.parent_path());
  if (!scene) return scene;
  if (const Status fits = openSubject(*scene, stop); !fits)
    return Error{attention::shownPath(path.filename()) + ": " + fits.error().message};
  return scene;
}

Status writeScene(const std::filesystem::path& path, const Scene& scene, attention::ContentMark* content) {
  Scene written = scene;
  std::error_code ignored;
  const std::filesystem::path full = std::filesystem::absolute(path, ignored);
  if (!ignored) relativeFiles(written, full.parent_path());
  const std::string text = formatScene(written);
  if (content) *content = attention::contentMark(text);
  return attention::writeFile(path, text);
}

namespace {

void limit(ObjectReader& reader, const char* key, const std::string& text, std::size_t most) {
  if (text.size() > most)
    reader.note(fmt::format("{} has {} bytes, expected at most {}", reader.at(key), text.size(), most));
}

/// Keeps a model's own sizes, whatever a view says about them.
void keepSizes(Scene& scene, const Scene& base) {
  if (scene.setup.subject.model.empty()) return;
  ModelSetup& model = scene.setup.model;
  const ModelSetup& own = base.setup.model;
  model.heads = own.heads;
  model.kvHeads = own.kvHeads;
  model.headDim = own.headDim;
  model.modelDim = own.modelDim;
  model.linked = own.linked;
  model.bias = own.bias;
}

Scene readViewScene(ObjectReader& patch) {
  Scene scene = openingScene();
  std::vector<std::string> changed;
  readPatchFields(patch, "", scene, changed);
  if (!patch.fault().empty()) return scene;
  keepSizes(scene, sceneWithModel(openingScene(), scene.setup.subject.model));
  if (const attention::Status valid = validate(scene); !valid) patch.note(patch.at(valid.error().message));
  return scene;
}

TalkView readView(ObjectReader& reader) {
  TalkView view;
  reader.read("name", view.name);
  reader.read("notes", view.notes);
  limit(reader, "name", view.name, kMaxViewName);
  limit(reader, "notes", view.notes, kMaxViewNotes);
  Scene scene = openingScene();
  reader.object("scene", [&](ObjectReader& patch) { scene = readViewScene(patch); });
  reader.read("page", scene.cursor.page);
  replaceFormerTab(scene.cursor);
  view.scene = viewScene(scene);
  return view;
}

}  // namespace

void readTalk(ObjectReader& root, Scene& scene) {
  Talk talk;
  root.objects("talk", 0, kMaxTalkViews,
               [&](ObjectReader& reader) { talk.views.push_back(readView(reader)); });
  if (!talk.views.empty()) scene.talk = std::move(talk);
}

Json talkJson(const Scene& scene) {
  Json list = Json::array();
  const Scene opening = openingScene();
  for (const TalkView& view : scene.talk->views) {
    Json entry = Json::object();
    if (!view.name.empty()) entry["name"] = view.name;
    if (!view.notes.empty()) entry["notes"] = view.notes;
    entry["page"] = view.scene->cursor.page;
    entry["scene"] = patchJson(opening, *view.scene, "");
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace headscope::app
