#include "attention/heads/detectors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "attention/core/result.h"

namespace headscope::attention {
namespace {

using RowArray = Eigen::Array<float, 1, Eigen::Dynamic>;

/// Sums one detector's score over its eligible rows.
class Mean {
 public:
  /// `weight` went to the pattern's keys, `keys` of them among the `visible` ones.
  void add(double weight, double keys, double visible) {
    raw_ += weight;
    baseline_ += keys / visible;
    ++rows_;
  }

  DetectorScore score() const {
    if (rows_ == 0) return {};
    const auto rows = static_cast<double>(rows_);
    return {static_cast<float>(raw_ / rows), static_cast<float>(baseline_ / rows), rows_};
  }

 private:
  double raw_ = 0, baseline_ = 0;
  Index rows_ = 0;
};

struct KeySum {
  double weight = 0;
  Index keys = 0;
};

/// What profileHead was asked, under one name.
struct HeadInput {
  const MatrixView& weights;
  const MatrixView& scores;
  std::span<const Index> queryIds, keyIds;
  std::span<const std::uint8_t> separators;
  Index firstPosition, localBand;
  bool crossAttention;
};

/// One behind the last visible key; 0 where there is none.
Index visibleEnd(const float* scores, Index end) {
  constexpr Index kBlock = 16;  // looked at as a whole, which compilers turn into a few vector operations
  const auto seen = [&](Index key) { return scores[key] > -std::numeric_limits<float>::infinity(); };
  for (bool any = false; end >= kBlock; end -= kBlock) {
    for (Index key = end - kBlock; key < end; ++key) any |= seen(key);
    if (any) break;
  }
  while (end > 0 && !seen(end - 1)) --end;
  return end;
}

/// −Σ w·ln w in nats; a vectorised logarithm, as this is asked of every weight on the screen.
double entropyOf(const Eigen::Ref<const RowArray>& weights) {
  return -static_cast<double>((weights * weights.max(std::numeric_limits<float>::min()).log()).sum());
}

/// Means along all diagonals i − j at once.
class Diagonals {
 public:
  Diagonals(Index rows, Index cols, Index firstPosition)
      : rows_(rows),
        cols_(cols),
        firstPosition_(firstPosition),
        sums_(RowArray::Zero(rows + cols)),
        baselines_(sums_),
        counts_(sums_) {}

  /// The first visible.size() weights of a row; later keys are hidden.
  void add(Index row, const Eigen::Ref<const RowArray>& weights, const Eigen::Ref<const RowArray>& visible,
           float visibleCount) {
    const Index at = row + cols_ - visible.size(), size = visible.size();
    sums_.segment(at, size) += (weights * visible).reverse();
    baselines_.segment(at, size) += visible.reverse() * (1 / visibleCount);
    counts_.segment(at, size) += visible.reverse();
  }

  /// The largest mean among the diagonals that a fair share of the rows can show: where few can, any
  /// single bright key would pass for an offset.
  DetectorScore best(Index& offset) const {
    const float fewest = static_cast<float>(std::max<Index>(1, (rows_ + 3) / 4));
    DetectorScore best;
    for (Index d = 0; d < counts_.size(); ++d) {
      if (counts_[d] < fewest || (best.rows > 0 && !(sums_[d] / counts_[d] > best.raw))) continue;
      best = {sums_[d] / counts_[d], baselines_[d] / counts_[d], static_cast<Index>(counts_[d])};
      offset = firstPosition_ + d - (cols_ - 1);
    }
    return best;
  }

 private:
  Index rows_, cols_, firstPosition_;
  RowArray sums_, baselines_, counts_;
};

/// The detectors of one head, fed row by row.
class Profiler {
 public:
  explicit Profiler(const HeadInput& input)
      : in_(input), diagonals_(input.weights.rows(), input.weights.cols(), input.firstPosition) {
    for (std::size_t j = 0; j < in_.keyIds.size(); ++j)
      keysOf_[in_.keyIds[j]].push_back(static_cast<Index>(j));
    separators_.resize(in_.weights.cols());
    visible_.resize(in_.weights.cols());
    for (Index j = 0; j < separators_.size(); ++j)
      separators_[j] = in_.separators[static_cast<std::size_t>(j)] != 0 ? 1.0f : 0.0f;
  }

