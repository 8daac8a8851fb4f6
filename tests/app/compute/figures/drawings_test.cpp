// Drawings: how colours, cells and text are written.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "app/compute/figures/drawing.h"
#include "app/compute/figures/picture_formats.h"
#include "app/widgets/view.h"
#include "tests/app/compute/layer/snapshot_support.h"
#include "tests/support/matchers.h"

namespace headscope::test {
namespace {

using namespace app;

/// The fills of an SVG's cells, in order.
std::vector<std::string> cellFills(const std::string& svg) {
  std::vector<std::string> fills;
  for (std::size_t group = 0; (group = svg.find("class=\"cells\"", group)) != std::string::npos; ++group) {
    const std::size_t end = svg.find("</g>", group);
    std::string cells = svg.substr(group, end - group);
    while (cells.find("<defs>") != std::string::npos)  // hatches are defined before their first use
      cells.erase(cells.find("<defs>"), cells.find("</defs>") + 7 - cells.find("<defs>"));
    for (std::size_t at = 0; (at = cells.find("fill=\"", at)) != std::string::npos; ++at)
      fills.push_back(cells.substr(at + 6, cells.find('"', at + 6) - at - 6));
  }
  return fills;
}

TEST(Drawings, DrawsManyCellsAsImageKeepingBrightOnes) {
  Drawing drawing;
  drawing.width = drawing.height = 1000;
  drawing.background = {1, 1, 1, 1};
  Cells cells;
  cells.frame = {0, 0, 1000, 1000};
  cells.values = attention::Matrix::Zero(1000, 1000);
  cells.values(777, 333) = 1;
  cells.values.row(500).setConstant(render::kDeadCell);
  cells.style.gap = 0;
  drawing.shapes.push_back(cells);
  const std::string svg = svgText(drawing);
  EXPECT_TRUE(cellFills(svg).empty());
  EXPECT_THAT(svg, HasSubstr("data:image/png;base64,"));
  const auto small = pixelImage(drawing, 100, 100);
  ASSERT_TRUE(small.ok()) << small.error().message;
  // Viridis ends in yellow: much green, little blue.
  const std::uint8_t* pixel = &small->rgba[4 * (77 * 100 + 33)];
  EXPECT_GT(pixel[1], 200);
  EXPECT_LT(pixel[2], 80);
}

TEST(Drawings, AddMovesAndScalesShapes) {
  Drawing small;
  small.width = 30;
  small.height = 20;
  TextRun text;
  text.x = 4;
  text.y = 5;
  text.size = 11;
  text.spacing = 0.5;
  Polyline line{{{1, 2}, {3, 4}}, {}, 1.5, {6, 2}};
  Cells cells;
  cells.frame = {1, 2, 10, 8};
  cells.style.gap = 1;
  small.shapes = {text, Box{{1, 1, 3, 3}, {}, 1, 2}, line, Area{{{{5, 6}}}, {}}, Clip{Frame{0, 0, 9, 9}},
                  cells};
  Drawing page;
  page.add(small, 100, 200, 2);
  EXPECT_EQ(page.width, 160);
  EXPECT_EQ(page.height, 240);
  const auto& run = std::get<TextRun>(page.shapes[0]);
  EXPECT_THAT((std::vector{run.x, run.y, run.size, run.spacing}), ElementsAre(108, 210, 22, 1));
  const auto& box = std::get<Box>(page.shapes[1]);
  EXPECT_EQ(box.frame, (Frame{102, 202, 6, 6}));
  EXPECT_THAT((std::vector{box.outline, box.radius}), ElementsAre(2, 4));
  const auto& drawn = std::get<Polyline>(page.shapes[2]);
  EXPECT_THAT((std::vector{drawn.points[1].x, drawn.points[1].y, drawn.width, drawn.dashes[0]}),
              ElementsAre(106, 208, 3, 12));
  const auto& corner = std::get<Area>(page.shapes[3]).rings[0][0];
  EXPECT_THAT((std::vector{corner.x, corner.y}), ElementsAre(110, 212));
  EXPECT_EQ(std::get<Clip>(page.shapes[4]).frame, (Frame{100, 200, 18, 18}));
  EXPECT_EQ(std::get<Cells>(page.shapes[5]).frame, (Frame{102, 204, 20, 16}));
  EXPECT_EQ(std::get<Cells>(page.shapes[5]).style.gap, 2);
}

TEST(Drawings, EscapesHostileTokens) {
  Drawing drawing;
  drawing.width = drawing.height = 100;
  drawing.title = "</title><script/>";
  drawing.shapes.push_back(
      TextRun{std::string("a\0b\x01<&\">\x1b\xff\xed\xa0\x80\xef\xbf\xbf", 15), 10, 20, 20, {}});
  drawing.shapes.push_back(TextRun{"\xF0\x9F\x90\x88 \xE7\x8C\xAB", 10, 50, 20, {}});
  const std::string svg = svgText(drawing);
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  EXPECT_THAT(svg, HasSubstr("a\uFFFDb\uFFFD&lt;&amp;&quot;&gt;"));
  EXPECT_THAT(svg, HasSubstr("\xF0\x9F\x90\x88 \xE7\x8C\xAB</text>"));
  for (const char c : svg) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
  EXPECT_TRUE(attention::validateUtf8(svg).ok());
  const auto image = pixelImage(drawing, 50, 50);
  EXPECT_TRUE(image.ok()) << image.error().message;
  const auto pdf = pdfFile({drawing}, 50, 50, 300);
  EXPECT_TRUE(pdf.ok()) << pdf.error().message;
}

TEST(Drawings, ColoursOfThemesAreReadable) {
  for (const Theme* theme : {&darkTheme(), &lightTheme()}) {
    const auto contrast = [&](const render::Color& ink, const render::Color& under) {
      const float a = luminance(ink) + 0.05f, b = luminance(under) + 0.05f;
      return std::max(a, b) / std::min(a, b);
    };
    for (const std::uint32_t ink : {theme->text, theme->secondary, theme->query, theme->key, theme->value})
      EXPECT_GE(contrast(unpacked(ink), unpacked(theme->background)), 4.5f);
    for (const std::uint32_t cell : {theme->text, theme->background, theme->query, theme->faint})
      EXPECT_GE(contrast(unpacked(inkOn(unpacked(cell))), unpacked(cell)), 4.5f * 0.97f);
  }
}

}  // namespace
}  // namespace headscope::test
