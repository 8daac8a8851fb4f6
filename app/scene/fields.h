#pragma once

#include <type_traits>

#include "app/scene/scene.h"

namespace headscope::app {

// The parts of a row in the document's table of fields. The rows themselves are in fields.h.

/// Reads and changes one member of a scene.
template <typename T>
struct Member {
  const T& (*of)(const Scene&);
  T& (*edit)(Scene&);
};
/// The same for an enum, by the number of its value: 0, 1, ….
struct EnumMember {
  int (*of)(const Scene&);
  void (*set)(Scene&, int);
};

using Paintings = std::map<std::string, SharedValue<attention::CellTable>>;
using Access = std::variant<
    Member<bool>, Member<Index>, Member<std::uint64_t>, Member<float>, Member<double>, EnumMember,
    Member<std::string>, Member<SharedText>, Member<SharedTable>, Member<SharedLayers>, Member<Paintings>,
    Member<SharedMarks>, Member<SharedStrokes>, Member<std::vector<attention::PlantedHead>>,
    Member<std::vector<std::vector<attention::PlantedHead>>>, Member<std::vector<SwitchedHead>>,
    Member<std::vector<KeptPatch>>, Member<std::vector<attention::TokenTie>>, Member<std::vector<Index>>>;

template <auto... Steps>
const auto& memberOf(const Scene& scene) {
  return (scene.*....*Steps);
}
template <auto... Steps>
auto& memberOf(Scene& scene) {
  return (scene.*....*Steps);
}
/// The member reached from a scene by a chain of pointers to members.
template <auto... Steps>
constexpr Access access() {
  using T = std::remove_cvref_t<decltype(memberOf<Steps...>(std::declval<Scene&>()))>;
  if constexpr (std::is_enum_v<T>)
    return EnumMember{[](const Scene& scene) { return static_cast<int>(memberOf<Steps...>(scene)); },
                      [](Scene& scene, int value) { memberOf<Steps...>(scene) = static_cast<T>(value); }};
  else
    return Member<T>{[](const Scene& scene) -> const T& { return memberOf<Steps...>(scene); },
                     [](Scene& scene) -> T& { return memberOf<Steps...>(scene); }};
}

/// Legal numbers: low to high; whole numbers are `step` apart, starting at low.
struct Range {
  double low, high;
  const char* unit = "";  ///< "tokens"
  Index step = 1;
};
/// A small set of legal numbers.
struct OneOf {
  std::span<const Index> values;
};
/// Words in a scene file, in the order of the enum's values.
struct Names {
  std::span<const std::string_view> names;
};
/// Legal values that aren't numbers, in words.
struct Anything {
  const char* words;
};
inline constexpr Anything kYesOrNo{"true or false"};
using Values = std::variant<Range, OneOf, Names, Anything>;

enum class Scale { linear, logarithmic, cubic };
/// The numbers a slider reaches by dragging; any legal number can be typed. low == high: the field's range.
struct Track {
  double low = 0, high = 0;
  Scale scale = Scale::linear;
};

// Controls. `name` is the name in tests; a choice is NAME.VALUE, with the value as in JSON. `when` lists
// field values that put the control on the screen and let it reach all of its values: "cursor.page=map
// map.source=generated".

struct Slider {
  const char *name, *label;
  Track track = {};
  const char* when = "";
  const char* upTo = "";     ///< what else limits the track: "the tokens"
  const char* section = "";  ///< the section of a panel that draws it automatically
};
struct Toggle {
  const char *name, *label;
  const char* when = "";
};
/// A choice of one value, with a label for each.
struct Selection {
  const char* name;
  std::span<const std::string_view> labels;
  const char* when = "";
  bool list = false;  ///< a drop-down list; otherwise buttons in a row
};
/// No slider, toggle or selection: how the field is changed instead, and what it is called in lists of
/// changes; "" = by the last word of its path.
struct Elsewhere {
  const char* how;
  const char* label = "";
};
using Control = std::variant<Elsewhere, Slider, Toggle, Selection>;

/// One field of the document.
struct Field {
  std::string_view path;  ///< in a scene's JSON: "model.softcap"
  Access access;
  Values values;
  Control control;
  const char* help;        ///< one sentence, with the formula if there is one
  const char* words = "";  ///< other words that people search for; commas separate phrases
};

/// Whether `value` is legal for this field.
bool allows(const Field& field, double value);
/// Describes the field's legal values: "0 to 1000", "4, 2 or 1", "max or mean".
std::string valuesText(const Field& field);
/// "model.softcap is 1001, expected 0 to 1000"; "" if the scene's value is legal.
std::string illegalValue(const Field& field, const Scene& scene);
/// The track of the field's slider; only for fields that have one.
Track trackOf(const Field& field);
/// Choices by their index among the labels: the name in JSON, the scene's choice, and choosing another.
std::string choiceName(const Field& field, std::size_t choice);
int chosenIn(const Field& field, const Scene& scene);
void choose(const Field& field, Scene& scene, int choice);
/// Joins words: "a, b or c".
std::string alternatives(const std::vector<std::string>& words);
/// Formats a number briefly: "0.95", "131072", "1e9".
std::string shortNumber(double value);

// The names of enum values in scene files, in the order of the enums.

inline constexpr std::array<std::string_view, 3> kTokenizationNames{"words", "characters", "bytes"};
inline constexpr std::array<std::string_view, 2> kEmbeddingNames{"text", "table"};
inline constexpr std::array<std::string_view, 5> kPositionNames{"none", "sinusoidal", "rope", "alibi", "t5"};
inline constexpr std::array<std::string_view, 2> kScopeNames{"all", "one"};
inline constexpr std::array<std::string_view, 2> kHeadOffNames{"zero", "mean"};
inline constexpr std::array<std::string_view, 3> kWeightNames{"random", "planted", "file"};
inline constexpr std::array<std::string_view, 2> kWeightInitNames{"xavier", "normal"};
inline constexpr std::array<std::string_view, 8> kBehaviourNames{
    "offset", "first_token", "same_token", "local_band", "uniform", "separator", "random", "induction"};
inline constexpr std::array<std::string_view, 3> kQuantityNames{"weights", "scores", "after_dropout"};
inline constexpr std::array<std::string_view, 4> kRangeNames{"per_head", "shared", "unit", "logarithmic"};
inline constexpr std::array<std::string_view, 6> kColormapNames{"viridis", "cividis", "magma",
                                                                "blues",   "greys",   "diverging"};

inline constexpr std::array<std::string_view, 3> kMapSourceNames{"scene", "generated", "file"};
inline constexpr std::array<std::string_view, 2> kPoolingNames{"max", "mean"};
// What the map has of these: `look` as on the other pages, then the names above.
inline constexpr std::array<std::string_view, 5> kMapRangeNames{"look", "per_head", "shared", "unit",
                                                                "logarithmic"};
inline constexpr std::array<std::string_view, 7> kMapColormapNames{"look",  "viridis", "cividis",  "magma",
                                                                   "blues", "greys",   "diverging"};
inline constexpr std::array<std::string_view, 5> kCacheViewNames{"growth", "shapes", "precision", "eviction",
                                                                 "paging"};
inline constexpr std::array<std::string_view, 2> kMemoryPlotNames{"cache", "matrices"};
inline constexpr std::array<std::string_view, 2> kWorkPlotNames{"prefill", "decode"};
inline constexpr std::array<std::string_view, 5> kModelViewNames{"heads", "patch", "attribution", "lens",
                                                                 "study"};
inline constexpr std::array<std::string_view, 3> kPictureMapNames{"query", "first", "rollout"};
inline constexpr std::array<std::string_view, 3> kShownTextNames{"a", "b", "difference"};
inline constexpr std::array<std::string_view, 3> kStudyShapeNames{"table", "map", "scatter"};
inline constexpr std::array<std::string_view, 8> kPieceNames{"stream",  "queries", "keys", "values",
                                                             "pattern", "head",    "mlp",  "middle"};
inline constexpr std::array<std::string_view, 3> kTabNames{"mask", "biases", "compare"};

/// All fields of the document, in the order of its JSON, with the fields of an object together. Files,
/// validation, controls, the manual's table and the tests' random scenes use this list. A new field needs a
/// member of the scene and a row here.
const std::vector<Field>& allFields();

/// Returns the row of a path. Throws std::invalid_argument if there is none.
const Field& fieldAt(std::string_view path);

/// Field names in older files, and the current names.
inline constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kFormerPaths{
    {{"cursor.cache_room", "cursor.cache_view"},
     {"cursor.studio.room", "cursor.studio.view"},
     {"cursor.lab.room", "cursor.lab.view"}}};

/// Formats the manual's table of fields as Markdown.
std::string fieldsMarkdown();

// The rows, by area.
std::span<const Field> setupFields();
std::span<const Field> maskFields();
std::span<const Field> compareFields();
std::span<const Field> costFields();
std::span<const Field> viewFields();

/// Returns an Error for the first field out of range: its JSON name, what was found, and what was expected.
attention::Status validate(const Scene& scene);

/// A field that differs, before and now: "Window", "4", "6". Both are empty if the label says it all: "vector
/// of “cat”". Long values are cut to what differs.
struct ChangedField {
  std::string label, before, now;
};
/// "Window 4 → 6".
std::string changeText(const ChangedField& change);
/// Returns the changed fields among `paths`, except where the user looks.
std::vector<ChangedField> changesBetween(const std::vector<std::string>& paths, const Scene& before,
                                         const Scene& now);
/// Returns every changed field of the document.
std::vector<ChangedField> changesBetween(const Scene& before, const Scene& now);
/// Names a change for a list: "Heads 4 → 8", "Mask: 3 cells painted", "Talk: notes of view 2"; of several
/// fields, the first two and how many more. "Edit" if nothing differs.
std::string changeName(const Scene& before, const Scene& now);

}  // namespace headscope::app
