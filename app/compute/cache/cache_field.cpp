#include "app/compute/cache/cache_field.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headscope::app {

namespace {

using attention::AttentionConfig;
using attention::Matrix;
using attention::Stack;

/// Returns the number of keys that a query sees through any head of the group.
Index visibleKeys(const Stack& scores, Index firstHead, Index heads, Index query) {
  Index visible = 0;
  for (Index key = 0; key < scores.cols(); ++key)
    for (Index h = firstHead; h < firstHead + heads; ++h)
      if (scores.at(h, query, key) != -std::numeric_limits<float>::infinity()) {
        ++visible;
        break;
      }
  return visible;
}

/// Counts the work of the first `tokens` queries; the rest are padding.
void countWork(const AttentionConfig& config, const Stack& scores, Index tokens, CacheField& field,
               const std::stop_token& stop) {
  const auto d = static_cast<double>(config.modelDim), s = static_cast<double>(config.headDim);
  const auto heads = static_cast<double>(config.heads), kvHeads = static_cast<double>(config.kvHeads);
  const double projections = 4 * d * heads * s + 4 * d * kvHeads * s;
  double before = 0;
  for (Index query = 0; query < tokens && !stop.stop_requested(); ++query) {
    Index read = 0;
    double pairs = 0;
    for (Index g = 0; g < config.kvHeads; ++g)
      read += visibleKeys(scores, g * config.groupSize(), config.groupSize(), query);
    for (Index h = 0; h < config.heads; ++h) pairs += static_cast<double>(visibleKeys(scores, h, 1, query));
    const double own = projections + pairs * (4 * s + 5);
    field.read.push_back(read);
    field.flops.push_back(own);
    field.uncachedFlops.push_back(before += own);
  }
}

}  // namespace

CacheField makeCacheField(const FieldQuestion& question, std::stop_token stop) {
  const SequenceSnapshot& sequence =
      question.snapshot->sequences[static_cast<std::size_t>(question.sequence)];
  const attention::AttentionResult& result = sequence.attention;
  CacheField field;
  field.grain = cacheGrain(result, question.maxRows, question.maxCols);
  field.picture = cachePicture(result, field.grain, question.stored, stop);
  if (question.snapshot->causal)
    countWork(question.snapshot->config, result.scores, sequence.keyLength, field, stop);
  return field;
}

}  // namespace headscope::app
