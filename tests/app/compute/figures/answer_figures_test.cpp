// Figures that explain a model's answer: all heads, patches, attribution, the logit lens.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/compute/figures/drawing.h"
#include "app/compute/figures/picture_formats.h"
#include "app/compute/figures/study_figures.h"

namespace headscope::app {
namespace {

TEST(AnswerFigures, OnlyGridWithScaleShowsFullNote) {
  GridFigure figure;
  figure.title = "Output of each head";
  figure.note = "Share of the logit difference restored";
  figure.rows = figure.columns = {"0", "1"};
  figure.values = attention::Matrix::Constant(2, 2, 0.5f);
  const auto says = [&](const GridFigure& one) {
    return svgText(gridDrawing(one, 500, 400, drawingColors(true))).find(one.note) != std::string::npos;
  };
  EXPECT_TRUE(says(figure));
  figure.scale = false;
  EXPECT_FALSE(says(figure));
}

}  // namespace
}  // namespace headscope::app