  void addRow(Index row) {
    // Under causal masks half of the work lies behind the last visible key.
    const float* scores = in_.scores.row(row).data();
    const Index end = visibleEnd(scores, in_.weights.cols());
    if (end == 0) return;
    for (Index j = 0; j < end; ++j)
      visible_[j] = scores[j] > -std::numeric_limits<float>::infinity() ? 1.0f : 0.0f;
    const Eigen::Ref<const RowArray> visible = visible_.head(end);
    const double count = visible.sum();
    weights_ = in_.weights.row(row).head(end);
    diagonals_.add(row, weights_, visible, static_cast<float>(count));
    const Index position = in_.firstPosition + row;
    addKeysAt(Detector::previous, row, position - 1, position - 1, count);
    addKeysAt(Detector::self, row, position, position, count);
    addKeysAt(Detector::next, row, position + 1, position + 1, count);
    addKeysAt(Detector::local, row, position - in_.localBand, position + in_.localBand, count);
    if (position >= 1 || in_.crossAttention) addKeysAt(Detector::first, row, 0, 0, count);
    addSameToken(row, position, count);
    const double separatorKeys = (visible * separators_.head(end)).sum();
    if (separatorKeys > 0)
      mean(Detector::separator).add((weights_ * separators_.head(end)).sum(), separatorKeys, count);
    const double entropy = entropyOf(weights_);
    entropySum_ += entropy;
    ++entropyRows_;
    // Uniform attention's own ratio is 1, whatever is visible.
    if (count >= 2) mean(Detector::uniform).add(entropy / std::log(count), 1, 1);
  }

  HeadProfile profile() const {
    HeadProfile profile;
    for (std::size_t d = 0; d < means_.size(); ++d) profile.scores[d] = means_[d].score();
    profile.scores[static_cast<std::size_t>(Detector::offset)] = diagonals_.best(profile.bestOffset);
    if (entropyRows_ > 0)
      profile.meanEntropy = static_cast<float>(entropySum_ / static_cast<double>(entropyRows_));
    return profile;
  }

 private:
  Mean& mean(Detector detector) { return means_[static_cast<std::size_t>(detector)]; }
  bool sees(Index row, Index key) const {
    return in_.scores(row, key) > -std::numeric_limits<float>::infinity();
  }

  void addKeysAt(Detector detector, Index row, Index from, Index to, double count) {
    KeySum sum;
    for (Index j = std::max<Index>(from, 0); j <= std::min(to, in_.weights.cols() - 1); ++j)
      take(row, j, sum);
    if (sum.keys > 0) mean(detector).add(sum.weight, static_cast<double>(sum.keys), count);
  }

  void addSameToken(Index row, Index position, double count) {
    const auto keys = keysOf_.find(in_.queryIds[static_cast<std::size_t>(row)]);
    if (keys == keysOf_.end()) return;
    KeySum sum;
    for (const Index j : keys->second) {
      if (!in_.crossAttention && j >= position) break;
      take(row, j, sum);
    }
    if (sum.keys > 0) mean(Detector::sameToken).add(sum.weight, static_cast<double>(sum.keys), count);
  }

  void take(Index row, Index key, KeySum& sum) const {
    if (!sees(row, key)) return;
    sum.weight += static_cast<double>(weights_[key]);
    ++sum.keys;
  }

  const HeadInput& in_;
  Diagonals diagonals_;
  std::unordered_map<Index, std::vector<Index>> keysOf_;
  RowArray separators_, weights_, visible_;
  std::array<Mean, kDetectorCount> means_;
  double entropySum_ = 0;
  Index entropyRows_ = 0;
};

}  // namespace

HeadProfile profileHead(const MatrixView& weights, const MatrixView& scores, std::span<const Index> queryIds,
                        std::span<const Index> keyIds, std::span<const std::uint8_t> separators,
                        Index firstPosition, Index localBand, bool crossAttention) {
  const Index n = weights.rows(), m = weights.cols();
  require(
      scores.rows() == n && scores.cols() == m,
      "head profile: scores are " + shapeText(scores.rows(), scores.cols()) + ", weights " + shapeText(n, m));
  require(std::ssize(queryIds) == n && std::ssize(keyIds) == m && std::ssize(separators) == m,
          "head profile: " + std::to_string(queryIds.size()) + " query ids, " +
              std::to_string(keyIds.size()) + " key ids and " + std::to_string(separators.size()) +
              " separator flags for weights " + shapeText(n, m));
  require(firstPosition >= 0 && localBand >= 0 && localBand <= std::numeric_limits<std::int32_t>::max(),
          "head profile: first position " + std::to_string(firstPosition) + " and band " +
              std::to_string(localBand) + " must not be negative");
  const HeadInput input{weights,    scores,        queryIds,  keyIds,
                        separators, firstPosition, localBand, crossAttention};
  Profiler profiler(input);
  for (Index row = 0; row < n; ++row) profiler.addRow(row);
  return profiler.profile();
}

}  // namespace headscope::attention
