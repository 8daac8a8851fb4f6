// Things a lecturer meets between pages: the same layer and head everywhere, words the model doesn't know,
// everything the list of actions finds, and what is on screen meanwhile.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "app/pages/cache/cache_page.h"
#include "app/pages/heads/heads_page.h"
#include "app/pages/model/model_page.h"
#include "app/platform/track.h"
#include "app/platform/ui_state.h"
#include "app/scene/mask_rules.h"
#include "app/scene/models/open_model.h"
#include "tests/support/matchers.h"
#include "tests/support/page_check.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Index;
using app::Key;
using ::testing::Eq;

constexpr Key digit(char at) {
  return static_cast<Key>(at);
}

class Lecture : public testing::Test {
 protected:
  void openLearned() {
    ui.request("model.learned");
    ASSERT_TRUE(ui.scene().setup.subject.opened) << ui.view().messages.error;
  }
  void go(char page) { ui.key(digit(page)); }
  Index layer() { return ui.scene().setup.subject.layer; }
  Index head() { return ui.scene().cursor.cell.head; }
  app::Scene& edit() { return ui.session().scene(); }
  /// All texts on the screen.
  std::vector<std::string> texts() {
    app::UiState& state = app::uiState();
    state.watches = true;
    ui.frames(2);
    std::vector<std::string> all;
    for (const app::DrawnText& text : state.texts) all.push_back(text.text);
    state.watches = false;
    return all;
  }
  /// Runs an action by Ctrl+K, its name and Enter.
  void ask(const std::string& name) {
    ui.chord(kCtrl, Key::k).type(name).frames(2);
    EXPECT_TRUE(ui.has("palette." + name)) << name;
    ui.key(Key::enter);
    EXPECT_EQ(ui.dialog(), "") << name;
  }

  UiDriver ui;
};

TEST_F(Lecture, ModelSelectionCarriesOverToEveryPage) {
  openLearned();
  ui.park().key(Key::down).key(Key::right).key(Key::right);
  ASSERT_EQ(ui.scene().cursor.model.layer, 1);
  const Index chosen = head();
  for (const char page : {'4', '1', '3', '5', '8'}) {
    go(page);
    EXPECT_EQ(layer(), 1) << page;
    EXPECT_EQ(head(), chosen) << page;
    EXPECT_THAT(texts(), Contains(AnyOf(HasSubstr("Layer 1"), HasSubstr("layer 1 head")))) << page;
  }
  go('7');
  EXPECT_EQ(ui.scene().cursor.model.layer, 1);
}

TEST_F(Lecture, CrossingHeadsOnTheWayToTabKeepsSelection) {
  openLearned();
  ui.click("model.1.2");
  ASSERT_EQ(head(), 2);
  // Straight up, across the same head of the layer above.
  const ImRect tile = ui.find("model.1.2");
  for (float y = tile.GetCenter().y; y > 20; y -= 30) {
    app::InputEvent move;
    move.x = tile.GetCenter().x;
    move.y = y;
    ui.app().input().push(move);
    ui.frames(1);
  }
  ui.click("page.map");
  EXPECT_EQ(layer(), 1);
  EXPECT_EQ(head(), 2);
}

TEST_F(Lecture, LayerOfOtherPagesCarriesOverToModel) {
  openLearned();
  go('1');
  ui.typeValue("model.layer", "3");
  go('7');
  ui.park();
  EXPECT_EQ(ui.scene().cursor.model.layer, 3);
}

TEST_F(Lecture, FocusFollowsHeadSelectedOnOtherPage) {
  ui.click("head.2");
  ASSERT_EQ(ui.scene().cursor.focus, 2);
  go('4');
  ui.click("map.head.5");
  go('1');
  EXPECT_EQ(ui.scene().cursor.focus, 5);
  EXPECT_EQ(head(), 5);
}

