// The line of a sentence: what is kept and what is folded.

#include "app/kit/sentence_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/app/scene/random_scene.h"

namespace headscope::app {
namespace {

using testing::ElementsAre;

std::vector<Index> keptWords(const std::vector<LinePiece>& pieces) {
  std::vector<Index> words;
  for (const LinePiece& piece : pieces)
    if (!piece.folded) words.push_back(piece.from);
  return words;
}

TEST(SentenceLine, EverythingStaysWhereItFits) {
  const std::vector<float> widths{30, 10, 50};
  const auto pieces = layLine(widths, {}, {110, 10, 40});
  EXPECT_THAT(keptWords(pieces), ElementsAre(0, 1, 2));
  EXPECT_FLOAT_EQ(pieces[2].x, 60);
  EXPECT_FLOAT_EQ(pieces[2].middle(), 85);
  EXPECT_THAT(layLine({}, {}, {100, 10, 40}), testing::IsEmpty());
}

TEST(SentenceLine, KeepsTheImportantWordsAndFoldsTheRest) {
  const std::vector<float> widths(40, 50);
  const std::vector<Index> important{20, 3, 39};
  const auto pieces = layLine(widths, important, {400, 10, 40});
  EXPECT_THAT(keptWords(pieces), testing::IsSupersetOf({3, 20, 39}));
  EXPECT_LE(pieces.back().x + pieces.back().width, 400);
}

/// Random texts: every word is in one piece, in order, within the room if two words and three places fit.
TEST(SentenceLine, HasEveryWordOnce) {
  test::Dice dice(5);
  for (int round = 0; round < 300; ++round) {
    const auto count = static_cast<Index>(dice.between(1, 300));
    std::vector<float> widths, weights;
    for (Index i = 0; i < count; ++i) {
      widths.push_back(static_cast<float>(dice.between(5, 90)));
      weights.push_back(static_cast<float>(dice.real(0, 1)));
    }
    const auto query = static_cast<Index>(dice.between(0, static_cast<int>(count) - 1));
    const LineSizes sizes{static_cast<float>(dice.between(350, 1200)), 8, 44};
    const auto pieces = layLine(
        widths, wordsByImportance(count, query, weights, 0.5f, dice.oneIn(3) ? count / 2 : -1), sizes);
    Index next = 0;
    float x = 0;
    for (const LinePiece& piece : pieces) {
      EXPECT_EQ(piece.from, next);
      EXPECT_FLOAT_EQ(piece.x, x);
      EXPECT_TRUE(piece.folded || piece.to == piece.from + 1);
      next = piece.to;
      x += piece.width + sizes.gap;
    }
    EXPECT_EQ(next, count);
    EXPECT_LE(x - sizes.gap, sizes.room);
    const LinePiece* piece = pieceOf(pieces, query);
    ASSERT_TRUE(piece);
    EXPECT_FALSE(piece->folded);
  }
}

TEST(SentenceLine, OrdersWordsByWhatTheQueryReads) {
  const std::vector<float> weights{0, 0.1f, 0, 0, 0.6f, 0.3f};
  const auto order = wordsByImportance(8, 6, weights, 0.02f, -1);
  ASSERT_GE(order.size(), 7u);
  EXPECT_THAT(std::vector<Index>(order.begin(), order.begin() + 2), ElementsAre(6, 4));
  EXPECT_THAT(std::vector<Index>(order.begin() + 2, order.begin() + 8), ElementsAre(4, 5, 1, 5, 7, 0));
}

}  // namespace
}  // namespace headscope::app
