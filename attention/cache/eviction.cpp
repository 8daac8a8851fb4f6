#include "attention/cache/eviction.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace headscope::attention {

namespace {

/// One kv head's cache during decoding.
class Keeper {
 public:
  Keeper(const EvictionRules& rules, Index tokens, std::uint64_t stream)
      : rules_(rules), accumulated_(static_cast<std::size_t>(tokens)), state_(rules.seed + 977 * stream) {}

  const std::vector<Index>& entries() const { return entries_; }

  /// Adds the newest token and evicts entries beyond the budget.
  void add(Index token) {
    entries_.push_back(token);
    if (rules_.policy == EvictionPolicy::none) return;
    while (static_cast<Index>(entries_.size()) > rules_.budget)
      entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(victim()));
  }
  void weigh(Index token, double weight) { accumulated_[static_cast<std::size_t>(token)] += weight; }

 private:
  /// Returns the index of the entry to evict; never the newest.
  std::size_t victim() {
    const std::size_t older = entries_.size() - 1;
    if (older == 0) return 0;
    switch (rules_.policy) {
      case EvictionPolicy::none:
      case EvictionPolicy::window:
        return 0;
      case EvictionPolicy::sinks:
        // If the budget is all sinks, the newest entry replaces the last sink.
        return std::min<std::size_t>(static_cast<std::size_t>(kSinks), older - 1);
      case EvictionPolicy::heavy:
        return lightest(older);
      case EvictionPolicy::random:
        return next() % older;
    }
    return 0;
  }

  /// Returns the entry with the least accumulated weight among those before the recent half of the budget.
  std::size_t lightest(std::size_t older) const {
    const auto recent = static_cast<std::size_t>(rules_.budget / 2);
    const std::size_t candidates = std::clamp<std::size_t>(older + 1 - std::min(recent, older), 1, older);
    std::size_t best = 0;
    for (std::size_t i = 1; i < candidates; ++i)
      if (weightAt(i) < weightAt(best)) best = i;
    return best;
  }
  double weightAt(std::size_t entry) const { return accumulated_[static_cast<std::size_t>(entries_[entry])]; }

  /// SplitMix64 (Steele et al. 2014).
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  EvictionRules rules_;
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
  run.kept.assign(static_cast<std::size_t>(kvHeads * n * n), 0);
  run.massLost = Matrix::Zero(heads, n);
  run.weights = Stack(heads, n, n);
  run.outputError.resize(static_cast<std::size_t>(n));
  run.entries.resize(static_cast<std::size_t>(n));
  std::vector<Keeper> keepers;
  for (Index g = 0; g < kvHeads; ++g) keepers.emplace_back(rules, n, static_cast<std::uint64_t>(g));
  const Index group = heads / kvHeads, size = full.v.cols();
  for (Index i = 0; i < n && !stop.stop_requested(); ++i) {
    double difference = 0, whole = 0;
    for (Index g = 0; g < kvHeads; ++g) {
      Keeper& keeper = keepers[static_cast<std::size_t>(g)];
      keeper.add(i);
      const std::vector<Index> left = keeper.entries();
      run.entries[static_cast<std::size_t>(i)] += static_cast<Index>(left.size());
      for (const Index j : left) run.kept[static_cast<std::size_t>((g * n + i) * n + j)] = 1;
      for (Index h = g * group; h < (g + 1) * group; ++h) {
        float* weights = run.weights[h].row(i).data();
        run.massLost(h, i) = static_cast<float>(softmaxOver(
            full.scores[h].row(i).data(), full.weights[h].row(i).data(), left, n,
            learnedSinks.empty() ? std::nullopt : std::optional(learnedSinks[asSize(h)]), weights));
        Eigen::RowVectorXf output = Eigen::RowVectorXf::Zero(size);
        for (const Index j : left) {
          if (weights[j] != 0) output += weights[j] * full.v[g].row(j);
          keeper.weigh(j, static_cast<double>(weights[j]));
        }
        difference += static_cast<double>((output - full.headOutput[h].row(i)).squaredNorm());
        whole += static_cast<double>(full.headOutput[h].row(i).squaredNorm());
      }
    }
    run.outputError[static_cast<std::size_t>(i)] = whole > 0 ? std::sqrt(difference / whole) : 0;
  }
  return run;
}

}  // namespace headscope::attention
