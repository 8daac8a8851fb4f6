#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "attention/models/tokenizer/aligned_text.h"
#include "attention/models/tokenizer/json_value.h"

namespace headscope::attention {

/// What a tokenizer looks for in a text: an exact string or a regular expression.
class TextPattern {
 public:
  /// A string that is not empty.
  static TextPattern exactly(std::string text);
  /// An expression in the syntax of Oniguruma, which is what tokenizer.json holds. Errors: what PCRE2 would
  /// read differently or not at all.
  static Result<TextPattern> expression(std::string_view expression);
  /// {"String": …} or {"Regex": …} under "pattern".
  static Result<TextPattern> read(const JsonValue& component, const std::string& where);

 private:
  friend class PatternFinder;
  struct Compiled;
  TextPattern() = default;
  std::string text_;  ///< as it stands in the file
  std::shared_ptr<const Compiled> compiled_;
};

/// Finds a pattern in one text after another; one thread's.
class PatternFinder {
 public:
  explicit PatternFinder(const TextPattern& pattern);
  ~PatternFinder();
  PatternFinder(const PatternFinder&) = delete;
  PatternFinder& operator=(const PatternFinder&) = delete;

  /// Hands the matches in well-formed `text` to `take`, from left to right, without overlap; ends with an
  /// error of its. Each search may look at so much of the text, and all of them together at so much, that the
  /// time stays in proportion to the text's length; an expression that needs more is an error, which names
  /// it.
  using Take = std::function<Status(ByteRange)>;
  Status find(std::string_view text, const Take& take, const std::stop_token& stop);
  /// Replaces `matches` by them.
  Status find(std::string_view text, std::vector<ByteRange>& matches, const std::stop_token& stop);
  /// How many bytes searches were let look at so far, which is what the time is in proportion to.
  std::size_t steps() const { return steps_; }

 private:
  struct Search;
  Status findExpression(std::string_view text, const Take& take, const std::stop_token& stop);
  Error exploded() const;

  const TextPattern& pattern_;
  std::unique_ptr<Search> search_;
  std::size_t steps_ = 0;
};

}  // namespace headscope::attention
