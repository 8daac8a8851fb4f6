#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/result.h"

namespace headscope::app {

// Include this only in .cpp files that read or write scenes, so that json stays private to them.

using Json = nlohmann::ordered_json;

/// Limits of a scene file, in addition to texts of kMaxTextBytes: nesting levels, names in one object, and
/// entries in one list.
inline constexpr std::size_t kMaxJsonDepth = 16, kMaxJsonNames = 256, kMaxJsonEntries = 16'384;

/// Returns success if `text` is JSON within these limits, without duplicate names in an object. Reads it
/// once, keeps nothing, and returns an Error at the first problem or once `stop` is requested. If the text
/// isn't JSON, stores the offset in bytes in `brokenAt`. `depth` differs for scenes inside another document.
attention::Status checkJson(std::string_view text, const std::stop_token& stop = {},
                            std::optional<std::size_t>* brokenAt = nullptr,
                            std::size_t depth = kMaxJsonDepth);

/// A value of a JSON document, read in place: as a tree, a document takes many times the memory of its text.
class JsonText {
 public:
  struct Member;

  /// `text` has passed checkJson() and outlives this.
  explicit JsonText(std::string_view text);

  bool isObject() const { return text_.front() == '{'; }
  bool isList() const { return text_.front() == '['; }
  /// In the order of the text. For a list or an object, respectively.
  std::vector<JsonText> entries() const;
  std::vector<Member> members() const;

  /// A text, number, true, false or null; for a list or object, an empty one.
  Json scalar() const;
  /// The number if it is written without fraction and exponent and fits.
  std::optional<std::int64_t> wholeNumber() const;
  std::optional<double> number() const;

  /// The value's place in the text that it was made from.
  std::string_view text() const { return text_; }

  /// For messages: the value in ASCII, shortened if it is long.
  std::string shown() const;

 private:
  std::string_view text_;
};

struct JsonText::Member {
  std::string name;
  JsonText value;
};

}  // namespace headscope::app
