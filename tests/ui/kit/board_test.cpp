// How a board places its parts, and which of them leave a poster.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "app/kit/board_layout.h"

using namespace headscope;
using app::BoardPart;
using app::BoardRules;
using testing::ElementsAre;

namespace {

BoardPart boardPart(const std::string& name, app::PartHeight height, int leaves = 0, bool picture = false) {
  BoardPart part;
  part.name = name;
  part.height = height;
  part.before = 8;
  part.leaves = leaves;
  part.picture = picture;
  part.right = 400;
  return part;
}

/// The names of the parts that are left, those in columns included.
std::vector<std::string> shownNames(const std::vector<BoardPart>& parts) {
  std::vector<std::string> names;
  for (const BoardPart& part : parts) {
    if (!part.shown) continue;
    if (part.columns.empty()) names.push_back(part.name);
    for (const auto& column : part.columns)
      for (const std::string& name : shownNames(column)) names.push_back(name);
  }
  return names;
}

float heightOf(const BoardPart& part) {
  return part.bottom - part.top;
}

constexpr BoardRules kWindow{}, kPoster{true, ""};

}  // namespace

TEST(Board, PartsStandBelowOneAnotherAndFillTheHeight) {
  std::vector<BoardPart> parts{boardPart("words", {20, 20}), boardPart("picture", {100, 150, 1}, 0, true),
                               boardPart("plot", {50, 50, 2}, 0, true)};
  EXPECT_FLOAT_EQ(app::layBoard(parts, 10, 500, kWindow), 186);
  EXPECT_FLOAT_EQ(parts[0].top, 10);
  for (std::size_t i = 1; i < parts.size(); ++i) EXPECT_FLOAT_EQ(parts[i].top, parts[i - 1].bottom + 8);
  EXPECT_FLOAT_EQ(parts.back().bottom, 510);
  EXPECT_FLOAT_EQ(heightOf(parts[0]), 20) << "words don't grow";
  EXPECT_FLOAT_EQ(heightOf(parts[2]) - 50, 2 * (heightOf(parts[1]) - 150)) << "by their shares";
}

TEST(Board, PartsGrowToTheirMost) {
  std::vector<BoardPart> parts{boardPart("square", {100, 100, 1, 180}, 0, true),
                               boardPart("plot", {50, 50, 1}, 0, true)};
  app::layBoard(parts, 0, 600, kWindow);
  EXPECT_FLOAT_EQ(heightOf(parts[0]), 180);
  EXPECT_FLOAT_EQ(parts[1].bottom, 600) << "the other takes what is left";
}

TEST(Board, LittleSpaceIsSharedBetweenLeastAndWanted) {
  std::vector<BoardPart> parts{boardPart("a", {100, 200}, 0, true), boardPart("b", {50, 100}, 0, true)};
  app::layBoard(parts, 0, 8 + 150 + 75, kWindow);
  EXPECT_FLOAT_EQ(heightOf(parts[0]), 150);
  EXPECT_FLOAT_EQ(heightOf(parts[1]), 75);
}

TEST(Board, WindowKeepsAllPartsAndScrolls) {
  std::vector<BoardPart> parts{boardPart("a", {300}, 1, true), boardPart("b", {300}, 2, true)};
  EXPECT_FLOAT_EQ(app::layBoard(parts, 0, 400, kWindow), 608);
  EXPECT_THAT(shownNames(parts), ElementsAre("a", "b"));
  EXPECT_FLOAT_EQ(parts[1].bottom, 608);
}

TEST(Board, PosterPartsLeaveWholeInTheirOrder) {
  const std::vector<BoardPart> all{boardPart("headline", {40}), boardPart("main", {200, 200, 1}, 0, true),
                                   boardPart("second", {120}, 2, true), boardPart("note", {30}, 1)};
  auto parts = all;
  app::layBoard(parts, 0, 420, kPoster);
  EXPECT_THAT(shownNames(parts), ElementsAre("headline", "main", "second", "note"));
  parts = all;
  app::layBoard(parts, 0, 390, kPoster);
  EXPECT_THAT(shownNames(parts), ElementsAre("headline", "main", "second"));
  parts = all;
  app::layBoard(parts, 0, 300, kPoster);
  EXPECT_THAT(shownNames(parts), ElementsAre("headline", "main"));
  EXPECT_FLOAT_EQ(parts[1].bottom, 300);
}

