#include "attention/cache/kv_cache.h"

#include <fmt/core.h>

#include <cmath>
#include <cstring>

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

KvCache::KvCache(const AttentionConfig& config, Index capacity, CacheType type)
    : config_(requireCacheable(config, capacity)), capacity_(capacity), type_(type) {
  // In floats; a 16-bit number takes half of one.
  const Index numbers = config.kvHeads * capacity * config.headDim;
  const auto floats = asSize((numbers * cacheTypeBytes(type) + 3) / 4);
  keys_ = kernels::Buffer(floats);
  values_ = kernels::Buffer(floats);
}

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
  copies.reserve(asSize(2 * config_.kvHeads));
  for (const kernels::Buffer* from : {&keys_, &values_})
    for (Index g = 0; g < config_.kvHeads; ++g) {
      // In 16-bit types, the buffer holds half as many floats.
      const float* const data = type_ == CacheType::f32 ? from->data() + g * capacity_ * config_.headDim
                                                        : copies.emplace_back(read(*from, g)).data();
      views.emplace_back(data, length_, config_.headDim);
    }
  const std::span<const MatrixView> all(views);
  const auto heads = asSize(config_.kvHeads);
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
  const auto bytes = [&](Index tokens) { return asSize(tokens * config_.headDim * cacheTypeBytes(type_)); };
  for (const auto& [to, from] : {std::pair(&larger.keys_, &keys_), {&larger.values_, &values_}})
    for (Index g = 0; g < config_.kvHeads && length_ > 0; ++g)
      std::memcpy(reinterpret_cast<char*>(to->data()) + bytes(g * capacity),
                  reinterpret_cast<const char*>(from->data()) + bytes(g * capacity_), bytes(length_));
  larger.length_ = length_;
  *this = std::move(larger);
}

namespace {

/// One kv head's cache during decoding.
class Keeper {
 public:
  Keeper(const EvictionRules& rules, const MatrixView& keys, std::uint64_t stream)
      : rules_(rules), keys_(keys), accumulated_(asSize(keys.rows())), state_(rules.seed + 977 * stream) {}

  const std::vector<Index>& entries() const { return entries_; }

  /// Adds the newest token and evicts entries beyond the budget. `last`: of each key the weight from the
  /// query before, over all heads.
  void add(Index token, const std::vector<double>& last) {
    entries_.push_back(token);
    if (rules_.policy == EvictionPolicy::none) return;
    while (static_cast<Index>(entries_.size()) > rules_.budget)
      entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(victim(last)));
  }
  void weigh(Index token, double weight) { accumulated_[asSize(token)] += weight; }

 private:
  /// Returns the index of the entry to evict; never the newest.
  std::size_t victim(const std::vector<double>& last) {
    const std::size_t older = entries_.size() - 1;
    if (older == 0) return 0;
    switch (rules_.policy) {
      case EvictionPolicy::none:
      case EvictionPolicy::window:
        return 0;
      case EvictionPolicy::sinks:
        // If the budget is all sinks, the newest entry replaces the last sink.
        return std::min<std::size_t>(asSize(kSinks), older - 1);
      case EvictionPolicy::heavy:
        return lightest(older);
      case EvictionPolicy::random:
        return next() % older;
      case EvictionPolicy::tova:
        return most(older, [&](Index token) { return -last[asSize(token)]; });
      case EvictionPolicy::keynorm:
        return most(older, [&](Index token) { return static_cast<double>(keys_.row(token).norm()); });
      case EvictionPolicy::keydiff:
        return likest(older);
    }
    return 0;
  }

  /// Returns the first of the `older` entries with the highest score.
  template <typename Score>
  std::size_t most(std::size_t older, const Score& score) const {
    std::size_t best = 0;
    double highest = score(entries_[0]);
    for (std::size_t i = 1; i < older; ++i)
      if (const double found = score(entries_[i]); found > highest) best = i, highest = found;
    return best;
  }

  std::size_t likest(std::size_t older) const {
    Eigen::RowVectorXf mean = Eigen::RowVectorXf::Zero(keys_.cols());
    for (const Index token : entries_) mean += keys_.row(token).normalized();
    return most(older,
                [&](Index token) { return static_cast<double>(keys_.row(token).normalized().dot(mean)); });
  }

  /// Returns the entry with the least accumulated weight among those before the recent half of the budget.
  std::size_t lightest(std::size_t older) const {
    const auto recent = asSize(rules_.budget / 2);
    const std::size_t candidates = std::clamp<std::size_t>(older + 1 - std::min(recent, older), 1, older);
    std::size_t best = 0;
    for (std::size_t i = 1; i < candidates; ++i)
      if (weightAt(i) < weightAt(best)) best = i;
    return best;
  }
  double weightAt(std::size_t entry) const { return accumulated_[asSize(entries_[entry])]; }

