#include "attention/heads/detectors/detector.h"

namespace headscope::attention::detectors {
namespace {

constexpr Index kSinkTokens = 4;  ///< as in Xiao et al. 2023
/// If the first token has this share of the weight, first_token labels the head.
constexpr float kMostOfSinks = 2.0f / 3;

}  // namespace

extern const Detector sinks{.name = "sinks",
                            .title = "first tokens",
                            .shortName = "sinks",
                            .help =
                                "The mean weight on the first four tokens, the attention sinks: mean of Σ "
                                "A[i][j] over j < 4, over the "
                                "rows i ≥ 4 that see one (Xiao et al. 2023).",
                            .planted = std::nullopt,  // heads on the first token belong to first_token
                            .targets =
                                [](const HeadText& text, Index row, std::vector<Index>& keys) {
                                  if (text.positionOf(row) < kSinkTokens && !text.crossAttention()) return;
                                  for (Index key = 0; key < kSinkTokens; ++key) keys.push_back(key);
                                },
                            .mayLabel =
                                [](const HeadProfile& profile) {
                                  return profile["first_token"].raw < kMostOfSinks * profile["sinks"].raw;
                                },
                            .column = "sinks"};

}  // namespace headscope::attention::detectors
