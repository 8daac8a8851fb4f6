#include "app/widgets/text/wrapped_text.h"

#include <algorithm>

namespace headscope::app {

std::string wrapped(std::string_view text, float width,
                    const std::function<float(std::string_view)>& measure) {
  std::string out(text);
  std::size_t lineStart = 0;
  std::size_t lastSpace = std::string::npos;
  for (std::size_t at = 0; at <= out.size(); ++at) {
    const bool end = at == out.size() || out[at] == '\n';
    if (!end && out[at] != ' ') continue;
    // A word ends here. Break before it if the line up to here is too wide.
    if (lastSpace != std::string::npos &&
        measure(std::string_view(out).substr(lineStart, at - lineStart)) > width) {
      out[lastSpace] = '\n';
      lineStart = lastSpace + 1;
    }
    lastSpace = at < out.size() && out[at] == ' ' ? at : std::string::npos;
    if (end) lineStart = at + 1;
  }
  return out;
}

}  // namespace headscope::app
