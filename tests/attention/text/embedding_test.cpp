#include "attention/text/embedding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "attention/core/positions.h"
#include "tests/support/float_limits.h"
#include "tests/support/matchers.h"

namespace headscope::attention::test {
namespace {

std::vector<Token> words(std::string_view text) {
  return tokenize(text, Tokenization::words)->front();
}

EmbeddingOptions options(Index modelDim, bool sinusoidal = false, std::uint64_t seed = 7) {
  EmbeddingOptions result;
  result.modelDim = modelDim;
  result.seed = seed;
  result.sinusoidal = sinusoidal;
  return result;
}

TEST(Embedding, SameWordGetsSameVectorAtAnyPosition) {
  const Matrix x = embedPlain(words("The cat saw the dog"), options(48));
  EXPECT_EQ(x.row(0), x.row(3)) << "case is ignored";
  EXPECT_NE(x.row(0), x.row(1));
  const Matrix alone = embedPlain(words("dog"), options(48));
  EXPECT_EQ(alone.row(0), x.row(4)) << "the rest of the text plays no part";
  EXPECT_NE(embedPlain(words("dog"), options(48, false, 8)).row(0), alone.row(0)) << "the seed does";
}

TEST(Embedding, CaseMattersOnRequest) {
  EmbeddingOptions exact = options(16);
  exact.ignoreCase = false;
  const Matrix x = embedPlain(words("The the"), exact);
  EXPECT_NE(x.row(0), x.row(1));
}

TEST(Embedding, PlainRowsAreStandardGaussian) {
  const Index n = 20000;
  const Matrix x = embedPlain(words("word"), options(n));
  const float mean = x.mean(), variance = (x.array() - mean).square().mean();
  // Five standard errors: 1/√n for the mean, √(2/n) for the variance.
  EXPECT_NEAR(mean, 0, 5 / std::sqrt(static_cast<float>(n)));
  EXPECT_NEAR(variance, 1, 5 * std::sqrt(2 / static_cast<float>(n)));
}

TEST(Embedding, PlainEmbeddingAddsSinusoids) {
  const std::vector<Token> tokens = words("a b c a");
  const Matrix expected = embedPlain(tokens, options(33)) + sinusoidalPositions(0, 4, 33);
  EXPECT_EQ(embedPlain(tokens, options(33, true)), expected);
}

TEST(Embedding, LayoutPartsFillTheWidth) {
  for (const Index modelDim : {16, 17, 64, 100, 256, 4096}) {
    const auto layout = checked(plantedLayout(modelDim));
    EXPECT_EQ(layout->flags, kFlagCount);
    EXPECT_EQ(layout->flags + layout->positions + layout->identity, modelDim);
    EXPECT_EQ(layout->positions % 2, 0);
    EXPECT_GE(layout->positions, 6);
    EXPECT_GE(layout->identity, 6);
  }
  EXPECT_THAT(messageOf(plantedLayout(15)),
              testing::AllOf(testing::HasSubstr("15"), testing::HasSubstr("16")));
}

TEST(Embedding, PlantedPartsAreOrthogonal) {
  const EmbeddingLayout layout = *plantedLayout(64);
  const std::vector<Token> tokens = words("The cat , the dog");
  const Matrix with = embedPlanted(tokens, layout, options(64, true));
  const Matrix without = embedPlanted(tokens, layout, options(64, false));
  // Positions only change their own part, and that part contains nothing else.
  EXPECT_EQ(with.leftCols(layout.flags), without.leftCols(layout.flags));
  EXPECT_EQ(with.rightCols(layout.identity), without.rightCols(layout.identity));
  EXPECT_TRUE(without.middleCols(layout.positionsAt(), layout.positions).isZero(0));
  EXPECT_EQ(with.row(0).tail(layout.identity), with.row(3).tail(layout.identity));
  Matrix flags(5, 3);
  flags << 1, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 0, 0;
  EXPECT_EQ(with.leftCols(3), flags);
}

TEST(Embedding, PlantedSinusoidsRotateAtTheirFrequency) {
  const EmbeddingLayout layout = *plantedLayout(256);
  const std::vector<double> frequencies = plantedFrequencies(layout);
  ASSERT_EQ(static_cast<Index>(frequencies.size()), layout.positions / 2);
  EXPECT_TRUE(std::ranges::is_sorted(frequencies, std::greater{}));
  const Matrix x = embedPlanted(words("a b c d e f"), layout, options(256, true));
  for (std::size_t f = 0; f < frequencies.size(); ++f) {
    const Index d = layout.positionsAt() + 2 * static_cast<Index>(f);
    EXPECT_NEAR(x(5, d), std::sin(5 * frequencies[f]), kEpsilon);
    EXPECT_NEAR(x(5, d + 1), std::cos(5 * frequencies[f]), kEpsilon);
  }
}

TEST(Embedding, IdentityPairsHaveEqualLength) {
  const EmbeddingLayout layout = *plantedLayout(64);
  const Matrix x = embedPlanted(words("a b c d e f g h"), layout, options(64));
  const Index whole = layout.identity / 2 * 2;
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index d = 0; d < whole; d += 2) {
      EXPECT_NEAR(x.row(i).segment(layout.identityAt() + d, 2).squaredNorm(), 2, 8 * kEpsilon);
    }
    if (whole < layout.identity) {
      EXPECT_NEAR(std::abs(x(i, x.cols() - 1)), 1, 2 * kEpsilon);
    }
  }
}

TEST(Embedding, NoTokensGiveNoRows) {
  EXPECT_EQ(embedPlain({}, options(8)).rows(), 0);
  EXPECT_EQ(embedPlanted({}, *plantedLayout(16), options(16)).rows(), 0);
}

TEST(Embedding, WidthMismatchNamesBothWidths) {
  try {
    embedPlanted(words("a"), *plantedLayout(32), options(16));
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("16"), testing::HasSubstr("32")));
  }
}

}  // namespace
}  // namespace headscope::attention::test
