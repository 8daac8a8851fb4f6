#include "app/scene/scene_json.h"

#include <cmath>
#include <set>

#include "app/scene/enum_names.h"
#include "app/scene/json_reader.h"
#include "app/scene/mask_json.h"
#include "app/scene/table_json.h"
#include "attention/formats/file_io.h"

namespace headscope::app {

using attention::Error;
using attention::Result;
using attention::Status;

namespace {

void readPlanted(ObjectReader& reader, std::vector<attention::PlantedHead>& planted) {
  const Json* list = reader.array("planted");
  if (!list) return;
  planted.clear();
  for (std::size_t i = 0; i < list->size() && reader.error().empty(); ++i) {
    ObjectReader entry((*list)[i], reader.at("planted[" + std::to_string(i) + "]"), reader.error());
    attention::PlantedHead head;
    entry.read("pattern", kPatternNames, head.behaviour);
    entry.read("offset", head.offset);
    entry.finish();
    planted.push_back(head);
  }
}

void readInput(ObjectReader& in, InputSetup& input) {
  in.read("text", input.text);
  in.read("tokenization", kTokenizationNames, input.tokenization);
  in.read("ignore_case", input.ignoreCase);
  in.read("embedding", kEmbeddingNames, input.source);
  readTable(in, "table", input.table);
  in.read("seed", input.seed);
  in.read("cross", input.cross);
  in.read("context", input.contextText);
}

void readModel(ObjectReader& in, ModelSetup& model) {
  in.read("heads", model.heads);
  in.read("kv_heads", model.kvHeads);
  in.read("head_dim", model.headDim);
  in.read("model_dim", model.modelDim);
  in.read("linked", model.linked);
  in.read("bias", model.bias);
  in.read("scaled", model.scaled);
  in.read("sharpness", model.sharpness);
  in.read("softcap", model.softcap);
  in.read("dropout", model.dropout);
  in.read("position", kPositionNames, model.position);
  in.read("rope_theta", model.ropeTheta);
  in.read("t5_buckets", model.t5Buckets);
  in.read("t5_distance", model.t5Distance);
  in.read("t5_strength", model.t5Strength);
}

void readWeights(ObjectReader& in, WeightSetup& weights) {
  in.read("source", kWeightNames, weights.source);
  in.read("seed", weights.seed);
  readPlanted(in, weights.planted);
  in.read("file", weights.file);
}

void readLook(ObjectReader& in, Look& look) {
  in.read("quantity", kQuantityNames, look.quantity);
  in.read("colormap", kColormapNames, look.colormap);
  in.read("score_colormap", kColormapNames, look.scoreColormap);
  in.read("range", kRangeNames, look.range);
  in.read("cache_bytes", look.cacheBytes);
}

void readMap(ObjectReader& in, MapSetup& map) {
  in.read("source", kMapSourceNames, map.source);
  in.read("tokens", map.tokens);
  in.read("seed", map.seed);
  in.read("file", map.file);
  in.read("layer", map.layer);
  in.read("pooling", kPoolingNames, map.pooling);
}

void readCursor(ObjectReader& in, Cursor& cursor) {
  in.read("sequence", cursor.sequence);
  in.read("focus", cursor.focus);
  in.read("head", cursor.cell.head);
  in.read("query", cursor.cell.query);
  in.read("key", cursor.cell.key);
  in.read("decoding", cursor.decoding);
  in.read("step", cursor.step);
  in.read("page", cursor.page);
  in.object("studio", [&](ObjectReader& studio) {
    studio.read("room", kRoomNames, cursor.studio.room);
    studio.read("block_size", cursor.studio.blockSize);
    studio.read("layers", cursor.studio.layers);
    studio.read("residual", cursor.studio.residual);
    studio.read("all_heads", cursor.studio.allHeads);
    studio.read("selected", cursor.studio.selected);
    studio.read("edits_other", cursor.studio.editsOther);
    studio.read("wipe", cursor.studio.wipe);
  });
  in.object("map", [&](ObjectReader& map) {
    map.read("row", cursor.map.row);
    map.read("col", cursor.map.col);
    map.read("cells_per_pixel", cursor.map.cellsPerPixel);
    map.read("query", cursor.map.query);
    map.read("key", cursor.map.key);
  });
}

void readFields(const Json& json, Scene& scene, std::string& error) {
  ObjectReader root(json, "", error);
  std::string format;
  int version = 0;
  root.read("format", format);
  root.read("version", version);
  if (error.empty() && format != "headscope scene")
    root.note("this is not a Headscope scene: \"format\" is " + attention::quotedText(format) +
              ", expected \"headscope scene\"");
  if (error.empty() && (version < 1 || version > kSceneVersion))
    root.note("the scene has version " + std::to_string(version) + ", this program reads versions 1 to " +
              std::to_string(kSceneVersion));
  root.object("input", [&](ObjectReader& in) { readInput(in, scene.setup.input); });
  root.object("model", [&](ObjectReader& in) { readModel(in, scene.setup.model); });
  root.object("weights", [&](ObjectReader& in) { readWeights(in, scene.setup.weights); });
  root.object("mask", [&](ObjectReader& in) {
    if (version == 1)
      readFirstMask(in, scene.setup.mask);
    else
      readMask(in, scene.setup.mask);
  });
  root.read("prefill", scene.setup.prefill);
  root.object("look", [&](ObjectReader& in) { readLook(in, scene.look); });
  root.object("map", [&](ObjectReader& in) { readMap(in, scene.map); });
  root.object("cursor", [&](ObjectReader& in) { readCursor(in, scene.cursor); });
  root.finish();
}

}  // namespace

std::string formatScene(const Scene& scene) {
  const InputSetup& input = scene.setup.input;
  const ModelSetup& model = scene.setup.model;
  const WeightSetup& weights = scene.setup.weights;
  const StudioCursor& studio = scene.cursor.studio;
  Json planted = Json::array();
  for (const auto& head : weights.planted)
    planted.push_back({{"pattern", nameOf(kPatternNames, head.behaviour)}, {"offset", head.offset}});
  Json json;
  json["format"] = "headscope scene";
  json["version"] = kSceneVersion;
  json["input"] = {{"text", input.text},
                   {"tokenization", nameOf(kTokenizationNames, input.tokenization)},
                   {"ignore_case", input.ignoreCase},
                   {"embedding", nameOf(kEmbeddingNames, input.source)},
                   {"table", tableJson(*input.table)},
                   {"seed", input.seed},
                   {"cross", input.cross},
                   {"context", input.contextText}};
  json["model"] = {{"heads", model.heads},
                   {"kv_heads", model.kvHeads},
                   {"head_dim", model.headDim},
                   {"model_dim", model.modelDim},
                   {"linked", model.linked},
                   {"bias", model.bias},
                   {"scaled", model.scaled},
                   {"sharpness", model.sharpness},
                   {"softcap", model.softcap},
                   {"dropout", model.dropout},
                   {"position", nameOf(kPositionNames, model.position)},
                   {"rope_theta", model.ropeTheta},
                   {"t5_buckets", model.t5Buckets},
                   {"t5_distance", model.t5Distance},
                   {"t5_strength", model.t5Strength}};
  json["weights"] = {{"source", nameOf(kWeightNames, weights.source)},
                     {"seed", weights.seed},
                     {"planted", planted},
                     {"file", weights.file}};
  json["mask"] = maskJson(scene.setup.mask);
  json["prefill"] = scene.setup.prefill;
  json["look"] = {{"quantity", nameOf(kQuantityNames, scene.look.quantity)},
                  {"colormap", nameOf(kColormapNames, scene.look.colormap)},
                  {"score_colormap", nameOf(kColormapNames, scene.look.scoreColormap)},
                  {"range", nameOf(kRangeNames, scene.look.range)},
                  {"cache_bytes", scene.look.cacheBytes}};
  json["map"] = {{"source", nameOf(kMapSourceNames, scene.map.source)},
                 {"tokens", scene.map.tokens},
                 {"seed", scene.map.seed},
                 {"file", scene.map.file},
                 {"layer", scene.map.layer},
                 {"pooling", nameOf(kPoolingNames, scene.map.pooling)}};
  json["cursor"] = {{"sequence", scene.cursor.sequence}, {"focus", scene.cursor.focus},
                    {"head", scene.cursor.cell.head},    {"query", scene.cursor.cell.query},
                    {"key", scene.cursor.cell.key},      {"decoding", scene.cursor.decoding},
                    {"step", scene.cursor.step},         {"page", scene.cursor.page}};
  json["cursor"]["studio"] = {{"room", nameOf(kRoomNames, studio.room)},
                              {"block_size", studio.blockSize},
                              {"layers", studio.layers},
                              {"residual", studio.residual},
                              {"all_heads", studio.allHeads},
                              {"selected", studio.selected},
                              {"edits_other", studio.editsOther},
                              {"wipe", studio.wipe}};
  json["cursor"]["map"] = {{"row", scene.cursor.map.row},
                           {"col", scene.cursor.map.col},
                           {"cells_per_pixel", scene.cursor.map.cellsPerPixel},
                           {"query", scene.cursor.map.query},
                           {"key", scene.cursor.map.key}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Scene> parseScene(std::string_view text, const std::string& name) {
  const auto located = [&](const std::string& message) { return Error{name + ": " + message}; };
  // A scene is a few levels deep; the limit keeps hostile nesting off the stack.
  constexpr int kMaxDepth = 16;
  bool tooDeep = false;
  std::string twice;
  std::vector<std::set<std::string>> names;  // in the objects that are open
  const auto watch = [&](int depth, Json::parse_event_t event, Json& value) {
    tooDeep = tooDeep || depth > kMaxDepth;
    if (tooDeep) return false;
    if (event == Json::parse_event_t::object_start) names.emplace_back();
    if (event == Json::parse_event_t::object_end) names.pop_back();
    if (event == Json::parse_event_t::key && !names.back().insert(value).second) twice = value;
    return true;
  };
  Json json;
  try {
    json = Json::parse(text, watch);
  } catch (const Json::parse_error& broken) {
    return located("this is not JSON: unexpected text at byte " + std::to_string(broken.byte));
  } catch (const Json::out_of_range&) {
    return located("this can't be read: a number is too large");
  }
  if (tooDeep) return located("the JSON is nested deeper than a scene can be");
  if (!twice.empty()) return located(attention::quotedText(twice) + " stands twice in one object");
  Scene scene = openingScene();
  std::string error;
  try {
    readFields(json, scene, error);
  } catch (const Json::exception& broken) {
    return located(std::string("a field can't be read: ") + broken.what());
  }
  if (!error.empty()) return located(error);
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
  visit(scene.setup.weights.file);
  visit(scene.map.file);
  visitFiles(scene.setup.mask.layers, visit);
  visitFiles(scene.setup.mask.other, visit);
}

}  // namespace

Result<Scene> readScene(const std::filesystem::path& path) {
  constexpr std::uint64_t kMaxBytes = std::uint64_t{512} << 20;
  Result<std::vector<std::uint8_t>> bytes = attention::readFile(path, kMaxBytes);
  if (!bytes) return bytes.error();
  Result<Scene> scene =
      parseScene({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, path.filename().string());
  // Files are named relative to the scene that names them.
  if (scene.ok())
    visitFiles(*scene, [&](std::string& file) {
      if (!file.empty() && std::filesystem::path(file).is_relative())
        file = (path.parent_path() / file).lexically_normal().string();
    });
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
