#include "app/scene/pen_json.h"

#include <fmt/core.h>

#include <cmath>

namespace headscope::app {

namespace {

/// A coordinate for JSON: few digits that read back as the same float.
double coordinate(float value) {
  return std::round(static_cast<double>(value) / static_cast<double>(kPointGrain)) / 1e4;
}

void readPoints(ObjectReader& reader, PenStroke& stroke) {
  const auto list = reader.list("points");
  if (!list) return;
  if (list->size() % 2 != 0 || list->size() > 2 * kMaxStrokePoints)
    return reader.note(fmt::format("{} has {} numbers, expected pairs, {} at most", reader.at("points"),
                                   list->size(), kMaxStrokePoints));
  std::vector<float> numbers;
  for (const JsonText& entry : *list) {
    const auto value = entry.number();
    if (!value || !(std::abs(*value) <= static_cast<double>(kFarthestPoint)))
      return reader.note(fmt::format("{} has {}, expected a number from -{} to {}", reader.at("points"),
                                     entry.shown(), kFarthestPoint, kFarthestPoint));
    numbers.push_back(static_cast<float>(coordinate(static_cast<float>(*value))));
  }
  for (std::size_t i = 0; i < numbers.size(); i += 2) stroke.points.push_back({numbers[i], numbers[i + 1]});
}

/// Reads at most a row and a column.
void readCell(ObjectReader& reader, PenStroke& stroke) {
  const auto list = reader.list("cell");
  if (!list) return;
  if (list->size() > 2)
    return reader.note(fmt::format("{} has {} tokens, expected at most 2", reader.at("cell"), list->size()));
  for (const JsonText& each : *list) {
    ObjectReader entry(each, reader.at("cell"), reader.fault());
    PenToken token;
    entry.read("at", token.at);
    entry.read("of", token.of);
    entry.read("word", token.word);
    if (token.at < 0 || token.of < 0 || token.word.size() > kMaxStrokeName)
      entry.note(entry.at("at") +
                 fmt::format(" and of are counts, word has at most {} bytes", kMaxStrokeName));
    entry.finish();
    stroke.cell.push_back(std::move(token));
  }
}

}  // namespace

Json valueJson(const SharedStrokes& strokes) {
  Json list = Json::array();
  for (const PenStroke& stroke : *strokes) {
    Json points = Json::array();
    for (const PenPoint& point : stroke.points) {
      points.push_back(coordinate(point.x));
      points.push_back(coordinate(point.y));
    }
    Json cell = Json::array();
    for (const PenToken& token : stroke.cell)
      cell.push_back({{"at", token.at}, {"of", token.of}, {"word", token.word}});
    list.push_back({{"page", stroke.page},
                    {"on", stroke.on},
                    {"cell", std::move(cell)},
                    {"arrow", stroke.arrow},
                    {"points", std::move(points)}});
  }
  return list;
}

void readValue(ObjectReader& reader, const char* key, SharedStrokes& strokes) {
  const auto list = reader.list(key);
  if (!list) return;
  if (list->size() > kMaxStrokes)
    return reader.note(
        fmt::format("{} has {} lines, expected at most {}", reader.at(key), list->size(), kMaxStrokes));
  std::vector<PenStroke> read;
  for (std::size_t i = 0; i < list->size() && reader.fault().empty(); ++i) {
    ObjectReader entry((*list)[i], reader.at(key + fmt::format("[{}]", i)), reader.fault());
    PenStroke stroke;
    entry.read("page", stroke.page);
    entry.read("on", stroke.on);
    entry.read("arrow", stroke.arrow);
    readCell(entry, stroke);
    readPoints(entry, stroke);
    if (stroke.page.size() > kMaxStrokeName || stroke.on.size() > kMaxStrokeName)
      entry.note(entry.at("on") + fmt::format(" and page have at most {} bytes", kMaxStrokeName));
    entry.finish();
    read.push_back(std::move(stroke));
  }
  if (read != *strokes) strokes = std::move(read);
}

}  // namespace headscope::app
