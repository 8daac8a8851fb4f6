#include <algorithm>
#include <cstdint>

#include "attention/core/random.h"
#include "attention/masks/rows.h"
#include "attention/masks/runs.h"

namespace headscope::attention {
namespace {

/// The table's parameters by name.
struct BigBird {
  Index block, window, global, random, seed;
  explicit BigBird(const Rule& rule)
      : block(rule.counts[0]),
        window(rule.counts[1]),
        global(rule.counts[2]),
        random(rule.counts[3]),
        seed(rule.counts[4]) {}
};

/// Blocks that a row of blocks sees anyway: 0 … globalEnd−1 and begin … end−1, with globalEnd ≤ begin ≤ end.
struct SeenBlocks {
  Index globalEnd, begin, end;
  SeenBlocks(const BigBird& b, Index blockRow, Index blocks)
      : globalEnd(std::min(b.global, blocks)),
        begin(std::clamp(blockRow - b.window, globalEnd, blocks)),
        end(std::clamp(blockRow + b.window + 1, begin, blocks)) {}
};

Index blocksOf(Index keys, Index block) {
  return (keys + block - 1) / block;
}

/// `count` different numbers below `below`, ascending, by Floyd's method (Bentley & Floyd 1987).
void drawDistinct(Index count, Index below, std::uint64_t seed, std::vector<Index>& out) {
  thread_local std::vector<bool> drawn;
  if (drawn.size() < static_cast<std::size_t>(below)) drawn.resize(static_cast<std::size_t>(below));
  Random random(seed);
  for (Index last = below - count; last < below; ++last) {
    auto pick = static_cast<Index>(random.next() % static_cast<std::uint64_t>(last + 1));
    if (drawn[static_cast<std::size_t>(pick)]) pick = last;
    drawn[static_cast<std::size_t>(pick)] = true;
    out.push_back(pick);
  }
  for (const Index pick : out) drawn[static_cast<std::size_t>(pick)] = false;
  std::sort(out.begin(), out.end());
}

}  // namespace

void randomBlocks(const Rule& rule, Index blockRow, Index keys, std::vector<Index>& out) {
  out.clear();
  const BigBird bird(rule);
  const Index blocks = blocksOf(keys, bird.block);
  if (blockRow < bird.global) return;
  const SeenBlocks seen(bird, blockRow, blocks);
  const Index others = blocks - seen.globalEnd - (seen.end - seen.begin);
  const Index count = std::min(bird.random, others);
  if (count == 0) return;
  const std::uint64_t seed =
      mixSeed(static_cast<std::uint64_t>(bird.seed), static_cast<std::uint64_t>(blockRow));
  drawDistinct(count, others, seed, out);
  for (Index& block : out) {
    block += seen.globalEnd;
    if (block >= seen.begin) block += seen.end - seen.begin;
  }
}

void bigBirdRow(const Rule& rule, const RowPlace& place, KeyRuns& out) {
  const BigBird bird(rule);
  const Index blockRow = place.position / bird.block;
  if (blockRow < bird.global) return appendRun(out, 0, place.keys);
  thread_local std::vector<Index> blocks;
  randomBlocks(rule, blockRow, place.keys, blocks);
  const SeenBlocks seen(bird, blockRow, blocksOf(place.keys, bird.block));
  const auto append = [&](Index begin, Index end) {
    appendRun(out, begin * bird.block, std::min(end * bird.block, place.keys));
  };
  append(0, seen.globalEnd);
  const auto middle = std::lower_bound(blocks.begin(), blocks.end(), seen.begin);
  for (auto block = blocks.begin(); block != middle; ++block) append(*block, *block + 1);
  append(seen.begin, seen.end);
  for (auto block = middle; block != blocks.end(); ++block) append(*block, *block + 1);
}

}  // namespace headscope::attention
