#include "app/scene/lessons/lesson_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/scene/text/byte_text.h"
#include "app/scene/text/number_prose.h"
#include "app/scene/text/number_text.h"
#include "attention/formats/quote.h"

namespace headscope::app {

using attention::Array;
using attention::Error;
using attention::Expression;
using attention::Index;
using attention::Result;

namespace {

constexpr Index kMaxListed = 16;

Result<NumberFormatText> parseFormat(std::string_view text) {
  using Kind = NumberFormatText::Kind;
  NumberFormatText format;
  const std::string whole(text);
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (text.empty() || text.front() < '0' || text.front() > '9')
      return Error{"the format " + attention::quotedText(whole) + " has no digit after the point"};
    format.digits = text.front() - '0';
    format.kind = Kind::decimals;
    text.remove_prefix(1);
  }
  if (text.empty() && format.digits >= 0) return format;
  if (text == "%")
    format.kind = Kind::percent;
  else if (text == "," && format.digits < 0)
    format.kind = Kind::thousands;
  else if (text == "B" && format.digits < 0)
    format.kind = Kind::bytes;
  else
    return Error{"the format is " + attention::quotedText(whole) + ", expected .2 (digits), a comma, % or B"};
  return format;
}

/// The position of the colon before the format, or the end. A colon of a slice or in quotes is followed by a
/// closing character, which no format has.
std::size_t formatBegin(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const bool inside =
      colon != std::string_view::npos && text.find_first_of("])\"'", colon) != std::string_view::npos;
  return inside ? text.size() : std::min(colon, text.size());
}

Result<LessonText::Piece> parseValue(std::string_view text) {
  const std::size_t colon = formatBegin(text);
  const auto named = [&](const Error& error) {
    return Error{attention::quotedText("{" + std::string(text) + "}") + ": " + error.message};
  };
  auto value = Expression::parse(text.substr(0, colon));
  if (!value) return named(value.error());
  LessonText::Piece piece;
  piece.value = *std::move(value);
  if (colon == text.size()) return piece;
  const auto format = parseFormat(text.substr(colon + 1));
  if (!format) return named(format.error());
  piece.format = *format;
  return piece;
}

}  // namespace

Result<LessonText> LessonText::parse(std::string_view text) {
  LessonText parsed;
  std::string literal;
  bool formula = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\\' && at + 1 < text.size()) {
      const char next = text[at + 1];
      const bool brace = !formula && (next == '{' || next == '}');
      if (!brace) literal += c;
      literal += next;
      ++at;
    } else if (c == '$') {
      formula = !formula;
      literal += c;
    } else if (formula) {
      literal += c;
    } else if (c == '{') {
      const std::size_t end = text.find('}', at);
      if (end == std::string_view::npos)
        return Error{
            fmt::format("the brace at byte {} isn't closed; a brace itself is written \\{{", at + 1)};
      auto piece = parseValue(text.substr(at + 1, end - at - 1));
      if (!piece) return piece.error();
      piece->literal = std::move(literal);
      literal.clear();
      parsed.pieces_.push_back(*std::move(piece));
      at = end;
    } else if (c == '}') {
      return Error{
          fmt::format("the brace at byte {} closes nothing; a brace itself is written \\}}", at + 1)};
    } else {
      literal += c;
    }
  }
  if (!literal.empty()) parsed.pieces_.push_back({std::move(literal), std::nullopt, {}});
  return parsed;
}

namespace {

/// "1,048,576": a whole number with the style's marks.
std::string withThousands(double value) {
  const double whole = std::trunc(std::abs(value));
  if (whole >= 1e15) return numberText(value);
  std::string text = countText(static_cast<std::uint64_t>(whole));
  const double rest = std::abs(value) - whole;
  if (rest > 1e-9 && whole < 1000) return numberText(value);
  return (value < 0 && whole > 0 ? "−" : "") + text;
}

}  // namespace

std::string formatNumber(double value, const NumberFormatText& format) {
  using Kind = NumberFormatText::Kind;
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
  switch (format.kind) {
    case Kind::decimals:
      return fixedText(value, format.digits);
    case Kind::thousands:
      return withThousands(std::round(value));
    case Kind::percent:
      return format.digits < 0 ? percentText(value) : fixedText(100 * value, format.digits) + " %";
    case Kind::bytes:
      return value < 0 ? "−" + fourDigitBytes(-value) : fourDigitBytes(value);
    case Kind::plain:
      break;
  }
  const bool whole = std::abs(value - std::round(value)) < 1e-9 && std::abs(value) < 1e15;
  return whole ? fixedText(std::round(value), 0) : numberText(value);
}

Result<std::string> LessonText::filled(const Evaluate& evaluate) const {
  std::string text;
  for (const Piece& piece : pieces_) {
    text += shownProse(piece.literal);
    if (!piece.value) continue;
    const auto named = [&](const std::string& what) {
      return Error{attention::quotedText("{" + piece.value->text() + "}") + ": " + what};
    };
    const auto value = evaluate(*piece.value);
    if (!value) return named(value.error().message);
    if (value->rank() > 1 || value->size() > kMaxListed || value->size() == 0)
      return named(fmt::format("this has the shape {}, expected a number, or a list of up to {}",
                               attention::shapeText(value->shape()), kMaxListed));
    std::string list;
    for (const double each : value->values())
      list += (list.empty() ? "" : ", ") + formatNumber(each, piece.format);
    text += list;
  }
  return text;
}

}  // namespace headscope::app
