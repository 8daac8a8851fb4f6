#include "app/commands/figure_numbers.h"

#include <fmt/core.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "app/commands/figure_table.h"
#include "app/compute/layer/layer_inputs.h"
#include "app/compute/model/pair_study.h"
#include "app/scene/fields.h"
#include "attention/formats/files/file_io.h"
#include "attention/formats/tables.h"

namespace headscope::app {

using attention::asSize;
using attention::Error;
using attention::Result;
using attention::Status;
using Json = nlohmann::ordered_json;

namespace {

/// Rows with the same columns, and what each column is.
struct Numbers {
  Json rows = Json::array(), definitions = Json::object();
};

std::string wordOf(const PairStudy& pair, Index id) {
  const auto text = pair.opened->tokenizer->decode(std::vector{static_cast<attention::TokenId>(id)});
  return text ? *text : "";
}

/// Null unless it is finite.
Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}
Json number(float value) {
  return number(std::stod(fmt::format("{}", value)));  // the shortest that reads back as the same float
}

Result<Numbers> lensNumbers(const std::shared_ptr<const PairStudy>& pair) {
  Numbers all;
  all.definitions = {{"stop", "where the residual stream is read: 0 is the embedding, l + 1 after layer l"},
                     {"token", "the prediction is of what follows this token"},
                     {"likeliest", "the most likely next token through the final norm and the vocabulary"},
                     {"logit_difference", "logit of the answer minus that of the other answer"}};
  for (const bool ofB : {false, true}) {
    if (ofB && !pair->b) continue;
    const LensQuestion question{pair, ofB};
    const auto map = mapLens(question, {});
    if (!map) return map.error();
    for (Index stop = 0; stop < map->top.rows(); ++stop)
      for (Index token = 0; token < map->top.cols(); ++token)
        all.rows.push_back({{"text", ofB ? "B" : "A"},
                            {"stop", stop},
                            {"token", token},
                            {"token_text", question.text().text.tokens[asSize(token)].text},
                            {"likeliest_id", map->top(stop, token)},
                            {"likeliest", wordOf(*pair, map->top(stop, token))},
                            {"probability", number(map->probability(stop, token))},
                            {"answer_probability", number(map->answer(stop, token))},
                            {"logit_difference", number(map->difference(stop, token))}});
  }
  return all;
}

Result<Numbers> attributionNumbers(const std::shared_ptr<const PairStudy>& pair) {
  Numbers all;
  all.definitions = {{"piece", "what writes to the residual stream"},
                     {"key", "the token that a head read; none: all tokens together"},
                     {"value",
                      "its part of the logit difference after the last token, final norm's scale held, "
                      "value biases folded into the attention bias; the rows without a key sum to it"}};
  const auto study = studyAttribution({pair}, {});
  if (!study) return study.error();
  const auto add = [&](const char* name, const RecordedText& text, const attention::Attribution& of) {
    for (const attention::Contribution& part : of.parts) {
      Json row{{"text", name},
               {"piece", writerText(part)},
               {"layer", part.layer < 0 ? Json(nullptr) : Json(part.layer)},
               {"head", part.head < 0 ? Json(nullptr) : Json(part.head)},
               {"key", nullptr},
               {"key_text", nullptr},
               {"value", number(part.value)}};
      all.rows.push_back(row);
      if (part.by != attention::Writer::head || of.byKey.empty()) continue;
      for (Index key = 0; key < of.byKey.cols(); ++key) {
        row["key"] = key;
        row["key_text"] = pair->keyTokens(text)[asSize(key)].text;
        row["value"] = number(of.byKey.at(part.layer, part.head, key));
        all.rows.push_back(row);
      }
    }
  };
  add("A", pair->a, study->a);
  if (study->b) add("B", *pair->b, *study->b);
  return all;
}

Result<Numbers> patchNumbers(const std::shared_ptr<const PairStudy>& pair, const Scene& scene) {
  if (!pair->b) return Error{"patching needs a second text, compare.text"};
  Numbers all;
  all.definitions = {
      {"piece", "what of one text is put into the other"},
      {"at", "what `index` counts: head, kv_head or token of the patched text"},
      {"logit_difference", "logit of the answer minus that of the other answer with the patch"},
      {"recovered", "how far it has moved from the patched text's own (0) to the other's (1)"}};
  const ModelCursor& cursor = scene.cursor.model;
  for (const auto& [piece, byToken] : {std::pair(cursor.piece, false), {cursor.tokenPiece, true}}) {
    const PatchGridQuestion question{{pair, scene.compare.intoA}, piece, byToken};
    const auto grid = computePatchGrid(
        question, [] { return Index{0}; }, [](const PatchGrid&) {}, {});
    if (!grid) return grid.error();
    const char* const at = question.columnsAreTokens()                          ? "token"
                           : question.columns() == pair->opened->config().heads ? "head"
                                                                                : "kv_head";
    for (Index layer = 0; layer < question.rows(); ++layer)
      for (Index index = 0; index < question.columns(); ++index)
        all.rows.push_back({{"into", scene.compare.intoA ? "A" : "B"},
                            {"piece", kPieceNames[static_cast<std::size_t>(piece)]},
                            {"layer", layer},
                            {"at", at},
                            {"index", index},
                            {"logit_difference", number(grid->difference(layer, index))},
                            {"recovered", number(grid->recovered(layer, index))}});
  }
  return all;
}

std::string csvField(const Json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? attention::quotedField(value.get_ref<const std::string&>()) : value.dump();
}

/// Rows that are made one by one, since a table of them is larger than its text.
struct Rows {
  std::size_t count = 0;
  std::function<Json(std::size_t)> at;
};

std::string csvText(const Rows& rows) {
  std::string csv;
  for (const Json first = rows.at(0); const auto& [name, value] : first.items())
    csv += (csv.empty() ? "" : ",") + name;
  csv += "\n";
  for (std::size_t i = 0; i < rows.count; ++i) {
    std::string line;
    for (const Json row = rows.at(i); const auto& [name, value] : row.items())
      line += (line.empty() ? "" : ",") + csvField(value);
    csv += line + "\n";
  }
  return csv;
}

/// `head` names what the numbers are of. A row takes one line.
std::string jsonText(const Json& head, const Rows& rows) {
  std::string json = head.dump(1, ' ', false, Json::error_handler_t::replace);
  json.resize(json.size() - 2);  // "\n}"
  json += ",\n \"rows\": [";
  for (std::size_t i = 0; i < rows.count; ++i)
    json += (i == 0 ? "\n  " : ",\n  ") + rows.at(i).dump(-1, ' ', false, Json::error_handler_t::replace);
  return json + "\n ]\n}\n";
}

Json headOf(const PairStudy& pair, PictureKind what) {
  Json json{{"figure", kPictureNames[static_cast<std::size_t>(what)]},
            {"model", pair.opened->name},
            {"answer", wordOf(pair, pair.answers.id)},
            {"other_answer", wordOf(pair, pair.answers.other.value_or(pair.answers.id))},
            {"logit_difference", pair.a.difference}};
  if (pair.b) json["other_logit_difference"] = pair.b->difference;
  return json;
}

Json headOf(const Scene& scene, PictureKind what) {
  Json json{{"figure", kPictureNames[static_cast<std::size_t>(what)]}};
  if (what == PictureKind::cache)
    json["view"] = kCacheViewNames[static_cast<std::size_t>(scene.cursor.cacheView)];
  return json;
}

Json jsonOf(const TableValue& value) {
  return std::visit(
      []<typename T>(const T& held) -> Json {
        if constexpr (std::is_same_v<T, std::monostate>)
          return nullptr;
        else if constexpr (std::is_floating_point_v<T>)
          return number(held);
        else
          return held;
      },
      value);
}

Rows rowsOf(const FigureTable& table) {
  return {table.rows.size(), [&table](std::size_t i) {
            Json row = Json::object();
            for (std::size_t c = 0; c < table.columns.size(); ++c)
              row[table.columns[c]] = jsonOf(table.rows[i][c]);
            return row;
          }};
}

Rows rowsOf(const Numbers& numbers) {
  return {numbers.rows.size(), [&numbers](std::size_t i) { return numbers.rows[i]; }};
}

Status writeNumbers(const std::filesystem::path& path, Json head, const Json& definitions, const Rows& rows) {
  if (rows.count == 0) return Error{"the figure has no numbers"};
  head["definitions"] = definitions;
  const std::string text = path.extension() == ".csv" ? csvText(rows) : jsonText(head, rows);
  return attention::writeFile(path, std::string_view(text));
}

}  // namespace

