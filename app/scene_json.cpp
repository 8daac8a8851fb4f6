#include "app/scene_json.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "app/enum_names.h"
#include "attention/formats/file_io.h"
#include "attention/formats/quote.h"

namespace headscope::app {

using attention::Error;
using attention::Result;
using attention::Status;
using Json = nlohmann::ordered_json;

namespace {

template <std::size_t N, typename Enum>
std::string nameOf(const std::array<std::string_view, N>& names, Enum value) {
  return std::string(names[static_cast<std::size_t>(value)]);
}

/// Reads one JSON object field by field; remembers the first thing that is wrong with it.
class ObjectReader {
 public:
  ObjectReader(const Json& json, std::string path, std::string& error)
      : json_(json), path_(std::move(path)), error_(error) {
    if (!json_.is_object()) note((path_.empty() ? "the file" : path_) + " is not an object");
  }

  void read(const char* key, std::string& to) {
    if (const Json* field = find(key, "text", [](const Json& j) { return j.is_string(); })) to = *field;
  }
  void read(const char* key, bool& to) {
    if (const Json* field = find(key, "true or false", [](const Json& j) { return j.is_boolean(); }))
      to = *field;
  }
  void read(const char* key, float& to) {
    double value = to;
    read(key, value);
    to = static_cast<float>(value);
  }
  void read(const char* key, double& to) {
    if (const Json* field = find(key, "a number", [](const Json& j) { return j.is_number(); })) to = *field;
  }
  template <typename Integer>
  requires std::is_integral_v<Integer>
  void read(const char* key, Integer& to) {
    const auto whole = [](const Json& j) {
      if (std::is_unsigned_v<Integer> || j.is_number_unsigned())
        return j.is_number_unsigned() && (std::is_unsigned_v<Integer> || j.get<std::uint64_t>() <= INT32_MAX);
      return j.is_number_integer() && j.get<std::int64_t>() >= INT32_MIN;
    };
    if (const Json* field =
            find(key, std::is_unsigned_v<Integer> ? "a whole number from 0" : "a whole number", whole))
      to = field->get<Integer>();
  }
  template <std::size_t N, typename Enum>
  void read(const char* key, const std::array<std::string_view, N>& names, Enum& to) {
    const Json* field = find(key, "text", [](const Json& j) { return j.is_string(); });
    if (!field) return;
    const std::string word = *field;
    for (std::size_t i = 0; i < N; ++i)
      if (names[i] == word) {
        to = static_cast<Enum>(i);
        return;
      }
    std::string expected;
    for (std::size_t i = 0; i < N; ++i)
      expected += (i == 0 ? "" : i + 1 == N ? " or " : ", ") + std::string(names[i]);
    note(at(key) + " is " + attention::quotedText(word) + ", expected " + expected);
  }
  template <typename Visit>
  void object(const char* key, Visit visit) {
    if (const Json* field = find(key, "an object", [](const Json& j) { return j.is_object(); })) {
      ObjectReader inner(*field, at(key), error_);
      visit(inner);
      inner.finish();
    }
  }
  const Json* array(const char* key) {
    return find(key, "a list", [](const Json& j) { return j.is_array(); });
  }
  std::string at(const std::string& key) const { return path_.empty() ? key : path_ + "." + key; }
  void note(const std::string& message) {
    if (error_.empty()) error_ = message;
  }
  std::string& error() { return error_; }

  /// Call last: a field that nothing asked for is a misspelling or belongs to another version.
  void finish() {
    if (!json_.is_object()) return;
    for (const auto& item : json_.items())
      if (!known_.contains(item.key()))
        note(attention::quotedText(at(item.key())) + " is not a field of a scene");
  }

 private:
  template <typename Fits>
  const Json* find(const char* key, const std::string& expected, Fits fits) {
    known_.insert(key);
    if (!json_.is_object()) return nullptr;
    const auto found = json_.find(key);
    if (found == json_.end()) return nullptr;
    if (fits(*found)) return &*found;
    // In ASCII, so that cutting it never cuts a character.
    std::string shown = found->dump(-1, ' ', true, Json::error_handler_t::replace);
    if (shown.size() > 40) shown = shown.substr(0, 40) + "…";
    note(at(key) + " is " + shown + ", expected " + expected);
    return nullptr;
  }

