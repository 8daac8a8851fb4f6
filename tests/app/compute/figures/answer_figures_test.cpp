// Figures of what makes a model answer: all heads, patches, attribution, the logit lens.

#include "app/compute/figures/answer_figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/compute/figures/drawing_parts.h"
#include "app/compute/figures/raster.h"
#include "app/compute/figures/scene_picture.h"
#include "app/compute/figures/svg.h"
#include "app/scene/models/open_model.h"
#include "app/scene/models/scene_model.h"

namespace headscope::app {
namespace {

/// As many shapes and words as a figure has, which a reader of SVG takes.
void expectDraws(const std::string& svg) {
  ASSERT_TRUE(rasterise(svg, 300, 200).ok());
  const auto count = [&](std::string_view what) {
    std::size_t found = 0;
    for (std::size_t at = svg.find(what); at != std::string::npos; at = svg.find(what, at + 1)) ++found;
    return found;
  };
  EXPECT_GT(count("<text"), 8u);
  EXPECT_GT(count("<rect"), 15u);
}

TEST(AnswerFigures, WhatMakesAModelAnswerCanBeDrawn) {
  Resources resources(Limits{std::uint64_t{1} << 30});
  auto opened = openModel(kLearned, {});
  ASSERT_TRUE(opened) << opened.error().message;
  Scene scene;
  adoptModel(scene, kLearned, *opened);
  scene.setup.input.text = "When Anna and Ben went to the lake , Ben gave the key to";
  scene.compare.other = "When Anna and Ben went to the lake , Anna gave the key to";
  for (const PictureKind kind :
       {PictureKind::model, PictureKind::patch, PictureKind::attribution, PictureKind::lens}) {
    const auto drawing = drawPicture(kind, scene, resources, true);
    ASSERT_TRUE(drawing.ok()) << drawing.error().message;
    expectDraws(svgText(*drawing));
  }
  const auto patched = drawPicture(PictureKind::patch, scene, resources, false);
  ASSERT_TRUE(patched.ok());
  EXPECT_THAT(patched->title, testing::StartsWith("Output of each head, A into B"));
  const auto none = drawPicture(PictureKind::model, Scene(), resources, false);
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message, testing::HasSubstr("the scene has no model"));
}

TEST(AnswerFigures, OfTwoGridsSideBySideOneHasTheNoteWholeAndTheScale) {
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
