#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace headscope::app {

/// `text` with spaces turned into line breaks so that lines stay within `width`; `measure` gives a piece's
/// width.
std::string wrapped(std::string_view text, float width,
                    const std::function<float(std::string_view)>& measure);

}  // namespace headscope::app
