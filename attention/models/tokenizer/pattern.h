#pragma once

#include <functional>
#include <memory>

#include "attention/models/tokenizer/characters.h"
#include "attention/models/tokenizer/json_value.h"

namespace headscope::attention {

/// What a tokenizer searches for in a text: an exact string or a regular expression.
class TextPattern {
 public:
  /// Throws std::invalid_argument if `text` is empty.
  static TextPattern exactly(std::string text);
  /// Compiles an expression in Oniguruma's syntax, which tokenizer.json uses. Returns an Error for syntax
  /// that PCRE2 would read differently or not at all.
  static Result<TextPattern> expression(std::string_view expression);
  /// Reads {"String": …} or {"Regex": …} under "pattern"; returns nothing, recording an error, if it can't.
  static std::optional<TextPattern> read(FieldReader& component);

 private:
  friend class PatternFinder;
  struct Compiled;
  TextPattern() = default;
  std::string text_;  ///< as in the file
  std::shared_ptr<const Compiled> compiled_;
};

/// Finds a pattern in one text after another. Not thread-safe.
class PatternFinder {
 public:
  explicit PatternFinder(const TextPattern& pattern);
  ~PatternFinder();
  PatternFinder(const PatternFinder&) = delete;
  PatternFinder& operator=(const PatternFinder&) = delete;

  /// Calls `take` with each match in well-formed `text`, from left to right without overlap; stops with its
  /// first Error. All searches together may only take so many steps that the time stays proportional to the
  /// length of their texts. Returns an Error naming the expression if it needs more, and stops when asked,
  /// also within a match.
  using Take = std::function<Status(ByteRange)>;
  Status find(std::string_view text, const Take& take, const std::stop_token& stop);
  /// Replaces the contents of `matches` by the matches.
  Status find(std::string_view text, std::vector<ByteRange>& matches, const std::stop_token& stop);
  /// The number of bytes that searches were allowed to look at so far; the time is proportional to it.
  std::size_t steps() const { return steps_; }

 private:
  struct Search;
  Status findExpression(std::string_view text, const Take& take, const std::stop_token& stop);
  Error exploded() const;

  const TextPattern& pattern_;
  std::unique_ptr<Search> search_;
  std::size_t steps_ = 0;
};

/// Translates an expression from Oniguruma's syntax, which tokenizer.json uses, to PCRE2's (with UTF and
/// UCP). White space becomes Unicode's White_Space, which PCRE2 defines differently, and word characters
/// become Unicode's. Returns an Error naming an escape, group, flag or class that the two read differently.
Result<std::string> pcre2Expression(std::string_view expression);

}  // namespace headscope::attention
