#include "attention/heads/detectors/detector.h"
#include "attention/heads/spectrum.h"

namespace headscope::attention::detectors {

extern const Detector copying{
    .name = "copying",
    .title = "copying",
    .shortName = "copies",
    .help =
        "Whether the head writes what it reads: Σ λ / Σ |λ| over the eigenvalues of W_V·W_O, whatever "
        "A[i][j]; 1 copies, −1 subtracts (Elhage et al. 2021).",
    .planted = std::nullopt,
    .ofMaps =
        [](const HeadMaps& maps) {
          return DetectorScore{static_cast<float>(copyingScore(maps.v, maps.o)), 0, 1};
        },
    // Labels describe where a head looks, not what it writes.
    .mayLabel = [](const HeadProfile&) { return false; }};

}  // namespace headscope::attention::detectors
