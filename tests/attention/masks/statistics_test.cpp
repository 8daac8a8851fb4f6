#include "attention/masks/statistics.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <map>

#include "tests/attention/masks/mask_support.h"
#include "tests/attention/masks/random_mask.h"

namespace headscope::attention::test {
namespace {

bool seen(const MaskPicture& rows, Index row, Index key) {
  return rows[static_cast<std::size_t>(row)][static_cast<std::size_t>(key)] == '#';
}

/// Compares every figure with a count over the cells.
void expectCounted(const MaskStatistics& found, const MaskPicture& rows, Index keys, Index cacheLength) {
  const auto queries = static_cast<Index>(rows.size());
  std::uint64_t visible = 0, future = 0;
  std::vector<Index> emptyRows, unseenKeys;
  std::optional<MaskStatistics::Pair> first;
  for (Index row = 0; row < queries; ++row) {
    if (rows[static_cast<std::size_t>(row)].find('#') == std::string::npos) emptyRows.push_back(row);
    for (Index key = 0; key < keys; ++key) {
      if (!seen(rows, row, key)) continue;
      ++visible;
      if (key <= cacheLength + row) continue;
      ++future;
      if (!first) first = {cacheLength + row, key};
    }
  }
  for (Index key = 0; key < keys; ++key) {
    bool any = false;
    for (Index row = 0; row < queries; ++row) any = any || seen(rows, row, key);
    if (!any) unseenKeys.push_back(key);
  }
  EXPECT_EQ(found.visible, visible);
  EXPECT_EQ(found.cells, static_cast<std::uint64_t>(queries * keys));
  EXPECT_EQ(found.rowsCounted, queries);
  EXPECT_FALSE(found.sampled);
  EXPECT_EQ(found.emptyRows, static_cast<Index>(emptyRows.size()));
  EXPECT_EQ(found.firstEmptyRows, emptyRows);
  EXPECT_EQ(found.unseenKeys, static_cast<Index>(unseenKeys.size()));
  EXPECT_EQ(found.firstUnseenKeys, unseenKeys);
  EXPECT_EQ(found.future, future);
  ASSERT_EQ(found.firstFuture.has_value(), first.has_value());
  if (first) {
    EXPECT_EQ(found.firstFuture->query, first->query);
    EXPECT_EQ(found.firstFuture->key, first->key);
  }
}

TEST(MaskStatistics, MatchesCountsOverCells) {
  Random random(21);
  for (int trial = 0; trial < 200; ++trial) {
    const Index cache = pick(random, 4);
    const MaskGeometry geometry = geometryOf(11, 11 + cache, cache, 4, 2);
    const MaskLayers layers = randomLayers(random);
    const auto mask = compiled(layers, geometry, randomSources(random, geometry));
    for (Index head = 0; head < 4; ++head) {
      SCOPED_TRACE(maskText(layers));
      expectCounted(measureMask(*mask, mask->variantOf(head), cache), pictureOf(*mask, head), geometry.keys,
                    cache);
    }
  }
}

TEST(MaskStatistics, HandlesEmptyMasks) {
  const MaskStatistics none = measureMask(*compiled("causal", geometryOf(0, 4)), 0, 0);
  EXPECT_EQ(none.cells, 0u);
  EXPECT_EQ(none.density(), 0);
  EXPECT_EQ(none.unseenKeys, 4);
  EXPECT_FALSE(none.sampled);
  const MaskStatistics noKeys = measureMask(*compiled("causal", geometryOf(3, 0)), 0, 0);
  EXPECT_EQ(noKeys.emptyRows, 3);
  EXPECT_EQ(noKeys.unseenKeys, 0);
}

TEST(MaskStatistics, ListsHoldTheFirstSixtyFour) {
  const MaskStatistics found = measureMask(*compiled("padding(length=0)", geometryOf(100, 80)), 0, 0);
  EXPECT_EQ(found.emptyRows, 100);
  EXPECT_EQ(found.unseenKeys, 80);
  ASSERT_EQ(found.firstEmptyRows.size(), 64u);
  ASSERT_EQ(found.firstUnseenKeys.size(), 64u);
  EXPECT_EQ(found.firstEmptyRows.back(), 63);
  EXPECT_EQ(found.firstUnseenKeys.back(), 63);
}

TEST(MaskStatistics, SamplesManyRunsEvenly) {
  // 4,096 rows of up to 1,024 runs. The periods of the pattern and of any regular sample are powers of two.
  for (const char* text : {"strided(4)", "fixed(block=16, summary=3)", "chunked(64) | strided(8)"}) {
    const auto mask = compiled(text, geometryOf(4096, 4096));
    const MaskStatistics all = measureMask(*mask, 0, 0);
    const MaskStatistics sample = measureMask(*mask, 0, 0, 200000);
    EXPECT_FALSE(all.sampled) << text;
    EXPECT_EQ(all.rowsCounted, 4096) << text;
    EXPECT_TRUE(sample.sampled) << text;
    EXPECT_EQ(sample.unseenKeys, -1) << text;
    EXPECT_GE(sample.rowsCounted, 256) << text;
    EXPECT_LT(sample.rowsCounted, 2048) << text;
    EXPECT_EQ(sample.cells, static_cast<std::uint64_t>(sample.rowsCounted) * 4096) << text;
    EXPECT_NEAR(sample.density() / all.density(), 1, 0.02) << text;
    EXPECT_EQ(sample.future, 0u) << text;
  }
}

TEST(MaskStatistics, SamplingDoesNotAliasWithPatterns) {
  // A sample of 256 of 4,096 rows: every sixteenth row would be at the same place of its chunk.
  const auto mask = compiled("chunked(16)", geometryOf(4096, 4096));
  const MaskStatistics sample = measureMask(*mask, 0, 0, 0);
  EXPECT_EQ(sample.rowsCounted, 256);
  EXPECT_NEAR(sample.density() * 4096, 8.5, 0.5);
}

TEST(MaskStatistics, SamplesNoRowTwice) {
  // Rows that see nothing are listed: as many different ones as were counted.
  for (const std::uint64_t budget : {std::uint64_t{0}, std::uint64_t{300}, std::uint64_t{700}}) {
    const MaskStatistics found = measureMask(*compiled("!full", geometryOf(800, 9)), 0, 0, budget);
    EXPECT_TRUE(found.sampled);
    EXPECT_EQ(found.emptyRows, found.rowsCounted);
    for (std::size_t k = 1; k < found.firstEmptyRows.size(); ++k)
      EXPECT_LT(found.firstEmptyRows[k - 1], found.firstEmptyRows[k]);
  }
  EXPECT_FALSE(measureMask(*compiled("!full", geometryOf(200, 9)), 0, 0, 0).sampled);
}

TEST(MaskStatistics, StopsOnRequest) {
  std::stop_source source;
  source.request_stop();
  const auto mask = compiled("causal", geometryOf(1000, 1000));
  const MaskStatistics found = measureMask(*mask, 0, 0, 1u << 26, source.get_token());
  EXPECT_EQ(found.rowsCounted, 0);
  EXPECT_TRUE(found.sampled);
  const BlockMap map = mapBlocks(*mask, 0, 10, source.get_token());
  EXPECT_EQ(map.full + map.partial + map.empty, 0);
  EXPECT_EQ(map.kinds.size(), 10000u);
}

/// A mask that counts queries for its rows, and may hide that it depends only on distance.
class AskedMask : public MaskFormula {
 public:
  AskedMask(std::shared_ptr<const MaskFormula> mask, bool tells) : mask_(std::move(mask)), tells_(tells) {}
  Index heads() const override { return mask_->heads(); }
  Index queries() const override { return mask_->queries(); }
  Index keys() const override { return mask_->keys(); }
  Index variants() const override { return mask_->variants(); }
  Index variantOf(Index head) const override { return mask_->variantOf(head); }
  void visibleRuns(Index variant, Index row, KeyRuns& runs) const override {
    ++asked;
    mask_->visibleRuns(variant, row, runs);
  }
  bool dependsOnDistance(Index variant) const override { return tells_ && mask_->dependsOnDistance(variant); }
  mutable Index asked = 0;

