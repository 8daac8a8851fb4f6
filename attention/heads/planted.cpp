#include "attention/heads/planted.h"

#include <fmt/core.h>

#include <bit>
#include <cmath>
#include <map>

#include "attention/core/random.h"

namespace headscope::attention {
namespace {

// Target weights of an offset head: the wanted key, its two neighbours, and almost nothing beyond.
// A peak of about 0.94 looks sharp and still reacts to changes.
constexpr double kNeighbourWeight = 0.03;
constexpr double kBandCurvature = 0.25;  ///< a local band falls off as exp(−0.25·d²)
constexpr double kStrayWeight = 0.01;    ///< shared by all distances; keeps the fit finite
constexpr double kRandomSpread = 1.5;    ///< standard deviation of a random head's scores
/// Scale of what heads write to the part that nothing reads, small so that it hardly affects a norm.
constexpr float kWrittenShare = 0.25f;
constexpr Index kShortestReach = 64, kLongestReach = 8192;

/// Writes the rows of W_Q and W_K for one layer, with the state shared by all its heads.
class Planter {
 public:
  Planter(const AttentionConfig& config, const EmbeddingLayout& layout, Index maxPositions,
          std::uint64_t seed)
      : config_(config), layout_(layout), seed_(seed), all_(plantedFrequencies(layout)) {
    // Rounded up, so that the weights stay the same while a text grows word by word.
    reach_ = static_cast<Index>(
        std::bit_ceil(static_cast<std::uint64_t>(std::clamp(maxPositions, kShortestReach, kLongestReach))));
    // Cancels the default scale 1/√headDim; a scale set by the user should have a visible effect.
    unit_ = std::sqrt(static_cast<double>(config.headDim));
  }

  /// Writes rows [headDim, modelDim] of W_K.
  void plantKeys(const Division& division, Index kvHead, Eigen::Ref<Matrix> rows) const {
    Index row = 0;
    if (division.first) rows(row++, kFlagFirst) = 1;
    if (division.separator) rows(row++, kFlagSeparator) = 1;
    for (const Index f : division.frequencies) {
      rows(row++, layout_.positionsAt() + 2 * f) = 1;
      rows(row++, layout_.positionsAt() + 2 * f + 1) = 1;
    }
    const Index start = identityStart(division, kvHead);
    for (Index d = 0; d < division.identity; ++d) rows(row++, start + d) = 1;
    for (Index d = 0; d < division.previous; ++d) rows(row++, layout_.previousAt() + d) = 1;
  }

  /// Writes rows [headDim, modelDim] of W_Q.
  void plantQuery(const PlantedHead& planted, const Division& division, Index head, Eigen::Ref<Matrix> rows) {
    switch (planted.behaviour) {
      case Behaviour::offset:
        return readPositions(division, peak(division), planted.offset, rows);
      case Behaviour::localBand:
        return readPositions(division, band(division), 0, rows);
      case Behaviour::firstToken:
        rows(0, kFlagOne) = flagGain();
        return;
      case Behaviour::separator:
        rows(division.first ? 1 : 0, kFlagOne) = flagGain();
        return;
      case Behaviour::sameToken:
        return readIdentity(division, config_.kvHeadOf(head), rows);
      case Behaviour::random:
        return readAnything(division, head, rows);
      case Behaviour::induction:
        return readPrevious(division, rows);
      case Behaviour::uniform:
        return;
    }
  }

 private:
  using Amplitudes = std::vector<double>;

  /// With this gain, one flagged key keeps 16/17 of the weight against reach_ other keys.
  float flagGain() const { return static_cast<float>(unit_ * std::log(16.0 * static_cast<double>(reach_))); }

  /// Each kv head reads a different range of the identity part if it is large enough.
  Index identityStart(const Division& division, Index kvHead) const {
    const Index spare = layout_.identity - division.identity;
    return layout_.identityAt() + (kvHead * division.identity % (spare + 1)) / 2 * 2;
  }

  std::vector<double> frequenciesOf(const Division& division) const {
    std::vector<double> frequencies;
    for (const Index f : division.frequencies) frequencies.push_back(all_[static_cast<std::size_t>(f)]);
    return frequencies;
  }

  template <typename Weight>
  const Amplitudes& fitted(const Division& division, std::map<std::size_t, Amplitudes>& known,
                           Weight weight) {
    const auto [entry, isNew] = known.try_emplace(division.frequencies.size());
    if (isNew) {
      std::vector<double> target;
      double sum = 0;
      for (Index d = 0; d < reach_; ++d) {
        target.push_back(weight(static_cast<double>(d)));
        sum += (d == 0 ? 1 : 2) * target.back();
      }
      const double stray = kStrayWeight / static_cast<double>(2 * reach_ - 1);
      for (double& t : target) t = (1 - kStrayWeight) * t / sum + stray;
      entry->second = fitDistanceProfile(frequenciesOf(division), target);
    }
    return entry->second;
  }

