#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/result.h"
#include "attention/core/tensor.h"

namespace headscope::attention {

/// Sizes in a config.json are at most this: no product of three overflows.
inline constexpr Index kMaxConfigSize = Index{1} << 20;
/// Positions and layers have limits of their own.
inline constexpr Index kMaxPositions = Index{1} << 30, kMaxLayers = 4096;

/// Takes fields out of an untrusted JSON object by name. A field that is null counts as absent. The first
/// thing that is wrong is remembered and every read gives something harmless, so that a reader is a list of
/// fields with one check at its end.
class ConfigReader {
 public:
  /// Errors: no JSON, no object.
  static Result<ConfigReader> parse(std::string_view text, const std::string& name);

  bool has(std::string_view key) const;
  /// Whether the field is there and null.
  bool isNull(std::string_view key) const;
  /// A whole number from `low` to `high`; `standard` where the field is absent, an error if there is none.
  Index size(std::string_view key, std::optional<Index> standard = {}, Index low = 1,
             Index high = kMaxConfigSize) const;
  /// Nothing where the field is absent.
  std::optional<Index> optionalSize(std::string_view key, Index low = 1, Index high = kMaxConfigSize) const;
  /// A finite number above 0.
  double positive(std::string_view key, std::optional<double> standard = {}) const;
  std::optional<double> optionalPositive(std::string_view key) const;
  bool flag(std::string_view key, bool standard) const;
  std::string text(std::string_view key, std::string_view standard) const;
  /// `count` finite numbers above 0.
  std::vector<double> positives(std::string_view key, Index count) const;
  /// `count` finite numbers.
  std::vector<double> numbers(std::string_view key, Index count) const;
  std::vector<std::string> texts(std::string_view key) const;
  /// A token's id or a list of them, each at least 0; −1, which says that there is none, is left out.
  std::vector<Index> tokens(std::string_view key) const;
  /// A list of lists of ids, each at least 0; one that is null is −1.
  std::vector<std::vector<Index>> tokenLists(std::string_view key) const;
  /// An object inside this one, empty where it is absent. Shares the errors.
  ConfigReader object(std::string_view key) const;
  /// Of all fields that aren't null.
  std::vector<std::string> names() const;
  /// Whether the field holds an object, a text, a list.
  bool isObject(std::string_view key) const;
  bool isText(std::string_view key) const;
  bool isList(std::string_view key) const;
  /// Adds the fields of an object, given in JSON, that are absent here; one that is null is there.
  void addDefaults(std::string_view json);
  /// Refuses any value but this one, in JSON; a field that is absent has it.
  void expect(std::string_view key, std::string_view value) const;
  /// Whether the field is there with another value than this one, in JSON.
  bool differs(std::string_view key, std::string_view value) const;
  /// Refuses two fields that are there and differ.
  void expectSame(std::string_view key, std::string_view other) const;

  /// "config.json: rope_scaling.factor", for messages.
  std::string at(std::string_view key) const;
  /// "rope_scaling.factor".
  std::string path(std::string_view key) const { return path_ + std::string(key); }
  /// Remembers the first.
  void fail(const std::string& message) const;
  /// "`at(key)` is `found`, expected `expected`".
  void refuse(std::string_view key, const std::string& found, const std::string& expected) const;
  Status status() const;

 private:
  struct Document;
  ConfigReader(std::shared_ptr<Document> document, const void* object, std::string path)
      : document_(std::move(document)), object_(object), path_(std::move(path)) {}
  const void* find(std::string_view key) const;
  std::vector<double> list(std::string_view key, Index count, bool positive) const;
  void unexpected(std::string_view key, const void* found, const std::string& expected) const;

  std::shared_ptr<Document> document_;
  const void* object_;  ///< a JSON value of the document, or null
  std::string path_;    ///< "rope_scaling."
};

}  // namespace headscope::attention
