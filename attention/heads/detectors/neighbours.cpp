#include "attention/heads/detectors/detector.h"

namespace headscope::attention::detectors {

extern const Detector previous{
    .name = "previous",
    .title = "previous token",
    .shortName = "prev",
    .help = "The mean weight on the token before: mean of A[i][i−1] over the rows that see it.",
    .planted = PlantedHead{Behaviour::offset, 1},
    .targets = [](const HeadText& text, Index row,
                  std::vector<Index>& keys) { keys.push_back(text.positionOf(row) - 1); },
    .ofOneText = true};

extern const Detector next{
    .name = "next",
    .title = "next token",
    .shortName = "next",
    .help = "The mean weight on the token after: mean of A[i][i+1] over the rows that see it.",
    .planted = PlantedHead{Behaviour::offset, -1},
    .targets = [](const HeadText& text, Index row,
                  std::vector<Index>& keys) { keys.push_back(text.positionOf(row) + 1); },
    .ofOneText = true};

extern const Detector self{
    .name = "self",
    .title = "self",
    .shortName = "self",
    .help = "The mean weight on the token itself: mean of A[i][i] over the rows that see it.",
    .planted = PlantedHead{Behaviour::offset, 0},
    .targets = [](const HeadText& text, Index row,
                  std::vector<Index>& keys) { keys.push_back(text.positionOf(row)); },
    .ofOneText = true};

}  // namespace headscope::attention::detectors