TEST(Board, PosterHasFewWordsEvenIfMoreFit) {
  std::vector<BoardPart> parts{boardPart("headline", {60}), boardPart("map", {100, 100, 1}, 0, true),
                               boardPart("more", {40}, 2), boardPart("most", {40}, 1),
                               boardPart("plot", {20, 20}, 3, true)};
  app::layBoard(parts, 0, 400, kPoster);
  EXPECT_THAT(shownNames(parts), ElementsAre("headline", "map", "more", "plot"))
      << "140 of 400 are too much, 100 aren't";
}

TEST(Board, NamedPartStaysAndOthersLeaveForIt) {
  const std::vector<BoardPart> all{boardPart("answer", {80}, app::kForNamed),
                                   boardPart("ruler", {120}, 2, true),
                                   boardPart("plot", {100, 100, 1}, 1, true)};
  auto parts = all;
  app::layBoard(parts, 0, 400, {true, "plot"});
  EXPECT_THAT(shownNames(parts), ElementsAre("answer", "plot"));
  EXPECT_GE(heightOf(parts[2]), 0.65f * 400);
  parts = all;
  app::layBoard(parts, 0, 200, {true, "plot"});
  EXPECT_THAT(shownNames(parts), ElementsAre("plot"));
  parts = all;
  app::layBoard(parts, 0, 200, kPoster);
  EXPECT_THAT(shownNames(parts), ElementsAre("answer")) << "only a named part makes it leave";
}

TEST(Board, PicturesGetLowerOnAPosterWhereNothingMayLeave) {
  std::vector<BoardPart> parts{boardPart("words", {40}), boardPart("map", {300}, 0, true)};
  app::layBoard(parts, 0, 200, kPoster);
  EXPECT_FLOAT_EQ(heightOf(parts[0]), 40);
  EXPECT_FLOAT_EQ(parts[1].bottom, 200);
}

TEST(Board, TilesAlignTheirParts) {
  BoardPart columns = boardPart("", {});
  columns.aligned = true;
  columns.columns = {{boardPart("a", {40}), boardPart("b", {100, 100, 1}, 0, true)},
                     {boardPart("c", {20}), boardPart("d", {60, 60, 1}, 0, true)}};
  std::vector<BoardPart> parts{columns};
  app::layBoard(parts, 0, 400, kWindow);
  const auto& laid = parts[0].columns;
  EXPECT_FLOAT_EQ(laid[0][1].top, laid[1][1].top);
  EXPECT_FLOAT_EQ(laid[0][1].bottom, 400);
  EXPECT_FLOAT_EQ(laid[1][1].bottom, 400);
}

TEST(Board, ColumnsLeaveWithTheirLastPart) {
  BoardPart columns = boardPart("", {});
  columns.columns = {{boardPart("a", {100}, 1, true)}, {boardPart("b", {100}, 1, true)}};
  std::vector<BoardPart> parts{boardPart("map", {300}, 0, true), columns};
  app::layBoard(parts, 0, 350, kPoster);
  EXPECT_THAT(shownNames(parts), ElementsAre("map"));
  EXPECT_FALSE(parts[1].shown);
}

TEST(Board, NothingOverlapsWhateverThePartsAre) {
  std::mt19937 random(7);
  const auto upTo = [&](int most) { return static_cast<int>(random() % static_cast<unsigned>(most)); };
  for (int run = 0; run < 300; ++run) {
    std::vector<BoardPart> parts;
    for (int i = upTo(7); i >= 0; --i) {
      const auto least = static_cast<float>(upTo(120));
      parts.push_back(boardPart("part",
                                {least, least + static_cast<float>(upTo(80)), static_cast<float>(upTo(3))},
                                upTo(4), upTo(2) == 1));
    }
    const BoardRules rules{upTo(2) == 1, ""};
    const float height = static_cast<float>(60 + upTo(600)), needed = app::layBoard(parts, 0, height, rules);
    float end = 0;
    for (const BoardPart& part : parts) {
      if (!part.shown) continue;
      EXPECT_GE(part.top, end - 0.01f);
      EXPECT_GE(part.bottom, part.top);
      end = part.bottom;
    }
    EXPECT_TRUE(rules.poster || end <= std::max(height, needed) + 0.5f) << end;
  }
}