  /// SplitMix64 (Steele et al. 2014).
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  EvictionRules rules_;
  MatrixView keys_;  ///< [tokens, headDim]
  std::vector<Index> entries_;
  std::vector<double> accumulated_;
  std::uint64_t state_;
};

/// Computes the softmax over the remaining entries, leaving the rest of the row 0. Returns the weight that
/// the evicted entries have in full attention.
double softmaxOver(const float* scores, const float* fullWeights, const std::vector<Index>& left, Index keys,
                   std::optional<float> sink, float* weights) {
  double whole = 0;
  for (Index j = 0; j < keys; ++j) whole += static_cast<double>(fullWeights[j]);
  float most = -std::numeric_limits<float>::infinity();
  for (const Index j : left) most = std::max(most, scores[j]);
  if (sink && std::isfinite(most)) most = std::max(most, *sink);
  double sum = sink && std::isfinite(most) ? std::exp(static_cast<double>(*sink - most)) : 0, seen = 0;
  for (const Index j : left) {
    seen += static_cast<double>(fullWeights[j]);
    if (std::isfinite(most)) sum += std::exp(static_cast<double>(scores[j] - most));
  }
  if (sum > 0)
    for (const Index j : left)
      weights[j] = static_cast<float>(std::exp(static_cast<double>(scores[j] - most)) / sum);
  return std::max(0.0, whole - seen);
}

}  // namespace

EvictionRun runEviction(const AttentionResult& full, Index kvHeads, const EvictionRules& rules,
                        const std::stop_token& stop, std::span<const float> learnedSinks) {
  const Index heads = full.scores.count(), n = full.scores.rows();
  require(full.scores.cols() == n,
          fmt::format("found {} queries over {} keys, expected one query per key", n, full.scores.cols()));
  require(rules.budget >= 1, fmt::format("the budget is {} entries, expected at least 1", rules.budget));
  EvictionRun run;
  run.kvHeads = kvHeads;
  run.tokens = n;
  run.kept.assign(asSize(kvHeads * n * n), 0);
  run.massLost = Matrix::Zero(heads, n);
  run.weights = Stack(heads, n, n);
  run.outputError.resize(asSize(n));
  run.entries.resize(asSize(n));
  std::vector<Keeper> keepers;
  for (Index g = 0; g < kvHeads; ++g) keepers.emplace_back(rules, full.k[g], static_cast<std::uint64_t>(g));
  std::vector<double> last(asSize(n)), now(asSize(n));
  const Index group = heads / kvHeads, size = full.v.cols();
  for (Index i = 0; i < n && !stop.stop_requested(); ++i) {
    double difference = 0, whole = 0;
    std::ranges::fill(now, 0.0);
    for (Index g = 0; g < kvHeads; ++g) {
      Keeper& keeper = keepers[asSize(g)];
      keeper.add(i, last);
      const std::vector<Index> left = keeper.entries();
      run.entries[asSize(i)] += static_cast<Index>(left.size());
      for (const Index j : left) run.kept[asSize((g * n + i) * n + j)] = 1;
      for (Index h = g * group; h < (g + 1) * group; ++h) {
        float* weights = run.weights[h].row(i).data();
        run.massLost(h, i) = static_cast<float>(softmaxOver(
            full.scores[h].row(i).data(), full.weights[h].row(i).data(), left, n,
            learnedSinks.empty() ? std::nullopt : std::optional(learnedSinks[asSize(h)]), weights));
        Eigen::RowVectorXf output = Eigen::RowVectorXf::Zero(size);
        for (const Index j : left) {
          if (weights[j] != 0) output += weights[j] * full.v[g].row(j);
          keeper.weigh(j, static_cast<double>(weights[j]));
          now[asSize(j)] += static_cast<double>(weights[j]);
        }
        difference += static_cast<double>((output - full.headOutput[h].row(i)).squaredNorm());
        whole += static_cast<double>(full.headOutput[h].row(i).squaredNorm());
      }
    }
    last.swap(now);
    run.outputError[asSize(i)] = whole > 0 ? std::sqrt(difference / whole) : 0;
  }
  return run;
}

std::uint64_t kvCacheBytes(Index kvHeads, Index headDim, Index tokens, Index bytesPerValue, Index sequences) {
  return saturatingProduct({2, kvHeads, headDim, tokens, bytesPerValue, sequences});
}

std::uint64_t parameterCount(const AttentionConfig& config, bool bias) {
  const Index d = config.modelDim, heads = config.heads, kvHeads = config.kvHeads, headDim = config.headDim;
  const std::uint64_t weights =
      saturatingSum({saturatingProduct({2, d, heads, headDim}), saturatingProduct({2, d, kvHeads, headDim})});
  if (!bias) return weights;
  return saturatingSum({weights, saturatingProduct({heads, headDim}),
                        saturatingProduct({2, kvHeads, headDim}), saturatingProduct({d})});
}

}  // namespace headscope::attention
