#include "attention/core/receipt.h"

#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "attention/core/softmax.h"

namespace headscope::attention {
namespace {

void requireIndex(const char* name, Index index, Index count) {
  require(index >= 0 && index < count, fmt::format("{} is {}, expected below {}", name, index, count));
}

}  // namespace

ScoreReceipt explainScore(const AttentionConfig& config, const MaskInput& mask, const AttentionResult& result,
                          Index head, Index query, Index key) {
  requireIndex("head", head, result.scores.count());
  requireIndex("query", query, result.scores.rows());
  requireIndex("key", key, result.scores.cols());
  require(result.q.count() == config.heads && result.scores.count() == config.heads,
          fmt::format("the result has {} heads, expected {}", result.q.count(), config.heads));
  requireIndex("kv head", config.kvHeadOf(head), result.k.count());
  requireIndex("key row", key, result.k.rows());
  requireMaskShape(config, mask, result.scores.rows(), result.scores.cols());

  ScoreReceipt receipt;
  receipt.q = result.q[head].row(query).transpose();
  receipt.k = result.k[config.kvHeadOf(head)].row(key).transpose();
  receipt.product = receipt.q.cwiseProduct(receipt.k);
  receipt.dot = receipt.product.sum();
  receipt.steps = scoreSteps(config, mask, head, query, key, receipt.dot);
  receipt.visible = visible(mask, head, query, key);

  // Repeats the stored row's softmax. Without dropout, exponential / rowSum is the stored weight up to
  // rounding.
  const MatrixView scores = result.scores[head];
  std::vector<float> weights(static_cast<std::size_t>(scores.cols()));
  receipt.sink = config.sinkOf(head);
  const SoftmaxRow row = softmaxRow(scores.row(query).data(), scores.cols(), weights.data(), receipt.sink);
  receipt.score = scores(query, key);
  receipt.rowMax = row.max;
  receipt.rowSum = row.sum;
  if (receipt.score > -std::numeric_limits<float>::infinity() || std::isnan(receipt.score))
    receipt.exponential = expNonPositive(receipt.score - row.max);
  receipt.weight = result.weights.at(head, query, key);
  receipt.output = result.headOutput[head].row(query).transpose();
  receipt.weighted = Vector::Zero(receipt.output.size());
  // A masked or dropped key adds nothing, even if its value is NaN.
  if (receipt.weight != 0)
    receipt.weighted = receipt.weight * result.v[config.kvHeadOf(head)].row(key).transpose();
  receipt.rest = receipt.output - receipt.weighted;
  return receipt;
}

float sinkShare(const AttentionConfig& config, const AttentionResult& result, Index head, Index query) {
  const auto sink = config.sinkOf(head);
  const float lse = result.lse(head, query);
  return sink && lse != kMinusInfinity ? std::exp(*sink - lse) : 0;
}

float rowEntropy(const Eigen::Ref<const Eigen::RowVectorXf>& weights) {
  double entropy = 0;
  for (const float weight : weights)
    // w·ln w tends to 0 with w; NaN must propagate.
    if (weight != 0) entropy -= static_cast<double>(weight) * std::log(static_cast<double>(weight));
  return static_cast<float>(entropy);
}

}  // namespace headscope::attention
