// Figures that explain a model's answer.

#include <gtest/gtest.h>

#include "app/compute/figures/study_figures.h"

namespace headscope::app {
namespace {

/// The table of words is in the order of the enumeration.
TEST(AnswerFigures, EveryPieceHasItsWords) {
  using attention::Piece;
  EXPECT_STREQ(wordsOf(Piece::stream).one, "stream");
  EXPECT_STREQ(wordsOf(Piece::queries).one, "Q");
  EXPECT_STREQ(wordsOf(Piece::keys).eachHead, "Keys of each KV head");
  EXPECT_STREQ(wordsOf(Piece::values).eachLayer, "Values of each layer");
  EXPECT_STREQ(wordsOf(Piece::pattern).one, "pattern");
  EXPECT_STREQ(wordsOf(Piece::head).ofTokens, "Attention");
  EXPECT_STREQ(wordsOf(Piece::mlp).one, "MLP");
}

}  // namespace
}  // namespace headscope::app
