// Figures that explain a model's answer.

#include <gtest/gtest.h>

#include "app/compute/figures/study_figures.h"

namespace headscope::app {
namespace {

/// The table of words is in the order of the enumeration.
TEST(AnswerFigures, EveryPieceHasItsWords) {
  using attention::Piece;
  EXPECT_STREQ(pieceWords(Piece::stream).one, "stream");
  EXPECT_STREQ(pieceWords(Piece::queries).one, "Q");
  EXPECT_STREQ(pieceWords(Piece::keys).eachHead, "Keys of each KV head");
  EXPECT_STREQ(pieceWords(Piece::values).eachLayer, "Values of each layer");
  EXPECT_STREQ(pieceWords(Piece::pattern).one, "pattern");
  EXPECT_STREQ(pieceWords(Piece::head).ofTokens, "Attention");
  EXPECT_STREQ(pieceWords(Piece::mlp).one, "MLP");
}

}  // namespace
}  // namespace headscope::app
