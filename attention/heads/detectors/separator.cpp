#include "attention/heads/detectors/detector.h"

namespace headscope::attention::detectors {

extern const Detector separator{.name = "separator",
                                .title = "separator",
                                .shortName = "sep",
                                .help =
                                    "The mean weight on punctuation: mean of Σ A[i][j] over the keys j that "
                                    "are separators, over the rows "
                                    "that see one.",
                                .planted = PlantedHead{Behaviour::separator},
                                .targets = [](const HeadText& text, Index, std::vector<Index>& keys) {
                                  keys.insert(keys.end(), text.separators().begin(), text.separators().end());
                                }};

}  // namespace headscope::attention::detectors
