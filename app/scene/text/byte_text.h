#pragma once

#include <cstdint>
#include <string>

namespace headscope::app {

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

}  // namespace headscope::app
