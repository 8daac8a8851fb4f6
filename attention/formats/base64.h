#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace headscope::attention {

/// The two alphabets of RFC 4648: section 4, with padding, and section 5, for URLs, without.
enum class Base64 { standard, url };

std::string toBase64(std::span<const std::uint8_t> bytes, Base64 alphabet);
/// Returns nullopt if a character isn't in the alphabet or, for the standard one, if the length isn't a
/// multiple of 4. Ignores bits of the last digit beyond the last whole byte.
std::optional<std::string> fromBase64(std::string_view text, Base64 alphabet);

}  // namespace headscope::attention
