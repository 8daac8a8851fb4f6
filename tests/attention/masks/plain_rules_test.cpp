#include "attention/masks/plain_rules.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/attention/masks/mask_support.h"

namespace headscope::attention::test {
namespace {

constexpr PlainRules kNone{.causal = false, .padding = false};

std::string picture(const PlainRules& rules, const MaskGeometry& geometry) {
  std::string text;
  for (const std::string& row : pictureOf(*compileRules(rules, geometry)))
    text += (text.empty() ? "" : "/") + row;
  return text;
}

TEST(PlainRules, MatchPublishedPictures) {
  PlainRules rules = kNone;
  EXPECT_EQ(compileRules(rules, geometryOf(2, 3)), nullptr) << "nothing is hidden";
  rules.causal = true;
  EXPECT_EQ(picture(rules, geometryOf(4, 4)), "#.../##../###./####");
  EXPECT_EQ(picture(rules, geometryOf(2, 5, 3)), "####./#####") << "rows count on from the cache";
  rules.window = 2;
  EXPECT_EQ(picture(rules, geometryOf(4, 4)), "#.../##../.##./..##");
  rules.sinks = 1;
  EXPECT_EQ(picture(rules, geometryOf(5, 5)), "#..../##.../###../#.##./#..##");
  EXPECT_EQ(picture({true, false, 1, 3}, geometryOf(5, 5)), "#..../##.../###../####./###.#")
      << "sinks escape the window, not causality";
  EXPECT_EQ(picture({false, false, 2, 0}, geometryOf(4, 4)), "##../###./.###/..##");
}

/// Every combination compared with the rules as attention libraries state them, cell by cell.
TEST(PlainRules, MatchLibraryDefinitionsCellByCell) {
  int checked = 0;
  const Index n = 6;
  for (const bool causal : {false, true})
    for (const Index window : {0, 1, 2, 3, 5, 20})
      for (const Index sinks : {0, 1, 4, 9})
        for (const Index keys : {0, 1, 4, 7})
          for (const Index cached : {0, 2, 8})
            for (Index length = -1; length <= keys; ++length) {
              MaskGeometry geometry = geometryOf(n, keys, cached);
              geometry.keyLength = std::max<Index>(length, 0);
              const PlainRules rules{causal, length >= 0, window, sinks};
              const MaskInput mask{compileRules(rules, geometry), {}};
              for (Index row = 0; row < n; ++row)
                for (Index j = 0; j < keys; ++j) {
                  const Index i = cached + row;
                  const bool sees = (length < 0 || j < length) && (!causal || j <= i) &&
                                    (window == 0 || j < sinks || (i - j < window && j - i < window));
                  ASSERT_EQ(visible(mask, 0, row, j), sees)
                      << "causal " << causal << ", window " << window << ", sinks " << sinks << ", length "
                      << length << ", query " << i << ", key " << j;
                  ++checked;
                }
            }
  EXPECT_GT(checked, 10000);
}

TEST(PlainRules, WidestWindowHidesNothing) {
  PlainRules rules = kNone;
  rules.window = rules.sinks = std::numeric_limits<Index>::max();
  EXPECT_EQ(picture(rules, geometryOf(2, 4, 1)), "####/####");
}

TEST(PlainRules, CombineWithHiddenCells) {
  const auto cells = cellsOf({MaskPicture{"..  ", "   .", "    "}});
  const auto together = compileRules({.causal = true, .padding = false}, geometryOf(3, 4), {cells});
  EXPECT_EQ(pictureOf(*together), (MaskPicture{"....", "##..", "###."}));
  const auto alone = compileRules(kNone, geometryOf(3, 4), {cells});
  EXPECT_EQ(pictureOf(*alone), (MaskPicture{"..##", "###.", "####"})) << "what is left alone is visible";
}

TEST(PlainRules, KeepCellsPerHead) {
  const auto cells = cellsOf({MaskPicture{".#"}, MaskPicture{"#."}});
  const auto mask = compileRules(kNone, geometryOf(1, 2, 0, 2), {cells});
  EXPECT_EQ(pictureOf(*mask, 0), MaskPicture{".#"});
  EXPECT_EQ(pictureOf(*mask, 1), MaskPicture{"#."});
}

}  // namespace
}  // namespace headscope::attention::test
