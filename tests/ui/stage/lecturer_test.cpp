// The window as a lecturer uses it: the effects of a drag, the wording, and legibility from the last row.

#include <gtest/gtest.h>

#include "app/pages/pages.h"
#include "app/scene/mask_rules.h"
#include "app/widgets/paint.h"
#include "tests/support/matchers.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Index;
using app::Key;
using app::Scene;

TEST(GivingWay, DraggingModelDimNeverBlanksPage) {
  UiDriver ui;
  for (int i = 10; i >= -1; --i) {
    ui.dragTo("model_dim", static_cast<float>(i) / 20);
    ASSERT_FALSE(ui.snapshot().error.has_value()) << ui.scene().setup.model.modelDim;
    ASSERT_GE(ui.scene().setup.model.modelDim, 16) << "planted heads need as many";
  }
}

TEST(GivingWay, HeadsShrinkWithModelDimAndRecover) {
  UiDriver ui;
  ui.click("weights.random").typeValue("heads", "32").dragTo("model_dim", -1);
  EXPECT_EQ(ui.scene().setup.model.modelDim, 1);
  EXPECT_EQ(ui.scene().setup.model.heads, 1);
  EXPECT_TRUE(ui.view().wasAdjusted("heads"));
  EXPECT_FALSE(ui.view().wasAdjusted("model_dim"));
  ui.dragTo("model_dim", 0.7f);
  EXPECT_EQ(ui.scene().setup.model.heads, 32) << "what was chosen";
  ui.wait(app::kAdjustedSeconds + 0.1);
  EXPECT_FALSE(ui.view().wasAdjusted("heads"));
}

TEST(GivingWay, KindSurvivesDraggingToOneHeadAndBack) {
  UiDriver ui;
  ASSERT_EQ(ui.scene().setup.model.kvHeads, 2);
  ui.dragTo("heads", -0.5f);
  ASSERT_EQ(ui.scene().setup.model.heads, 1);
  ui.typeValue("heads", "8");
  EXPECT_EQ(ui.scene().setup.model.kvHeads, 2) << "GQA stays GQA";
  ui.click("kind.mqa").dragTo("heads", 1.5f);
  EXPECT_EQ(ui.scene().setup.model.kvHeads, 1);
  ui.click("kind.mha").typeValue("heads", "1").typeValue("heads", "16");
  EXPECT_EQ(ui.scene().setup.model.kvHeads, 16);
}

TEST(GivingWay, PlantedHeadsRaiseModelDim) {
  UiDriver ui;
  ui.click("weights.random").typeValue("model_dim", "8").click("weights.planted");
  EXPECT_GE(ui.scene().setup.model.modelDim, 16);
  EXPECT_TRUE(ui.view().wasAdjusted("model_dim"));
  EXPECT_FALSE(ui.snapshot().error.has_value());
}

/// A value's knob stays in place, whatever limits another slider sets.
TEST(Scale, KnobStaysWhenOtherSlidersMove) {
  UiDriver ui;
  ui.typeValue("kv_heads", "4").park();
  const ImRect track = ui.find("kv_heads.track");
  const render::Image before = ui.screenshot();
  ui.session().scene().setup.model.heads = 16;  // of 16 dimensions each
  ui.session().scene().setup.model.headDim = 16;
  ui.park();
  const ImRect now = ui.find("kv_heads.track");
  const render::Image after = ui.screenshot();
  ASSERT_EQ(now.Min.y, track.Min.y);
  // 4 in the range 1 to 64 on a logarithmic scale: a third of the way.
  const float x = track.Min.x + track.GetWidth() / 3;
  EXPECT_EQ(pixelsApart(before, after, ImRect(x - 8, track.Min.y, x + 8, track.Max.y)), 0);
}

TEST(Dropout, ShowsProbabilitiesBeforeAndAfterDropout) {
  UiDriver ui;
  std::vector<std::string> labels;
  for (Index head = 0; head < 8; ++head) labels.push_back(describe(ui.sequence().label(head)));
  const float weight = ui.sequence().attention.weights.at(0, 7, 6);
  ui.typeValue("dropout", "0.5");
  const app::SequenceSnapshot& sequence = ui.sequence();
  EXPECT_NEAR(sequence.probabilities().at(0, 7, 6), weight, 1e-6f);
  const float left = sequence.attention.weights.at(0, 7, 6);
  EXPECT_TRUE(left == 0 || std::abs(left - 2 * weight) < 1e-5f) << left;
  for (Index head = 0; head < 8; ++head)
    EXPECT_EQ(describe(sequence.label(head)), labels[static_cast<std::size_t>(head)])
        << "judged before dropout";
  const render::Image before = ui.screenshot();
  ui.choose("quantity", "after_dropout");
  EXPECT_GT(pixelsApart(before, ui.screenshot(), ui.find("head.0")), 50);
}

TEST(Receipt, MarksHoveredKey) {
  UiDriver ui;
  ui.hover("top.1").frames(2);
  EXPECT_EQ(ui.find("top.lit").Min.y, ui.find("top.1").Min.y);
}

