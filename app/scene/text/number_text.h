#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headscope::app {

// The same quantity is written the same way everywhere on screen. Files, commands, links and code don't
// use these functions where they write data: there a fraction has a point.

/// How visible numbers are written: 1,234.5 or 1.234,5 or 1 234,5.
enum class NumberStyle : std::uint8_t { point, comma, space };
/// Of the whole program, as a locale is: numbers are written in many places, also by workers. Commands keep
/// the point; a window takes it from the settings.
void setNumberStyle(NumberStyle style);
NumberStyle numberStyle();
/// What the locale of the environment (LC_ALL, LC_NUMERIC, LANG) asks for; the point where it isn't known.
NumberStyle systemNumberStyle();

/// "-12.30" as it is shown: with the style's mark and a true minus sign, none before nothing but zeros.
std::string shownNumber(std::string plain);
/// "0.82", "−12.30": a true minus sign, none before what rounds to 0.
std::string fixedText(double value, int decimals);
/// The same with its sign: "+0.83", "−1.20", "0.00".
std::string signedText(double value, int decimals);
/// "0.0833", "32": that many digits that count, no zeros at the end.
std::string roundedText(double value, int digits = 6);
/// What a person typed: "0.5", "0,5", "-1.5", "1 234,5", "12,288". One mark before three digits is read as
/// this style writes it; nothing where that isn't a finite number.
std::optional<double> typedNumber(std::string_view text);
/// The same in the digits, point and sign that programs read; what can't be a number stays as it is.
std::string plainNumber(std::string_view text);

/// "384 B", "2.3 KiB", "1 GiB" where it is just that.
std::string bytesText(double bytes);
/// A weight or probability: "0.819", and "0" or "1" only when exactly so.
std::string weightText(float value);
/// A score, product or other signed number: "5.590", "31.62", "2.4·10⁻⁶"; a true minus sign.
std::string numberText(double value, int significant = 4);
/// "12,288".
std::string countText(std::uint64_t value);
/// "1 token", "12,288 tokens".
std::string tokenCountText(std::int64_t count);
/// "1 kv head", "8 kv heads", "12,288 words".
std::string countedText(std::int64_t count, std::string_view one);
/// A share as "12.3 %", a small one as "0.12 %".
std::string percentText(double share);
/// "8.2 kFLOP", "1.3 GFLOP".
std::string flopsText(double flops);
/// "0.31 ms", "12 ms", "1.4 s".
std::string timeText(double seconds);

}  // namespace headscope::app
