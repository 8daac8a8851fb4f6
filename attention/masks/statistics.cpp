#include "attention/masks/statistics.h"

#include <fmt/core.h>

#include <cmath>
#include <numbers>

namespace headscope::attention {
namespace {

constexpr std::size_t kMaxListed = 64;
constexpr std::uint64_t kMaxBlocks = std::uint64_t{1} << 26;
/// Rows between two checks of the stop token.
constexpr Index kRowsPerLook = 64;

/// A representative sample of rows: one from each of `count` equal stretches, at an offset that advances by
/// the golden ratio, so that the sample is never in step with a pattern's period.
class RowSample {
 public:
  RowSample(Index rows, Index count) : rows_(rows), count_(count) {}
  Index count() const { return count_; }
  Index operator[](Index k) const {
    if (count_ == rows_) return k;
    const Index begin = k * rows_ / count_, end = (k + 1) * rows_ / count_;
    const double turned = static_cast<double>(k) / std::numbers::phi;
    return begin + static_cast<Index>((turned - std::floor(turned)) * static_cast<double>(end - begin));
  }

 private:
  Index rows_, count_;
};

/// Estimates from a few rows how many rows can be counted with `budget` runs.
Index rowsWithin(const MaskFormula& mask, Index variant, std::uint64_t budget, std::stop_token stop) {
  constexpr Index kProbes = 256;
  const Index rows = mask.queries();
  const auto mostRuns = static_cast<std::uint64_t>(mask.keys() / 2 + 1);
  if (saturatingProduct({rows, static_cast<Index>(mostRuns)}) <= budget || rows <= kProbes) return rows;
  const RowSample sample(rows, kProbes);
  std::uint64_t runs = 0;
  KeyRuns row;
  for (Index k = 0; k < sample.count() && !stop.stop_requested(); ++k) {
    mask.visibleRuns(variant, sample[k], row);
    // Even an empty row has a cost.
    runs += row.size() + 1;
  }
  const double perRow = static_cast<double>(runs) / kProbes;
  const double affordable = static_cast<double>(budget) / perRow;
  return affordable >= static_cast<double>(rows)
             ? rows
             : std::clamp<Index>(static_cast<Index>(affordable), std::min<Index>(kProbes, rows), rows);
}

/// Accumulates statistics over rows.
class Counter {
 public:
  Counter(Index keys, Index cacheLength)
      : keys_(keys), cacheLength_(cacheLength), change_(static_cast<std::size_t>(keys) + 1) {}

  void add(Index row, const KeyRuns& runs) {
    ++statistics_.rowsCounted;
    if (runs.empty()) {
      ++statistics_.emptyRows;
      if (statistics_.firstEmptyRows.size() < kMaxListed) statistics_.firstEmptyRows.push_back(row);
    }
    const Index next = cacheLength_ + row + 1;
    for (const KeyRun& run : runs) {
      statistics_.visible += static_cast<std::uint64_t>(run.end - run.begin);
      ++change_[static_cast<std::size_t>(run.begin)];
      --change_[static_cast<std::size_t>(run.end)];
      if (run.end > next) addFuture(next - 1, std::max(run.begin, next), run.end);
    }
  }

  MaskStatistics finish(bool sampled) {
    statistics_.sampled = sampled;
    statistics_.cells = saturatingProduct({statistics_.rowsCounted, keys_});
    statistics_.unseenKeys = sampled ? -1 : 0;
    Index seenBy = 0;
    for (Index key = 0; key < keys_ && !sampled; ++key) {
      seenBy += change_[static_cast<std::size_t>(key)];
      if (seenBy > 0) continue;
      ++statistics_.unseenKeys;
      if (statistics_.firstUnseenKeys.size() < kMaxListed) statistics_.firstUnseenKeys.push_back(key);
    }
    return std::move(statistics_);
  }

 private:
  void addFuture(Index position, Index begin, Index end) {
    statistics_.future += static_cast<std::uint64_t>(end - begin);
    if (!statistics_.firstFuture) statistics_.firstFuture = {position, begin};
  }