bool isNumberFile(const std::filesystem::path& path) {
  return path.extension() == ".csv" || path.extension() == ".json";
}

Status writeFigureNumbers(const std::filesystem::path& path, const Scene& scene, PictureKind what) {
  const bool ofLayer = what == PictureKind::heads || what == PictureKind::head || what == PictureKind::mask ||
                       what == PictureKind::cache;
  const bool ofPair =
      what == PictureKind::lens || what == PictureKind::attribution || what == PictureKind::patch;
  if (!ofLayer && !ofPair)
    return Error{
        fmt::format("--what {} draws a picture, expected heads, head, mask, cache, patch, attribution or "
                    "lens for numbers; "
                    "headscope cost --json writes costs, headscope model all heads of a model",
                    kPictureNames[static_cast<std::size_t>(what)])};
  const auto painted = paintedScene(what, scene);
  if (!painted) return painted.error();
  if (ofLayer) {
    const auto table = layerTable(*painted, what);
    if (!table) return table.error();
    Json definitions = Json::object();
    for (const auto& [column, definition] : table->definitions) definitions[column] = definition;
    return writeNumbers(path, headOf(*painted, what), definitions, rowsOf(*table));
  }
  Resources resources(defaultLimits());
  auto studied = studyPair(pairQuestion(*painted), resources, {});
  if (!studied) return studied.error();
  const auto pair = std::make_shared<const PairStudy>(*std::move(studied));
  const auto numbers = what == PictureKind::lens          ? lensNumbers(pair)
                       : what == PictureKind::attribution ? attributionNumbers(pair)
                                                          : patchNumbers(pair, *painted);
  if (!numbers) return numbers.error();
  return writeNumbers(path, headOf(*pair, what), numbers->definitions, rowsOf(*numbers));
}

}  // namespace headscope::app