  const Json& json_;
  std::string path_;
  std::string& error_;
  std::set<std::string> known_;
};

Json tableJson(const attention::Table& table) {
  Json rows = Json::array();
  for (Index row = 0; row < table.values.rows(); ++row) {
    Json values = Json::array();
    for (Index col = 0; col < table.values.cols(); ++col) values.push_back(table.values(row, col));
    rows.push_back(
        {{"name", row < static_cast<Index>(table.names.size()) ? table.names[row] : ""}, {"values", values}});
  }
  return rows;
}

void readTableRow(const Json& json, const std::string& path, Index row, attention::Table& table,
                  std::string& error) {
  ObjectReader reader(json, path, error);
  std::string rowName;
  reader.read("name", rowName);
  table.names.push_back(rowName);
  const Json* values = reader.array("values");
  reader.finish();
  if (!values || !error.empty()) return;
  const auto cols = static_cast<Index>(values->size());
  if (row == 0 ? cols == 0 || cols > kMaxModelDim : cols != table.values.cols())
    return reader.note(
        path + " has " + std::to_string(cols) + " values, expected " +
        (row == 0 ? "1 to " + std::to_string(kMaxModelDim) : std::to_string(table.values.cols())));
  if (row == 0) table.values.resize(table.values.rows(), cols);
  for (Index col = 0; col < cols; ++col) {
    const Json& value = (*values)[static_cast<std::size_t>(col)];
    if (!value.is_number() || !std::isfinite(value.get<float>()))
      return reader.note(path + ".values[" + std::to_string(col) + "] is not a finite number");
    table.values(row, col) = value;
  }
}

void readTable(ObjectReader& reader, SharedTable& shared) {
  const Json* rows = reader.array("table");
  if (!rows) return;
  attention::Table table;
  if (rows->size() > static_cast<std::size_t>(kMaxTokens))
    return reader.note(reader.at("table") + " has " + std::to_string(rows->size()) +
                       " rows, expected at most " + std::to_string(kMaxTokens));
  table.values.resize(static_cast<Index>(rows->size()), 0);
  for (std::size_t row = 0; row < rows->size() && reader.error().empty(); ++row)
    readTableRow((*rows)[row], reader.at("table[" + std::to_string(row) + "]"), static_cast<Index>(row),
                 table, reader.error());
  shared = std::move(table);
}

void readPlanted(ObjectReader& reader, std::vector<attention::PlantedHead>& planted) {
  const Json* list = reader.array("planted");
  if (!list) return;
  planted.clear();
  for (std::size_t i = 0; i < list->size() && reader.error().empty(); ++i) {
    ObjectReader entry((*list)[i], reader.at("planted[" + std::to_string(i) + "]"), reader.error());
    attention::PlantedHead head;
    entry.read("pattern", kPatternNames, head.pattern);
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
  readTable(in, input.table);
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
}

void readWeights(ObjectReader& in, WeightSetup& weights) {
  in.read("source", kWeightNames, weights.source);
  in.read("seed", weights.seed);
  readPlanted(in, weights.planted);
  in.read("file", weights.file);
}

void readMask(ObjectReader& in, MaskSetup& mask) {
  in.read("causal", mask.causal);
  in.read("padding", mask.padding);
  in.read("window", mask.window);
  in.read("window_size", mask.windowSize);
  in.read("sinks", mask.sinks);
  in.read("sink_count", mask.sinkCount);
}

void readLook(ObjectReader& in, Look& look) {
  in.read("quantity", kQuantityNames, look.quantity);
  in.read("colormap", kColormapNames, look.colormap);
  in.read("score_colormap", kColormapNames, look.scoreColormap);
  in.read("range", kRangeNames, look.range);
  in.read("cache_bytes", look.cacheBytes);
}

void readCursor(ObjectReader& in, Cursor& cursor) {
  in.read("sequence", cursor.sequence);
  in.read("focus", cursor.focus);
  in.read("head", cursor.cell.head);
  in.read("query", cursor.cell.query);
  in.read("key", cursor.cell.key);
  in.read("decoding", cursor.decoding);
  in.read("step", cursor.step);
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
  if (error.empty() && version != kSceneVersion)
    root.note("the scene has version " + std::to_string(version) + ", this program reads version " +
              std::to_string(kSceneVersion));
  root.object("input", [&](ObjectReader& in) { readInput(in, scene.setup.input); });
  root.object("model", [&](ObjectReader& in) { readModel(in, scene.setup.model); });
  root.object("weights", [&](ObjectReader& in) { readWeights(in, scene.setup.weights); });
  root.object("mask", [&](ObjectReader& in) { readMask(in, scene.setup.mask); });
  root.read("prefill", scene.setup.prefill);
  root.object("look", [&](ObjectReader& in) { readLook(in, scene.look); });
  root.object("cursor", [&](ObjectReader& in) { readCursor(in, scene.cursor); });
  root.finish();
}

}  // namespace

std::string formatScene(const Scene& scene) {
  const InputSetup& input = scene.setup.input;
  const ModelSetup& model = scene.setup.model;
  const WeightSetup& weights = scene.setup.weights;
  const MaskSetup& mask = scene.setup.mask;
  Json planted = Json::array();
  for (const auto& head : weights.planted)
    planted.push_back({{"pattern", nameOf(kPatternNames, head.pattern)}, {"offset", head.offset}});
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
                   {"rope_theta", model.ropeTheta}};
  json["weights"] = {{"source", nameOf(kWeightNames, weights.source)},
                     {"seed", weights.seed},
                     {"planted", planted},
                     {"file", weights.file}};
  json["mask"] = {{"causal", mask.causal}, {"padding", mask.padding},
                  {"window", mask.window}, {"window_size", mask.windowSize},
                  {"sinks", mask.sinks},   {"sink_count", mask.sinkCount}};
  json["prefill"] = scene.setup.prefill;
  json["look"] = {{"quantity", nameOf(kQuantityNames, scene.look.quantity)},
                  {"colormap", nameOf(kColormapNames, scene.look.colormap)},
                  {"score_colormap", nameOf(kColormapNames, scene.look.scoreColormap)},
                  {"range", nameOf(kRangeNames, scene.look.range)},
                  {"cache_bytes", scene.look.cacheBytes}};
  json["cursor"] = {{"sequence", scene.cursor.sequence}, {"focus", scene.cursor.focus},
                    {"head", scene.cursor.cell.head},    {"query", scene.cursor.cell.query},
                    {"key", scene.cursor.cell.key},      {"decoding", scene.cursor.decoding},
                    {"step", scene.cursor.step}};
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

Result<Scene> readScene(const std::filesystem::path& path) {
  constexpr std::uint64_t kMaxBytes = std::uint64_t{512} << 20;
  Result<std::vector<std::uint8_t>> bytes = attention::readFile(path, kMaxBytes);
  if (!bytes) return bytes.error();
  Result<Scene> scene =
      parseScene({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, path.filename().string());
  // A weights file is named relative to the scene that names it.
  if (scene.ok() && !scene->setup.weights.file.empty() &&
      std::filesystem::path(scene->setup.weights.file).is_relative())
    scene->setup.weights.file = (path.parent_path() / scene->setup.weights.file).lexically_normal().string();
  return scene;
}

Status writeScene(const std::filesystem::path& path, const Scene& scene) {
  Scene written = scene;
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::absolute(path, ignored).parent_path();
  // Weights in the scene's folder or below move with it; others are named in full.
  if (std::string& file = written.setup.weights.file; !ignored && !file.empty()) {
    const std::filesystem::path weights = std::filesystem::absolute(file, ignored).lexically_normal();
    const std::filesystem::path relative = weights.lexically_relative(folder.lexically_normal());
    file = relative.empty() || *relative.begin() == ".." ? weights.string() : relative.string();
  }
  return attention::writeFile(path, formatScene(written));
}

}  // namespace headscope::app