TEST_F(Lecture, SwitchingLayersIsNotAnEdit) {
  openLearned();
  const std::size_t steps = ui.session().document().undoSteps();
  ui.park().key(Key::down);
  go('1');
  EXPECT_EQ(layer(), 1);
  EXPECT_EQ(ui.session().document().undoSteps(), steps);
  // Undo reverts an edit and doesn't change what is being looked at.
  ui.click("window").typeValue("model.layer", "2").chord(kCtrl, Key::z);
  EXPECT_TRUE(ui.scene().setup.mask.layers.empty());
  EXPECT_EQ(layer(), 2);
  // An edit of a single layer stays on that layer while Model shows another one.
  edit().setup.subject.scope = app::EditScope::one;
  go('7');
  ui.park().key(Key::down);
  EXPECT_EQ(ui.scene().cursor.model.layer, 3);
  EXPECT_EQ(layer(), 2);
}

TEST_F(Lecture, ReportsUnknownWordsAndOffersVocabulary) {
  openLearned();
  EXPECT_FALSE(ui.has("words.unknown")) << "the opening sentence is made of its words";
  ui.replaceText("text", "backfield zebra was happy").clickAway();
  for (const char page : {'7', '1', '5', '4'}) {
    go(page);
    EXPECT_TRUE(ui.has("words.unknown")) << page;
    EXPECT_THAT(texts(), Contains(HasSubstr("backfield and zebra"))) << page;
  }
  go('7');
  ui.click("words.list");
  ASSERT_EQ(ui.dialog(), "words");
  ui.click("word.dog");
  EXPECT_EQ(*ui.scene().setup.input.text, "backfield zebra was happy dog");
  ui.key(Key::escape).click("words.examples").frames(2).click("menu.model.example.got");
  EXPECT_THAT(*ui.scene().setup.input.text, HasSubstr("gave the key to"));
  EXPECT_FALSE(ui.has("words.unknown"));
  EXPECT_EQ(layer(), ui.scene().cursor.model.layer);
}

TEST_F(Lecture, ActionsOpenTabsOfAllPages) {
  using app::CacheView;
  ask("Cache: Paging");
  EXPECT_EQ(ui.scene().cursor.page, "cache");
  EXPECT_EQ(ui.scene().cursor.cacheView, CacheView::paging);
  ask("Mask: Biases");
  EXPECT_EQ(ui.scene().cursor.page, "mask");
  EXPECT_EQ(ui.scene().cursor.studio.tab, app::StudioTab::biases);
  ask("Lab: Patching");
  EXPECT_EQ(ui.scene().cursor.page, "lab");
  EXPECT_EQ(ui.scene().cursor.lab.tab, "ablation");
  EXPECT_EQ(ui.scene().cursor.lab.ablationView, app::AblationView::patch);
  ask("Cost: Roofline");
  EXPECT_EQ(ui.scene().cursor.page, "cost");
}

TEST_F(Lecture, ActionsSetTypedSentenceAndExampleTexts) {
  ui.chord(kCtrl, Key::k).type("the cat sat").frames(2);
  ui.find("palette.sentence");
  ui.key(Key::up).key(Key::enter);
  EXPECT_EQ(*ui.scene().setup.input.text, "the cat sat");
  ui.chord(kCtrl, Key::z);
  EXPECT_NE(*ui.scene().setup.input.text, "the cat sat");
  ask("Example text: Who got the key");
  EXPECT_EQ(ui.scene().setup.subject.model, app::kLearned) << "opened for it";
  EXPECT_THAT(*ui.scene().setup.input.text, HasSubstr("gave the key to"));
  EXPECT_EQ(ui.scene().cursor.model.layer, 3);
  EXPECT_EQ(head(), 3);
}