  Index keys_, cacheLength_;
  std::vector<Index> change_;  ///< number of rows that see this key minus that of the previous key
  MaskStatistics statistics_;
};

/// One row of blocks of a BlockMap.
class BlockRow {
 public:
  BlockRow(Index blockSize, Index cols)
      : blockSize_(blockSize),
        counts_(static_cast<std::size_t>(cols)),
        whole_(static_cast<std::size_t>(cols) + 1) {}

  void clear() {
    std::fill(counts_.begin(), counts_.end(), 0);
    std::fill(whole_.begin(), whole_.end(), 0);
  }

  void add(const KeyRuns& runs) {
    Index block = 0, blockEnd = blockSize_;
    for (const KeyRun& run : runs) {
      // Short runs share a block, and the division is the most expensive step.
      if (run.begin >= blockEnd) {
        block = run.begin / blockSize_;
        blockEnd = (block + 1) * blockSize_;
      }
      if (run.end <= blockEnd) {
        count(block) += static_cast<std::uint64_t>(run.end - run.begin);
        continue;
      }
      count(block) += static_cast<std::uint64_t>(blockEnd - run.begin);
      const Index last = (run.end - 1) / blockSize_;
      // The blocks in between each get one more full row.
      ++whole_[static_cast<std::size_t>(block) + 1];
      --whole_[static_cast<std::size_t>(last)];
      block = last;
      blockEnd = (block + 1) * blockSize_;
      count(block) += static_cast<std::uint64_t>(run.end - block * blockSize_);
    }
  }

  /// Returns the visible cells of each block. Call once, after all rows.
  const std::vector<std::uint64_t>& total() {
    Index rows = 0;
    for (std::size_t col = 0; col < counts_.size(); ++col) {
      rows += whole_[col];
      counts_[col] += static_cast<std::uint64_t>(rows * blockSize_);
    }
    return counts_;
  }

 private:
  std::uint64_t& count(Index col) { return counts_[static_cast<std::size_t>(col)]; }

  Index blockSize_;
  std::vector<std::uint64_t> counts_;
  std::vector<Index> whole_;
};

/// Counts the visible cells of any block of a mask that depends only on key − row.
class DistanceCounts {
 public:
  DistanceCounts(const MaskFormula& mask, Index variant)
      : queries_(mask.queries()), sums_(at(mask.queries() + mask.keys() + 1)) {
    // Visibility by key − row + queries − 1. Rows that are `keys` apart cover all values.
    const Index keys = mask.keys();
    std::vector<std::uint8_t> seen(at(queries_ + keys));
    KeyRuns runs;
    for (Index row = queries_ - 1;; row = std::max<Index>(0, row - keys)) {
      mask.visibleRuns(variant, row, runs);
      for (const KeyRun& run : runs)
        std::fill(seen.begin() + (run.begin - row + queries_ - 1),
                  seen.begin() + (run.end - row + queries_ - 1), std::uint8_t{1});
      if (row == 0) break;
    }
    std::uint64_t visible = 0;
    for (std::size_t i = 0; i + 1 < sums_.size(); visible += seen[i++]) sums_[i + 1] = sums_[i] + visible;
  }

  std::uint64_t visible(Index row, Index rowEnd, Index key, Index keyEnd) const {
    const auto sum = [&](Index j, Index i) { return sums_[at(j - i + queries_)]; };
    return sum(keyEnd, row) - sum(keyEnd, rowEnd) - sum(key, row) + sum(key, rowEnd);
  }

 private:
  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }
  Index queries_;
  /// [d]: the sum over e < d of the number of visible values among the first e.
  std::vector<std::uint64_t> sums_;
};

void put(BlockMap& map, std::size_t at, std::uint64_t visible, std::uint64_t cells) {
  map.visible[at] =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(visible, std::numeric_limits<std::uint32_t>::max()));
  if (visible == 0) {
    ++map.empty;
  } else if (visible == cells) {
    map.kinds[at] = BlockKind::all;
    ++map.full;
  } else {
    map.kinds[at] = BlockKind::mixed;
    ++map.partial;
  }
}

Index blocksAlong(Index length, Index blockSize) {
  return length / blockSize + (length % blockSize != 0 ? 1 : 0);
}

}  // namespace

