#include <fmt/core.h>

#include <charconv>

#include "app/scene/fields.h"
#include "app/scene/json_text.h"

namespace headscope::app {

// In the same namespace as the overloads for masks and tables, so that one call finds them all.

using PlantedHeads = std::vector<attention::PlantedHead>;

/// Reads behaviours from the list at `path`.
static void readPlan(const std::vector<JsonText>& list, const std::string& path, ObjectReader& reader,
                     PlantedHeads& planted) {
  planted.clear();
  for (std::size_t i = 0; i < list.size() && reader.fault().empty(); ++i) {
    ObjectReader entry(list[i], fmt::format("{}[{}]", path, i), reader.fault());
    attention::PlantedHead& head = planted.emplace_back();
    entry.read("pattern", kBehaviourNames, head.behaviour);
    entry.read("offset", head.offset);
    entry.finish();
  }
}

static void readValue(ObjectReader& reader, const char* key, PlantedHeads& planted) {
  if (const auto list = reader.list(key)) readPlan(*list, reader.at(key), reader, planted);
}

static void readValue(ObjectReader& reader, const char* key, std::vector<PlantedHeads>& layers) {
  const auto lists = reader.list(key);
  if (!lists) return;
  layers.clear();
  for (std::size_t i = 0; i < lists->size() && reader.fault().empty(); ++i) {
    const std::string path = reader.at(fmt::format("{}[{}]", key, i));
    const JsonText& list = (*lists)[i];
    if (!list.isList()) return reader.note(path + " is " + list.shown() + ", expected a list");
    readPlan(list.entries(), path, reader, layers.emplace_back());
  }
}

static Json valueJson(const PlantedHeads& planted) {
  Json list = Json::array();
  for (const attention::PlantedHead& head : planted)
    list.push_back(
        {{"pattern", kBehaviourNames[static_cast<std::size_t>(head.behaviour)]}, {"offset", head.offset}});
  return list;
}

static Json valueJson(const std::vector<PlantedHeads>& layers) {
  Json lists = Json::array();
  for (const PlantedHeads& planted : layers) lists.push_back(valueJson(planted));
  return lists;
}

/// Reads a list of objects; leaves `to` alone if it is missing. `visit` reads each entry.
template <typename T, typename Visit>
static void readEach(ObjectReader& reader, const char* key, std::vector<T>& to, Visit visit) {
  if (reader.value(key)) to.clear();
  reader.objects(key, 0, kMaxJsonEntries, [&](ObjectReader& entry) { visit(entry, to.emplace_back()); });
}

static void readValue(ObjectReader& reader, const char* key, std::vector<SwitchedHead>& heads) {
  readEach(reader, key, heads, [](ObjectReader& entry, SwitchedHead& off) {
    entry.read("layer", off.layer);
    entry.read("head", off.head);
    entry.read("by", kHeadOffNames, off.by);
    if (off.layer < 0 || off.head < 0) entry.note(entry.at("layer") + " and head are counted from 0");
  });
}

static Json valueJson(const std::vector<SwitchedHead>& heads) {
  Json list = Json::array();
  for (const SwitchedHead& off : heads)
    list.push_back(
        {{"layer", off.layer}, {"head", off.head}, {"by", kHeadOffNames[static_cast<std::size_t>(off.by)]}});
  return list;
}

static void readValue(ObjectReader& reader, const char* key, std::vector<KeptPatch>& patches) {
  readEach(reader, key, patches, [](ObjectReader& entry, KeptPatch& patch) {
    entry.read("piece", kPieceNames, patch.piece);
    entry.read("layer", patch.layer);
    entry.read("head", patch.head);
    entry.read("token", patch.token);
    if (patch.layer < 0 || patch.head < -1 || patch.token < -1)
      entry.note(entry.at("layer") + ", head and token are counted from 0; -1 is all heads, all tokens");
  });
}

static Json valueJson(const std::vector<KeptPatch>& patches) {
  Json list = Json::array();
  for (const KeptPatch& patch : patches)
    list.push_back({{"piece", kPieceNames[static_cast<std::size_t>(patch.piece)]},
                    {"layer", patch.layer},
                    {"head", patch.head},
                    {"token", patch.token}});
  return list;
}

static void readValue(ObjectReader& reader, const char* key, std::vector<attention::TokenTie>& ties) {
  readEach(reader, key, ties, [](ObjectReader& entry, attention::TokenTie& tie) {
    entry.read("a", tie.a);
    entry.read("b", tie.b);
    if (tie.a < -1 || tie.b < -1 || (tie.a < 0 && tie.b < 0))
      entry.note(entry.at("a") + " and b are tokens from 0; one of them may be -1, none");
  });
}

static Json valueJson(const std::vector<attention::TokenTie>& ties) {
  Json list = Json::array();
  for (const attention::TokenTie& tie : ties) list.push_back({{"a", tie.a}, {"b", tie.b}});
  return list;
}

static void readValue(ObjectReader& reader, const char* key, std::vector<Index>& ids) {
  const auto list = reader.list(key);
  if (!list) return;
  ids.clear();
  for (std::size_t i = 0; i < list->size() && reader.fault().empty(); ++i) {
    const auto id = (*list)[i].wholeNumber();
    if (!id || *id < 0 || *id > INT32_MAX)
      return reader.note(reader.at(fmt::format("{}[{}]", key, i)) +
                         " is not an id, expected a whole number from 0");
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

/// The double with the fewest digits that reads back as this float: 0.3, not the one nearest to the float.
double shortest(float value) {
  char text[40];
  double number = static_cast<double>(value);
  std::from_chars(text, std::to_chars(text, text + sizeof text, value).ptr, number);
  return number;
}

/// Types that JSON has.
template <typename T>
inline constexpr bool kPlain = std::is_arithmetic_v<T> || std::is_same_v<T, std::string>;

/// Lab's first tab was once the steps of a head, which Flow shows now.
bool isFormerPipeline(const std::string& tab) {
  return tab.empty() || tab == "pipeline";
}

/// Reads the step that it showed.
void readFormerStep(ObjectReader& lab, Cursor& cursor) {
  (void)lab.value("map");
  int step = static_cast<int>(cursor.flow.stage);
  lab.read("step", kPipelineStepNames, step);
  if (cursor.page == "lab" && isFormerPipeline(cursor.lab.tab))
    cursor.flow.stage = static_cast<PipelineStep>(step);
}

}  // namespace

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
  // Older files name a key that somebody chose, newer ones say next whether it was chosen.
  if (field.path == "cursor.key" && reader.has(key)) scene.cursor.keyChosen = true;
  // Names of these tabs in older files.
  std::string& tab = scene.cursor.lab.tab;
  if (tab == "many") tab = "head_count";
  if (tab == "wrong") tab = "mistakes";
  if (std::string_view(key) == "tab" && field.path == "cursor.lab.tab") readFormerStep(reader, scene.cursor);
}

void replaceFormerTab(Cursor& cursor) {
  HeadLabCursor& lab = cursor.lab;
  const bool cached = lab.tab == "precision";
  if (!cached && !isFormerPipeline(lab.tab)) return;
  lab.tab.clear();
  if (cursor.page != "lab") return;
  cursor.page = cached ? "cache" : "flow";
  if (cached)
    cursor.cacheView = CacheView::precision;
  else
    cursor.flow.t = 1;  // a step showed its result
}

Json fieldJson(const Field& field, const Scene& scene) {
  return std::visit(
      [&](const auto& member) -> Json {
        const auto& value = member.of(scene);
        if constexpr (std::is_same_v<decltype(member), const EnumMember&>)
          return std::get<Names>(field.values).names[static_cast<std::size_t>(value)];
        else if constexpr (std::is_same_v<decltype(value), const float&>)
          return shortest(value);
        else if constexpr (kPlain<std::remove_cvref_t<decltype(value)>>)
          return value;
        else
          return valueJson(value);
      },
      field.access);
}

void dropEmptyNames(SharedTable& table) {
  const auto& names = table->names;
  if (std::any_of(names.begin(), names.end(), [](const std::string& name) { return !name.empty(); })) return;
  if (!names.empty()) table.edit().names.clear();
}

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
  std::size_t points = 0;
  readEach(reader, key, read, [&](ObjectReader& entry, PenStroke& stroke) {
    entry.read("page", stroke.page);
    entry.read("on", stroke.on);
    entry.read("arrow", stroke.arrow);
    readCell(entry, stroke);
    readPoints(entry, stroke);
    if (stroke.page.size() > kMaxStrokeName || stroke.on.size() > kMaxStrokeName)
      entry.note(entry.at("on") + fmt::format(" and page have at most {} bytes", kMaxStrokeName));
    points += stroke.points.size();
    if (points > kMaxPenPoints)
      entry.note(
          fmt::format("{} has more than {} points together, the most that a scene's pen lines can have",
                      reader.at(key), kMaxPenPoints));
  });
  if (read != *strokes) strokes = std::move(read);
}

}  // namespace headscope::app
