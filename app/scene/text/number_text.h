#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "app/platform/preferences.h"

namespace headscope::app {

// A quantity is written the same way everywhere on screen. Files, commands, links and code don't use these
// functions for data, where a fraction has a point.

/// How displayed numbers are written: 1,234.5 or 1.234,5 or 1 234,5.
enum class NumberStyle : std::uint8_t { point, comma, space };
/// The style of the whole program, like a locale, since numbers are written in many places, also by workers.
/// Commands keep the point; a window takes the style from the settings. Thread-safe.
void setNumberStyle(NumberStyle style);
NumberStyle numberStyle();
/// The style of the environment's locale (LC_ALL, LC_NUMERIC, LANG); point if it isn't known.
NumberStyle systemNumberStyle();

/// Formats "-12.30" for display: the style's decimal mark and a true minus sign, but none before only zeros.
std::string shownNumber(std::string plain);
/// "0.82", "−12.30": with a true minus sign, but none if the value rounds to 0.
std::string fixedText(double value, int decimals);
/// The same with a sign: "+0.83", "−1.20", "0.00".
std::string signedText(double value, int decimals);
/// "0.0833", "32": up to `digits` significant digits, without trailing zeros.
std::string roundedText(double value, int digits = 6);
/// Parses what a user typed: "0.5", "0,5", "-1.5", "1 234,5", "12,288". A single mark before three digits is
/// read as the current style writes it. Returns nothing if the text isn't a finite number.
std::optional<double> typedNumber(std::string_view text);
/// The same in the digits, point and sign that programs read; text that can't be a number stays unchanged.
std::string plainNumber(std::string_view text);

/// "⁻⁶" and "₄": raised as an exponent, or lowered as an index.
std::string raisedDigits(std::int64_t number);
std::string loweredDigits(std::int64_t number);

/// "384 B", "2.3 KiB", "1 GiB" if exact.
std::string bytesText(double bytes);
/// A weight or probability: "0.819"; "0" or "1" only if exact.
std::string weightText(float value);
/// A score, product or other signed number: "5.590", "31.62", "2.4·10⁻⁶"; with a true minus sign.
std::string numberText(double value, int significant = 4);
/// "12,288".
std::string countText(std::uint64_t value);
template <std::signed_integral Count>
std::string countText(Count value) {
  return countText(static_cast<std::uint64_t>(value));
}
/// "1 token", "12,288 tokens".
std::string tokenCountText(std::int64_t count);
/// "1 kv head", "8 kv heads", "12,288 words".
std::string countedText(std::int64_t count, std::string_view one);
/// A share as "12.3 %"; below 1 % as "0.12 %".
std::string percentText(double share);
/// A share as "12 %", "−3 %".
std::string wholePercentText(double share);
/// "8.2 kFLOP", "1.3 GFLOP".
std::string flopsText(double flops);
/// "0.31 ms", "12 ms", "1.4 s".
std::string timeText(double seconds);

/// Up to four significant digits in units of 1,024: "2.25 KiB", "131.4 GiB", "40 GiB", "512 B".
/// From 2⁶³ on, "more than 8 EiB".
std::string fourDigitBytes(std::uint64_t bytes);
/// The same for a number that may have a fraction; "more than 8 EiB" above 2⁶³.
std::string fourDigitBytes(double bytes);
/// "42,949,672,960 B"; "more than 8 EiB" from 2⁶³ on.
std::string exactBytes(std::uint64_t bytes);
/// The ratio of two counts: "¼", "1/12" with a denominator up to 16, else "12 %".
std::string fractionText(std::uint64_t part, std::uint64_t whole);
/// Tokens in units of 1,024 if that is exact: "128 k", "512"; "1 M" from 1,024 k on, then G and T.
std::string tokensText(std::int64_t tokens);

/// Rewrites the numbers in a text, given as "1,234.5", in the user's style (see setNumberStyle()). Versions,
/// names and text between backticks stay unchanged.
std::string shownProse(std::string_view text);

/// The style that `numbers` selects; the system's by default.
NumberStyle numberStyleOf(const Preferences& preferences);
/// The row's value: "on", "Dark", "112.5 %".
std::string settingText(const PreferenceRow& row, const Preferences& preferences);

/// "prefix" → "Prefix"; other first letters than a to z stay.
std::string capitalized(std::string_view text);

}  // namespace headscope::app
