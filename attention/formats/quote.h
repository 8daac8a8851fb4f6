#pragma once

#include <string>
#include <string_view>

namespace headscope::attention {

/// `text` in quotes for a message. Control characters are shown as \xHH, so that no file can steer the
/// terminal through a message, and long text is cut.
std::string quotedText(std::string_view text);

}  // namespace headscope::attention
