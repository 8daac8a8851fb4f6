#include "app/widgets/text/first_fitting.h"

#include "app/widgets/text/draw_text.h"

namespace headscope::app {

std::string firstFitting(ImFont* font, const std::vector<std::string>& wordings, float width) {
  for (const std::string& wording : wordings)
    if (textWidth(font, wording) <= width) return wording;
  return wordings.empty() ? "" : wordings.back();
}

}  // namespace headscope::app
