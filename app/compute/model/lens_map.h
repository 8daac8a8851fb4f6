#pragma once

#include "app/compute/model/pair_study.h"

namespace headscope::app {

/// What the model would say next after every token, read off its stream after every layer (the "logit lens",
/// nostalgebraist 2020).
struct LensQuestion {
  std::shared_ptr<const PairStudy> pair;
  bool ofB = false;
  bool operator==(const LensQuestion&) const = default;

  const RecordedText& text() const { return ofB ? *pair->b : pair->a; }
};
struct LensMap {
  /// [stops, tokens]; a stop is a place on the stream: 0 is the embedding, l + 1 comes after layer l.
  Eigen::Matrix<Index, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> top;
  attention::Matrix probability;  ///< of the likeliest token
  attention::Matrix answer;       ///< of the answer
  attention::Matrix difference;   ///< of the logits of the answers
};
attention::Result<LensMap> mapLens(const LensQuestion& question, std::stop_token stop);

/// What every piece of each text adds to the answers' logit difference.
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

/// "head 3.1", "MLP 2", "embedding", "final norm's bias": what a contribution is of.
std::string writerText(const attention::Contribution& part);

}  // namespace headscope::app
