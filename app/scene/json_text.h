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

// Only .cpp files that read or write scenes include this: json stays private to them.

using Json = nlohmann::ordered_json;

/// What a scene file may hold at most, beside texts of kMaxTextBytes: levels, names in one object, and
/// entries in one list.
inline constexpr std::size_t kMaxJsonDepth = 16, kMaxJsonNames = 256, kMaxJsonEntries = 16'384;

/// Whether `text` is JSON within these limits and without a name that stands twice in one object. Reads it
/// once, keeps nothing of it, and ends at the first thing that is wrong, or once `stop` is requested. Where
/// it is no JSON, `brokenAt` gets the byte, counted from 0.
attention::Status checkJson(std::string_view text, const std::stop_token& stop = {},
                            std::optional<std::size_t>* brokenAt = nullptr);

/// A value of a JSON document, read where it stands in the text: as a tree, a document takes many times the
/// memory of its text.
class JsonText {
 public:
  struct Member;

  /// `text` passed checkJson and has to outlive this.
  explicit JsonText(std::string_view text);

  bool isObject() const { return text_.front() == '{'; }
  bool isList() const { return text_.front() == '['; }
  /// In the order of the text. Of a list or an object alone.
  std::vector<JsonText> entries() const;
  std::vector<Member> members() const;

  /// A text, number, true, false or null; an empty list or object for one with anything in it.
  Json scalar() const;
  /// What is written without a fraction and an exponent, and fits.
  std::optional<std::int64_t> wholeNumber() const;
  std::optional<double> number() const;

  /// Where it stands in the text that it was made of.
  std::string_view text() const { return text_; }

  /// For a message: the value in ASCII, cut where it is long.
  std::string shown() const;

 private:
  std::string_view text_;
};

struct JsonText::Member {
  std::string name;
  JsonText value;
};

}  // namespace headscope::app
