#pragma once

#include "attention/heads/detectors/detector.h"

namespace headscope::attention::detectors {

/// Sums of a head's weights along all its columns or all its diagonals at once.
class LineSums {
 public:
  /// Rows have at most `keys` keys.
  LineSums(Index lines, Index keys)
      : weights_(Floats::Zero(lines)),
        visible_(keys),
        baselines_(Doubles::Zero(lines)),
        counts_(baselines_),
        shareSteps_(Doubles::Zero(lines + 1)),
        countSteps_(shareSteps_) {}

  /// Adds a row whose key j lies in line first + j, without key `omitted`; −1 = none.
  void add(const ObservedHead& head, Index row, Index first, Index omitted = -1) {
    const Index size = head.visibleEnd(row);
    if (size == 0) return;
    const auto weights = head.weights().row(row).head(size).array();
    const double share = 1 / static_cast<double>(head.visible(row));
    if (head.visible(row) == size) {
      const auto addRun = [&](Index from, Index to) {
        weights_.segment(first + from, to - from) += weights.segment(from, to - from);
        shareSteps_[first + from] += share, shareSteps_[first + to] -= share;
        countSteps_[first + from] += 1, countSteps_[first + to] -= 1;
      };
      addRun(0, omitted < 0 ? size : omitted);
      if (omitted >= 0) addRun(omitted + 1, size);
      return;
    }
    for (Index j = 0; j < size; ++j) visible_[j] = head.sees(row, j) ? 1.0f : 0.0f;
    if (omitted >= 0) visible_[omitted] = 0;
    const auto seen = visible_.head(size);
    weights_.segment(first, size) += weights * seen;
    baselines_.segment(first, size) += seen.cast<double>() * share;
    counts_.segment(first, size) += seen.cast<double>();
  }

  /// Returns the largest mean among the lines that at least a quarter of `rows` rows see: with fewer rows, a
  /// single strong cell would count as a line. DetectorScore::at is the line; on ties the first, or the last
  /// if `fromEnd`. Call once, after all rows.
  DetectorScore best(Index rows, bool fromEnd = false) {
    double shares = 0, counts = 0;
    for (Index line = 0; line < weights_.size(); ++line) {
      baselines_[line] += shares += shareSteps_[line];
      counts_[line] += counts += countSteps_[line];
    }
    const auto fewest = static_cast<float>(std::max<Index>(1, (rows + 3) / 4));
    DetectorScore best;
    for (Index i = 0; i < weights_.size(); ++i) {
      const Index line = fromEnd ? weights_.size() - 1 - i : i;
      const auto count = static_cast<float>(counts_[line]);
      if (count < fewest || (best.rows > 0 && !(weights_[line] / count > best.raw))) continue;
      best = {weights_[line] / count, static_cast<float>(baselines_[line]) / count, static_cast<Index>(count),
              line};
    }
    return best;
  }

 private:
  using Floats = Eigen::Array<float, 1, Eigen::Dynamic>;
  using Doubles = Eigen::Array<double, 1, Eigen::Dynamic>;
  Floats weights_, visible_;
  Doubles baselines_, counts_;
  /// For rows whose visible keys have no gaps: changes at the first line and after the last.
  Doubles shareSteps_, countSteps_;
};

}  // namespace headscope::attention::detectors
