#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "attention/core/result.h"

namespace headscope::app {

/// Text for an address: a byte with `version`, then the text as a zlib stream (RFC 1950, with its check sum),
/// all of it in base64url (RFC 4648, section 5) without padding.
std::string packText(std::string_view text, int version);

/// The other way. Untrusted text in. Errors, each a clause about a link ("is cut off …"): a character that is
/// none of base64url's, another version, what is cut, damaged, or longer than `maxBytes` when unpacked, of
/// which no more than that is ever held.
attention::Result<std::string> unpackText(std::string_view packed, int version, std::size_t maxBytes);

}  // namespace headscope::app