MaskStatistics measureMask(const MaskFormula& mask, Index variant, Index cacheLength, std::uint64_t budget,
                           std::stop_token stop) {
  const RowSample sample(mask.queries(), rowsWithin(mask, variant, budget, stop));
  Counter counter(mask.keys(), cacheLength);
  KeyRuns runs;
  Index k = 0;
  for (; k < sample.count(); ++k) {
    if (k % kRowsPerLook == 0 && stop.stop_requested()) break;
    mask.visibleRuns(variant, sample[k], runs);
    counter.add(sample[k], runs);
  }
  return counter.finish(k < mask.queries());
}

double BlockMap::computedShare() const {
  const Index blocks = full + partial + empty;
  return blocks == 0 ? 0 : static_cast<double>(full + partial) / static_cast<double>(blocks);
}

BlockMap mapBlocks(const MaskFormula& mask, Index variant, Index blockSize, std::stop_token stop) {
  require(blockSize >= 1, "a block needs at least one cell");
  const Index queries = mask.queries(), keys = mask.keys();
  BlockMap map;
  map.blockSize = blockSize;
  map.rows = blocksAlong(queries, blockSize);
  map.cols = blocksAlong(keys, blockSize);
  const std::uint64_t blocks = saturatingProduct({map.rows, map.cols});
  require(blocks <= kMaxBlocks, "a block map has at most 2^26 blocks");
  map.visible.resize(blocks);
  map.kinds.resize(blocks, BlockKind::none);
  BlockRow row(blockSize, map.cols);
  KeyRuns runs;
  std::optional<DistanceCounts> byDistance;
  if (blocks > 0 && mask.dependsOnDistance(variant)) byDistance.emplace(mask, variant);
  for (Index blockRow = 0; blockRow < map.rows && !stop.stop_requested(); ++blockRow) {
    const Index first = blockRow * blockSize, end = std::min(first + blockSize, queries);
    row.clear();
    for (Index query = byDistance ? end : first; query < end; ++query) {
      if (query % kRowsPerLook == 0 && stop.stop_requested()) return map;
      mask.visibleRuns(variant, query, runs);
      row.add(runs);
    }
    const auto& counts = row.total();
    for (Index col = 0; col < map.cols; ++col) {
      const Index key = col * blockSize, keyEnd = std::min(key + blockSize, keys);
      const std::uint64_t visible =
          byDistance ? byDistance->visible(first, end, key, keyEnd) : counts[static_cast<std::size_t>(col)];
      put(map, static_cast<std::size_t>(blockRow * map.cols + col), visible,
          saturatingProduct({blockSize, blockSize}));
    }
  }
  return map;
}

double denseAttentionFlops(Index queries, Index keys, Index headDim, Index heads) {
  return 4 * static_cast<double>(queries) * static_cast<double>(keys) * static_cast<double>(headDim) *
         static_cast<double>(heads);
}

namespace {

float relativeChange(float change, float size) {
  if (change == 0) return 0;
  return size == 0 ? std::numeric_limits<float>::infinity() : change / size;
}

void requireSameShape(const Stack& a, const Stack& b, const char* what) {
  require(a.count() == b.count() && a.rows() == b.rows() && a.cols() == b.cols(),
          fmt::format("{} differ in shape: [{}, {}, {}] and [{}, {}, {}]", what, a.count(), a.rows(),
                      a.cols(), b.count(), b.rows(), b.cols()));
}

}  // namespace

MaskComparison compareMasks(const MaskedHeads& a, const MaskedHeads& b) {
  requireSameShape(a.weights, b.weights, "the weights under both masks");
  requireSameShape(a.outputs, b.outputs, "the outputs under both masks");
  const Index heads = a.weights.count(), rows = a.weights.rows();
  MaskComparison comparison;
  comparison.movedMass = comparison.entropyChange = comparison.outputChange = Matrix::Zero(heads, rows);
  for (Index head = 0; head < heads; ++head) {
    const MatrixView before = a.weights[head], after = b.weights[head];
    for (Index row = 0; row < rows; ++row) {
      comparison.movedMass(head, row) = (after.row(row) - before.row(row)).cwiseAbs().sum() / 2;
      comparison.entropyChange(head, row) = rowEntropy(after.row(row)) - rowEntropy(before.row(row));
      const auto from = a.outputs[head].row(row);
      comparison.outputChange(head, row) =
          relativeChange((from - b.outputs[head].row(row)).norm(), from.norm());
    }
  }
  return comparison;
}

}  // namespace headscope::attention
