#include "attention/masks/compile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "tests/attention/masks/random_mask.h"

namespace headscope::attention::test {
namespace {

TEST(CompileMask, LayersDecideEveryCellInOrder) {
  Random random(1);
  for (int trial = 0; trial < 400; ++trial) {
    MaskGeometry geometry = trial % 3 ? geometryOf(10, 11, 1, 4, 2) : geometryOf(12, 12, 0, 4, 2);
    geometry.sequence = pick(random, 3);
    geometry.cross = pick(random, 5) == 0;
    const MaskSources sources = randomSources(random, geometry);
    const MaskLayers layers = randomLayers(random);
    const auto mask = compiled(layers, geometry, sources);
    for (Index head = 0; head < geometry.heads; ++head)
      ASSERT_EQ(pictureOf(*mask, head), decidedCellByCell(layers, geometry, sources, head))
          << maskText(layers) << ", head " << head << ", sequence " << geometry.sequence
          << (geometry.cross ? ", cross" : "");
  }
}

TEST(CompileMask, BlocksMatchTheirCells) {
  Random random(2);
  std::set<BlockKind> met;
  for (int trial = 0; trial < 150; ++trial) {
    const MaskGeometry geometry = geometryOf(12, 14, 2, 4, 2);
    const auto mask = compiled(randomLayers(random), geometry, randomSources(random, geometry));
    for (Index head = 0; head < 4; ++head) {
      const MaskPicture rows = pictureOf(*mask, head);
      for (int block = 0; block < 60; ++block) {
        const Index row = pick(random, 13), rowEnd = pick(random, 13), key = pick(random, 15),
                    keyEnd = pick(random, 15);
        Index visible = 0, cells = 0;
        for (Index i = row; i < rowEnd; ++i)
          for (Index j = key; j < keyEnd; ++j, ++cells)
            visible += rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] == '#';
        const BlockKind wanted = visible == 0       ? BlockKind::none
                                 : visible == cells ? BlockKind::all
                                                    : BlockKind::mixed;
        ASSERT_EQ(mask->block(mask->variantOf(head), row, rowEnd, key, keyEnd), wanted);
        met.insert(wanted);
      }
    }
  }
  EXPECT_EQ(met.size(), 3u);
}

class MaskAlgebra : public testing::Test {
 protected:
  /// Expects two masks to be equal on every head.
  void expectSame(const std::string& left, const std::string& right) {
    const auto a = compiled(left, geometry_, sources_), b = compiled(right, geometry_, sources_);
    for (Index head = 0; head < geometry_.heads; ++head)
      ASSERT_EQ(pictureOf(*a, head), pictureOf(*b, head)) << left << "\nagainst\n" << right;
  }
  /// A random expression that decides every cell, as the laws of sets require.
  std::string expression() {
    for (;;) {
      const MaskLayers layers = randomLayers(random_, 1);
      bool all = true;
      for (Index head = 0; head < geometry_.heads && all; ++head)
        for (Index row = 0; row < geometry_.queries && all; ++row)
          for (Index key = 0; key < geometry_.keys && all; ++key)
            all = saidAbout(layers, geometry_, sources_, head, row, key).has_value();
      if (all) return "(" + maskText(layers) + ")";
    }
  }