TEST(Decode, PrefillAndStepAreLimitedByText) {
  UiDriver ui;
  ui.replaceText("text", "a b c").click("decode.forward");
  EXPECT_EQ(ui.scene().cursor.step, 3) << "the prefill of 4 is all there is";
  EXPECT_EQ(ui.scene().setup.prefill, 4) << "what was chosen stays";
  ui.replaceText("text", "a b c d e f g h").clickAway().dragTo("step", -0.5f);
  EXPECT_EQ(ui.scene().cursor.step, 4) << "there is no step before the prefill";
}

TEST(Decode, SteppingBackFromEndRemovesOneToken) {
  UiDriver ui;
  const Index all = ui.sequence().queryLength;
  ui.click("decode.back");
  EXPECT_EQ(ui.scene().cursor.step, all - 1);
}

TEST(Mask, ReportsLayerThatStillHidesTheFuture) {
  UiDriver ui;
  EXPECT_FALSE(ui.has("mask.future"));
  ui.click("window").click("causal");
  ASSERT_TRUE(ui.snapshot().causal);
  EXPECT_THAT(ui.snapshot().hidesFuture, ElementsAre(HasSubstr("Sliding window")));
  ui.find("mask.future");
  ui.click("window");
  EXPECT_THAT(ui.snapshot().hidesFuture, IsEmpty());
  EXPECT_FALSE(ui.has("mask.future"));
}

TEST(Mask, CountsEqualMasksOnceDespiteDifferentExpressions) {
  UiDriver ui;
  // On twelve tokens, a window of twelve hides nothing that causality doesn't hide.
  ui.session().scene().setup.mask.layers =
      attention::parseMask("heads(even): causal & heads(odd): causal & heads(odd): window(12)").layers;
  ui.session().scene().cursor.page = "mask";
  ui.draw();
  ASSERT_NE(ui.mask().study.get(), nullptr);
  ASSERT_TRUE(ui.mask().study->mask.formula);
  EXPECT_GT(ui.mask().study->mask.formula->variants(), 1) << "they are written differently";
  EXPECT_EQ(ui.mask().study->mask.distinct, 1);
  ui.session().scene().setup.mask.layers = attention::parseMask("causal & heads(odd): window(3)").layers;
  ui.draw();
  EXPECT_EQ(ui.mask().study->mask.distinct, 2);
}

TEST(Cross, StartsWithSampleContextAndWaitsWithoutOne) {
  UiDriver ui;
  ui.click("cross");
  EXPECT_EQ(*ui.scene().setup.input.contextText, app::kSampleContext);
  EXPECT_FALSE(ui.snapshot().error.has_value());
  ui.session().scene().setup.input.contextText = "";
  ui.draw();
  ASSERT_TRUE(ui.snapshot().error.has_value());
  EXPECT_TRUE(ui.snapshot().error->waits);
  ui.click("empty.input.sample_context");
  EXPECT_FALSE(ui.snapshot().error.has_value());
}

TEST(Axes, HaveTitlesInGridAndOnLargePictures) {
  UiDriver ui;
  EXPECT_TRUE(ui.has("axis.query"));
  EXPECT_TRUE(ui.has("axis.key"));
  ui.click("head.2");
  EXPECT_TRUE(ui.has("axis.query"));
  const ImRect title = ui.find("axis.query"), head = ui.find("focus");
  EXPECT_LE(title.Max.x, head.Min.x);
  ui.session().scene().cursor.page = "mask";
  ui.draw();
  EXPECT_TRUE(ui.has("axis.key"));
}

TEST(TopBar, CollapsesIntoMenuInNarrowWindows) {
  for (const int width : {400, 500, 640, 760, 900, 1100, 1280, 1600}) {
    UiDriver ui(width, 640);
    const std::vector<std::string> tabs = ui.names("page."), items = ui.names("bar.");
    for (const std::string& item : items)
      for (const std::string& tab : tabs)
        EXPECT_FALSE(ui.find(item).Overlaps(ui.find(tab))) << item << " lies over " << tab << " at " << width;
    const bool folded = !ui.has("bar.theme");
    if (folded) ui.click("bar.menu");
    for (const auto& [item, action] : {std::pair("bar.present", "menu.look.present"),
                                       {"bar.save", "menu.scene.save"},
                                       {"bar.open", "menu.scene.open"},
                                       {"bar.theme", "menu.appearance.theme"}})
      EXPECT_TRUE(ui.has(item) || ui.has(action)) << item << " at " << width;
    ui.click(folded ? "menu.appearance.theme" : "bar.theme");
    EXPECT_TRUE(ui.view().preferences.light) << width;
  }
}

