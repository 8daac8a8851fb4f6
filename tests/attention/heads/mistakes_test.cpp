// The classic mistakes: each one's symptom really occurs, and its fix removes it.

#include "attention/heads/mistakes.h"

#include <gtest/gtest.h>

#include <cmath>

namespace headscope::attention::test {
namespace {

MistakeResult shown(Mistake mistake) {
  return makeMistake(mistake, demonstration(mistake, 12, 512, 10));
}

TEST(Mistakes, TableListsEachMistakeOnceInOrder) {
  for (std::size_t i = 0; i < mistakes().size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(mistakes()[i].mistake), i);
    EXPECT_FALSE(mistakes()[i].added.empty()) << mistakes()[i].key;
  }
  EXPECT_EQ(mistakes().back().mistake, Mistake::notDivisible);
}

TEST(Mistakes, EveryMistakeShowsInItsDemonstration) {
  for (const MistakeInfo& info : mistakes()) {
    const MistakeResult result = shown(info.mistake);
    EXPECT_TRUE(result.same.empty()) << info.key << ": " << result.same;
    EXPECT_TRUE(result.clash || result.wrongWeights.size() == 144) << info.key;
  }
}

TEST(Mistakes, CorrectRowsSumToOne) {
  for (const MistakeInfo& info : mistakes()) {
    const MistakeResult result = shown(info.mistake);
    const MistakeInput input = demonstration(info.mistake, 12, 512, 10);
    ASSERT_TRUE(result.rightWeights.allFinite()) << info.key;
    for (Index row = 0; row < 12; ++row)
      if (input.visible.row(row).sum() > 0) {
        EXPECT_NEAR(result.rightWeights.row(row).sum(), 1, 2e-3f) << info.key;
      }
  }
}

TEST(Mistakes, MissingScaleLetsOneKeyDominate) {
  const MistakeResult result = shown(Mistake::noScale);
  EXPECT_GT(result.measures[0].wrong, 0.9);
  EXPECT_LT(result.measures[0].right, 0.7);
  EXPECT_LT(result.measures[1].wrong, 0.2);
}

TEST(Mistakes, ScalingByModelSizeFlattensRows) {
  const MistakeResult result =
      makeMistake(Mistake::modelScale, demonstration(Mistake::modelScale, 12, 32, 10));
  EXPECT_LT(result.measures[0].wrong, result.measures[0].right);
  EXPECT_GT(result.measures[1].wrong, result.measures[1].right);
}

TEST(Mistakes, WrongAxisMakesColumnsSumToOne) {
  const MistakeResult result = shown(Mistake::wrongAxis);
  EXPECT_LT((result.wrongWeights.colwise().sum().array() - 1).abs().maxCoeff(), 1e-5f);
  EXPECT_GT(std::abs(result.measures[0].wrong - 1), 0.1);
  EXPECT_NEAR(result.measures[0].right, 1, 1e-5);
}

TEST(Mistakes, SoftmaxWithoutMaximumOverflows) {
  const MistakeResult result = shown(Mistake::noMaximum);
  EXPECT_GT(result.measures[0].wrong, 0);
  EXPECT_EQ(result.measures[0].right, 0);
  MistakeInput small = demonstration(Mistake::wrongAxis, 12, 32, 10);
  EXPECT_EQ(makeMistake(Mistake::noMaximum, small).same, "no score is above 88");
}

TEST(Mistakes, UpperTriangleReadsTheFuture) {
  const MistakeResult result = shown(Mistake::upperTriangle);
  EXPECT_GT(result.measures[0].wrong, 0.5);
  EXPECT_EQ(result.measures[0].right, 0);
  EXPECT_FLOAT_EQ(result.wrongWeights(11, 11), 1) << "the last token reads itself";
}

TEST(Mistakes, MaskingAfterSoftmaxBreaksRowSums) {
  EXPECT_LT(shown(Mistake::maskAfter).measures[0].wrong, 0.5);
  EXPECT_NEAR(shown(Mistake::maskAfter).measures[0].right, 1, 1e-5);
  EXPECT_GT(shown(Mistake::maskAfterRenormalised).measures[0].wrong, 0);
  const MistakeInput small = demonstration(Mistake::maskAfter, 12, 32, 10);
  EXPECT_FALSE(makeMistake(Mistake::maskAfterRenormalised, small).same.empty())
      << "the same while nothing rounds to 0";
}

TEST(Mistakes, UnmaskedPaddingTakesWeight) {
  const MistakeResult result = shown(Mistake::paddingSeen);
  EXPECT_GT(result.measures[0].wrong, 0.05);
  EXPECT_EQ(result.measures[0].right, 0);
  EXPECT_EQ(makeMistake(Mistake::paddingSeen, demonstration(Mistake::maskAfter, 12, 32, 10)).same,
            "no padding");
}

TEST(Mistakes, EmptyRowIsNaNInHalfPrecision) {
  const MistakeResult result = shown(Mistake::halfInfinity);
  EXPECT_EQ(result.measures[0].wrong, 3) << "the rows of left padding";
  EXPECT_EQ(result.measures[0].right, 0);
  EXPECT_TRUE(result.wrongWeights.bottomRows(9).isApprox(result.rightWeights.bottomRows(9)));
}

TEST(Mistakes, ViewWithoutTransposeMixesTokens) {
  const MistakeResult result = shown(Mistake::viewWithoutTranspose);
  EXPECT_LE(result.measures[0].wrong, 1);
  EXPECT_EQ(result.measures[0].right, 12);
  // With the wrong view, head 0 consists only of the first tokens, so a later token changes nothing there.
  MistakeInput input = demonstration(Mistake::viewWithoutTranspose, 12, 32, 10);
  for (Index h = 0; h < 8; ++h) input.q[h].row(11).setZero();
  EXPECT_TRUE(makeMistake(Mistake::viewWithoutTranspose, input)
                  .wrongScores.row(11)
                  .isApprox(result.wrongScores.row(11)));
}

TEST(Mistakes, TilingKvHeadsChangesHalfOfEightHeads) {
  EXPECT_EQ(shown(Mistake::kvTiled).measures[0].wrong, 4);
  MistakeInput first = demonstration(Mistake::kvTiled, 12, 32, 10);
  first.head = 0;
  EXPECT_FALSE(makeMistake(Mistake::kvTiled, first).same.empty()) << "head 0 reads KV 0 either way";
}

TEST(Mistakes, ShapeClashesReportPyTorchMessages) {
  const MistakeResult key = shown(Mistake::keyNotTransposed);
  ASSERT_TRUE(key.clash);
  EXPECT_EQ(key.clash->left[key.clash->leftAt], 32);
  EXPECT_EQ(key.clash->right[key.clash->rightAt], 12);
  EXPECT_EQ(key.clash->message,
            "RuntimeError: Expected size for first two dimensions of batch2 tensor to be: [8, 32] but got: "
            "[8, 12].");
  const MistakeResult width = shown(Mistake::notDivisible);
  ASSERT_TRUE(width.clash);
  EXPECT_EQ(width.clash->message, "RuntimeError: shape '[12, 8, 31]' is invalid for input of size 3000");
}

TEST(Mistakes, SquareUntransposedKeyGivesWrongScores) {
  const MistakeInput input = demonstration(Mistake::keyNotTransposed, 32, 32, 1);
  const MistakeResult result = makeMistake(Mistake::keyNotTransposed, input);
  EXPECT_FALSE(result.clash);
  EXPECT_EQ(result.same, "") << "it differs";
  EXPECT_EQ(result.symptom, "no error (n = dₖ = 32), and every score is wrong");
  ASSERT_EQ(result.wrongScores.rows(), 32);
  const Matrix q = input.q[0], k = input.k[0];
  EXPECT_NEAR(result.wrongScores(31, 7), (q * k)(31, 7) * input.scale, 1e-4f);
  ASSERT_FALSE(result.measures.empty());
  EXPECT_EQ(result.measures[0].wrong, 0);
  EXPECT_EQ(result.measures[0].right, 32);
}

TEST(Mistakes, UnchangedResultsSayWhy) {
  MistakeInput open = demonstration(Mistake::maskAfter, 12, 32, 10);
  open.visible.setOnes();
  EXPECT_EQ(makeMistake(Mistake::maskAfter, open).same, "no key is hidden");
  EXPECT_EQ(makeMistake(Mistake::maskAfterRenormalised, open).same, "no key is hidden");
  MistakeInput zero = demonstration(Mistake::noScale, 12, 32, 10);
  zero.q[0].setZero();
  EXPECT_EQ(makeMistake(Mistake::noScale, zero).same, "every score is 0, and stays 0 at any scale");
  MistakeInput alone = demonstration(Mistake::noScale, 12, 32, 10);
  alone.visible.setIdentity();
  EXPECT_EQ(makeMistake(Mistake::noScale, alone).same, "no query sees two keys");
  MistakeInput unscaled = demonstration(Mistake::noScale, 12, 32, 10);
  unscaled.scale = 1;
  EXPECT_EQ(makeMistake(Mistake::noScale, unscaled).same, "both scales are the same");
  MistakeInput one = demonstration(Mistake::noScale, 12, 32, 10);
  const MistakeResult divided = makeMistake(Mistake::notDivisible, one);
  EXPECT_EQ(divided.same, "one head divides every width");
  EXPECT_TRUE(divided.wrongWeights == divided.rightWeights) << "which are shown";
}

TEST(Mistakes, SaturationGrowsWithDimensionUnlessScaled) {
  const std::vector<Index> dims{8, 128};
  const auto points = saturation(Mistake::noScale, dims, 12, 8);
  ASSERT_EQ(points.size(), 2u);
  EXPECT_GT(points[1].wrongLargest, points[0].wrongLargest);
  EXPECT_NEAR(points[1].rightLargest, points[0].rightLargest, 0.12);
  EXPECT_LT(points[1].wrongEntropy, points[1].rightEntropy);
}

/// The curve is computed without drawing maps; its values are those of layers with maps.
TEST(Mistakes, SaturationMatchesFullLayers) {
  constexpr Index kLayers = 300;
  for (const Mistake mistake : {Mistake::noScale, Mistake::modelScale})
    for (const Index dim : {8, 32}) {
      const auto point = saturation(mistake, std::vector<Index>{dim}, 12, kLayers).front();
      SaturationPoint whole{dim};
      for (Index layer = 0; layer < kLayers; ++layer) {
        const MistakeInput input = demonstration(mistake, 12, dim, static_cast<std::uint64_t>(layer) + 1);
        const MistakeResult result = makeMistake(mistake, input);
        whole.wrongLargest += meanLargestWeight(result.wrongWeights, input.visible) / kLayers;
        whole.rightLargest += meanLargestWeight(result.rightWeights, input.visible) / kLayers;
        whole.wrongEntropy += meanEntropy(result.wrongWeights, input.visible) / kLayers;
        whole.rightEntropy += meanEntropy(result.rightWeights, input.visible) / kLayers;
      }
      EXPECT_NEAR(point.wrongLargest, whole.wrongLargest, 0.02) << dim;
      EXPECT_NEAR(point.rightLargest, whole.rightLargest, 0.02) << dim;
      EXPECT_NEAR(point.wrongEntropy, whole.wrongEntropy, 0.02) << dim;
      EXPECT_NEAR(point.rightEntropy, whole.rightEntropy, 0.02) << dim;
    }
}

TEST(Mistakes, RefusesHeadsOutOfRange) {
  MistakeInput input = demonstration(Mistake::noScale, 12, 32, 1);
  input.head = 1;
  EXPECT_THROW(makeMistake(Mistake::noScale, input), std::invalid_argument);
}

}  // namespace
}  // namespace headscope::attention::test
