#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace headscope::attention {

/// The two alphabets of RFC 4648: section 4 with padding, and section 5, which addresses bear, without.
enum class Base64 { standard, url };

std::string toBase64(std::span<const std::uint8_t> bytes, Base64 alphabet);
/// Nothing where there is a character that isn't one of the alphabet's, and of the standard one where the
/// number of characters is not a multiple of 4. What the last digit has beyond whole bytes is passed over.
std::optional<std::string> fromBase64(std::string_view text, Base64 alphabet);

}  // namespace headscope::attention
