#include "attention/cache/kv_cache.h"

#include <fmt/core.h>

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
  require(capacity >= 0, fmt::format("cache capacity is {}, expected at least 0", capacity));
  require(kvCacheBytes(config.kvHeads, config.headDim, capacity, sizeof(float)) <=
              static_cast<std::uint64_t>(std::numeric_limits<Index>::max()),
          fmt::format("a cache of {} tokens overflows", capacity));
  return config;
}

}  // namespace

KvCache::KvCache(const AttentionConfig& config, Index capacity, CacheType type)
    : config_(requireCacheable(config, capacity)), capacity_(capacity), type_(type) {
  // In units of floats, half of one for a half.
  const Index numbers = config.kvHeads * capacity * config.headDim;
  const auto floats = static_cast<std::size_t>((numbers * cacheTypeBytes(type) + 3) / 4);
  keys_ = kernels::Buffer(floats);
  values_ = kernels::Buffer(floats);
}

namespace {

/// Numbers of a cache's type as Eigen's, which rounds to the nearest even.
template <typename Number>
using Numbers = Eigen::Matrix<Number, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Calls visit with a pointer of the cache's type.
template <typename Visit>
decltype(auto) visitNumbers(CacheType type, void* data, const Visit& visit) {
  if (type == CacheType::f16) return visit(static_cast<Eigen::half*>(data));
  if (type == CacheType::bf16) return visit(static_cast<Eigen::bfloat16*>(data));
  return visit(static_cast<float*>(data));
}

}  // namespace

void KvCache::write(kernels::Buffer& to, Index kvHead, const Eigen::Ref<const Matrix>& rows) {
  visitNumbers(type_, to.data(), [&]<typename Number>(Number* numbers) {
    numbers += (kvHead * capacity_ + length_) * config_.headDim;
    Eigen::Map<Numbers<Number>>(numbers, rows.rows(), rows.cols()) = rows.template cast<Number>();
  });
}

Matrix KvCache::read(const kernels::Buffer& from, Index kvHead) const {
  require(kvHead >= 0 && kvHead < config_.kvHeads,
          fmt::format("kv head {} asked for, expected below {}", kvHead, config_.kvHeads));
  return visitNumbers(type_, from.data(), [&]<typename Number>(const Number* numbers) -> Matrix {
    numbers += kvHead * capacity_ * config_.headDim;
    return Eigen::Map<const Numbers<Number>>(numbers, length_, config_.headDim).template cast<float>();
  });
}

Matrix KvCache::keys(Index kvHead) const {
  return read(keys_, kvHead);
}

Matrix KvCache::values(Index kvHead) const {
  return read(values_, kvHead);
}

CacheView KvCache::view() const {
  return {type_, keys_.data(), values_.data(), length_, capacity_ * config_.headDim};
}

/// One token reads the cache as it lies; several, and what the decode step leaves to others, read it as
/// floats.
void KvCache::attend(const MaskInput& mask, AttentionResult& result, const std::stop_token& stop) const {
  if (result.q.rows() == 1 && config_.dropout.probability == 0 &&
      decodeHeads(config_, mask, view(), Keep::scores, result, stop))
    return;
  if (stop.stop_requested()) return;
  std::vector<Matrix> copies;
  std::vector<MatrixView> views;
  copies.reserve(static_cast<std::size_t>(2 * config_.kvHeads));
  for (const kernels::Buffer* from : {&keys_, &values_})
    for (Index g = 0; g < config_.kvHeads; ++g) {
      const float* data = from->data() + g * capacity_ * config_.headDim;
      if (type_ != CacheType::f32) data = copies.emplace_back(read(*from, g)).data();
      views.emplace_back(data, length_, config_.headDim);
    }
  const std::span<const MatrixView> all(views);
  const auto heads = static_cast<std::size_t>(config_.kvHeads);
  attendHeads(config_, mask, all.first(heads), all.last(heads), result, stop);
}

AttentionResult KvCache::append(const Projections& projections, const Eigen::Ref<const Matrix>& x,
                                const MaskInput& mask, std::stop_token stop) {
  const Index n = x.rows(), headDim = config_.headDim;
  requireProjectionShapes(config_, projections);
  require(n <= capacity_ - length_,
          fmt::format("x is {} and the cache holds {} of {} tokens: only {} more fit", shapeText(n, x.cols()),
                      length_, capacity_, capacity_ - length_));
  requireMaskShape(config_, mask, n, length_ + n);
  config_.cacheLength = length_;

  AttentionResult result;
  result.q = splitHeads(projections.q.apply(x), config_.heads);
  const Matrix k = projections.k.apply(x), v = projections.v.apply(x);
  Matrix table;
  if (config_.ropeTheta) table = ropeTable(length_, n, headDim, *config_.ropeTheta);
  for (Index g = 0; g < config_.kvHeads; ++g) {
    Matrix newKeys = k.middleCols(g * headDim, headDim);
    if (config_.ropeTheta) applyRope({newKeys.data(), n, headDim}, table);
    write(keys_, g, newKeys);
    write(values_, g, v.middleCols(g * headDim, headDim));
  }
  if (config_.ropeTheta)
    for (Index h = 0; h < config_.heads; ++h) applyRope(result.q[h], table);
  length_ += n;

  result.output = Matrix::Zero(n, config_.modelDim);
  attend(mask, result, stop);
  if (!stop.stop_requested()) result.output = projections.o.apply(mergeHeads(result.headOutput));
  return result;
}

}  // namespace headscope::attention
