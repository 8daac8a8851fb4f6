#pragma once

#include <cstddef>
#include <stop_token>
#include <string>
#include <string_view>

#include "app/scene/scene.h"
#include "attention/core/result.h"

namespace headscope::app {

// A link is a scene: its differences from the opening scene, packed into the part of an address after "#",
// which no browser sends to a server. "#scene=…" is a scene; "#lesson=shared_heads&step=2" is a step of a
// lesson, given by its id or number. assets/manual/files.md describes the format.
//
// A link is untrusted text: it names no files, and the only model it opens is the bundled one.

inline constexpr int kLinkVersion = 1;
inline constexpr std::size_t kMaxLinkBytes = std::size_t{4} << 20;  ///< after unpacking
/// Programs that pass on links leave those up to this many characters whole.
inline constexpr std::size_t kLongLink = 2000;
/// The address before "#" if no other is given; the installed program opens it.
inline constexpr const char* kLinkAddress = "headscope:";

/// Whether a text claims to be a link; it may be damaged.
bool isLink(std::string_view text);
/// Whether a scene shows a lesson. Its link is then the lesson's, whatever else the scene holds.
bool showsLesson(const Scene& scene);

/// Returns the link to a scene, or to the lesson step that it shows. `base` is the address before "#".
/// Returns an Error if the scene names a file or is too large for a link, or if `base` is no address.
attention::Result<std::string> linkTo(const Scene& scene, const std::string& base = kLinkAddress);

/// Reads the scene of a link; for a lesson's link, the opening scene with that step shown. Opens the bundled
/// model if the link names it, and no other file. Returns an Error, one sentence, as unpackText() and
/// parseScene() do, or if the link names a file or has an unknown part.
attention::Result<Scene> readLink(std::string_view link, const std::stop_token& stop = {});

/// "The link has 5,312 characters …" if it is longer than kLongLink, else "".
std::string longLinkNote(std::string_view link);

/// Packs text for an address: a byte with `version`, then the text as a zlib stream (RFC 1950, with its
/// checksum), all in base64url (RFC 4648, section 5) without padding.
std::string packText(std::string_view text, int version);

/// Unpacks untrusted text. Returns an Error, a clause about a link ("is cut off …"), for a character outside
/// base64url, another version, and text that is cut off, damaged, or longer than `maxBytes` when unpacked.
/// Never holds more than that.
attention::Result<std::string> unpackText(std::string_view packed, int version, std::size_t maxBytes);

}  // namespace headscope::app
