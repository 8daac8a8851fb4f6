#include "app/compute/cache_field.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/cache/quantise.h"

namespace headscope::app {

namespace {

using attention::AttentionConfig;
using attention::Matrix;
using attention::Stack;

/// The value furthest from 0 of factor × factor cells, with its sign; NaN before all.
float strongest(const Matrix& values, Index firstRow, Index rows, Index firstCol, Index cols) {
  float best = 0;
  for (Index token = firstRow; token < std::min(firstRow + rows, values.rows()); ++token)
    for (Index dim = firstCol; dim < std::min(firstCol + cols, values.cols()); ++dim) {
      const float value = values(token, dim);
      if (std::isnan(value)) return value;
      if (std::abs(value) > std::abs(best)) best = value;
    }
  return best;
}

void fillBands(const Stack& values, const FieldQuestion& question, Index offset, CacheField& field,
               const std::stop_token& stop) {
  std::vector<Matrix> stored;
  float most = 0;
  for (Index g = 0; g < values.count() && !stop.stop_requested(); ++g) {
    stored.push_back(attention::quantised(values[g], question.stored));
    for (const float value : stored.back().reshaped())
      if (std::isfinite(value)) most = std::max(most, std::abs(value));
  }
  for (std::size_t g = 0; g < stored.size() && !stop.stop_requested(); ++g) {
    attention::MutableMatrixView to = field.picture[2 * static_cast<Index>(g) + offset];
    for (Index row = 0; row < to.rows(); ++row)
      for (Index col = 0; col < to.cols(); ++col)
        to(row, col) = strongest(stored[g], col * field.colFactor, field.colFactor, row * field.rowFactor,
                                 field.rowFactor) /
                       (most > 0 ? most : 1);
  }
}

/// Keys that a query sees through any head of the group.
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

/// Of the first `tokens` queries: those after them pad the line.
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
    field.flopsWithout.push_back(before += own);
  }
}

}  // namespace

CacheField makeCacheField(const FieldQuestion& question, std::stop_token stop) {
  const SequenceSnapshot& sequence =
      question.snapshot->sequences[static_cast<std::size_t>(question.sequence)];
  const attention::AttentionResult& result = sequence.attention;
  const Index tokens = sequence.keyLength, dims = result.k.cols();
  CacheField field;
  const auto factor = [](Index size, Index most) {
    return std::max<Index>(1, (size + most - 1) / std::max<Index>(most, 1));
  };
  field.rowFactor = factor(dims, question.mostRows);
  field.colFactor = factor(tokens, question.mostCols);
  field.picture = Stack(2 * result.k.count(), (dims + field.rowFactor - 1) / field.rowFactor,
                        (tokens + field.colFactor - 1) / field.colFactor);
  fillBands(result.k, question, 0, field, stop);
  fillBands(result.v, question, 1, field, stop);
  if (question.snapshot->causal) countWork(question.snapshot->config, result.scores, tokens, field, stop);
  return field;
}

}  // namespace headscope::app