  const Amplitudes& peak(const Division& division) {
    return fitted(division, peaks_, [](double d) { return d == 0 ? 1 : d == 1 ? kNeighbourWeight : 0; });
  }

  const Amplitudes& band(const Division& division) {
    return fitted(division, bands_, [](double d) { return std::exp(-kBandCurvature * d * d); });
  }

  /// Q reads the sinusoids rotated back by `offset` steps, so that q·k = Σ a_f·cos(ω_f·(i − offset − j)).
  void readPositions(const Division& division, const Amplitudes& amplitudes, Index offset,
                     Eigen::Ref<Matrix> rows) const {
    for (std::size_t f = 0; f < division.frequencies.size(); ++f) {
      const Index column = layout_.positionsAt() + 2 * division.frequencies[f];
      const Index row = division.positionsAt() + 2 * static_cast<Index>(f);
      const double angle =
          all_[static_cast<std::size_t>(division.frequencies[f])] * static_cast<double>(offset);
      const auto cosine = static_cast<float>(unit_ * amplitudes[f] * std::cos(angle));
      const auto sine = static_cast<float>(unit_ * amplitudes[f] * std::sin(angle));
      rows(row, column) += cosine;
      rows(row, column + 1) -= sine;
      rows(row + 1, column) += sine;
      rows(row + 1, column + 1) += cosine;
    }
  }

  /// Q reads identity like K, and excludes the token itself by its position.
  void readIdentity(const Division& division, Index kvHead, Eigen::Ref<Matrix> rows) const {
    const Index whole = division.wholeIdentity();
    if (whole == 0) return;
    // Other tokens' products have variance 1/whole. Over many keys this raises their total weight by
    // exp(gain²/(2·whole)), which the second term compensates.
    const auto reach = static_cast<double>(reach_);
    const double clear = std::log(19.0 * reach / 4);
    const double gain = clear * (1 + clear / static_cast<double>(whole));
    const Index start = identityStart(division, kvHead);
    for (Index d = 0; d < whole; ++d) {
      rows(division.identityAt() + d, start + d) =
          static_cast<float>(unit_ * gain / static_cast<double>(whole));
    }
    if (division.frequencies.empty()) return;
    // Enough for the token itself to lose against a match, and not to stand out if there is none.
    const double away = std::max(9.0, gain - std::log(reach));
    Amplitudes amplitudes = flattestPeak(frequenciesOf(division), reach_);
    for (double& a : amplitudes) a *= -away;
    readPositions(division, amplitudes, 0, rows);
  }

  /// Q reads the part of identity that a layer below carried over to where K reads it.
  void readPrevious(const Division& division, Eigen::Ref<Matrix> rows) const {
    if (division.previous == 0) return;
    // As for same-token heads, but sharper: K reads a mean over some tokens, not an exact copy.
    const double clear = std::log(199.0 * static_cast<double>(reach_) / 4);
    const auto whole = static_cast<double>(division.previous);
    const double gain = clear * (1 + clear / whole);
    for (Index d = 0; d < division.previous; ++d)
      rows(division.previousAt() + d, layout_.identityAt() + d) = static_cast<float>(unit_ * gain / whole);
    rows(0, kFlagOne) = static_cast<float>(-2 * unit_ * gain);
  }

  void readAnything(const Division& division, Index head, Eigen::Ref<Matrix> rows) const {
    const auto keyNorm = static_cast<double>(division.positionsAt()) +
                         static_cast<double>(division.frequencies.size()) +
                         static_cast<double>(division.identity + division.previous);
    const auto inputNorm =
        1 + static_cast<double>(layout_.positions) / 2 + static_cast<double>(layout_.identity);
    const double spread = kRandomSpread * unit_ / std::sqrt(std::max(1.0, keyNorm) * inputNorm);
    Random random(mixSeed(mixSeed(seed_, 0x72616e64), static_cast<std::uint64_t>(head)));
    for (Index row = 0; row < division.used(); ++row) {
      for (Index d = 0; d < rows.cols(); ++d) rows(row, d) = static_cast<float>(spread) * random.gaussian();
    }
  }

