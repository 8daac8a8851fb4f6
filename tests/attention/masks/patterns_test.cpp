#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "tests/attention/masks/pattern_cases.h"

// Patterns based on distances and blocks, compared with definitions that count, walk and mark as the papers'
// text does.

namespace headscope::attention::test {
namespace {

using Place = CellPlace;

bool before(const Place& p) {
  return !(p.j > p.i);
}
/// The number of keys from one to the other, including both.
Index stretch(const Place& p) {
  return std::abs(p.i - p.j) + 1;
}
/// The number of a position's block, by counting through the positions.
Index blockNumber(Index position, Index block) {
  Index number = 0, left = block;
  for (Index at = 0; at < position; ++at)
    if (--left == 0) {
      ++number;
      left = block;
    }
  return number;
}
bool sameBlock(const Place& p, Index block) {
  return blockNumber(p.i, block) == blockNumber(p.j, block);
}
/// Whether steps of `step` lead from the query to the key.
bool walksTo(const Place& p, Index step) {
  Index at = p.i;
  while (at > p.j) at -= step;
  while (at < p.j) at += step;
  return at == p.j;
}

TEST(Patterns, FullAndCausalMatchDefinition) {
  expectPatterns({
      {"full", [](const Place&) { return true; }},
      {"causal", before},
      {"causal_top_left", [](const Place& p) { return p.j <= p.row; }},
  });
}

TEST(Patterns, PaddingAndSinksMatchDefinition) {
  expectPatterns({
      {"padding", [](const Place&) { return true; }},
      {"padding(length=0)", [](const Place&) { return false; }},
      {"padding(length=17)", [](const Place& p) { return p.j < 17; }},
      {"padding(length=[3, 1000])", [](const Place& p) { return p.j < (p.head % 2 == 0 ? 3 : 1000); }},
      {"sinks(0)", [](const Place&) { return false; }},
      {"sinks(3)", [](const Place& p) { return p.j < 3; }},
  });
  MaskGeometry geometry = geometryOf(2, 5);
  geometry.keyLength = 3;
  EXPECT_EQ(picture("padding", geometry), "###../###..");
}

TEST(Patterns, WindowsMatchDefinition) {
  std::vector<PatternCase> cases;
  for (const Index w : {Index{1}, Index{2}, Index{6}, Index{24}, Index{1000}, kMaxMaskCount}) {
    const std::string argument = "(" + std::to_string(w) + ")";
    cases.push_back({"window" + argument, [w](const Place& p) { return before(p) && stretch(p) <= w; }});
    cases.push_back({"window_back" + argument, [w](const Place& p) { return before(p) && p.i - p.j <= w; }});
    cases.push_back({"window_both" + argument, [w](const Place& p) { return stretch(p) <= w; }});
  }
  cases.push_back({"window_back(0)", [](const Place& p) { return p.i == p.j; }});
  cases.push_back({"window([1, 4, 2])", [](const Place& p) {
                     return before(p) && stretch(p) <= std::vector<Index>{1, 4, 2}.at(p.head % 3);
                   }});
  expectPatterns(cases);
}

TEST(Patterns, DilatedMatchesDefinition) {
  std::vector<PatternCase> cases;
  for (const Index w : {0, 1, 5, 9, 100})
    for (const Index d : {1, 2, 3, 7, 50})
      cases.push_back({"dilated(window=" + std::to_string(w) + ", step=" + std::to_string(d) + ")",
                       [w, d](const Place& p) { return stretch(p) <= w + 1 && walksTo(p, d); }});
  cases.push_back({"dilated(window=9, step=[1, 2, 4])",
                   [](const Place& p) { return stretch(p) <= 10 && walksTo(p, Index{1} << (p.head % 3)); }});
  expectPatterns(cases);
}

TEST(Patterns, StreamingMatchesDefinition) {
  std::vector<PatternCase> cases;
  for (const Index s : {0, 1, 4, 30})
    for (const Index w : {1, 3, 40})
      cases.push_back({"streaming(sinks=" + std::to_string(s) + ", window=" + std::to_string(w) + ")",
                       [s, w](const Place& p) { return before(p) && (p.j < s || stretch(p) <= w); }});
  expectPatterns(cases);
}

TEST(Patterns, BlocksMatchDefinition) {
  std::vector<PatternCase> cases;
  for (const Index b : {1, 2, 5, 6, 100}) {
    const std::string argument = "(" + std::to_string(b) + ")";
    cases.push_back({"chunked" + argument, [b](const Place& p) { return before(p) && sameBlock(p, b); }});
    cases.push_back({"block_diagonal" + argument, [b](const Place& p) { return sameBlock(p, b); }});
    cases.push_back(
        {"block_causal" + argument, [b](const Place& p) { return sameBlock(p, b) || before(p); }});
  }
  expectPatterns(cases);
}

// Child et al. 2019, section 4.2: A⁽¹⁾ = {t, …, i} with t = max(0, i − l + 1) and A⁽²⁾ = {j : (i − j) mod l =
// 0}.
TEST(Patterns, StridedMatchesPaper) {
  std::vector<PatternCase> cases;
  for (const Index l : {1, 2, 5, 12, 100})
    cases.push_back({"strided(" + std::to_string(l) + ")", [l](const Place& p) {
                       const Index t = std::max<Index>(0, p.i - l + 1);
                       return before(p) && (p.j >= t || walksTo(p, l));
                     }});
  expectPatterns(cases);
}

// The same section: A⁽¹⁾ = {j : ⌊j/l⌋ = ⌊i/l⌋} and A⁽²⁾ = {j : j mod l ∈ {t, …, l}} with t = l − c.
TEST(Patterns, FixedMatchesPaper) {
  std::vector<PatternCase> cases;
  for (const Index l : {1, 3, 6, 50})
    for (const Index c : {1, 2, 6, 9})
      if (c <= l)
        cases.push_back({"fixed(block=" + std::to_string(l) + ", summary=" + std::to_string(c) + ")",
                         [l, c](const Place& p) {
                           Index within = p.j;
                           while (within >= l) within -= l;
                           return before(p) && (sameBlock(p, l) || within >= l - c);
                         }});
  expectPatterns(cases);
}

// Arriola et al. 2025 (BD3-LM), section 3.2, with the sequence [noised; clean].
TEST(Patterns, BlockDiffusionMatchesPaper) {
  std::vector<PatternCase> cases;
  const auto diffusion = [](Index b, Index half) {
    return [b, half](const Place& p) {
      const Index n = half > 0 ? half : std::max<Index>(1, p.keys / 2);
      const bool queryClean = p.i >= n, keyClean = p.j >= n;
      const Index queryBlock = blockNumber(queryClean ? p.i - n : p.i, b);
      const Index keyBlock = blockNumber(keyClean ? p.j - n : p.j, b);
      const bool blockDiagonal = queryBlock == keyBlock && !queryClean && !keyClean;
      const bool offsetBlockCausal = queryBlock > keyBlock && !queryClean && keyClean;
      const bool blockCausal = queryBlock >= keyBlock && queryClean && keyClean;
      return blockDiagonal || offsetBlockCausal || blockCausal;
    };
  };
  for (const Index b : {1, 3, 4, 20}) {
    const std::string block = "block_diffusion(block=" + std::to_string(b);
    cases.push_back({block + ")", diffusion(b, 0)});
    for (const Index half : {1, 12, 13, 40})
      cases.push_back({block + ", half=" + std::to_string(half) + ")", diffusion(b, half)});
  }
  expectPatterns(cases);
}

struct Bird {
  Index block, window, global, random, seed;
  std::string text() const {
    return "bigbird(block=" + std::to_string(block) + ", window=" + std::to_string(window) +
           ", global=" + std::to_string(global) + ", random=" + std::to_string(random) +
           ", seed=" + std::to_string(seed) + ")";
  }
  /// The first and the last blocks are global, as in the published code.
  bool seesAnyway(Index rowBlock, Index keyBlock, Index blocks) const {
    const auto isGlobal = [&](Index at) { return at < global || (at >= blocks - global && at < blocks); };
    return isGlobal(rowBlock) || isGlobal(keyBlock) || std::abs(rowBlock - keyBlock) <= window;
  }
};

/// The blocks that a row sees in addition to window and globals. Fails if a block is only partly visible.
std::set<Index> furtherBlocks(const Bird& bird, Index rowBlock, const std::string& row) {
  std::set<Index> further;
  const auto keys = static_cast<Index>(row.size());
  for (Index first = 0; first < keys; first += bird.block) {
    const std::string cells =
        row.substr(static_cast<std::size_t>(first), static_cast<std::size_t>(bird.block));
    const bool seen = cells.front() == '#';
    EXPECT_EQ(cells, std::string(cells.size(), seen ? '#' : '.')) << bird.text() << ", key " << first;
    const Index block = first / bird.block;
    if (bird.seesAnyway(rowBlock, block, (keys + bird.block - 1) / bird.block)) {
      EXPECT_TRUE(seen) << bird.text() << ", block " << rowBlock << " to " << block;
    } else if (seen) {
      further.insert(block);
    }
  }
  return further;
}

// Zaheer et al. 2020, section 2: each query block attends to r random key blocks in addition to window and
// globals.
TEST(Patterns, BigBirdSeesWindowGlobalsAndRandomBlocks) {
  const MaskGeometry geometries[] = {geometryOf(50, 50), geometryOf(9, 50, 41), geometryOf(30, 11),
                                     geometryOf(11, 30)};
  for (const Index block : {1, 2, 5, 60})
    for (const Index window : {0, 1, 3})
      for (const Index global : {0, 1, 2})
        for (const Index random : {0, 1, 4, 4096})
          for (const MaskGeometry& geometry : geometries) {
            const Bird bird{block, window, global, random, 7};
            const MaskPicture rows = pictureOf(*compiled(bird.text(), geometry));
            const Index blocks = (geometry.keys + block - 1) / block;
            std::set<Index> last;
            for (Index row = 0; row < geometry.queries; ++row) {
              const Index rowBlock = (geometry.cacheLength + row) / block;
              const auto further = furtherBlocks(bird, rowBlock, rows[static_cast<std::size_t>(row)]);
              Index others = 0;
              for (Index key = 0; key < blocks; ++key) others += !bird.seesAnyway(rowBlock, key, blocks);
              ASSERT_EQ(static_cast<Index>(further.size()), std::min(random, others))
                  << bird.text() << ", row " << row;
              // All rows of a block see the same blocks.
              if (row > 0 && (geometry.cacheLength + row) % block != 0) {
                ASSERT_EQ(further, last);
              }
              last = further;
            }
          }
}

TEST(Patterns, BigBirdDependsOnlyOnItsSeed) {
  const Bird bird{2, 1, 1, 2, 3}, other{2, 1, 1, 2, 4};
  const MaskGeometry whole = geometryOf(60, 60), chunk = geometryOf(5, 60, 41);
  const MaskPicture first = pictureOf(*compiled(bird.text(), whole));
  EXPECT_EQ(first, pictureOf(*compiled(bird.text(), whole)));
  EXPECT_NE(first, pictureOf(*compiled(other.text(), whole)));
  const MaskPicture rows = pictureOf(*compiled(bird.text(), chunk));
  EXPECT_TRUE(std::equal(rows.begin(), rows.end(), first.begin() + 41));
}

TEST(Patterns, BigBirdDrawsBlocksUniformly) {
  // One random block of 20 in addition to the query's own, in 300 rows of blocks and for four seeds.
  std::vector<int> drawn(20);
  for (Index seed = 0; seed < 4; ++seed) {
    const Bird bird{1, 0, 0, 1, seed};
    const MaskPicture rows = pictureOf(*compiled(bird.text(), geometryOf(300, 20, 20)));
    for (const std::string& row : rows) ++drawn[row.find('#')];
  }
  for (const int count : drawn) {
    // 60 expected, with a standard deviation below 8.
    EXPECT_GT(count, 60 - 5 * 8);
    EXPECT_LT(count, 60 + 5 * 8);
  }
}

TEST(Patterns, TableExamplesShowVisibleAndHiddenCells) {
  int shown = 0;
  for (const PatternInfo& info : patternTable()) {
    if (info.example.empty()) continue;
    const MaskPicture rows = pictureOf(*compiled(std::string(info.example), geometryOf(24, 24)));
    std::string cells;
    for (const std::string& row : rows) cells += row;
    EXPECT_NE(cells.find('#'), std::string::npos) << info.name;
    EXPECT_EQ(cells.find('.') == std::string::npos, info.kind == PatternKind::full) << info.name;
    ++shown;
  }
  EXPECT_EQ(shown, 28);
}

}  // namespace
}  // namespace headscope::attention::test