  Random random_{3};
  MaskGeometry geometry_ = geometryOf(6, 10, 4, 2, 2);
  MaskSources sources_ = randomSources(random_, geometry_);
};

TEST_F(MaskAlgebra, SetLawsHold) {
  for (int trial = 0; trial < 60; ++trial) {
    const std::string a = expression(), b = expression(), c = expression();
    expectSame("!(" + a + " & " + b + ")", "!" + a + " | !" + b);
    expectSame("!(" + a + " | " + b + ")", "!" + a + " & !" + b);
    expectSame("!(!" + a + ")", a);
    expectSame(a + " & " + a, a);
    expectSame(a + " | " + a, a);
    expectSame(a + " & (" + a + " | " + b + ")", a);
    expectSame(a + " | (" + a + " & " + b + ")", a);
    expectSame(a + " & (" + b + " | " + c + ")", "(" + a + " & " + b + ") | (" + a + " & " + c + ")");
    expectSame(a + " & " + b, b + " & " + a);
    expectSame(a + " & full", a);
    expectSame(a + " | !full", a);
    expectSame(a + " | full", "full");
    expectSame(a + " & !" + a, "!full");
    expectSame(a + " then " + b, b);
  }
}

TEST(CompileMask, CausalAndAnyMaskNeverSeesTheFuture) {
  Random random(4);
  const MaskGeometry geometry = geometryOf(9, 13, 4, 4, 2);
  for (int trial = 0; trial < 300; ++trial) {
    const MaskSources sources = randomSources(random, geometry);
    Layer causal, others;
    causal.pattern.kind = PatternKind::causal;
    others.group = randomLayers(random);
    const auto mask = compiled(MaskLayers{causal, others}, geometry, sources);
    for (Index head = 0; head < 4; ++head) {
      const MaskPicture rows = pictureOf(*mask, head);
      for (Index row = 0; row < geometry.queries; ++row) {
        const std::string& cells = rows[static_cast<std::size_t>(row)];
        ASSERT_EQ(cells.find('#', static_cast<std::size_t>(geometry.cacheLength + row + 1)),
                  std::string::npos)
            << maskText({causal, others}) << ", row " << row;
      }
    }
  }
}

TEST(CompileMask, UndecidedCellsAreVisible) {
  const MaskGeometry geometry = geometryOf(2, 3);
  for (const char* text : {"", "off: causal", "!(off: causal)", "heads(5): causal", "off: (causal & full)",
                           "sequences(1-2): causal"})
    EXPECT_EQ(picture(text, geometry), "###/###") << text;
  EXPECT_EQ(picture("off: full & causal", geometry), "#../##.");
  EXPECT_EQ(picture("off: causal | !full", geometry), ".../...");
}

TEST(CompileMask, HeadsHaveTheirOwnMasks) {
  const MaskGeometry geometry = geometryOf(3, 3, 0, 6, 3);
  const auto mask = compiled("causal & heads(1, 4-5): window(1) | heads(kv 1): sinks(3)", geometry);
  const auto rows = [&](Index head) { return pictureOf(*mask, head); };
  const MaskPicture causal{"#..", "##.", "###"}, own{"#..", ".#.", "..#"}, all{"###", "###", "###"};
  EXPECT_EQ(rows(0), causal);
  EXPECT_EQ(rows(1), own);
  EXPECT_EQ(rows(2), all);
  EXPECT_EQ(rows(3), all);
  EXPECT_EQ(rows(4), own);
  EXPECT_EQ(rows(5), own);
  EXPECT_EQ(mask->variants(), 3);
  EXPECT_EQ(mask->variantOf(1), mask->variantOf(5));
  EXPECT_EQ(mask->variantOf(2), mask->variantOf(3));
}

TEST(CompileMask, EqualProgramsAreShared) {
  const auto variants = [](const std::string& text, const MaskSources& sources = {}) {
    return compiled(text, geometryOf(4, 4, 0, 8, 2), sources)->variants();
  };
  EXPECT_EQ(variants(""), 1);
  EXPECT_EQ(variants("causal & packed([2])"), 1);
  EXPECT_EQ(variants("window([1, 2])"), 2);
  EXPECT_EQ(variants("window([2, 2, 2])"), 1);
  EXPECT_EQ(variants("window([1, 2, 1, 2])"), 2);
  EXPECT_EQ(variants("heads(even): causal & heads(odd): causal"), 1);
  EXPECT_EQ(variants("heads(even): packed([2]) & heads(odd): packed([0, 2])"), 1);
  EXPECT_EQ(variants("heads(kv 0): causal"), 2);
  EXPECT_EQ(variants("heads(even): tree(prefix=1, parents=[-1, 0])"), 2);
  // Cells are compared, not tables.
  const MaskPicture one{"#.  ", "....", "    ", "####"}, other{"#.  ", "....", "    ", "###."};
  MaskSources sources;
  sources.paintings["p"] = cellsOf({one, other, one, other, one, one, one, one});
  sources.paintings["q"] = cellsOf({one});
  EXPECT_EQ(variants("painted(\"p\")", sources), 2);
  EXPECT_EQ(
      variants("heads(even): painted(\"p\") & heads(5, 7): painted(\"q\") & heads(1, 3): painted(\"q\")",
               sources),
      1);
}

TEST(CompileMask, UnpaintedCellsStayUndecided) {
  MaskSources sources;
  sources.paintings["p"] = cellsOf({{"# .", "   ", ".. "}});
  const MaskGeometry geometry = geometryOf(4, 4);
  EXPECT_EQ(picture("painted(\"p\")", geometry, sources), "##.#/####/..##/####");
  EXPECT_EQ(picture("!painted(\"p\")", geometry, sources), ".###/####/####/####");
  EXPECT_EQ(picture("causal then painted(\"p\")", geometry, sources), "#.../##../..#./####");
  EXPECT_EQ(picture("causal & painted(\"p\")", geometry, sources), "#.../##../..#./####");
  EXPECT_EQ(picture("causal | painted(\"p\")", geometry, sources), "#.../##../###./####");
  EXPECT_EQ(picture("causal then !painted(\"p\")", geometry, sources), "..#./##../###./####");
  EXPECT_EQ(picture("painted(\"p\") then causal", geometry, sources), "#.../##../###./####");
}

TEST(CompileMask, PaintingsDontAffectOtherHeads) {
  MaskSources sources;
  sources.paintings["p"] = cellsOf({{"."}, {"#"}});
  const auto mask = compiled("painted(\"p\")", geometryOf(1, 1, 0, 3), sources);
  EXPECT_EQ(pictureOf(*mask, 0), MaskPicture{"."});
  EXPECT_EQ(pictureOf(*mask, 1), MaskPicture{"#"});
  EXPECT_EQ(pictureOf(*mask, 2), MaskPicture{"#"});
}

TEST(CompileMask, SingleHeadFilesApplyToAllHeads) {
  MaskSources sources;
  sources.files[fileKey("m.npy", "masked")] = cellsOf({{"#.", ".#"}});
  const auto mask = compiled("file(\"m.npy\", masked)", geometryOf(2, 2, 0, 3), sources);
  EXPECT_EQ(mask->variants(), 1);
  EXPECT_EQ(pictureOf(*mask, 2), (MaskPicture{"#.", ".#"}));
}

/// One rule for one and for two texts: positions decide, and the first query is at cacheLength.
TEST(CompileMask, PositionsDecideInOneAndTwoTexts) {
  MaskGeometry geometry = geometryOf(2, 4);
  geometry.keyLength = 3;
  for (const bool cross : {false, true}) {
    geometry.cross = cross;
    EXPECT_EQ(picture("causal", geometry), "#.../##..");
    EXPECT_EQ(picture("!causal & padding", geometry), ".##./..#.");
    EXPECT_EQ(picture("(window(1) | sinks(1)) & padding", geometry), "#.../##..");
    EXPECT_EQ(picture("intervals(queries=[0, 1], keys=[0-1, 3-3])", geometry), "##../...#");
  }
  EXPECT_EQ(picture("causal", geometryOf(2, 4, 2)), "###./####");
  EXPECT_EQ(picture("causal", geometryOf(3, 1)), "#/#/#");
  EXPECT_EQ(positionRule(3, 5, 2),
            "causal masks compare positions, j ≤ i; with 3 queries over 5 keys, the first query is at i = 2");
  EXPECT_EQ(positionRule(1, 1, 0),
            "causal masks compare positions, j ≤ i; with 1 query over 1 key, the first query is at i = 0");
}

TEST(CompileMask, IntervalsCountPositionsAfterTheCache) {
  EXPECT_EQ(picture("intervals(queries=[0, 3], keys=[0-1, 3-3])", geometryOf(2, 4, 2)), "##../...#");
  EXPECT_EQ(picture("intervals(queries=[3], keys=[1-2])", geometryOf(2, 4, 2)), "..../.##.");
}

TEST(CompileMask, DetectsMasksThatComparePositions) {
  EXPECT_TRUE(comparesPositions(layersOf("padding & (off: causal | window(2))")));
  EXPECT_FALSE(comparesPositions(layersOf("padding & (off: causal | intervals)")));
}

TEST(CompileMask, ListsOmittedLayersAtAnyDepth) {
  const auto omitted = omittedLayers(
      layersOf("causal & (heads(9): sinks(1) | window(2)) & documents(off: window(3) | causal)"),
      geometryOf(2, 4));
  ASSERT_EQ(omitted.size(), 2u);
  EXPECT_EQ(omitted[0].text, "heads(9): sinks(1)");
  EXPECT_EQ(omitted[0].reason, "for heads that don't exist");
  EXPECT_EQ(omitted[1].text, "off: window(3)");
  EXPECT_EQ(omitted[1].reason, "switched off");
}

TEST(CompileMask, GivesReasonForOmittedLayers) {
  MaskGeometry geometry = geometryOf(2, 4, 0, 4, 2);
  geometry.sequence = 3;
  const auto reason = [&](const std::string& text) { return omittedReason(layersOf(text).at(0), geometry); };
  EXPECT_EQ(reason("causal"), "");
  EXPECT_EQ(reason("off: causal"), "switched off");
  EXPECT_EQ(reason("sequences(0-2): causal"), "for sequences other than 3");
  EXPECT_EQ(reason("sequences(3): causal"), "");
  EXPECT_EQ(reason("heads(4-9): causal"), "for heads that don't exist");
  EXPECT_EQ(reason("heads(kv 1): causal"), "");
  EXPECT_EQ(reason("heads(kv 2): causal"), "for heads that don't exist");
  geometry.cross = true;
  EXPECT_EQ(reason("causal"), "") << "positions decide there, too";
  EXPECT_EQ(reason("!(off: causal | heads(9): packed)"), "switched off");
  EXPECT_EQ(reason("!(off: causal | packed)"), "");
}

TEST(CompileMask, ListsItsFiles) {
  using Files = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(filesOf(layersOf("causal")), Files{});
  EXPECT_EQ(filesOf(layersOf("file(\"b\", masked) & (off: file(\"a\", visible) | file(\"b\", masked)) then "
                             "!file(\"b\", additive)")),
            (Files{{"b", "masked"}, {"a", "visible"}, {"b", "additive"}}));
  EXPECT_EQ(fileKey("a b.npy", "visible"), "a b.npy\nvisible");
}

TEST(CompileMask, CellTablesCompareByTheirCells) {
  const auto table = cellsOf({{"#. ", "   "}});
  CellTable other = *cellsOf({{"#. ", "   "}});
  EXPECT_TRUE(*table == other);
  other.rows[1] = std::make_shared<CellRow>();
  EXPECT_TRUE(*table == other);
  other.rows[1] = std::make_shared<CellRow>(CellRow{{{0, 1}}, {}});
  EXPECT_FALSE(*table == other);
  other = *table;
  other.keys = 4;
  EXPECT_FALSE(*table == other);
}

TEST(CompileMask, AllowsConcurrentQueries) {
  Random random(6);
  const MaskGeometry geometry = geometryOf(40, 44, 4, 4, 2);
  const MaskSources sources = randomSources(random, geometry);
  std::vector<std::shared_ptr<const MaskFormula>> masks;
  std::vector<MaskPicture> pictures;
  for (int k = 0; k < 20; ++k) {
    masks.push_back(compiled(randomLayers(random), geometry, sources));
    pictures.push_back(pictureOf(*masks.back()));
  }
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (std::size_t start = 0; start < 4; ++start)
      threads.emplace_back([&, start] {
        for (std::size_t k = 0; k < masks.size(); ++k) {
          const std::size_t at = (k + start * 5) % masks.size();
          if (pictureOf(*masks[at]) != pictures[at]) ++wrong;
        }
      });
  }
  EXPECT_EQ(wrong, 0);
}

TEST(CompileMask, RefusesInvalidArguments) {
  const auto mask = compiled("causal", geometryOf(2, 3));
  KeyRuns runs;
  EXPECT_THROW(mask->visibleRuns(1, 0, runs), std::invalid_argument);
  EXPECT_THROW(mask->visibleRuns(-1, 0, runs), std::invalid_argument);
  EXPECT_THROW(mask->visibleRuns(0, 2, runs), std::invalid_argument);
  EXPECT_THROW(mask->variantOf(1), std::invalid_argument);
  MaskGeometry geometry = geometryOf(2, 3);
  geometry.cacheLength = -1;
  EXPECT_THROW((void)compileMask({}, geometry), std::invalid_argument);
  geometry = geometryOf(2, 3);
  geometry.heads = 0;
  EXPECT_THROW((void)compileMask({}, geometry), std::invalid_argument);
}

}  // namespace
}  // namespace headscope::attention::test