  const AttentionConfig& config_;
  const EmbeddingLayout& layout_;
  std::uint64_t seed_;
  std::vector<double> all_;  ///< the layout's frequencies
  Index reach_ = 0;
  double unit_ = 1;
  std::map<std::size_t, Amplitudes> peaks_, bands_;  ///< by number of frequencies
};

}  // namespace

std::string describe(const PlantedHead& head) {
  switch (head.behaviour) {
    case Behaviour::offset:
      if (head.offset == 0) return "self";
      if (head.offset == 1) return "previous token";
      if (head.offset == -1) return "next token";
      return head.offset > 0 ? fmt::format("{} back", head.offset) : fmt::format("{} ahead", -head.offset);
    case Behaviour::firstToken:
      return "first token";
    case Behaviour::sameToken:
      return "same token";
    case Behaviour::localBand:
      return "local band";
    case Behaviour::uniform:
      return "uniform";
    case Behaviour::separator:
      return "separator";
    case Behaviour::random:
      return "random";
    case Behaviour::induction:
      return "induction";
  }
  return "";
}

namespace {

/// Restricts W_V and W_O of a layer followed by others, so that outputs don't change the parts that heads
/// read, except for the head that carries identity over.
void keepParts(const AttentionConfig& config, const EmbeddingLayout& layout,
               const std::vector<PlantedHead>& heads, bool writesPrevious, Projections& projections) {
  if (layout.written == 0) return;
  Linear &v = projections.v, &o = projections.o;
  o.weight.topRows(layout.writtenAt()).setZero();
  o.weight.bottomRows(layout.written) *= kWrittenShare;
  if (o.bias.size() > 0) o.bias.head(layout.writtenAt()).setZero();
  const auto carrier = std::ranges::find(heads, PlantedHead{Behaviour::offset, 1});
  if (!writesPrevious || carrier == heads.end()) return;
  const Index head = carrier - heads.begin(), first = config.kvHeadOf(head) * config.headDim;
  const Index carried = std::min(layout.previous, config.headDim);
  v.weight.middleRows(first, carried).setZero();
  if (v.bias.size() > 0) v.bias.segment(first, carried).setZero();
  for (Index d = 0; d < carried; ++d) {
    v.weight(first + d, layout.identityAt() + d) = 1;
    o.weight(layout.previousAt() + d, head * config.headDim + d) = 1;
  }
}

void requireHeads(const AttentionConfig& config, const std::vector<PlantedHead>& heads) {
  require(std::ssize(heads) == config.heads,
          fmt::format("{} planted heads given, expected {}", heads.size(), config.heads));
}

/// Returns the heads that share a kv head.
std::span<const PlantedHead> readersOf(const AttentionConfig& config, const std::vector<PlantedHead>& heads,
                                       Index kvHead) {
  requireHeads(config, heads);
  const auto group = static_cast<std::size_t>(config.groupSize());
  return std::span(heads).subspan(static_cast<std::size_t>(kvHead) * group, group);
}

}  // namespace

Status canPlant(const AttentionConfig& config, const EmbeddingLayout& layout,
                const std::vector<PlantedHead>& heads) {
  for (Index kvHead = 0; kvHead < config.kvHeads; ++kvHead) {
    if (const Result<Division> division = divide(config, layout, readersOf(config, heads, kvHead), kvHead);
        !division)
      return division.error();
  }
  return success();
}

Index comparedByInduction(const AttentionConfig& config, const EmbeddingLayout& layout,
                          const std::vector<PlantedHead>& heads) {
  Index fewest = 0;
  for (Index kvHead = 0; kvHead < config.kvHeads; ++kvHead) {
    const Result<Division> division = divide(config, layout, readersOf(config, heads, kvHead), kvHead);
    if (!division) return 0;
    if (division->previous > 0 && (fewest == 0 || division->previous < fewest)) fewest = division->previous;
  }
  return fewest;
}

Result<Projections> plantHeads(const AttentionConfig& config, const EmbeddingLayout& layout,
                               const std::vector<PlantedHead>& heads, bool bias, Index maxPositions,
                               std::uint64_t seed, bool writesPrevious) {
  requireHeads(config, heads);
  require(layout.modelDim == config.modelDim && layout.flags == kFlagCount,
          fmt::format("embedding layout is {} wide with {} flags, expected {} with {}", layout.modelDim,
                      layout.flags, config.modelDim, kFlagCount));
  Projections projections = xavierProjections(config, bias, seed);
  // A bias on queries or keys would add another behaviour.
  for (Linear* linear : {&projections.q, &projections.k}) {
    linear->weight.setZero();
    linear->bias.setZero();
  }
  keepParts(config, layout, heads, writesPrevious, projections);
  Planter planter(config, layout, maxPositions, seed);
  const Index group = config.groupSize();
  for (Index kvHead = 0; kvHead < config.kvHeads; ++kvHead) {
    const Result<Division> division = divide(config, layout, readersOf(config, heads, kvHead), kvHead);
    if (!division) return division.error();
    planter.plantKeys(*division, kvHead,
                      projections.k.weight.middleRows(kvHead * config.headDim, config.headDim));
    for (Index h = kvHead * group; h < (kvHead + 1) * group; ++h) {
      planter.plantQuery(heads[static_cast<std::size_t>(h)], *division, h,
                         projections.q.weight.middleRows(h * config.headDim, config.headDim));
    }
  }
  return projections;
}

}  // namespace headscope::attention
