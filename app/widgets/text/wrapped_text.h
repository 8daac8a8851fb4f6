#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace headscope::app {

/// Returns `text` with spaces turned into line breaks so that lines fit into `width`; `measure` returns a
/// piece's width.
std::string wrapped(std::string_view text, float width,
                    const std::function<float(std::string_view)>& measure);

}  // namespace headscope::app
