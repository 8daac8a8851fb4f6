#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attention/expressions/expression.h"

namespace headscope::app {

/// How a computed number is written into a sentence.
struct NumberFormatText {
  enum class Kind { plain, decimals, thousands, percent, bytes } kind = Kind::plain;
  int digits = -1;  ///< behind the point; −1: as few as say it
  bool operator==(const NumberFormatText&) const = default;
};

/// Sentences with numbers that are computed: "puts {W[1][11][0]:.2} on". The rest is kept as it is written,
/// with **bold**, `code`, $formula$, [word](query) and [1](mark). Braces inside $…$ belong to the formula;
/// \{ and \} are braces, \$ is no formula's.
class LessonText {
 public:
  /// Some literal text, then perhaps a number.
  struct Piece {
    std::string literal;
    std::optional<attention::Expression> value;
    NumberFormatText format;
    bool operator==(const Piece&) const = default;
  };

  LessonText() = default;
  /// Errors: a brace, a formula, code or bold type that doesn't close; what an expression or its format is
  /// refused for.
  static attention::Result<LessonText> parse(std::string_view text);

  const std::vector<Piece>& pieces() const { return pieces_; }
  bool empty() const { return pieces_.empty(); }
  bool operator==(const LessonText&) const = default;

  using Evaluate = std::function<attention::Result<attention::Array>(const attention::Expression&)>;
  /// The text with its numbers. Errors: those of `evaluate`, and arrays of more than 16 values; the
  /// expression stands in front.
  attention::Result<std::string> filled(const Evaluate& evaluate) const;

 private:
  std::vector<Piece> pieces_;
};

/// "0.99" of :.2, "1,048,576" of :, "12.3 %" of :% (":.0%" is "12 %"), "2.25 KiB" of :B, else up to four
/// digits that mean something, and whole numbers whole. A true minus sign.
std::string formatNumber(double value, const NumberFormatText& format);

}  // namespace headscope::app
