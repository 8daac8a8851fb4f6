#pragma once

#include <cstdint>
#include <string>

namespace headscope::app {

/// Up to four digits that mean something, in units of 1,024: "2.25 KiB", "131.4 GiB", "40 GiB", "512 B".
/// "more than 8 EiB" from 2⁶³ on.
std::string fourDigitBytes(std::uint64_t bytes);
/// The same of what is no whole number; "more than 8 EiB" above 2⁶³.
std::string fourDigitBytes(double bytes);
/// "42,949,672,960 B"; "more than 8 EiB" from 2⁶³ on.
std::string exactBytes(std::uint64_t bytes);
/// Of two counts: "¼", "1/12" with a denominator up to 16, else "12 %".
std::string fractionText(std::uint64_t part, std::uint64_t whole);
/// Tokens in units of 1,024 where that is exact: "128 k", "512"; "1 M" from 1,024 k on, then
/// G and T.
std::string tokensText(std::int64_t tokens);

}  // namespace headscope::app