TEST_F(Lecture, ActionTogglesCausalMask) {
  const auto causal = [&] {
    return app::hasRule(ui.scene().setup.mask.layers, attention::PatternKind::causal);
  };
  ASSERT_TRUE(causal());
  ask("Turn the causal mask on or off");
  EXPECT_FALSE(causal());
  ask("Turn the causal mask on or off");
  EXPECT_TRUE(causal());
  openLearned();
  ask("Turn the causal mask on or off");
  EXPECT_THAT(ui.view().messages.error, HasSubstr("so it stays on"));
}

TEST_F(Lecture, ActionsSelectAttentionKindOrExplainRefusal) {
  ui.click("weights.random");
  ask("Use MQA: all heads share one pair of keys and values");
  EXPECT_EQ(ui.scene().setup.model.kvHeads, 1);
  ask("Use MHA: each head has its own keys and values");
  EXPECT_EQ(ui.scene().setup.model.kvHeads, 8);
  ask("Use GQA: groups of heads share keys and values");
  EXPECT_EQ(app::kindOf(ui.scene().setup.model), app::AttentionKind::gqa);
  ui.click("weights.planted");
  ask("Use MHA: each head has its own keys and values");
  ui.typeValue("heads", "64");
  ask("Use MQA: all heads share one pair of keys and values");
  ASSERT_GT(ui.scene().setup.model.kvHeads, 1)
      << "64 heads of 4 dimensions are made to do too much for one key";
  EXPECT_THAT(ui.view().messages.error,
              testing::AllOf(HasSubstr("Raise the model dim"), Not(HasSubstr("flag"))));
}

TEST_F(Lecture, CellsNeverShowTinyWeightsAsZero) {
  ui.click("head.0");
  EXPECT_THAT(texts(), Each(Not(AnyOf(Eq(".00"), Eq(".000")))));
  openLearned();
  EXPECT_THAT(texts(), Each(Not(AnyOf(Eq(".00"), Eq(".000")))));
  go('4');
  EXPECT_THAT(texts(), Each(Not(AnyOf(Eq(".00"), Eq(".000")))));
}

/// Fewer columns would need more rows: six heads are laid out 3 + 3.
TEST_F(Lecture, HeadGridUsesNoSpareColumns) {
  for (const ImVec2 area : {ImVec2(960, 560), ImVec2(1190, 830), ImVec2(600, 900), ImVec2(1800, 500)})
    for (int heads = 1; heads <= 64; ++heads)
      for (int group = 1; group <= heads; ++group) {
        if (heads % group != 0) continue;
        const app::heads_page::GridPlan plan =
            app::heads_page::planGrid(ui.view(), area, heads, group, 12, 12, 70, 60);
        EXPECT_EQ((heads + plan.rows - 1) / plan.rows, plan.columns) << heads << " over " << group;
      }
}

/// Names are shown in full or in a shorter form, never cut: of 64 heads, a number alone says nothing to the
/// audience.
TEST_F(Lecture, AllSixtyFourPresentedHeadsAreNamed) {
  ui.resize(1920, 1080);
  app::ModelSetup& model = edit().setup.model;
  model.heads = 64;
  model.headDim = 4;
  for (const Index kvHeads : {64, 8, 1}) {
    edit().setup.model.kvHeads = kvHeads;
    edit().setup.weights.source = kvHeads == 64 ? app::WeightSource::planted : app::WeightSource::random;
    ui.view().present = true;
    ui.view().redraw();
    ui.draw();
    ASSERT_FALSE(texts().empty());
    for (int head = 0; head < 64; ++head) {
      const ImRect title = ui.find(fmt::format("title.{}", head));
      std::size_t words = 0;
      for (const app::DrawnText& text : app::uiState().texts) {
        if (!title.Contains(text.area.GetCenter())) continue;
        EXPECT_THAT(text.text, Not(HasSubstr("…"))) << "head " << head << " over " << kvHeads;
        words += text.text != std::to_string(head) ? 1 : 0;
      }
      EXPECT_GE(words, 1u) << "head " << head << " over " << kvHeads;
    }
  }
}

