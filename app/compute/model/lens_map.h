#pragma once

#include "app/compute/model/pair_study.h"

namespace headscope::app {

/// The model's prediction after every token, read from its stream after every layer (the "logit lens",
/// nostalgebraist 2020).
struct LensQuestion {
  std::shared_ptr<const PairStudy> pair;
  bool ofB = false;
  bool operator==(const LensQuestion&) const = default;

  const RecordedText& text() const { return ofB ? *pair->b : pair->a; }
};
struct LensMap {
  /// [stops, tokens]; a stop is a point in the residual stream: 0 is the embedding, l + 1 is after layer l.
  Eigen::Matrix<Index, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> top;
  attention::Matrix probability;  ///< of the most likely token
  attention::Matrix answer;       ///< of the answer
  attention::Matrix difference;   ///< of the answers' logits
};
attention::Result<LensMap> mapLens(const LensQuestion& question, std::stop_token stop);

/// A question about what each part of the model adds to the logit difference of the answers, for each text.
struct AttributionQuestion {
  std::shared_ptr<const PairStudy> pair;
  bool operator==(const AttributionQuestion&) const = default;
};
struct AttributionStudy {
  attention::Attribution a;
  std::optional<attention::Attribution> b;
};
attention::Result<AttributionStudy> studyAttribution(const AttributionQuestion& question,
                                                     std::stop_token stop);

/// Returns the name of a contribution's source: "head 3.1", "MLP 2", "embedding", "final norm's bias".
std::string writerText(const attention::Contribution& part);

}  // namespace headscope::app
