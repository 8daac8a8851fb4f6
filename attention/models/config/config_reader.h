#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/result.h"
#include "attention/core/tensor.h"

namespace headscope::attention {

/// Largest size accepted in a config.json: no product of three overflows.
inline constexpr Index kMaxConfigSize = Index{1} << 20;
/// Limits for positions and layers.
inline constexpr Index kMaxPositions = Index{1} << 30, kMaxLayers = 4096;

/// Reads fields of an untrusted JSON object by name. A null field counts as absent. The first error is kept
/// in status(), and a failed read returns a harmless value, so a caller can read all fields and check once at
/// the end. Remembers which fields were asked for.
class ConfigReader {
 public:
  /// Returns an Error if the text isn't JSON or isn't an object. Takes the numbers Infinity, -Infinity and
  /// NaN, which Python writes and JSON lacks.
  static Result<ConfigReader> parse(std::string_view text, const std::string& name);

  bool has(std::string_view key) const;
  /// Whether the field is present and null.
  bool isNull(std::string_view key) const;
  /// Reads a whole number from `low` to `high`. An absent field gives `defaultValue`, or an error if there is
  /// none.
  Index size(std::string_view key, std::optional<Index> defaultValue = {}, Index low = 1,
             Index high = kMaxConfigSize) const;
  /// Returns nothing if the field is absent.
  std::optional<Index> optionalSize(std::string_view key, Index low = 1, Index high = kMaxConfigSize) const;
  /// Reads a finite number above 0.
  double positive(std::string_view key, std::optional<double> defaultValue = {}) const;
  std::optional<double> optionalPositive(std::string_view key) const;
  bool flag(std::string_view key, bool defaultValue) const;
  std::string text(std::string_view key, std::string_view defaultValue) const;
  /// Reads `count` finite numbers, above 0 if `positive`.
  std::vector<double> numbers(std::string_view key, Index count, bool positive = false) const;
  std::vector<std::string> texts(std::string_view key) const;
  /// Reads [[["a", "b"], 2], …] as a, b, a, b, …; stops at more than `most` texts.
  std::vector<std::string> repeatedTexts(std::string_view key, Index most) const;
  /// Reads a token id or a list of ids, each at least 0; −1, which means "none", is left out.
  std::vector<Index> tokens(std::string_view key) const;
  /// Reads a list of lists of ids, each at least 0; a null id becomes −1.
  std::vector<std::vector<Index>> tokenLists(std::string_view key) const;
  /// Returns an object inside this one, empty if absent. It shares this reader's errors.
  ConfigReader object(std::string_view key) const;
  /// Returns the objects of a list.
  std::vector<ConfigReader> objects(std::string_view key) const;
  /// Returns the names of all fields that aren't null.
  std::vector<std::string> names() const;
  /// Whether the field was asked for, present or not.
  bool asked(std::string_view key) const;
  /// The paths of all fields of the file that were asked for.
  const std::set<std::string, std::less<>>& asked() const;
  /// Returns a reader of the same file that was asked for nothing and has no error.
  ConfigReader fresh() const;
  /// Returns those that nobody has asked for, and so those of objects that were asked for:
  /// "rope_scaling.factor". Added defaults don't count, nor do values that switch something off: false, 0,
  /// and empty texts and lists.
  std::vector<std::string> unread() const;
  /// Whether the field holds an object, a text or a list.
  bool isObject(std::string_view key) const;
  bool isText(std::string_view key) const;
  bool isList(std::string_view key) const;
  /// Adds the fields of a JSON object that are absent here; a null field counts as present.
  void addDefaults(std::string_view json);
  /// Refuses any value but this one (JSON); an absent field is accepted.
  void expect(std::string_view key, std::string_view value) const;
  /// Whether the field is present with a value other than this one (JSON).
  bool differs(std::string_view key, std::string_view value) const;
  /// Refuses two fields that are both present and differ.
  void expectSame(std::string_view key, std::string_view other) const;

  /// A field's full name for messages: "config.json: rope_scaling.factor".
  std::string at(std::string_view key) const;
  /// A field's name within the file: "rope_scaling.factor".
  std::string path(std::string_view key) const { return path_ + std::string(key); }
  /// Records an error; only the first is kept.
  void fail(const std::string& message) const;
  /// Records the error "`at(key)` is `found`, expected `expected`".
  void refuse(std::string_view key, const std::string& found, const std::string& expected) const;
  Status status() const;

 private:
  struct Document;
  ConfigReader(std::shared_ptr<Document> document, const void* object, std::string path)
      : document_(std::move(document)), object_(object), path_(std::move(path)) {}
  const void* find(std::string_view key) const;
  template <class Convert>
  auto read(std::string_view key, const std::string& expected, const Convert& convert) const;

  std::shared_ptr<Document> document_;
  const void* object_;  ///< a JSON value of the document, or null
  std::string path_;    ///< "rope_scaling."
};

/// The class that saved a model, such as "BertForMaskedLM"; "" if the file doesn't say.
std::string classOf(const ConfigReader& json);

/// The config.json fields that no reader of a family asks for, though its published code knows them or files
/// in circulation have them. Each list holds names separated by spaces.
struct ConfigFields {
  std::string_view ignored = {};  ///< no effect on what is computed here: training, generation, other heads
  /// "name=JSON": only this value is supported; "name=@other": only the value of the other field.
  std::string_view fixed = {};
  const ConfigFields* base = nullptr;  ///< more such fields
};

/// The fields of all families, the base of their own lists, with those that code shared by all reads.
extern const ConfigFields kSharedFields;
/// The fields of rope_scaling and rope_parameters.
extern const ConfigFields kRopeFields;

/// Calls visit(name, text after "=") for each entry of such a list.
template <class Visit>
void forEachField(std::string_view list, Visit&& visit) {
  while (!list.empty()) {
    const std::string_view word = list.substr(0, list.find(' '));
    const auto equals = word.find('=');
    if (!word.empty())
      visit(word.substr(0, equals), equals == word.npos ? std::string_view() : word.substr(equals + 1));
    list.remove_prefix(std::min(word.size() + 1, list.size()));
  }
}

/// Whether `fits` holds for an entry's name.
template <class Fits>
bool anyListed(std::string_view list, Fits&& fits) {
  bool any = false;
  forEachField(list, [&](std::string_view name, std::string_view) { any = any || fits(name); });
  return any;
}
/// Whether such a list has an entry of that name.
inline bool isListed(std::string_view list, std::string_view name) {
  return anyListed(list, [&](std::string_view each) { return each == name; });
}
/// Whether one of these lists of ignored fields has the name.
bool ignores(const ConfigFields& fields, std::string_view name);

/// Reports fields with unsupported values in `json`. Returns the names of fields that are on no list and that
/// nobody has asked for, such as "foo" or "rope_scaling.bar". The object `nested` has the same fields.
std::vector<std::string> checkFields(const ConfigReader& json, const ConfigFields& fields,
                                     std::string_view nested);

}  // namespace headscope::attention
