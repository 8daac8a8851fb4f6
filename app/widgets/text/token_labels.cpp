#include "app/widgets/text/token_labels.h"

#include <algorithm>

#include "app/widgets/paint.h"

namespace headscope::app {

float longestLabel(const View& view, const std::vector<attention::Token>& tokens, float most) {
  float longest = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(tokens.size(), 256); ++i)
    longest = std::max(longest, textWidth(view.fonts->monoSmall, tokens[i].text));
  return std::min(longest, most);
}

NameRoom nameRoom(const View& view, const std::vector<attention::Token>& queries,
                  const std::vector<attention::Token>& keys) {
  const float most = view.px(view.figure ? 174 : 90), below = view.px(view.figure ? 174 : 70);
  return {std::max(longestLabel(view, queries, most) + view.px(10), view.px(58)),
          longestLabel(view, keys, below) * 0.9f + view.px(14)};
}

}  // namespace headscope::app