 private:
  std::shared_ptr<const MaskFormula> mask_;
  bool tells_;
};

/// If key − row alone decides, rows aren't queried one by one, and the counts are the same.
TEST(BlockMaps, DistanceMasksQueryFewRows) {
  for (const char* text :
       {"causal", "full", "!full", "strided(128)", "dilated(40, 3)", "window(7) | strided(9)",
        "causal & !window_back(5)", "window_both(30) then causal", "(causal | window(3)) & full"})
    for (const auto& [queries, keys, cache] : {std::tuple<Index, Index, Index>{300, 300, 0},
                                               {300, 500, 200},
                                               {500, 70, 0},
                                               {1, 90, 89},
                                               {90, 1, 0}}) {
      MaskGeometry geometry = geometryOf(queries, keys);
      geometry.cacheLength = cache;
      const auto mask = compiled(text, geometry);
      ASSERT_TRUE(mask->dependsOnDistance(0)) << text;
      const AskedMask quick(mask, true), slow(mask, false);
      const BlockMap found = mapBlocks(quick, 0, 16), expected = mapBlocks(slow, 0, 16);
      EXPECT_EQ(found.visible, expected.visible) << text << " " << queries << " × " << keys;
      EXPECT_EQ(found.kinds, expected.kinds) << text;
      EXPECT_EQ(found.full, expected.full) << text;
      EXPECT_LE(quick.asked, queries / keys + 2) << text;
      EXPECT_EQ(slow.asked, queries) << text;
    }
}

/// Masks that depend on more than distance say so.
TEST(BlockMaps, OtherMasksAreNotDistanceOnly) {
  for (const char* text : {"padding(length=20)", "documents(causal, starts=[0, 9])", "globals([3])",
                           "chunked(8)", "fixed(block=8, summary=2)", "streaming(sinks=2, window=4)",
                           "causal & padding(length=20)", "causal | (window(3) & globals([3]))"})
    EXPECT_FALSE(compiled(text, geometryOf(40, 40))->dependsOnDistance(0)) << text;
}

TEST(BlockMaps, ClassifyEveryBlock) {
  Random random(22);
  for (int trial = 0; trial < 120; ++trial) {
    const MaskGeometry geometry = geometryOf(13, 17, 4, 2, 1);
    const auto mask = compiled(randomLayers(random), geometry, randomSources(random, geometry));
    const MaskPicture rows = pictureOf(*mask);
    for (const Index size : {1, 2, 4, 5, 13, 17, 40}) {
      const BlockMap map = mapBlocks(*mask, mask->variantOf(0), size);
      ASSERT_EQ(map.blockSize, size);
      ASSERT_EQ(map.rows, (13 + size - 1) / size);
      ASSERT_EQ(map.cols, (17 + size - 1) / size);
      Index counts[3] = {};
      for (Index row = 0; row < map.rows; ++row)
        for (Index col = 0; col < map.cols; ++col) {
          const Index rowEnd = std::min<Index>(13, (row + 1) * size);
          const Index keyEnd = std::min<Index>(17, (col + 1) * size);
          std::uint32_t visible = 0;
          for (Index i = row * size; i < rowEnd; ++i)
            for (Index j = col * size; j < keyEnd; ++j) visible += seen(rows, i, j);
          const auto at = static_cast<std::size_t>(row * map.cols + col);
          ASSERT_EQ(map.visible[at], visible);
          // Blocks that extend beyond the edges are padded with masked cells.
          const BlockKind kind = visible == 0                                         ? BlockKind::none
                                 : visible == static_cast<std::uint32_t>(size * size) ? BlockKind::all
                                                                                      : BlockKind::mixed;
          ASSERT_EQ(map.kinds[at], kind);
          ++counts[static_cast<int>(map.kinds[at])];
        }
      EXPECT_EQ(map.empty, counts[static_cast<int>(BlockKind::none)]);
      EXPECT_EQ(map.partial, counts[static_cast<int>(BlockKind::mixed)]);
      EXPECT_EQ(map.full, counts[static_cast<int>(BlockKind::all)]);
      EXPECT_EQ(map.computedShare(), double(map.full + map.partial) / double(map.rows * map.cols));
    }
  }
}

TEST(BlockMaps, CausalMaskComputesAboutHalf) {
  const BlockMap map = mapBlocks(*compiled("causal", geometryOf(1024, 1024)), 0, 128);
  EXPECT_EQ(map.full, 28);
  EXPECT_EQ(map.partial, 8);
  EXPECT_EQ(map.empty, 28);
  EXPECT_EQ(map.computedShare(), 36.0 / 64);
}

TEST(BlockMaps, EdgeBlocksArePartial) {
  const BlockMap map = mapBlocks(*compiled("full", geometryOf(200, 200)), 0, 128);
  EXPECT_EQ(map.full, 1);
  EXPECT_EQ(map.partial, 3);
  EXPECT_EQ(map.computedShare(), 1);
}

TEST(BlockMaps, EnforceTheirLimits) {
  const auto mask = compiled("causal", geometryOf(8193, 8192));
  EXPECT_THROW((void)mapBlocks(*mask, 0, 0), std::invalid_argument);
  EXPECT_THROW((void)mapBlocks(*mask, 0, 1), std::invalid_argument);
  EXPECT_EQ(mapBlocks(*mask, 0, 2).kinds.size(), 4097u * 4096);
  EXPECT_EQ(mapBlocks(*compiled("causal", geometryOf(0, 9)), 0, 4).computedShare(), 0);
  // One block with more cells than its counter can hold.
  const auto large = compiled("full", geometryOf(70000, 70000));
  const BlockMap map = mapBlocks(*large, 0, 70000);
  EXPECT_EQ(map.visible, std::vector<std::uint32_t>{std::numeric_limits<std::uint32_t>::max()});
  EXPECT_EQ(map.kinds, std::vector<BlockKind>{BlockKind::all});
  EXPECT_EQ(mapBlocks(*large, 0, std::numeric_limits<Index>::max()).partial, 1);
}

TEST(BlockMaps, DenseFlopsAreFourPerCellAndDimension) {
  EXPECT_EQ(denseAttentionFlops(3, 5, 8, 2), 4.0 * 3 * 5 * 8 * 2);
  EXPECT_EQ(denseAttentionFlops(1 << 20, 1 << 20, 128, 64), 4.0 * 0x1p40 * 128 * 64);
}

// Masks whose cells would fill 1 and 16 GiB; nothing may take that much memory.

/// Every pattern, with parameters typical of long contexts.
const std::map<PatternKind, std::string>& longContextMasks() {
  static const std::map<PatternKind, std::string> masks{
      {PatternKind::full, "full"},
      {PatternKind::causal, "causal"},
      {PatternKind::causalTopLeft, "causal_top_left"},
      {PatternKind::padding, "padding(length=30000)"},
      {PatternKind::window, "window(4096)"},
      {PatternKind::windowBack, "window_back(4096)"},
      {PatternKind::windowBoth, "window_both(4096)"},
      {PatternKind::dilated, "dilated(window=4096, step=64)"},
      {PatternKind::sinks, "sinks(4)"},
      {PatternKind::streaming, "streaming(sinks=4, window=4096)"},
      {PatternKind::chunked, "chunked(8192)"},
      {PatternKind::globals, "globals([0, 1000, 20000])"},
      {PatternKind::longformer, "longformer(window=512, positions=[0, 1000])"},
      {PatternKind::strided, "strided(512)"},
      {PatternKind::fixed, "fixed(block=512, summary=8)"},
      {PatternKind::bigBird, "bigbird(block=64, window=1, global=2, random=3, seed=1)"},
      {PatternKind::prefixLm, "prefix_lm"},
      {PatternKind::documents, "documents(window_both(100), starts=[5000, 9000, 20000])"},
      {PatternKind::packed, "packed([5000, 9000, 20000])"},
      {PatternKind::sharedPrefix, "shared_prefix([5000, 9000, 20000])"},
      {PatternKind::blockDiagonal, "block_diagonal(512)"},
      {PatternKind::blockCausal, "block_causal(512)"},
      {PatternKind::blockDiffusion, "block_diffusion(64)"},
      {PatternKind::tree, "tree"},
      {PatternKind::neighborhood, "neighborhood(kernel=13)"},
      {PatternKind::neighborhoodZ, "neighborhood_z(kernel=13)"},
      {PatternKind::image, "image([100-3000, 5000-9999])"},
      {PatternKind::intervals, "intervals"},
      {PatternKind::painted, "causal then painted(\"p\")"},
      {PatternKind::file, "file(\"f\", visible)"},
  };
  return masks;
}

MaskSources sourcesOf(Index tokens) {
  const auto row = std::make_shared<const CellRow>(CellRow{{{0, tokens / 2}}, {{tokens / 2, tokens}}});
  auto painting = std::make_shared<CellTable>(CellTable{1, tokens, tokens, {}});
  painting->rows.resize(static_cast<std::size_t>(tokens));
  painting->rows[5] = row;
  auto file = std::make_shared<CellTable>(*painting);
  std::fill(file->rows.begin(), file->rows.end(), row);
  return {{{"p", painting}}, {{fileKey("f", "visible"), file}}};
}

/// This program's peak memory in KiB; 0 if the system doesn't tell.
Index peakMemory() {
  std::ifstream status("/proc/self/status");
  std::string word;
  Index peak = 0;
  while (status >> word)
    if (word == "VmHWM:") status >> peak;
  return peak;
}

void expectMeasured(Index tokens) {
  const MaskGeometry geometry = geometryOf(tokens, tokens);
  const MaskSources sources = sourcesOf(tokens);
  [[maybe_unused]] const Index before = peakMemory();
  for (const PatternInfo& info : patternTable()) {
    const auto found = longContextMasks().find(info.kind);
    const std::string text = found == longContextMasks().end() ? std::string(info.example) : found->second;
    const auto mask = compiled(text, geometry, sources);
    const MaskStatistics statistics = measureMask(*mask, 0, 0);
    EXPECT_FALSE(statistics.sampled) << text;
    EXPECT_GT(statistics.visible, 0u) << text;
    EXPECT_EQ(statistics.cells, static_cast<std::uint64_t>(tokens) * static_cast<std::uint64_t>(tokens));
    // Two different ways to compute the same number.
    const BlockMap map = mapBlocks(*mask, 0, 128);
    std::uint64_t visible = 0;
    for (const std::uint32_t count : map.visible) visible += count;
    EXPECT_EQ(visible, statistics.visible) << text;
    EXPECT_EQ(map.full + map.partial + map.empty, tokens / 128 * (tokens / 128)) << text;
  }
#ifndef HEADSCOPE_SANITIZE_BUILD
  // Statistics and map of 131,072 tokens take about ten MiB; the cells as single bits would take 2 GiB.
  constexpr Index kMaxKiB = 256 * 1024;
  EXPECT_LT(peakMemory() - before, kMaxKiB);
#endif
}

TEST(LargeMasks, MeasuresEveryPatternAt32768Tokens) {
  expectMeasured(32768);
}

TEST(LargeMasks, MeasuresEveryPatternAt131072Tokens) {
  expectMeasured(131072);
}

TEST(LargeMasks, DensitiesAreExact) {
  constexpr std::uint64_t n = 131072;
  const auto visible = [](const std::string& text) {
    return measureMask(*compiled(text, geometryOf(n, n)), 0, 0).visible;
  };
  EXPECT_EQ(visible("full"), n * n);
  EXPECT_EQ(visible("causal"), n * (n + 1) / 2);
  EXPECT_EQ(visible("!causal"), n * (n - 1) / 2);
  EXPECT_EQ(visible("window(4096)"), n * 4096 - std::uint64_t{4096} * 4095 / 2);
  EXPECT_EQ(visible("block_diagonal(512)"), n * 512);
}

}  // namespace
}  // namespace headscope::attention::test
