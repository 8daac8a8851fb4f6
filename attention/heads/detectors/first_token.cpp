#include "attention/heads/detectors/detector.h"

namespace headscope::attention::detectors {

extern const Detector firstToken{.name = "first_token",
                                 .title = "first token",
                                 .shortName = "first",
                                 .help =
                                     "The mean weight on the first token, an attention sink: mean of A[i][0] "
                                     "over the rows i ≥ 1 that see it.",
                                 .planted = PlantedHead{Behaviour::firstToken},
                                 .targets = [](const HeadText& text, Index row, std::vector<Index>& keys) {
                                   // For the first token this would be the same as attending to itself,
                                   // except in cross-attention.
                                   if (text.positionOf(row) >= 1 || text.crossAttention()) keys.push_back(0);
                                 }};

}  // namespace headscope::attention::detectors
