// The page Model: clicks and keys select, hovering only previews.

#include <gtest/gtest.h>

#include "app/platform/ui_state.h"
#include "tests/attention/models/golden_models.h"
#include "tests/support/matchers.h"
#include "tests/ui/model/model_heads_support.h"

namespace headscope::test {
namespace {

using app::Cell;
using app::Key;
using app::model_page::Spot;
using attention::test::goldenModel;

constexpr app::Mods kWithShift{.shift = true};

class ModelSelection : public ModelHeads {
 protected:
  ModelSelection() { open(goldenModel("gpt2")); }
  const app::Cursor& cursor() { return ui.scene().cursor; }
  Spot selected() { return {cursor().model.layer, cursor().cell}; }
  std::string token(Index fromEnd) { return "strip." + std::to_string(page().tokens() - fromEnd); }
  UiDriver& hoverCell(const std::string& head, Index query, Index key) {
    return ui.hoverAt(head, share(key), share(query));
  }
  UiDriver& clickCell(const std::string& head, Index query, Index key) {
    return ui.clickAt(head, share(key), share(query));
  }
  /// The key with the largest weight in the selected row.
  Index largest() {
    Index key = 0;
    const auto& weights = page().layer(cursor().model.layer)->weights;
    weights[cursor().cell.head].row(cursor().cell.query).maxCoeff(&key);
    return key;
  }
  std::string caption() {
    std::string text;
    for (const app::CaptionPart& part : ui.session().page<app::model_page::Page>().caption(ui.scene()))
      text += part.text;
    return text;
  }
  /// Whether a mark of this name is drawn around the thumbnail.
  bool marked(const std::string& mark, const std::string& thumbnail) {
    app::UiState& state = app::uiState();
    state.watches = true;
    ui.frames(1);
    const std::vector<app::DrawnMark> marks = state.marks;
    state.watches = false;
    const ImVec2 size = ui.find(thumbnail).GetSize(), middle = ui.find(thumbnail).GetCenter();
    return std::any_of(marks.begin(), marks.end(), [&](const app::DrawnMark& one) {
      const ImVec2 off = one.area.GetCenter() - middle, larger = one.area.GetSize() - size;
      return one.name == mark && std::abs(off.x) < 3 && std::abs(off.y) < 3 && std::abs(larger.x) < 12;
    });
  }

