#include "attention/cache/kv_cache.h"

#include <limits>
#include <string>
#include <vector>

#include "attention/cache/cost.h"
#include "attention/core/positions.h"

namespace headscope::attention {
namespace {

const AttentionConfig& requireCacheable(const AttentionConfig& config, Index capacity) {
  const Status status = validate(config);
  require(status.ok(), status ? "" : status.error().message);
  require(capacity >= 0, "cache capacity is " + std::to_string(capacity) + ", expected at least 0");
  require(kvCacheBytes(config.kvHeads, config.headDim, capacity, sizeof(float)) <=
              static_cast<std::uint64_t>(std::numeric_limits<Index>::max()),
          "a cache of " + std::to_string(capacity) + " tokens overflows");
  return config;
}

}  // namespace

KvCache::KvCache(const AttentionConfig& config, Index capacity)
    : config_(requireCacheable(config, capacity)),
      capacity_(capacity),
      keys_(config.kvHeads, capacity, config.headDim),
      values_(config.kvHeads, capacity, config.headDim) {}

MatrixView KvCache::keys(Index kvHead) const {
  require(
      kvHead >= 0 && kvHead < config_.kvHeads,
      "kv head " + std::to_string(kvHead) + " asked for, expected below " + std::to_string(config_.kvHeads));
  return {keys_.data() + kvHead * capacity_ * config_.headDim, length_, config_.headDim};
}

MatrixView KvCache::values(Index kvHead) const {
  const MatrixView beside = keys(kvHead);
  return {values_.data() + (beside.data() - keys_.data()), length_, config_.headDim};
}

AttentionResult KvCache::append(const Projections& projections, const Eigen::Ref<const Matrix>& x,
                                const MaskInput& mask, std::stop_token stop) {
  const Index n = x.rows(), headDim = config_.headDim;
  requireProjectionShapes(config_, projections);
  require(n <= capacity_ - length_, "x is " + shapeText(n, x.cols()) + " and the cache holds " +
                                        std::to_string(length_) + " of " + std::to_string(capacity_) +
                                        " tokens: only " + std::to_string(capacity_ - length_) + " more fit");
  requireMaskShape(config_, mask, n, length_ + n);
  config_.cacheLength = length_;

  AttentionResult result;
  result.q = splitHeads(projections.q.apply(x), config_.heads);
  const Matrix k = projections.k.apply(x), v = projections.v.apply(x);
  Matrix table;
  if (config_.ropeTheta) table = ropeTable(length_, n, headDim, *config_.ropeTheta);
  for (Index g = 0; g < config_.kvHeads; ++g) {
    MutableMatrixView newKeys(keys_[g].data() + length_ * headDim, n, headDim);
    newKeys = k.middleCols(g * headDim, headDim);
    if (config_.ropeTheta) applyRope(newKeys, table);
    MutableMatrixView(values_[g].data() + length_ * headDim, n, headDim) = v.middleCols(g * headDim, headDim);
  }
  if (config_.ropeTheta)
    for (Index h = 0; h < config_.heads; ++h) applyRope(result.q[h], table);
  length_ += n;

  std::vector<MatrixView> allKeys, allValues;
  for (Index g = 0; g < config_.kvHeads; ++g) {
    allKeys.push_back(keys(g));
    allValues.push_back(values(g));
  }
  result.output = Matrix::Zero(n, config_.modelDim);
  attendHeads(config_, mask, allKeys, allValues, result, stop);
  if (!stop.stop_requested()) result.output = projections.o.apply(mergeHeads(result.headOutput));
  return result;
}

}  // namespace headscope::attention
