#pragma once

#include <cstddef>
#include <stop_token>
#include <string>
#include <string_view>

#include "app/scene/scene.h"

namespace headscope::app {

// A link is a scene: what differs from the opening scene, packed, in the part of an address behind "#", which
// no browser sends to a server. "#scene=…" is a scene, "#lesson=shared_heads&step=2" a step of a lesson,
// which is named by its id or its number. The format is in the manual, assets/manual/files.md.
//
// A link is somebody else's text: it names no files. Of models it opens the bundled one alone.

inline constexpr int kLinkVersion = 1;
inline constexpr std::size_t kMaxLinkBytes = std::size_t{4} << 20;  ///< unpacked
/// Programs that pass links on leave those of so many characters whole.
inline constexpr std::size_t kLongLink = 2000;
/// In front of the "#" where no other address is given: the installed program opens it.
inline constexpr const char* kLinkAddress = "headscope:";

/// Whether a text says that it is a link; it may be damaged.
bool isLink(std::string_view text);
/// Whether a scene shows a lesson: its link is the lesson's, whatever else it holds.
bool showsLesson(const Scene& scene);

/// The link to a scene, or where it shows a lesson, to the step of that. `base` is the address in front of
/// the "#". Errors: the scene names a file, is larger than a link can be, or `base` is no address.
attention::Result<std::string> linkTo(const Scene& scene, const std::string& base = kLinkAddress);

/// The scene of a link; of a lesson's link the opening scene with that step shown. Opens the bundled model
/// where the link names it, and no other file. Errors, in one sentence: what unpackText() says, fields as
/// parseScene() has them, a file that is named, what is no part of a link.
attention::Result<Scene> readLink(std::string_view link, const std::stop_token& stop = {});

/// "The link has 5,312 characters …" where it is longer than kLongLink; "" where it isn't.
std::string longLinkNote(std::string_view link);

}  // namespace headscope::app
