// Figures: what stands in them, and that it is what was computed.

#include "app/compute/figures/drawings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "app/compute/figures/drawing_parts.h"
#include "app/compute/figures/raster.h"
#include "app/compute/figures/scene_picture.h"
#include "app/compute/figures/svg.h"
#include "app/widgets/theme.h"
#include "attention/cache/cost.h"
#include "tests/app/compute/layer/snapshot_support.h"

namespace headscope::test {
namespace {

using namespace app;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr const char* kText = "the cat saw the dog .";

Scene sceneOf(const std::string& text) {
  Scene scene = openingScene();
  scene.setup.input.text = text;
  return scene;
}

template <typename T>
std::vector<T> shapesOf(const Drawing& drawing) {
  std::vector<T> found;
  for (const Shape& shape : drawing.shapes)
    if (const T* each = std::get_if<T>(&shape)) found.push_back(*each);
  return found;
}

std::vector<std::string> textsOf(const Drawing& drawing) {
  std::vector<std::string> texts;
  for (const TextRun& run : shapesOf<TextRun>(drawing)) texts.push_back(run.text);
  return texts;
}

std::string hexOf(const render::Color& color) {
  char text[8];
  const auto byte = [](float v) { return static_cast<int>(std::lround(v * 255)); };
  std::snprintf(text, sizeof text, "#%02x%02x%02x", byte(color.r), byte(color.g), byte(color.b));
  return text;
}

/// What the cells of an SVG are filled with, in the order they stand there.
std::vector<std::string> cellFills(const std::string& svg) {
  std::vector<std::string> fills;
  for (std::size_t group = 0; (group = svg.find("class=\"cells\"", group)) != std::string::npos; ++group) {
    const std::size_t end = svg.find("</g>", group);
    std::string cells = svg.substr(group, end - group);
    while (cells.find("<defs>") != std::string::npos)  // hatches stand before their first use
      cells.erase(cells.find("<defs>"), cells.find("</defs>") + 7 - cells.find("<defs>"));
    for (std::size_t at = 0; (at = cells.find("fill=\"", at)) != std::string::npos; ++at)
      fills.push_back(cells.substr(at + 6, cells.find('"', at + 6) - at - 6));
  }
  return fills;
}

/// An SVG that a reader takes, and not an empty page.
void expectDraws(const std::string& svg) {
  const auto image = rasterise(svg, 300, 200);
  ASSERT_TRUE(image.ok()) << image.error().message;
  std::size_t marked = 0;
  for (std::size_t i = 4; i < image->rgba.size(); i += 4)
    marked += !std::equal(image->rgba.begin(), image->rgba.begin() + 3,
                          image->rgba.begin() + static_cast<std::ptrdiff_t>(i));
  EXPECT_GT(marked, 300u);
}

TEST(Drawings, AHeadHoldsItsTokensItsCellsAndWhatItDoes) {
  const Scene scene = sceneOf(kText);
  const Snapshot snapshot = computed(scene.setup);
  const SequenceSnapshot& sequence = snapshot.sequences[0];
  const Drawing drawing = headDrawing(scene, snapshot, 2, {});
  const std::string svg = svgText(drawing);
  expectDraws(svg);
  for (const attention::Token& token : sequence.queries)
    EXPECT_EQ(std::ranges::count(textsOf(drawing), token.text),
              2 * std::ranges::count(sequence.queries, token.text, &attention::Token::text))
        << token.text << " stands on both axes as often as in the text";
  EXPECT_THAT(textsOf(drawing), Contains("query ↓"));
  EXPECT_THAT(textsOf(drawing), Contains("key →"));
  const attention::HeadLabel label = sequence.label(2);
  ASSERT_NE(label.detector, nullptr);
  char raw[16];
  std::snprintf(raw, sizeof raw, " %.2f", sequence.profiles[2][label.detector->name].raw);
  EXPECT_THAT(textsOf(drawing), Contains(attention::describe(label) + raw));

  // A weight below what two digits say has none.
  const attention::MatrixView spread = sequence.attention.weights[0];
  ASSERT_TRUE((spread.array() > 0 && spread.array() < 0.005f).any());
  EXPECT_THAT(textsOf(headDrawing(scene, snapshot, 0, {})), testing::Not(Contains("0.00")));

  const std::vector<std::string> fills = cellFills(svg);
  const attention::MatrixView weights = sequence.attention.weights[2], scores = sequence.attention.scores[2];
  ASSERT_EQ(fills.size(), static_cast<std::size_t>(weights.size())) << "a rectangle for each cell";
  for (Index i = 0; i < weights.size(); ++i) {
    const std::string& fill = fills[static_cast<std::size_t>(i)];
    if (scores.data()[i] == render::kMaskedCell)
      EXPECT_THAT(fill, HasSubstr("url(#masked")) << i;
    else
      EXPECT_EQ(fill, hexOf(render::sample(render::Colormap::viridis, weights.data()[i]))) << i;
  }
}

TEST(Drawings, AllHeadsAreThereAndShareTheirAxes) {
  const Scene scene = sceneOf(kText);
  const Snapshot snapshot = computed(scene.setup);
  for (const double aspect : {0.2, 1.0, 1.6, 6.0}) {
    const Drawing drawing = headsDrawing(scene, snapshot, {.dark = true, .aspect = aspect});
    const std::vector<std::string> texts = textsOf(drawing);
    for (int head = 0; head < 8; ++head) EXPECT_THAT(texts, Contains("Head " + std::to_string(head)));
    EXPECT_THAT(texts, Contains("query ↓"));
    EXPECT_THAT(texts, Contains("key →"));
    const auto cells = shapesOf<Cells>(drawing);
    ASSERT_EQ(cells.size(), 8u);
    EXPECT_EQ(cellFills(svgText(drawing)).size(), 8u * 36u);
    for (const Cells& each : cells)
      EXPECT_TRUE(each.frame.x >= 0 && each.frame.right() <= drawing.width && each.frame.y >= 0 &&
                  each.frame.bottom() <= drawing.height);
  }
  const Drawing wide = headsDrawing(scene, snapshot, {.aspect = 6}),
                high = headsDrawing(scene, snapshot, {.aspect = 0.2});
  EXPECT_GT(wide.width / wide.height, 2 * high.width / high.height) << "laid out for the page";
}

TEST(Drawings, ADecodeShowsTheRowsAndColumnsThatAreThere) {
  Scene scene = sceneOf(kText);
  scene.cursor.decoding = true;
  scene.cursor.step = 3;
  const Snapshot snapshot = computed(scene.setup);
  EXPECT_EQ(shapesOf<Cells>(headDrawing(scene, snapshot, 0, {}))[0].values.rows(), 3);
  const Drawing cache = cacheDrawing(scene, snapshot, {});
  for (const Cells& strip : shapesOf<Cells>(cache)) EXPECT_EQ(strip.values.cols(), 3);
}

TEST(Drawings, TheCacheHasAStripForEachKvHeadAndItsBytes) {
  const Scene scene = sceneOf(kText);
  const Snapshot snapshot = computed(scene.setup);
  const Drawing drawing = cacheDrawing(scene, snapshot, {});
  expectDraws(svgText(drawing));
  const auto strips = shapesOf<Cells>(drawing);
  ASSERT_EQ(strips.size(), 4u) << "K and V of two kv heads";
  float largest = 0;
  for (const Cells& strip : strips) {
    EXPECT_EQ(strip.values.cols(), 6);
    EXPECT_GE(strip.values.minCoeff(), -1);
    largest = std::max(largest, strip.values.cwiseAbs().maxCoeff());
  }
  EXPECT_FLOAT_EQ(largest, 1);
  // 2 · 2 kv heads · 32 dims · 6 tokens · 2 B.
  EXPECT_EQ(attention::kvCacheBytes(2, 32, 6, 2), 1536u);
  EXPECT_THAT(textsOf(drawing), Contains(HasSubstr("= 1.5 KiB")));
  for (const attention::Token& token : snapshot.sequences[0].keys)
    EXPECT_THAT(textsOf(drawing), Contains(token.text));
}

TEST(Drawings, AMaskIsItsCells) {
  Scene scene = sceneOf(kText);
  scene.setup.mask.layers = layersFrom("causal & heads(odd): window(2)");
  const Snapshot snapshot = computed(scene.setup);
  for (const Index head : {0, 1}) {
    const Drawing drawing = maskDrawing(scene, snapshot, head, {});
    const auto& mask = *snapshot.sequences[0].mask.formula;
    const attention::Matrix cells = shapesOf<Cells>(drawing)[0].values;
    ASSERT_EQ(cells.rows(), 6);
    for (Index i = 0; i < 6; ++i)
      for (Index j = 0; j < 6; ++j)
        EXPECT_EQ(cells(i, j) == 1, mask.visible(mask.variantOf(head), i, j)) << i << ", " << j;
    EXPECT_THAT(textsOf(drawing), Contains("Mask of head " + std::to_string(head)));
    EXPECT_THAT(textsOf(drawing), Contains("visible"));
    EXPECT_THAT(textsOf(drawing), Contains("masked"));
    expectDraws(svgText(drawing));
  }
}

TEST(Drawings, AMapIsTheHeadItself) {
  Scene scene = sceneOf(kText);
  scene.cursor.cell.head = 3;
  const Snapshot snapshot = computed(scene.setup);
  Resources resources(kRoomy);
  const auto drawing = drawPicture(PictureKind::map, scene, nullptr, resources, {});
  ASSERT_TRUE(drawing.ok()) << drawing.error().message;
  expectDraws(svgText(*drawing));
  const attention::Matrix cells = shapesOf<Cells>(*drawing)[0].values;
  const attention::MatrixView weights = snapshot.sequences[0].attention.weights[3];
  ASSERT_EQ(cells.rows(), 6);
  for (Index i = 0; i < 6; ++i)
    for (Index j = 0; j <= i; ++j) EXPECT_NEAR(cells(i, j), weights(i, j), weightTolerance(snapshot));
  EXPECT_EQ(cells(0, 1), render::kMaskedCell);
}

TEST(Drawings, APartOfAMapIsWhatIsInSight) {
  const auto whole = mapPart({}, 100000, 50000);
  EXPECT_EQ(whole, (attention::MapPart{0, 0, 100000, 50000, 128}));
  MapCursor cursor;
  cursor.row = 70000;
  cursor.col = 10;
  cursor.cellsPerPixel = 4;
  const auto part = mapPart(cursor, 100000, 50000);
  EXPECT_EQ(part.factor, 4);
  EXPECT_EQ(part.key, 0) << "inside the matrix";
  EXPECT_EQ(part.row % part.factor, 0);
  EXPECT_TRUE(part.row <= 70000 - 1400 && part.row + part.rows >= 70000 + 1400);
  cursor.row = 1e9;
  const auto end = mapPart(cursor, 100001, 50000);
  EXPECT_EQ(end.row + end.rows, 100001);
}

TEST(Drawings, ManyCellsAreOneImageAndNoBrightCellIsLost) {
  Drawing drawing;
  drawing.width = drawing.height = 1000;
  drawing.background = {1, 1, 1, 1};
  Cells cells;
  cells.frame = {0, 0, 1000, 1000};
  cells.values = attention::Matrix::Zero(1000, 1000);
  cells.values(777, 333) = 1;
  cells.values.row(500).setConstant(render::kDeadCell);
  cells.style = drawnStyle(drawingColors(false), 0);
  drawing.shapes.push_back(cells);
  const std::string svg = svgText(drawing);
  EXPECT_TRUE(cellFills(svg).empty());
  EXPECT_THAT(svg, HasSubstr("data:image/png;base64,"));
  const auto small = rasterise(svgText(drawing, {"100", "100", 0.1}), 100, 100);
  ASSERT_TRUE(small.ok()) << small.error().message;
  // Viridis ends in yellow: much green, little blue.
  const std::uint8_t* pixel = &small->rgba[4 * (77 * 100 + 33)];
  EXPECT_GT(pixel[1], 200);
  EXPECT_LT(pixel[2], 80);
}

TEST(Drawings, HostileTokensAreText) {
  const Scene scene = sceneOf("<script> & \"quoted\" ]]> \xF0\x9F\x90\x88 <!-- 'x");
  const Snapshot snapshot = computed(scene.setup);
  expectDraws(svgText(headDrawing(scene, snapshot, 0, {})));
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
  const auto image = rasterise(svg, 50, 50);
  EXPECT_TRUE(image.ok()) << image.error().message;
  EXPECT_FALSE(rasterise("<svg", 50, 50).ok());
}

TEST(Drawings, ColoursAreTheWindowsAndCanBeRead) {
  for (const bool dark : {false, true}) {
    const DrawingColors& colors = drawingColors(dark);
    const Theme& theme = dark ? darkTheme() : lightTheme();
    const std::vector<std::pair<render::Color, std::uint32_t>> pairs{{colors.background, theme.background},
                                                                     {colors.panel, theme.panel},
                                                                     {colors.raised, theme.raised},
                                                                     {colors.line, theme.line},
                                                                     {colors.text, theme.text},
                                                                     {colors.secondary, theme.secondary},
                                                                     {colors.faint, theme.faint},
                                                                     {colors.query, theme.query},
                                                                     {colors.key, theme.key},
                                                                     {colors.value, theme.value}};
    for (const auto& [mine, theirs] : pairs) EXPECT_EQ(packed(mine), theirs);
    for (std::size_t i = 0; i < theme.groups.size(); ++i)
      EXPECT_EQ(packed(colors.groups[i]), theme.groups[i]);
    const auto contrast = [&](const render::Color& ink) {
      const float a = luminance(ink) + 0.05f, b = luminance(colors.background) + 0.05f;
      return std::max(a, b) / std::min(a, b);
    };
    for (const render::Color& ink : {colors.text, colors.secondary, colors.key, colors.value})
      EXPECT_GE(contrast(ink), 4.5f);
    EXPECT_GE(contrast(colors.query), 4.5f);
    for (const render::Color& cell : {colors.text, colors.background, colors.query, colors.faint})
      EXPECT_GE(std::max(luminance(inkOver(cell)), luminance(cell)) + 0.05f,
                4.5f * (std::min(luminance(inkOver(cell)), luminance(cell)) + 0.05f) * 0.97f);
  }
}

TEST(Drawings, ScenesOfEveryKindCanBeDrawn) {
  Resources resources(kRoomy);
  std::vector<Scene> scenes{sceneOf("a"), sceneOf("a b c\nd"), sceneOf(kText)};
  scenes[1].setup.mask.layers = layersFrom("!full");  // rows that see nothing
  scenes[2].setup.input.cross = true;
  scenes[2].setup.input.contextText = "one two three four five six seven eight nine ten eleven twelve";
  std::string longer;
  for (int i = 0; i < 120; ++i) longer += "word" + std::to_string(i) + " ";
  scenes.push_back(sceneOf(longer));
  for (Scene& scene : scenes)
    for (const auto& [quantity, range] : {std::pair(Quantity::weights, RangeMode::perHead),
                                          std::pair(Quantity::scores, RangeMode::logarithmic)}) {
      scene.look.quantity = quantity;
      scene.look.range = range;
      const Snapshot snapshot = computed(scene.setup);
      for (std::size_t kind = 0; kind < kPictureNames.size(); ++kind) {
        if (isOfModel(static_cast<PictureKind>(kind))) continue;
        const auto drawing =
            drawPicture(static_cast<PictureKind>(kind), scene, &snapshot, resources, {.dark = true});
        ASSERT_TRUE(drawing.ok()) << kPictureNames[kind] << ": " << drawing.error().message;
        expectDraws(svgText(*drawing));
      }
    }
  const Scene empty = sceneOf(" ");
  const Snapshot nothing = computeSnapshot(empty.setup, kRoomy);
  for (const PictureKind kind : {PictureKind::heads, PictureKind::map, PictureKind::page})
    EXPECT_FALSE(drawPicture(kind, empty, &nothing, resources, {}).ok());
}

/// All texts of a drawing.
std::string wordsOf(const Drawing& drawing) {
  std::string words;
  for (const TextRun& text : shapesOf<TextRun>(drawing)) words += text.text + "\n";
  return words;
}

TEST(Drawings, WhatAModelCostsHasItsFiguresAndItsPlots) {
  Resources resources(kRoomy);
  Scene scene = openingScene();
  scene.cursor.page = "cost";
  EXPECT_EQ(shownPicture(scene), PictureKind::cost);
  const auto drawing = drawPicture(PictureKind::page, scene, nullptr, resources, {});
  ASSERT_TRUE(drawing.ok()) << drawing.error().message;
  expectDraws(svgText(*drawing));
  const std::string words = wordsOf(*drawing);
  for (const char* part :
       {"40 GiB", "KV cache of Llama-3.1-70B at 128 k tokens × batch 1", "42,949,672,960 B",
        "327,680 B = 320 KiB per token", "Each of 2 GPUs holds 86.47 GiB", "Fits, 31.71 GiB free", "tokens/s",
        "weights 65.71 GiB", "Memory grows with every token", "GQA, 8", "MQA, 1", "104,447", "18,431",
        "Decode waits for memory", "decode, 1 token"})
    EXPECT_THAT(words, HasSubstr(part));
  // Every line and every word lies on the page.
  for (const Polyline& line : shapesOf<Polyline>(*drawing))
    for (const Polyline::Point& point : line.points) {
      EXPECT_TRUE(point.x >= 0 && point.x <= drawing->width) << point.x;
      EXPECT_TRUE(point.y >= 0 && point.y <= drawing->height) << point.y;
    }
  for (const TextRun& text : shapesOf<TextRun>(*drawing)) {
    const double width = drawnWidth(text.text, text.size, text.mono);
    const double left = text.anchor == Anchor::start ? text.x
                        : text.anchor == Anchor::end ? text.x - width
                                                     : text.x - width / 2;
    EXPECT_GE(left, 0) << text.text;
    EXPECT_LE(left + width, drawing->width) << text.text;
  }
}

TEST(Drawings, WhatAModelCostsFollowsTheScene) {
  Resources resources(kRoomy);
  Scene scene = openingScene();
  const auto words = [&] {
    const auto drawing = drawPicture(PictureKind::cost, scene, nullptr, resources, {.dark = true});
    EXPECT_TRUE(drawing.ok()) << drawing.error().message;
    expectDraws(svgText(*drawing));
    return wordsOf(*drawing);
  };
  scene.cost.model = "DeepSeek-V3";
  scene.cost.tokens = 163840;
  scene.cost.memory = MemoryPlot::matrices;
  EXPECT_THAT(words(),
              testing::AllOf(HasSubstr("10.72 GiB"), HasSubstr("latent"), HasSubstr("n² matrices in GiB")));
  scene.cost.model = "Jamba-1.5-Mini";
  EXPECT_THAT(words(), HasSubstr("4 of 32 layers keep all tokens"));
  scene.cost.model = "BERT-base";
  EXPECT_THAT(words(), testing::AllOf(HasSubstr("keeps no cache"), testing::Not(HasSubstr("per token"))));
  scene.cost.model = "GPT-3 175B";
  scene.cost.tokens = kMaxCostTokens;
  scene.cost.batch = kMaxCostBatch;
  EXPECT_THAT(words(), HasSubstr("more than 8 EiB"));
  scene.cost.model = "nobody";
  EXPECT_FALSE(drawPicture(PictureKind::cost, scene, nullptr, resources, {}).ok());
}

}  // namespace
}  // namespace headscope::test
