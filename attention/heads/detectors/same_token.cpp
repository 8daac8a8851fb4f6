#include <algorithm>

#include "attention/heads/detectors/detector.h"

namespace headscope::attention::detectors {

extern const Detector sameToken{
    .name = "same_token",
    .title = "same token",
    .shortName = "same",
    .help =
        "The mean weight on earlier occurrences of the same token: mean of Σ A[i][j] over j < i with "
        "t_j = t_i, over the rows that see one.",
    .planted = PlantedHead{Behaviour::sameToken},
    .targets = [](const HeadText& text, Index row, std::vector<Index>& keys) {
      const std::span<const Index> like = text.keysLike(row);
      // In cross-attention, a token counts at any position.
      const auto end =
          text.crossAttention() ? like.end() : std::ranges::lower_bound(like, text.positionOf(row));
      keys.insert(keys.end(), like.begin(), end);
    }};

}  // namespace headscope::attention::detectors
