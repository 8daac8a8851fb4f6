// How a text becomes numbers, and computed arrays: everything stays inside the drawing, in type that a hall
// can read.

#include "app/compute/figures/token_figures.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/widgets/drawing_paint.h"
#include "tests/app/compute/figures/drawing_texts.h"

namespace headscope::app {
namespace {

using test::textsOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

/// "The dog saw the cat . The", with ids 6, 9, 1, 3, 8, 0, 6 of ten.
TokenFigure figureOf() {
  TokenFigure figure;
  figure.text = {{"The", 6}, {"dog", 9}, {"saw", 1}, {"the", 3}, {"cat", 8}, {".", 0}, {"The", 6}};
  figure.compared = {0, 6, 3};
  figure.example = 1;
  figure.vocabulary = 10;
  figure.entries = {{"a", 2}, {"the", 3}, {"of", 4}, {"an", 5}, {"The", 6}, {"on", 7}};
  figure.examples = {{"cat", 8}, {"dog", 9}};
  figure.rows = attention::Matrix::Zero(6, 8);
  figure.rows(1, 5) = -0.5f;
  figure.rows(4, 2) = 0.25f;
  figure.table = attention::Matrix::Zero(10, 8);
  for (Index i = 0; i < 8; ++i)
    figure.pairs.push_back({i, i + 8, 1.0 / static_cast<double>(i + 1), {0.5, 1.5}});
  return figure;
}

void expectInside(const Drawing& drawing) {
  constexpr double kLeastType = 12, kRound = 0.5;
  for (const Shape& shape : drawing.shapes) {
    if (const auto* text = std::get_if<TextRun>(&shape)) {
      const double wide = drawnWidth(text->text, text->size, text->mono);
      const double left = text->anchor == Anchor::start ? text->x
                          : text->anchor == Anchor::end ? text->x - wide
                                                        : text->x - wide / 2;
      EXPECT_GE(text->size, kLeastType) << text->text;
      EXPECT_GE(left, -kRound) << text->text;
      EXPECT_LE(left + wide, drawing.width + kRound) << text->text;
      EXPECT_LE(text->y + text->size / 2, drawing.height + kRound) << text->text;
    }
    if (const auto* box = std::get_if<Box>(&shape)) {
      EXPECT_GE(box->frame.x, -2.5);
      EXPECT_LE(box->frame.right(), drawing.width + 1);
      EXPECT_LE(box->frame.bottom(), drawing.height + 1);
    }
  }
}

std::vector<ArrayFigure> arraysOf() {
  attention::Matrix signedRow(1, 64), shares(1, 3);
  signedRow.setConstant(-0.5f);
  shares << 0, 0.25f, 1;
  return {{"one", {signedRow}, {}, false},
          {"two", {shares}, {"The", "dog", "saw"}, true},
          {"maps", {attention::Matrix::Identity(3, 3), attention::Matrix::Identity(3, 3)}, {}, false}};
}

/// A square of four keys with one in its middle; queries towards two of its corners.
PlaneFigure planeOf() {
  PlaneFigure plane{attention::Matrix(2, 2), attention::Matrix(5, 2), {"a", "b", "c", "d", "inside"}, 0};
  plane.queries << 1, 1, -1, -1;
  plane.keys << 1, 1, -1, 1, -1, -1, 1, -1, 0.2f, 0.1f;
  return plane;
}

TEST(TokenFigures, StayInsideAtEverySize) {
  const TokenFigure figure = figureOf();
  const DrawingColors colors = drawingColors(darkTheme());
  for (const auto& [width, height] :
       {std::pair(525.0, 385.0), std::pair(860.0, 600.0), std::pair(1300.0, 900.0)}) {
    SCOPED_TRACE(fmt::format("{} × {}", width, height));
    expectInside(idsDrawing(figure, false, width, height, colors));
    expectInside(idsDrawing(figure, true, width, height, colors));
    expectInside(vectorsDrawing(figure, width, height, colors));
    expectInside(rotationDrawing(figure, width, height, colors));
    expectInside(arraysDrawing(arraysOf(), false, width, height, colors));
    expectInside(arraysDrawing(arraysOf(), true, width, height, colors));
    expectInside(planeDrawing(planeOf(), width, height, colors));
  }
}

TEST(TokenFigures, ArraysHideTheResultAlone) {
  std::vector<ArrayFigure> arrays = arraysOf();
  const auto texts = [&](bool hidden) {
    return textsOf(arraysDrawing(arrays, hidden, 860, 600, drawingColors(darkTheme())));
  };
  EXPECT_THAT(texts(true), testing::IsSupersetOf({"one", "two", "?", "maps"}));
  EXPECT_THAT(texts(false), Not(Contains("?")));
  EXPECT_THAT(texts(true), Not(Contains("dog")));
  arrays.erase(arrays.begin());
  EXPECT_THAT(texts(false), testing::IsSupersetOf({"0", "0.25", "1", "The", "dog", "saw"}));
}

TEST(TokenFigures, PlaneOutlinesTheHullAndNamesTheKeysThatWin) {
  const Drawing drawing = planeDrawing(planeOf(), 860, 600, drawingColors(darkTheme()));
  std::vector<std::string> winners;
  std::size_t corners = 0;
  for (const Shape& shape : drawing.shapes) {
    if (const auto* text = std::get_if<TextRun>(&shape); text && text->bold) winners.push_back(text->text);
    if (const auto* line = std::get_if<Polyline>(&shape)) corners = std::max(corners, line->points.size());
  }
  EXPECT_THAT(winners, testing::UnorderedElementsAre("a", "c"));
  EXPECT_EQ(corners, 5u) << "the square, closed: the key inside is no corner";
}

TEST(TokenFigures, HiddenIdsAreAskedFor) {
  const TokenFigure figure = figureOf();
  const auto hidden = textsOf(idsDrawing(figure, true, 860, 600, drawingColors(darkTheme())));
  EXPECT_EQ(std::ranges::count(hidden, "?"), 3);
  EXPECT_THAT(hidden, Each(Not(testing::AnyOf("3", "6"))));
  EXPECT_EQ(std::ranges::count(hidden, "dog"), 2) << "the example stands in the text and in the list";
  const auto answered = textsOf(idsDrawing(figure, false, 860, 600, drawingColors(darkTheme())));
  EXPECT_EQ(std::ranges::count(answered, "6"), 3) << "two tokens and one row";
  EXPECT_EQ(std::ranges::count(answered, "3"), 2);
  EXPECT_THAT(answered, Not(Contains("?")));
}

TEST(TokenFigures, VectorsSayHowFarRowsDiffer) {
  const auto texts = textsOf(vectorsDrawing(figureOf(), 860, 600, drawingColors(darkTheme())));
  EXPECT_THAT(texts, Contains("the same row: all 8 differences are 0"));
  EXPECT_THAT(texts, Contains("another row: numbers differ by up to 0.500"));
  EXPECT_THAT(texts, Contains("The 6"));
}

TEST(TokenFigures, ClocksSayHowFarHandsTurn) {
  const auto texts = textsOf(rotationDrawing(figureOf(), 860, 600, drawingColors(darkTheme())));
  EXPECT_THAT(texts, Contains("numbers 0 and 8"));
  EXPECT_THAT(texts, Contains(HasSubstr("57.3°"))) << "one radian";
}

TEST(TokenFigures, ClocksFillTheirRoomAndStandAboveTheirWords) {
  TokenFigure figure = figureOf();
  figure.pairs.resize(8, figure.pairs.front());
  for (const auto& [width, height] :
       {std::pair{1600.0, 900.0}, {860.0, 600.0}, {900.0, 420.0}, {420.0, 300.0}}) {
    SCOPED_TRACE(fmt::format("{} × {}", width, height));
    const Drawing drawing = rotationDrawing(figure, width, height, drawingColors(darkTheme()));
    std::vector<Frame> circles;
    for (const Shape& shape : drawing.shapes)
      if (const auto* line = std::get_if<Polyline>(&shape); line && line->points.size() == 49) {
        const auto [left, right] = std::ranges::minmax(line->points, {}, &Polyline::Point::x);
        const auto [top, bottom] = std::ranges::minmax(line->points, {}, &Polyline::Point::y);
        circles.push_back({left.x, top.y, right.x - left.x, bottom.y - top.y});
      }
    ASSERT_FALSE(circles.empty());
    for (const Frame& circle : circles) {
      EXPECT_GE(circle.width, 58);
      EXPECT_GE(circle.x, 0);
      EXPECT_LE(circle.right(), width);
      EXPECT_LE(circle.bottom(), height);
      const bool named = std::ranges::any_of(drawing.shapes, [&](const Shape& shape) {
        const auto* text = std::get_if<TextRun>(&shape);
        return text && text->text.starts_with("numbers ") && text->y > circle.bottom() &&
               text->y < circle.bottom() + 30 && std::abs(text->x - circle.x - circle.width / 2) < 1;
      });
      EXPECT_TRUE(named);
    }
  }
}

}  // namespace
}  // namespace headscope::app
