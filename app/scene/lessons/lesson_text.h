#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attention/expressions/expression.h"

namespace headscope::app {

/// The format of a computed number in a sentence.
struct NumberFormatText {
  enum class Kind { plain, decimals, thousands, percent, bytes } kind = Kind::plain;
  int digits = -1;  ///< after the point; −1 = as few as needed
  bool operator==(const NumberFormatText&) const = default;
};

/// Sentences with computed numbers: "puts {W[1][11][0]:.2} on". The rest is kept as written, with **bold**,
/// `code`, $formula$, [word](query) and [1](mark). Braces inside $…$ belong to the formula; \{ and \} are
/// literal braces, and \$ starts no formula.
class LessonText {
 public:
  /// Literal text, optionally followed by a number.
  struct Piece {
    std::string literal;
    std::optional<attention::Expression> value;
    NumberFormatText format;
    bool operator==(const Piece&) const = default;
  };

  LessonText() = default;
  /// Returns an Error for an unbalanced brace, or for an expression or format that is refused.
  static attention::Result<LessonText> parse(std::string_view text);

  const std::vector<Piece>& pieces() const { return pieces_; }
  bool empty() const { return pieces_.empty(); }
  bool operator==(const LessonText&) const = default;

  using Evaluate = std::function<attention::Result<attention::Array>(const attention::Expression&)>;
  /// Returns the text with its numbers. Returns the Errors of `evaluate`, or one for an array that isn't a
  /// number or a list of up to 16, prefixed by the expression.
  attention::Result<std::string> filled(const Evaluate& evaluate) const;

 private:
  std::vector<Piece> pieces_;
};

/// Formats a number: "0.99" for :.2, "1,048,576" for :, "12.3 %" for :% (":.0%" is "12 %"), "2.25 KiB" for
/// :B, else up to four significant digits, whole numbers in full. Uses a true minus sign.
std::string formatNumber(double value, const NumberFormatText& format);

}  // namespace headscope::app
