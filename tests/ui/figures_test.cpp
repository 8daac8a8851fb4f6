// Figures as pages paint them: complete, legible, and showing the computed values.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>

#include "app/compute/figures/drawing.h"
#include "app/compute/figures/picture_formats.h"
#include "app/scene/text/number_text.h"
#include "attention/masks/expression.h"
#include "tests/app/compute/figures/drawing_texts.h"
#include "tests/support/matchers.h"
#include "tests/support/ui_driver.h"
#include "tests/ui/page_views.h"

namespace headscope::test {
namespace {

using namespace app;

constexpr const char* kText = "the cat saw the dog .";

std::string wordsOfText(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("word{} ", i);
  return text;
}

template <typename T>
std::vector<T> shapesOf(const Drawing& drawing) {
  std::vector<T> found;
  for (const Shape& shape : drawing.shapes)
    if (const T* each = std::get_if<T>(&shape)) found.push_back(*each);
  return found;
}

/// The area of the letters without the space above and below them.
Frame lettersOf(const TextRun& run) {
  const double width = drawnWidth(run.text, run.size, run.mono) * (run.mono ? 1 : 0.9);
  const double left = run.anchor == Anchor::start ? 0 : run.anchor == Anchor::middle ? width / 2 : width;
  return {run.x - left, run.y - run.size * 0.3, width, run.size * 0.6};
}

/// Words outside the figure, and horizontal words that overlap.
std::vector<std::string> flawsOf(const Drawing& drawing) {
  std::vector<std::string> flaws;
  const std::vector<TextRun> runs = shapesOf<TextRun>(drawing);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Frame a = lettersOf(runs[i]);
    if ((runs[i].degrees == 0 && a.x < 0) || a.y < 0 || runs[i].x > drawing.width ||
        a.bottom() > drawing.height || (runs[i].degrees == 0 && a.right() > drawing.width + 1))
      flaws.push_back(fmt::format("\"{}\" at {:.0f}, {:.0f} is outside", runs[i].text, a.x, a.y));
    for (std::size_t j = i + 1; j < runs.size() && runs[i].degrees == 0; ++j) {
      const Frame b = lettersOf(runs[j]);
      if (runs[j].degrees != 0) continue;
      if (std::min(a.right(), b.right()) - std::max(a.x, b.x) > 2 &&
          std::min(a.bottom(), b.bottom()) - std::max(a.y, b.y) > 2)
        flaws.push_back(fmt::format("\"{}\" lies over \"{}\"", runs[i].text, runs[j].text));
    }
  }
  return flaws;
}

class Figures : public testing::Test {
 protected:
  Figures() : ui(640, 480) {}
  Drawing figure(const Scene& scene, const FigureView& how = {}) {
    auto drawn = ui.app().figure(scene, how);
    EXPECT_TRUE(drawn.ok()) << drawn.error().message;
    return drawn ? *std::move(drawn) : Drawing();
  }
  UiDriver ui;
};

Scene sceneOf(const std::string& text) {
  Scene scene = openingScene();
  scene.setup.input.text = text;
  return scene;
}

TEST_F(Figures, HeadFigureShowsTokensCellsAndLabel) {
  Scene scene = sceneOf(kText);
  scene.cursor.focus = 2;
  const Drawing drawing = figure(scene);
  const SequenceSnapshot& sequence = ui.sequence();
  const std::vector<std::string> texts = textsOf(drawing);
  for (const attention::Token& token : sequence.queries)
    EXPECT_EQ(std::ranges::count(texts, token.text),
              2 * std::ranges::count(sequence.queries, token.text, &attention::Token::text))
        << token.text << " stands on both axes as often as in the text";
  const attention::HeadLabel label = sequence.label(2);
  ASSERT_NE(label.detector, nullptr);
  for (const std::string& text :
       {std::string("Head 2"), std::string("KV 0"), std::string("query ↓"), std::string("key →"),
        std::string("weight"), std::string("masked"), attention::describe(label),
        fixedText(sequence.profiles[2][label.detector->name].raw, 2)})
    EXPECT_THAT(texts, Contains(text));
  EXPECT_EQ(drawing.title, "Attention weight of Head 2, 6 queries × 6 keys, causal");
  EXPECT_THAT(flawsOf(drawing), IsEmpty());
  const auto cells = shapesOf<Cells>(drawing);
  ASSERT_EQ(cells.size(), 1u);
  const attention::MatrixView weights = sequence.attention.weights[2], scores = sequence.attention.scores[2];
  ASSERT_EQ(cells[0].values.size(), weights.size());
  for (Index i = 0; i < weights.size(); ++i)
    EXPECT_EQ(cells[0].values.data()[i],
              scores.data()[i] == render::kMaskedCell ? render::kMaskedCell : weights.data()[i]);
}

// Whatever font a viewer has for the script, a label grows away from the cells.
TEST_F(Figures, LabelsOfEveryScriptEndLeftOfTheCells) {
  Scene scene = sceneOf("日本語 한국어 العربية हिन्दी ไทย ελλην word");
  scene.cursor.focus = 0;
  const Drawing drawing = figure(scene);
  const auto cells = shapesOf<Cells>(drawing);
  ASSERT_EQ(cells.size(), 1u);
  int level = 0, turned = 0;
  for (const TextRun& run : shapesOf<TextRun>(drawing)) {
    const bool token = std::ranges::count(ui.sequence().keys, run.text, &attention::Token::text) > 0;
    if (!token) continue;
    EXPECT_EQ(run.anchor, Anchor::end) << run.text;
    if (run.degrees == 0) {
      EXPECT_LE(run.x, cells[0].frame.x) << run.text;
    }
    ++(run.degrees == 0 ? level : turned);
  }
  const auto tokens = std::ssize(ui.sequence().keys);
  EXPECT_EQ(level, tokens);
  EXPECT_EQ(turned, tokens);
}

TEST_F(Figures, AllHeadsFigureSharesAxes) {
  double before = 1e9;
  for (const float aspect : {6.0f, 1.6f, 0.2f}) {
    FigureView how;
    how.aspect = aspect;
    const Drawing drawing = figure(sceneOf(kText), how);
    const std::vector<std::string> texts = textsOf(drawing);
    for (int head = 0; head < 8; ++head) EXPECT_THAT(texts, Contains(fmt::format("Head {}", head)));
    EXPECT_EQ(std::ranges::count(texts, "query ↓"), 1);
    EXPECT_EQ(std::ranges::count(texts, "key →"), 1);
    EXPECT_EQ(shapesOf<Cells>(drawing).size(), 8u);
    EXPECT_THAT(flawsOf(drawing), IsEmpty());
    EXPECT_LT(drawing.width / drawing.height, before) << "laid out for the page";
    before = drawing.width / drawing.height;
  }
}

TEST_F(Figures, MaskFigureShowsCellsAndExpression) {
  Scene scene = sceneOf(kText);
  scene.setup.mask.layers = attention::parseMask("causal & heads(odd): window(2)").layers;
  scene.cursor.page = "mask";
  for (const Index head : {0, 1}) {
    scene.cursor.cell.head = head;
    FigureView how;
    how.alone = true;
    const Drawing drawing = figure(scene, how);
    const auto& mask = *ui.sequence().mask.formula;
    const auto cells = shapesOf<Cells>(drawing);
    ASSERT_EQ(cells.size(), 1u);
    for (Index i = 0; i < 6; ++i)
      for (Index j = 0; j < 6; ++j)
        EXPECT_EQ(cells[0].values(i, j) == 1, mask.visible(mask.variantOf(head), i, j)) << i << ", " << j;
    for (const std::string& text : {fmt::format("Mask, head {}", head), std::string("visible"),
                                    std::string("masked"), std::string("causal & heads(odd): window(2)")})
      EXPECT_THAT(textsOf(drawing), Contains(text));
    EXPECT_THAT(flawsOf(drawing), IsEmpty());
  }
}

/// A figure is as large as it needs from one token to many, nothing is cut, and tokens have their longest
/// names that fit.
TEST_F(Figures, SizeFollowsTheContent) {
  for (const int tokens : {1, 12, 60, 300})
    for (const bool light : {true, false}) {
      ui.view().preferences.light = light;
      SCOPED_TRACE(fmt::format("{} tokens, {}", tokens, light ? "light" : "dark"));
      Scene scene = sceneOf(wordsOfText(tokens));
      scene.cursor.focus = 1;
      const Drawing head = figure(scene);
      EXPECT_THAT(flawsOf(head), IsEmpty());
      const std::vector<std::string> texts = textsOf(head);
      for (int i = 0; i < tokens && tokens <= 60; ++i)
        EXPECT_EQ(std::ranges::count(texts, fmt::format("word{}", i)), 2) << i;
      EXPECT_LT(std::max(head.width, head.height), 1200);
      EXPECT_GT(luminance(head.background), light ? 0.9f : -1);
      scene.cursor.focus = -1;
      const Drawing heads = figure(scene);
      EXPECT_THAT(flawsOf(heads), IsEmpty());
      EXPECT_EQ(shapesOf<Cells>(heads).size(), 8u);
      scene.cursor.page = "mask";
      EXPECT_THAT(flawsOf(figure(scene)), IsEmpty());
    }
}

TEST_F(Figures, CacheFigureMatchesEveryCacheView) {
  struct Expected {
    CacheView view;
    std::vector<std::string> words;
  };
  Scene scene = openingScene();
  scene.cursor.page = "cache";
  for (const Expected& expected :
       {Expected{CacheView::growth, {"GQA (2 kv heads) is ¼ of MHA.", "3 KiB", "KV 0", "KV 1", "animal"}},
        {CacheView::shapes, {"MHA", "MQA"}},
        {CacheView::precision, {"int4"}},
        {CacheView::eviction, {}},
        {CacheView::paging, {}}}) {
    scene.cursor.cacheView = expected.view;
    const Drawing drawing = figure(scene);
    for (const std::string& words : expected.words) EXPECT_THAT(textsOf(drawing), Contains(words));
    EXPECT_THAT(flawsOf(drawing), IsEmpty());
    EXPECT_GT(drawing.shapes.size(), 40u);
  }
  scene.cost.cache.schedule = "0: 10 +";
  EXPECT_FALSE(ui.app().figure(scene, {}).ok()) << "a schedule that can't be read";
}

TEST_F(Figures, MapFigureMatchesTheHead) {
  Scene scene = sceneOf(kText);
  scene.cursor.cell.head = 3;
  const Scene heads = scene;
  scene.cursor.page = "map";
  const Drawing drawing = figure(scene);
  EXPECT_THAT(flawsOf(drawing), IsEmpty());
  EXPECT_THAT(textsOf(drawing), Contains(HasSubstr("6 × 6 tokens")));
  const auto cells = shapesOf<Cells>(drawing);
  ASSERT_EQ(cells.size(), 1u);
  figure(heads);
  const attention::MatrixView weights = ui.sequence().attention.weights[3];
  ASSERT_EQ(cells[0].values.rows(), 6);
  for (Index i = 0; i < 6; ++i)
    for (Index j = 0; j <= i; ++j) EXPECT_NEAR(cells[0].values(i, j), weights(i, j), 1e-5f);
  EXPECT_EQ(cells[0].values(0, 1), render::kMaskedCell);
}

TEST_F(Figures, CostFigureShowsAnswersAndPlots) {
  Scene scene = openingScene();
  scene.cursor.page = "cost";
  const Drawing drawing = figure(scene);
  EXPECT_THAT(flawsOf(drawing), IsEmpty());
  for (const char* part : {"40 GiB", "Fits, 31.71 GiB free", "Memory grows with every token", "GQA, 8",
                           "MQA, 1", "Decode waits for memory"})
    EXPECT_THAT(textsOf(drawing), Contains(HasSubstr(part)));
}

TEST_F(Figures, EveryViewProducesAFigureOrAnError) {
  const Scene opening = openingScene();
  for (const PageView& view : pageViews()) {
    SCOPED_TRACE(view.name);
    const auto drawn = ui.app().figure(withView(opening, view), {});
    if (!drawn) continue;  // the error says why there is no figure
    EXPECT_GT(drawn->shapes.size(), view.name == "talk" ? 1u : 3u) << "an empty talk is two lines of text";
    EXPECT_GT(drawn->width, 40);
    EXPECT_GT(drawn->height, 40);
    EXPECT_THAT(svgText(*drawn), testing::Not(HasSubstr(">Undo<")));
  }
}

TEST_F(Figures, DrawingAFigureLeavesTheWindowUnchanged) {
  ui.draw();
  const render::Image before = ui.screenshot("head.0");
  figure(sceneOf(kText));
  ui.show(openingScene());
  EXPECT_EQ(ui.screenshot("head.0").rgba, before.rgba);
  EXPECT_TRUE(ui.has("page.mask"));
}

TEST_F(Figures, FadesRowsNotYetDecoded) {
  Scene scene = sceneOf(kText);
  scene.cursor.focus = 0;
  const std::size_t all = shapesOf<Box>(figure(scene)).size();
  scene.cursor.decoding = true;
  scene.cursor.step = 3;
  EXPECT_GT(shapesOf<Box>(figure(scene)).size(), all);
}

}  // namespace
}  // namespace headscope::test
