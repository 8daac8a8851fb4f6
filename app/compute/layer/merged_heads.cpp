// Kv heads that were merged from a kv head per head, and how far that moved the heads' weights.

#include "app/compute/layer/layer_inputs.h"
#include "app/compute/layer/snapshot.h"
#include "attention/cache/kv_cache.h"

namespace headscope::app {

using attention::Index;
using attention::Projections;

bool mergesKvHeads(const Setup& setup) {
  return setup.weights.merged && !setup.subject.opened && setup.weights.source != WeightSource::file &&
         setup.model.kvHeads < setup.model.heads;
}

Setup beforeMerge(Setup setup) {
  if (mergesKvHeads(setup)) setup.model.kvHeads = setup.model.heads;
  return setup;
}

Projections mergedProjections(const Projections& whole, const ModelSetup& model) {
  return {whole.q, attention::mergedByMean(whole.k, model.heads, model.kvHeads),
          attention::mergedByMean(whole.v, model.heads, model.kvHeads), whole.o};
}

std::vector<HeadDrift> headDrift(attention::AttentionConfig config, const Projections& projections,
                                 const LineInput& input, const SequenceSnapshot& sequence,
                                 std::stop_token stop) {
  // The largest weight of an even row as a multiple of 1 / keys, and a drift that is shown as 0 %.
  constexpr float kEven = 1.02f, kStays = 0.005f;
  config.kvHeads = config.heads;
  config.dropout = {};
  attention::AttentionResult whole =
      attention::project(config, projections, input.x, input.context.size() ? input.context : input.x, stop);
  attention::attendHeads(config, sequence.mask, whole, stop);
  if (stop.stop_requested()) return {};
  const attention::Matrix moved =
      attention::compareMasks(whole, {sequence.probabilities(), sequence.attention.headOutput}).movedMass;
  std::vector<HeadDrift> drift(static_cast<std::size_t>(config.heads));
  for (Index head = 0; head < config.heads; ++head) {
    HeadDrift& one = drift[static_cast<std::size_t>(head)];
    Index rows = 0;
    float sum = 0;
    one.even = true;
    for (Index row = 0; row < sequence.queryLength; ++row) {
      const Index visible = (whole.scores[head].row(row).array() > -INFINITY).count();
      if (visible < 2) continue;  // its weight can't move
      ++rows;
      sum += moved(head, row);
      one.even = one.even && whole.weights[head].row(row).maxCoeff() * static_cast<float>(visible) < kEven;
    }
    if (rows > 0) one.moved = sum / static_cast<float>(rows);
    one.even = one.even && rows > 0 && one.moved < kStays;
  }
  return drift;
}

}  // namespace headscope::app
