#include "attention/core/receipt.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "attention/core/positions.h"
#include "attention/core/softmax.h"

namespace headscope::attention {
namespace {

void requireIndex(const char* name, Index index, Index count) {
  require(index >= 0 && index < count, std::string(name) + " " + std::to_string(index) +
                                           " asked for, expected below " + std::to_string(count));
}

/// Dot product, scale, ALiBi, soft-cap and additive mask: what leads to the score.
void explainTerms(const AttentionConfig& config, const MaskInput& mask, Index head, Index query, Index key,
                  ScoreReceipt& receipt) {
  receipt.product = receipt.q.cwiseProduct(receipt.k);
  receipt.dot = receipt.product.sum();
  receipt.scale = config.effectiveScale();
  receipt.scaled = receipt.dot * receipt.scale;
  if (config.alibi) {
    const float slope = alibiSlopes(config.heads)[static_cast<std::size_t>(head)];
    const Index distance = std::abs(config.cacheLength + query - key);
    // 0 − x, so that the diagonal reads 0 and not −0.
    receipt.alibi = 0 - slope * static_cast<float>(distance);
  }
  if (config.t5)
    receipt.t5 =
        t5Values(*config.t5, config.heads)(head, t5Bucket(*config.t5, config.cacheLength + query - key));
  receipt.capped = receipt.scaled + (receipt.alibi + receipt.t5);
  if (config.softcap) receipt.capped = *config.softcap * std::tanh(receipt.capped / *config.softcap);
  if (!mask.additive.empty())
    receipt.additive = mask.additive.at(mask.additive.count() == 1 ? 0 : head, query, key);
  receipt.visible = visible(config, mask, head, query, key);
}

}  // namespace

ScoreReceipt explainScore(const AttentionConfig& config, const MaskInput& mask, const AttentionResult& result,
                          Index head, Index query, Index key) {
  requireIndex("head", head, result.scores.count());
  requireIndex("query", query, result.scores.rows());
  requireIndex("key", key, result.scores.cols());
  require(result.q.count() == config.heads && result.scores.count() == config.heads,
          "the result has " + std::to_string(result.q.count()) + " heads, expected " +
              std::to_string(config.heads));
  requireIndex("kv head", config.kvHeadOf(head), result.k.count());
  requireIndex("key row", key, result.k.rows());
  requireMaskShape(config, mask, result.scores.rows(), result.scores.cols());

  ScoreReceipt receipt;
  receipt.q = result.q[head].row(query).transpose();
  receipt.k = result.k[config.kvHeadOf(head)].row(key).transpose();
  explainTerms(config, mask, head, query, key, receipt);

  // The stored row once more through softmax: exponential / rowSum is the stored weight up to rounding.
  const MatrixView scores = result.scores[head];
  std::vector<float> weights(static_cast<std::size_t>(scores.cols()));
  const SoftmaxRow row = softmaxRow(scores.row(query).data(), scores.cols(), weights.data());
  receipt.score = scores(query, key);
  receipt.rowMax = row.max;
  receipt.rowSum = row.sum;
  if (receipt.score > -std::numeric_limits<float>::infinity() || std::isnan(receipt.score))
    receipt.exponential = expNonPositive(receipt.score - row.max);
  receipt.weight = result.weights.at(head, query, key);
  return receipt;
}

float rowEntropy(const Eigen::Ref<const Eigen::RowVectorXf>& weights) {
  double entropy = 0;
  for (const float weight : weights)
    // w·ln w tends to 0 with w; NaN must come through.
    if (weight != 0) entropy -= static_cast<double>(weight) * std::log(static_cast<double>(weight));
  return static_cast<float>(entropy);
}

}  // namespace headscope::attention
