#include "app/scene/scene_json.h"

#include <fmt/core.h>

#include <algorithm>

#include "app/scene/enum_names.h"
#include "app/scene/fields.h"
#include "app/scene/json_reader.h"
#include "app/scene/mask_json.h"
#include "app/scene/open_model.h"
#include "app/scene/table_json.h"
#include "attention/formats/file_io.h"
#include "attention/formats/regular_file.h"

namespace headscope::app {

using attention::Error;
using attention::Result;
using attention::Status;

// Beside those of masks and tables, for one call that finds them all.

using PlantedHeads = std::vector<attention::PlantedHead>;

static void readValue(ObjectReader& reader, const char* key, PlantedHeads& planted) {
  const auto list = reader.list(key);
  if (!list) return;
  planted.clear();
  for (std::size_t i = 0; i < list->size() && reader.error().empty(); ++i) {
    ObjectReader entry((*list)[i], reader.at(key + (fmt::format("[{}]", i))), reader.error());
    attention::PlantedHead head;
    auto behaviour = static_cast<int>(head.behaviour);
    entry.read("pattern", kBehaviourNames, behaviour);
    head.behaviour = static_cast<attention::Behaviour>(behaviour);
    entry.read("offset", head.offset);
    entry.finish();
    planted.push_back(head);
  }
}

static Json valueJson(const PlantedHeads& planted) {
  Json list = Json::array();
  for (const attention::PlantedHead& head : planted)
    list.push_back(
        {{"pattern", kBehaviourNames[static_cast<std::size_t>(head.behaviour)]}, {"offset", head.offset}});
  return list;
}

static void readValue(ObjectReader& reader, const char* key, std::vector<SwitchedHead>& heads) {
  const auto list = reader.list(key);
  if (!list) return;
  heads.clear();
  for (std::size_t i = 0; i < list->size() && reader.error().empty(); ++i) {
    ObjectReader entry((*list)[i], reader.at(key + (fmt::format("[{}]", i))), reader.error());
    SwitchedHead off;
    auto by = static_cast<int>(off.by);
    entry.read("layer", off.layer);
    entry.read("head", off.head);
    entry.read("by", kHeadOffNames, by);
    off.by = static_cast<HeadOff>(by);
    if (off.layer < 0 || off.head < 0) entry.note(entry.at("layer") + " and head are counted from 0");
    entry.finish();
    heads.push_back(off);
  }
}

static Json valueJson(const std::vector<SwitchedHead>& heads) {
  Json list = Json::array();
  for (const SwitchedHead& off : heads)
    list.push_back(
        {{"layer", off.layer}, {"head", off.head}, {"by", kHeadOffNames[static_cast<std::size_t>(off.by)]}});
  return list;
}

static void readValue(ObjectReader& reader, const char* key, std::vector<Index>& ids) {
  const auto list = reader.list(key);
  if (!list) return;
  ids.clear();
  for (std::size_t i = 0; i < list->size() && reader.error().empty(); ++i) {
    const auto id = (*list)[i].wholeNumber();
    if (!id || *id < 0 || *id > INT32_MAX)
      return reader.note(reader.at(fmt::format("{}[{}]", key, i)) + " is no id: a whole number from 0");
    ids.push_back(*id);
  }
}

static Json valueJson(const std::vector<Index>& ids) {
  return ids;
}

static void readValue(ObjectReader& reader, const char* key, SharedText& text) {
  std::string own = text;
  reader.read(key, own);
  if (text != own) text = std::move(own);
}

static Json valueJson(const SharedText& text) {
  return *text;
}

namespace {

/// What JSON has a type for.
template <typename T>
inline constexpr bool kPlain = std::is_arithmetic_v<T> || std::is_same_v<T, std::string>;

void readField(ObjectReader& reader, const char* key, const Field& field, Scene& scene) {
  std::visit(
      [&](const auto& member) {
        if constexpr (std::is_same_v<decltype(member), const EnumMember&>) {
          int value = member.of(scene);
          reader.read(key, std::get<Names>(field.values).names, value);
          member.set(scene, value);
        } else if constexpr (kPlain<std::remove_reference_t<decltype(member.edit(scene))>>) {
          reader.read(key, member.edit(scene));
        } else {
          readValue(reader, key, member.edit(scene));
        }
      },
      field.access);
}

Json fieldJson(const Field& field, const Scene& scene) {
  return std::visit(
      [&](const auto& member) -> Json {
        const auto& value = member.of(scene);
        if constexpr (std::is_same_v<decltype(member), const EnumMember&>)
          return std::get<Names>(field.values).names[static_cast<std::size_t>(value)];
        else if constexpr (kPlain<std::remove_cvref_t<decltype(value)>>)
          return value;
        else
          return valueJson(value);
      },
      field.access);
}

/// Reads the fields of one object, whose paths begin with the object's own of `prefix` characters.
void readObject(ObjectReader& reader, std::span<const Field> fields, std::size_t prefix, int version,
                Scene& scene) {
  for (std::size_t i = 0; i < fields.size();) {
    const std::string_view rest = fields[i].path.substr(prefix);
    const std::size_t dot = rest.find('.');
    const std::string key(rest.substr(0, dot));
    if (dot == std::string_view::npos) {
      readField(reader, key.c_str(), fields[i++], scene);
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

void readDocument(const JsonText& json, Scene& scene, std::string& error) {
  ObjectReader root(json, "", error);
  std::string format;
  int version = 0;
  root.read("format", format);
  root.read("version", version);
  if (error.empty() && format != "headscope scene")
    root.note("this is not a Headscope scene: \"format\" is " + attention::quotedText(format) +
              ", expected \"headscope scene\"");
  if (error.empty() && (version < 1 || version > kSceneVersion))
    root.note(
        fmt::format("the scene has version {}, this program reads versions 1 to {}", version, kSceneVersion));
  readObject(root, allFields(), 0, version, scene);
  // The first scenes' masks never acted between two texts.
  if (version == 1 && scene.setup.input.cross)
    for (attention::Layer& layer : scene.setup.mask.layers)
      layer.on = layer.on && !attention::comparesPositions({layer});
  root.finish();
}

/// Biases as they are painted have no names; a file may give them empty ones.
void dropEmptyNames(SharedTable& table) {
  const auto& names = table->names;
  if (std::any_of(names.begin(), names.end(), [](const std::string& name) { return !name.empty(); })) return;
  if (!names.empty()) table.edit().names.clear();
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
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Scene> parseScene(std::string_view text, const std::string& name, const std::stop_token& stop) {
  const auto located = [&](const std::string& message) { return Error{name + ": " + message}; };
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (const Status json = checkJson(text, stop); !json) return located(json.error().message);
  Scene scene = openingScene();
  std::string error;
  readDocument(JsonText(text), scene, error);
  if (error.empty() && !scene.setup.subject.model.empty()) {
    // What a scene of a model doesn't say is as the model has it.
    scene = openingScene();
    forgetLayer(scene.setup);
    readDocument(JsonText(text), scene, error);
  }
  if (!error.empty()) return located(error);
  dropEmptyNames(scene.setup.mask.additive);
  if (const Status valid = validate(scene); !valid) return located(valid.error().message);
  return scene;
}

namespace {

/// Everything in a scene that names a file.
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
  visit(scene.setup.weights.file);
  visit(scene.map.file);
  visit(scene.cost.config);
  visitFiles(scene.setup.mask.layers, visit);
  visitFiles(scene.setup.mask.other, visit);
}

}  // namespace

Result<Scene> readScene(const std::filesystem::path& path, const std::stop_token& stop) {
  constexpr std::uint64_t kMaxBytes = std::uint64_t{512} << 20;
  Result<std::vector<std::uint8_t>> bytes = attention::readFile(path, kMaxBytes);
  if (!bytes) return bytes.error();
  Result<Scene> scene = parseScene({reinterpret_cast<const char*>(bytes->data()), bytes->size()},
                                   attention::shownPath(path.filename()), stop);
  // Files are named relative to the scene that names them.
  if (scene.ok())
    visitFiles(*scene, [&](std::string& file) {
      if (!file.empty() && std::filesystem::path(file).is_relative())
        file = (path.parent_path() / file).lexically_normal().string();
    });
  if (!scene) return scene;
  if (const Status fits = openSubject(*scene, stop); !fits)
    return Error{attention::shownPath(path.filename()) + ": " + fits.error().message};
  return scene;
}

Status writeScene(const std::filesystem::path& path, const Scene& scene) {
  Scene written = scene;
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::absolute(path, ignored).parent_path();
  // Files in the scene's folder or below move with it; others are named in full.
  visitFiles(written, [&](std::string& file) {
    if (ignored || file.empty()) return;
    const std::filesystem::path full = std::filesystem::absolute(file, ignored).lexically_normal();
    const std::filesystem::path relative = full.lexically_relative(folder.lexically_normal());
    file = relative.empty() || *relative.begin() == ".." ? full.string() : relative.string();
  });
  return attention::writeFile(path, formatScene(written));
}

}  // namespace headscope::app