 private:
  /// Where a token's row or column has its middle.
  float share(Index token) {
    return (static_cast<float>(token) + 0.5f) / static_cast<float>(page().tokens());
  }
};

TEST_F(ModelSelection, HoverPreviewsHeadAndLeavesSceneAlone) {
  clickCell("model.0.1", 5, 2);
  const std::string before = ui.sceneText(), says = caption();
  EXPECT_FALSE(ui.has("model.selected")) << "the selected cell is hovered";
  hoverCell("model.1.2", 6, 1);
  EXPECT_EQ(page().head.previewed, (Spot{1, {2, 6, 1}}));
  EXPECT_EQ(page().pictures.head.source.layer, page().layers[1]);
  EXPECT_EQ(page().pictures.head.source.head, 2);
  EXPECT_TRUE(ui.has("model.selected"));
  EXPECT_TRUE(marked("hovered head", "model.1.2"));
  EXPECT_TRUE(marked("chosen head", "model.0.1"));
  EXPECT_FALSE(marked("chosen head", "model.1.2"));
  rest();
  EXPECT_FALSE(page().head.copying.contains({1, 2})) << "what costs computing is about the selection";
  EXPECT_EQ(ui.sceneText(), before);
  EXPECT_EQ(caption(), says);
  ui.park();
  EXPECT_EQ(page().head.previewed, selected());
  EXPECT_EQ(page().pictures.head.source.head, 1);
  EXPECT_FALSE(ui.has("model.selected"));
  EXPECT_FALSE(marked("hovered head", "model.1.2"));
}

TEST_F(ModelSelection, SecondClickOnCellLetsItGo) {
  clickCell("model.1.2", 6, 1);
  EXPECT_TRUE(cursor().keyChosen);
  EXPECT_EQ(selected(), (Spot{1, {2, 6, 1}}));
  EXPECT_THAT(caption(), HasSubstr("looks at"));
  clickCell("model.0.2", 6, 1);
  EXPECT_TRUE(cursor().keyChosen) << "the same cell of another layer is another one";
  EXPECT_EQ(selected(), (Spot{0, {2, 6, 1}}));
  clickCell("model.0.2", 6, 1);
  EXPECT_FALSE(cursor().keyChosen);
  EXPECT_EQ(cursor().cell.key, largest());
  EXPECT_THAT(caption(), HasSubstr("looks most at"));
}

TEST_F(ModelSelection, DoubleClickOpensHeadWithItsCellSelected) {
  const Cell middle = ui.hover("model.1.2").view().previewed(cursor().cell);
  ui.doubleClick("model.1.2");
  EXPECT_EQ(cursor().page, "heads");
  EXPECT_EQ(cursor().focus, 2);
  EXPECT_EQ(ui.scene().setup.subject.layer, 1);
  EXPECT_EQ(cursor().cell, middle);
  EXPECT_TRUE(cursor().keyChosen) << "its second click doesn't let go";
}

TEST_F(ModelSelection, EnterAndButtonOpenSelectedHead) {
  for (const bool byKey : {true, false}) {
    ui.key(static_cast<Key>('7')).click("model.0.3").hover("model.1.1");
    byKey ? ui.key(Key::enter) : ui.click("model.open_heads");
    EXPECT_EQ(cursor().page, "heads");
    EXPECT_EQ(cursor().focus, 3);
    EXPECT_EQ(ui.scene().setup.subject.layer, 0);
  }
}

TEST_F(ModelSelection, RightClickSelectsAndKeepsCell) {
  for (int i = 0; i < 2; ++i) {
    hoverCell("model.1.3", 6, 3).press(1).release(1);
    EXPECT_EQ(selected(), (Spot{1, {3, 6, 3}}));
    EXPECT_TRUE(cursor().keyChosen);
    ui.key(Key::escape);
  }
}

TEST_F(ModelSelection, KeysActOnSelectionWhilePointerRestsElsewhere) {
  ui.click("model.1.1").hover("model.0.2").key(Key::x);
  ASSERT_EQ(ui.scene().setup.subject.switchedOff.size(), 1u);
  EXPECT_EQ(ui.scene().setup.subject.switchedOff[0].layer, 1);
  EXPECT_EQ(ui.scene().setup.subject.switchedOff[0].head, 1);
  ui.key(Key::right);
  EXPECT_EQ(cursor().cell.head, 2);
  EXPECT_EQ(cursor().model.layer, 1);
}

TEST_F(ModelSelection, KeyIsRowsLargestUntilChosen) {
  EXPECT_FALSE(cursor().keyChosen) << "nothing is chosen in a model just opened";
  EXPECT_EQ(cursor().cell.query, page().tokens() - 1);
  EXPECT_EQ(cursor().cell.key, largest());
  for (const Key key : {Key::right, Key::down, Key::right}) {
    ui.key(key);
    EXPECT_EQ(cursor().cell.key, largest());
  }
  ui.click(token(2));
  EXPECT_EQ(cursor().cell.query, page().tokens() - 2);
  EXPECT_FALSE(cursor().keyChosen) << "a click on a token chooses the query alone";
  EXPECT_EQ(cursor().cell.key, largest());
  const Index before = cursor().cell.key;
  ui.key(before > 0 ? Key::left : Key::right, kWithShift);
  EXPECT_EQ(cursor().cell.key, before > 0 ? before - 1 : before + 1);
  EXPECT_TRUE(cursor().keyChosen);
  const Index chosen = cursor().cell.key;
  ui.key(Key::up);
  EXPECT_EQ(cursor().cell.key, chosen) << "a chosen key stays, also in another head";
}

TEST_F(ModelSelection, TokensAndLargeHeadHoverAsGhosts) {
  const Spot before = selected();
  ui.hover(token(2));
  EXPECT_EQ(page().head.previewed.cell.query, page().tokens() - 2);
  EXPECT_EQ(selected(), before);
  const Spot over{before.layer, {before.cell.head, 5, 4}};
  hoverCell("model.large", 5, 4);
  EXPECT_EQ(page().head.previewed, over);
  EXPECT_EQ(selected(), before);
  clickCell("model.large", 5, 4);
  EXPECT_EQ(selected(), over);
  EXPECT_TRUE(cursor().keyChosen);
  clickCell("model.large", 5, 4);
  EXPECT_FALSE(cursor().keyChosen);
}

TEST_F(ModelSelection, OpeningLetsGoOfChosenKey) {
  ui.click("model.1.1");
  ASSERT_TRUE(cursor().keyChosen);
  open(goldenModel("llama"));
  EXPECT_FALSE(cursor().keyChosen);
  EXPECT_EQ(cursor().cell.key, largest());
}

}  // namespace
}  // namespace headscope::test
