#include <gtest/gtest.h>

#include "app/compute/mask/mask_study.h"
#include "render/heatmap.h"
#include "tests/app/compute/layer/snapshot_support.h"
#include "tests/app/compute/mask/small_masks.h"

namespace headscope::app {
namespace {

using attention::MaskFormula;
using attention::Matrix;
using test::cellsOf;
using test::layersFrom;
using test::plainSetup;
using test::words;

/// Which cells reach which, by products of boolean matrices.
std::vector<std::vector<bool>> product(const std::vector<std::vector<bool>>& a,
                                       const std::vector<std::vector<bool>>& b) {
  std::vector<std::vector<bool>> c(a.size(), std::vector<bool>(a.size(), false));
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t k = 0; k < a.size(); ++k)
      for (std::size_t j = 0; a[i][k] && j < a.size(); ++j) c[i][j] = c[i][j] || b[k][j];
  return c;
}

TEST(ReachStudy, ShowsFirstReachingLayer) {
  app::Setup setup = plainSetup(words(23));
  setup.mask.layers = layersFrom("causal & (heads(0): window(3) & heads(1-3): sinks(1))");
  const auto mask = studyMask({setup, 0, 0, 32}).mask.formula;
  ASSERT_EQ(mask->variants(), 2);
  for (const Index variant : {-1, 0, 1})
    for (const Index layers : {1, 2, 5})
      for (const bool residual : {true, false}) {
        auto step = cellsOf(*mask, std::max<Index>(variant, 0));
        if (variant < 0)
          for (std::size_t i = 0; i < step.size(); ++i)
            for (std::size_t j = 0; j < step.size(); ++j)
              step[i][j] = step[i][j] || mask->visible(1, static_cast<Index>(i), static_cast<Index>(j));
        if (residual)
          for (std::size_t i = 0; i < step.size(); ++i) step[i][i] = true;
        Matrix expected = Matrix::Constant(23, 23, render::kMaskedCell);
        auto reached = step;
        for (Index layer = 1; layer <= layers; ++layer) {
          for (Index i = 0; i < 23; ++i)
            for (Index j = 0; j < 23; ++j) {
              const bool here = reached[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
              // Without residuals, what a layer saw is gone after the next layer, so only the last one
              // counts.
              if (here && (residual ? expected(i, j) == render::kMaskedCell : layer == layers))
                expected(i, j) = static_cast<float>(layers + 1 - layer) / static_cast<float>(layers);
            }
          reached = product(reached, step);
        }
        const ReachStudy study = studyReach({mask, variant, layers, residual});
        EXPECT_EQ(study.picture, expected)
            << "variant " << variant << ", " << layers << " layers, " << residual;
        EXPECT_TRUE(study.leak.empty()) << "causal";
      }
}

TEST(ReachStudy, FindsTheShortestLeak) {
  const auto leak = [](const char* expression, Index variant) {
    app::Setup setup = plainSetup(words(9));
    setup.mask.layers = layersFrom(expression);
    return studyReach({studyMask({setup, 0, 0, 32}).mask.formula, variant, 3, true}).leak;
  };
  EXPECT_TRUE(leak("causal", -1).empty());
  const std::vector<Index> direct = leak("causal | (sinks(5) & window_both(3))", -1);
  ASSERT_EQ(direct.size(), 2u);
  EXPECT_LT(direct[0], direct[1]) << "the query comes before the key it learns of";
  EXPECT_LE(direct[1] - direct[0], 2);
  EXPECT_LT(direct[1], 5);
  EXPECT_TRUE(leak("causal | heads(1): full", 0).empty()) << "the head asked about is causal";
  EXPECT_EQ(leak("causal | heads(1): full", -1).size(), 2u);
}

/// Beyond 512 tokens several cells share a pixel, which shows the earliest of them.
TEST(ReachStudy, PoolsLongTexts) {
  app::Setup setup = plainSetup(words(600));
  setup.mask.layers = layersFrom("window(2)");
  const auto mask = studyMask({setup, 0, 0, 32}).mask.formula;
  const ReachStudy study = studyReach({mask, -1, 4, true});
  ASSERT_EQ(study.picture.rows(), 300);
  for (Index row = 0; row < 300; ++row)
    for (Index col = 0; col < 300; ++col) {
      float expected = render::kMaskedCell;
      for (Index i = 2 * row; i < 2 * row + 2; ++i)
        for (Index j = 2 * col; j < 2 * col + 2; ++j) {
          const Index layer = std::max<Index>(i - j, 1);  // each layer goes one token back
          if (j <= i && layer <= 4) expected = std::max(expected, static_cast<float>(5 - layer) / 4);
        }
      ASSERT_EQ(study.picture(row, col), expected) << row << ", " << col;
    }
}

}  // namespace
}  // namespace headscope::app
