#include "attention/cache/kv_cache.h"

#include <fmt/core.h>

#include <cstring>
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
          fmt::format("a cache of {} tokens is too large to address", capacity));
  return config;
}

}  // namespace

KvCache::KvCache(const AttentionConfig& config, Index capacity, CacheType type)
    : config_(requireCacheable(config, capacity)), capacity_(capacity), type_(type) {
  // In floats; a 16-bit number takes half of one.
  const Index numbers = config.kvHeads * capacity * config.headDim;
  const auto floats = static_cast<std::size_t>((numbers * cacheTypeBytes(type) + 3) / 4);
  keys_ = kernels::Buffer(floats);
  values_ = kernels::Buffer(floats);
}

namespace {

/// An Eigen matrix of the cache's type; Eigen rounds to nearest even.
template <typename Number>
using Numbers = Eigen::Matrix<Number, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Calls `visit` with a pointer of the cache's type.
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
    Eigen::Map<Numbers<Number>> to(numbers, rows.rows(), config_.headDim);
    to.leftCols(rows.cols()) = rows.template cast<Number>();
    to.rightCols(config_.headDim - rows.cols()).setZero();
  });
}

Matrix KvCache::read(const kernels::Buffer& from, Index kvHead) const {
  require(kvHead >= 0 && kvHead < config_.kvHeads,
          fmt::format("kv head is {}, expected below {}", kvHead, config_.kvHeads));
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

/// A single token reads the cache in place; several tokens, and what decodeHeads() can't handle, as floats.
void KvCache::attend(const AttentionConfig& config, const MaskInput& mask, AttentionResult& result,
                     const std::stop_token& stop, Keep keep) const {
  if (result.q.rows() == 1 && config.dropout.probability == 0 &&
      decodeHeads(config, mask, view(), keep, result, stop))
    return;
  if (stop.stop_requested()) return;
  std::vector<Matrix> copies;
  std::vector<MatrixView> views;
  copies.reserve(static_cast<std::size_t>(2 * config_.kvHeads));
  for (const kernels::Buffer* from : {&keys_, &values_})
    for (Index g = 0; g < config_.kvHeads; ++g) {
      // In 16-bit types, the buffer holds half as many floats.
      const float* const data = type_ == CacheType::f32 ? from->data() + g * capacity_ * config_.headDim
                                                        : copies.emplace_back(read(*from, g)).data();
      views.emplace_back(data, length_, config_.headDim);
    }
  const std::span<const MatrixView> all(views);
  const auto heads = static_cast<std::size_t>(config_.kvHeads);
  attendHeads(config, mask, all.first(heads), all.last(heads), result, stop, keep);
}

AttentionResult KvCache::append(const Projections& projections, const Eigen::Ref<const Matrix>& x,
                                const MaskInput& mask, std::stop_token stop) {
  const Index n = x.rows();
  requireProjectionShapes(config_, projections);
  requireRoom(n);
  Stack q = splitHeads(projections.q.apply(x), config_.heads);
  Stack k = splitHeads(projections.k.apply(x), config_.kvHeads);
  const Stack v = splitHeads(projections.v.apply(x), config_.kvHeads);
  if (config_.ropeTheta) {
    const Matrix table = ropeTable(length_, n, config_.headDim, *config_.ropeTheta);
    for (Index h = 0; h < config_.heads; ++h) applyRope(q[h], table);
    for (Index g = 0; g < config_.kvHeads; ++g) applyRope(k[g], table);
  }
  AttentionResult result = appendHeads(config_, std::move(q), k, v, mask, stop);
  result.output = Matrix::Zero(n, config_.modelDim);
  if (!stop.stop_requested()) result.output = projections.o.apply(mergeHeads(result.headOutput));
  return result;
}

AttentionResult KvCache::appendHeads(AttentionConfig config, Stack q, const Stack& k, const Stack& v,
                                     const MaskInput& mask, std::stop_token stop, Keep keep) {
  const Index n = q.rows();
  require(
      config.heads == config_.heads && config.kvHeads == config_.kvHeads && config.headDim == config_.headDim,
      "the head sizes differ from the cache's");
  require(q.count() == config.heads && q.cols() == config.headDim,
          fmt::format("queries are [{}, {}, {}], expected [{}, n, {}]", q.count(), n, q.cols(), config.heads,
                      config.headDim));
  for (const Stack* stack : {&k, &v})
    require(stack->count() == config.kvHeads && stack->rows() == n &&
                (stack == &k ? stack->cols() == config.headDim : stack->cols() <= config.headDim),
            fmt::format("keys or values are [{}, {}, {}], expected [{}, {}, {}]", stack->count(),
                        stack->rows(), stack->cols(), config.kvHeads, n, config.headDim));
  requireRoom(n);
  requireMaskShape(config, mask, n, length_ + n);
  config.cacheLength = length_;
  for (Index g = 0; g < config.kvHeads; ++g) {
    write(keys_, g, k[g]);
    write(values_, g, v[g]);
  }
  length_ += n;
  AttentionResult result;
  result.q = std::move(q);
  attend(config, mask, result, stop, keep);
  if (v.cols() < config.headDim && !stop.stop_requested())
    result.headOutput = leftColumns(result.headOutput, v.cols());
  return result;
}

void KvCache::requireRoom(Index tokens) const {
  require(tokens <= capacity_ - length_,
          fmt::format("found {} new tokens, but the cache holds {} of {}: only {} more fit", tokens, length_,
                      capacity_, capacity_ - length_));
}

void KvCache::truncate(Index length) {
  require(length >= 0 && length <= length_,
          fmt::format("a cache of {} tokens can't be cut to {}", length_, length));
  length_ = length;
}

void KvCache::reserve(Index capacity) {
  if (capacity <= capacity_) return;
  KvCache larger(config_, capacity, type_);
  const auto bytes = [&](Index tokens) {
    return static_cast<std::size_t>(tokens * config_.headDim * cacheTypeBytes(type_));
  };
  for (const auto& [to, from] : {std::pair(&larger.keys_, &keys_), {&larger.values_, &values_}})
    for (Index g = 0; g < config_.kvHeads && length_ > 0; ++g)
      std::memcpy(reinterpret_cast<char*>(to->data()) + bytes(g * capacity),
                  reinterpret_cast<const char*>(from->data()) + bytes(g * capacity_), bytes(length_));
  larger.length_ = length_;
  *this = std::move(larger);
}

}  // namespace headscope::attention
