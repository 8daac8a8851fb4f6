#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "attention/masks/statistics.h"
#include "tests/attention/masks/mask_support.h"

// Masks whose cells would fill 1 and 16 GiB; nothing may take that much memory.

namespace headscope::attention::test {
namespace {

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