TEST_F(Lecture, MapCaptionMatchesPixelTooltip) {
  go('4');
  ui.click("map.source.generated").wheelAt("map", 0.5f, 0.5f, 8).hoverAt("map", 0.4f, 0.6f);
  std::vector<std::string> said;
  for (const std::string& text : texts())
    if (const std::size_t at = text.find("largest of "); at != std::string::npos)
      said.push_back(text.substr(at, text.find("cells", at) - at));
  ASSERT_GE(said.size(), 2u) << "above the map and beside the pointer";
  EXPECT_THAT(said, Each(Eq(said.front())));
}

TEST_F(Lecture, PagingCaptionOmitsCacheOfText) {
  go('5');
  edit().cursor.cacheView = app::CacheView::paging;
  ui.key(Key::p);
  for (const app::CaptionPart& part : ui.session().page<app::cache_page::Page>().caption(ui.scene()))
    EXPECT_THAT(part.text, Not(HasSubstr("MHA")));
}

TEST_F(Lecture, EmptyCacheWithOneKvHeadIsReadable) {
  for (const int width : {1280, 1920}) {
    ui.resize(width, width * 9 / 16);
    go('5');
    edit().setup.model.kvHeads = 1;
    edit().setup.weights.source = app::WeightSource::random;
    ui.draw().key(Key::home);
    EXPECT_THAT(overlaps(ui), IsEmpty());
    ui.key(Key::end);
    EXPECT_TRUE(ui.has("void.0"));
  }
}

TEST_F(Lecture, FactorTooltipsDoNotCoverFactors) {
  go('6');
  for (const std::string& factor : ui.names("factor.")) {
    ui.hover(factor).frames(2);
    const ImRect tip = ui.find("tooltip");
    for (const std::string& other : ui.names("factor.")) {
      ImRect rect = ui.find(other);
      rect.Expand(-1);
      EXPECT_FALSE(tip.Overlaps(rect)) << factor << " over " << other;
    }
  }
}

TEST_F(Lecture, MaskFormulaHasLegend) {
  ui.replaceText("text", "we go\nwe go far away").clickAway();
  go('3');
  ui.view().drawer = true;
  ui.draw();
  ui.find("says.legend");
  const app::StudiedMask& mask = ui.mask().study->mask;
  ASSERT_THAT(mask.formulaText, HasSubstr("L"));
  EXPECT_THAT(mask.formulaLegend, testing::AllOf(HasSubstr("i: query"), HasSubstr("L: ")));
}

TEST_F(Lecture, SceneWithoutFileIsShownAsNotSaved) {
  ui.resize(1920, 1080);
  EXPECT_THAT(texts(), Each(Not(HasSubstr("untitled"))));
  ui.click("bias");
  EXPECT_THAT(texts(), Contains(HasSubstr("not saved")));
}

/// A tile's words are in a causal head's masked half; the crosshair stays out of it.
TEST_F(Lecture, CrosshairDoesNotCoverTileLabels) {
  ui.resize(1920, 1080);
  openLearned();
  ui.park();
  app::UiState& state = app::uiState();
  state.watches = true;
  ui.frames(2);
  const std::vector<app::DrawnText> texts = state.texts;
  const std::vector<app::DrawnMark> marks = state.marks;
  state.watches = false;
  const ImRect tile = ui.find("model.0.0");
  int words = 0;
  for (const app::DrawnText& text : texts)
    for (Index l = 0; l < 4; ++l)
      for (Index h = 0; h < 6; ++h)
        if (ui.find("model." + std::to_string(l) + "." + std::to_string(h)).Contains(text.area)) {
          ++words;
          for (const app::DrawnMark& mark : marks)
            EXPECT_FALSE(mark.name == "crosshair" && mark.area.Overlaps(text.area) &&
                         mark.area.GetWidth() < tile.GetWidth() * 1.5f)
                << text.text;
        }
  EXPECT_GT(words, 10);
}

}  // namespace
}  // namespace headscope::test