/// Whenever redo is shown, undo is shown too, and before it.
TEST(TopBar, ShowsUndoWheneverRedoIsShown) {
  for (int width = 400; width <= 1600; width += 40) {
    UiDriver ui(width, 640);
    for (const char* page : {"heads", "mask"}) {
      ui.session().scene().cursor.page = page;
      ui.draw();
      if (!ui.has("bar.redo")) continue;
      ASSERT_TRUE(ui.has("bar.undo")) << page << " at " << width;
      EXPECT_LE(ui.find("bar.undo").Max.x, ui.find("bar.redo").Min.x + 1) << page << " at " << width;
    }
  }
}

TEST(TopBar, EveryPageIsReachableByTabOrMenu) {
  for (const int width : {400, 500, 640, 1280}) {
    UiDriver ui(width, 640);
    for (const app::PageRow& shown : app::pageTable()) {
      ui.session().scene().cursor.page = shown.info.key;
      ui.draw();
      EXPECT_TRUE(ui.has("page." + std::string(shown.info.key))) << "the page that is shown, at " << width;
    }
    std::vector<std::string> missing;
    for (const app::PageRow& page : app::pageTable())
      if (const std::string name = "page." + std::string(page.info.key); !ui.has(name))
        missing.push_back(name);
    if (missing.empty()) continue;
    ui.click("bar.menu");
    for (const std::string& page : missing) EXPECT_TRUE(ui.has("menu." + page)) << page << " at " << width;
    ui.click("menu." + missing.front());
    EXPECT_EQ("page." + ui.scene().cursor.page, missing.front());
  }
}

TEST(Drawer, PushesHeadsAside) {
  UiDriver ui(1280, 720);
  ui.click("bar.receipt");
  const ImRect receipt = ui.find("bars.q");
  for (const std::string& head : ui.names("head.")) EXPECT_LE(ui.find(head).Max.x, receipt.Min.x) << head;
}

TEST(Presenting, TextIsLegibleFromLastRow) {
  for (const auto& [width, height] : {std::pair(1280, 720), {1920, 1080}, {3840, 2160}}) {
    UiDriver ui(width, height);
    ui.key(Key::p);
    for (ImFont* font : {ui.view().fonts->small, ui.view().fonts->monoSmall, ui.view().fonts->text})
      EXPECT_GE(app::lineHeight(font), 20.0f * static_cast<float>(height) / 720) << height;
    EXPECT_THAT(ui.names("bar."), IsEmpty());
    EXPECT_TRUE(ui.has("axis.query"));
    EXPECT_TRUE(ui.has("caption"));
  }
}

TEST(Presenting, ArrowKeysStepThroughHeadsAndDecode) {
  UiDriver ui(1280, 720);
  ui.key(Key::p).key(Key::right);
  EXPECT_EQ(ui.scene().cursor.focus, 0);
  ui.key(Key::right);
  EXPECT_EQ(ui.scene().cursor.focus, 1);
  EXPECT_TRUE(ui.has("bars.output")) << "one head with its receipt";
  ui.key(Key::pageUp);
  EXPECT_EQ(ui.scene().cursor.focus, 0);
  ui.key(Key::escape).key(static_cast<Key>('D'));
  const Index step = ui.scene().cursor.step;
  ui.key(Key::right);
  EXPECT_EQ(ui.scene().cursor.step, step + 1);
  ui.key(Key::left);
  EXPECT_EQ(ui.scene().cursor.step, step);
}

TEST(Presenting, MaskHidesToolsAndArrowsStepThroughHeads) {
  UiDriver ui(1280, 720);
  ui.click("page.mask");
  const float before = ui.find("mask_map").GetHeight();
  ASSERT_FALSE(ui.names("tool.").empty());
  ui.key(Key::p);
  EXPECT_THAT(ui.names("tool."), IsEmpty());
  EXPECT_THAT(ui.names("cursor.studio.view."), IsEmpty());
  EXPECT_THAT(ui.names("layer."), IsEmpty());
  EXPECT_TRUE(ui.has("caption"));
  std::string caption;
  for (const app::CaptionPart& part : ui.session().page<app::mask_page::Page>().caption(ui.scene()))
    caption += part.text;
  EXPECT_THAT(caption, EndsWith("keys overall.")) << "no formula whose letters nobody explains";
  EXPECT_GT(ui.find("mask_map").GetHeight(), before * 0.8f) << "labels in larger type need some of it";
  const Index head = ui.scene().cursor.cell.head;
  ui.key(Key::right);
  EXPECT_EQ(ui.scene().cursor.cell.head, (head + 1) % 8);
  ui.key(Key::left);
  EXPECT_EQ(ui.scene().cursor.cell.head, head);
}

TEST(Presenting, MapFillsWindow) {
  UiDriver ui(1280, 720);
  ui.key(static_cast<Key>('4'));
  const float before = ui.find("map").GetWidth();
  ui.key(Key::p);
  EXPECT_THAT(ui.names("map.head."), IsEmpty());
  EXPECT_TRUE(ui.has("caption"));
  EXPECT_GT(ui.find("map").GetWidth(), before);
}

}  // namespace
}  // namespace headscope::test
