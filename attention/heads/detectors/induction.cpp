#include "attention/heads/detectors/detector.h"

namespace headscope::attention::detectors {

extern const Detector induction{
    .name = "induction",
    .title = "induction",
    .shortName = "ind",
    .help =
        "The mean weight on what followed the same token before: mean of Σ A[i][j] over 1 ≤ j ≤ i with "
        "t_{j−1} = t_i, over the rows that see one (Olsson et al. 2022).",
    .planted = std::nullopt,  // needs two layers
    .targets = [](const HeadText& text, Index row, std::vector<Index>& keys) {
      if (text.crossAttention()) return;
      for (const Index like : text.keysLike(row))
        if (like < text.positionOf(row)) keys.push_back(like + 1);
    }};

}  // namespace headscope::attention::detectors
