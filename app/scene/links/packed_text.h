#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "attention/core/result.h"

namespace headscope::app {

/// Packs text for an address: a byte with `version`, then the text as a zlib stream (RFC 1950, with its
/// checksum), all in base64url (RFC 4648, section 5) without padding.
std::string packText(std::string_view text, int version);

/// Unpacks untrusted text. Returns an Error, a clause about a link ("is cut off …"), for a character outside
/// base64url, another version, and text that is cut off, damaged, or longer than `maxBytes` when unpacked.
/// Never holds more than that.
attention::Result<std::string> unpackText(std::string_view packed, int version, std::size_t maxBytes);

}  // namespace headscope::app
