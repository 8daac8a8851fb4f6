// The context menus of everything that can be clicked, and where their results are reported.

#include <gtest/gtest.h>

#include "app/platform/ui_state.h"
#include "tests/support/matchers.h"
#include "tests/support/page_check.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Key;

/// Right-clicks a tracked control at a fraction of its size, which may lie outside it.
void rightClick(UiDriver& ui, const std::string& name, float fx = 0.5f, float fy = 0.5f) {
  ui.hoverAt(name, fx, fy).press(1).release(1);
}

std::string clipboard() {
  return ImGui::GetClipboardText();
}

TEST(Menus, HeadMenuOffersPictureNumbersAndFocus) {
  UiDriver ui;
  rightClick(ui, "title.3", 0.1f);
  EXPECT_THAT(ui.names("menu."), Contains("menu.picture.save_head"));
  EXPECT_EQ(ui.scene().cursor.cell.head, 3);
  ui.click("menu.head.copy");
  EXPECT_THAT(ui.view().messages.notice, StartsWith("Copied head 3"));
  rightClick(ui, "head.5");
  ui.click("menu.look.focus");
  EXPECT_EQ(ui.scene().cursor.focus, 5);
  rightClick(ui, "focus");
  EXPECT_THAT(ui.names("menu."), Contains("menu.look.back"));
}

TEST(Menus, AxisTokenMenuCopiesTextAndVectors) {
  UiDriver ui;
  const ImRect head = ui.find("head.0");
  const float row = 2.5f / 12;
  // Left of the cells, in the third row.
  rightClick(ui, "head.0", -20 / head.GetWidth(), row);
  EXPECT_EQ(ui.scene().cursor.cell.query, 2);
  ui.click("menu.token.copy");
  EXPECT_EQ(clipboard(), ui.sequence().queries[2].text);
  rightClick(ui, "head.0", -20 / head.GetWidth(), row);
  ui.click("menu.token.copy_query");
  EXPECT_THAT(clipboard(), HasSubstr("q " + ui.sequence().queries[2].text + ","));
  rightClick(ui, "head.0", -20 / head.GetWidth(), 7.5f / 12);
  ui.click("menu.decode.here");
  EXPECT_TRUE(ui.scene().cursor.decoding);
  EXPECT_EQ(ui.scene().cursor.step, 8);
}

TEST(Menus, CacheColumnMenuOffersKeyValueAndPicture) {
  UiDriver ui(1600, 1000);
  rightClick(ui, "cache.strips", 4.5f / 12, 0.5f);
  EXPECT_EQ(ui.scene().cursor.cell.key, 4);
  EXPECT_THAT(ui.names("menu."), Contains("menu.picture.save_cache"));
  ui.click("menu.token.copy_key");
  EXPECT_THAT(clipboard(), HasSubstr("k " + ui.sequence().keys[4].text + ","));
  EXPECT_THAT(clipboard(), HasSubstr("v " + ui.sequence().keys[4].text + ","));
}

TEST(Menus, MaskLayerMenuSwitchesMovesDuplicatesAndDeletes) {
  UiDriver ui;
  ui.click("page.mask").replaceText("expression", "causal & window(4) & padding").clickAway();
  ui.wait(1);
  const auto layers = [&]() -> const attention::MaskLayers& { return ui.scene().setup.mask.layers; };
  ASSERT_EQ(layers().size(), 3u);
  rightClick(ui, "layer.1", 0.3f);
  EXPECT_EQ(ui.scene().cursor.studio.selected, 1);
  ui.click("menu.mask.layer.switch");
  EXPECT_FALSE(layers()[1].on);
  rightClick(ui, "layer.1", 0.3f);
  ui.click("menu.mask.layer.up");
  EXPECT_FALSE(layers()[0].on);
  rightClick(ui, "layer.0", 0.3f);
  ui.click("menu.mask.layer.duplicate");
  EXPECT_EQ(layers().size(), 4u);
  rightClick(ui, "layer.0", 0.3f);
  ui.click("menu.mask.layer.delete");
  EXPECT_EQ(layers().size(), 3u);
  ui.chord(kCtrl, Key::z);
  EXPECT_EQ(layers().size(), 4u) << "each is a step of its own";
}

TEST(Menus, MaskMenusToggleCellsAndMarkTokens) {
  UiDriver ui;
  ui.click("page.mask").replaceText("expression", "documents(causal)").clickAway().wait(1);
  const auto maskedAt = [&] { return !ui.mask().study->mask.formula->visible(0, 5, 2); };
  ASSERT_FALSE(maskedAt());
  rightClick(ui, "mask_map", 2.5f / 12, 5.5f / 12);
  EXPECT_THAT(ui.names("menu."), Contains("menu.picture.save_mask"));
  ui.click("menu.mask.toggle");
  EXPECT_TRUE(maskedAt());
  rightClick(ui, "mark.3");
  ui.click("menu.mask.mark.document");
  EXPECT_THAT(ui.mask().study->geometry.structure.documentStarts, Contains(3));
}

TEST(Menus, MapMenuOffersPlaceZoomAndPicture) {
  UiDriver ui;
  ui.session().scene().map.source = app::MapSource::generated;
  ui.session().scene().map.tokens = 1536;
  ui.key(static_cast<Key>('4'));
  rightClick(ui, "map.cells", 0.3f, 0.7f);
  const auto& cursor = ui.scene().cursor.map;
  ASSERT_GE(cursor.query, 0);
  EXPECT_THAT(ui.names("menu."), Contains("menu.picture.save_map"));
  ui.click("menu.map.copy_place");
  EXPECT_EQ(clipboard(), std::to_string(cursor.query) + ", " + std::to_string(cursor.key));
  rightClick(ui, "map.cells", 0.3f, 0.7f);
  ui.click("menu.map.cells");
  EXPECT_GT(cursor.cellsPerPixel, 0);
  rightClick(ui, "map.cells", 0.5f, 0.5f);
  ui.click("menu.map.whole");
  EXPECT_EQ(cursor.cellsPerPixel, 0);
}

TEST(MainMenu, HasEverythingAtEverySize) {
  for (const auto& [width, height] :
       {std::pair{360, 320}, {640, 480}, {1280, 720}, {1920, 1080}, {3840, 2160}}) {
    UiDriver ui(width, height);
    ui.click("bar.menu");
    for (const char* action : {"scene.open", "scene.save", "link.copy", "look.present", "settings",
                               "picture.save", "palette", "manual", "shortcuts", "quit"})
      EXPECT_TRUE(ui.has("menu." + std::string(action))) << action << " at " << width;
    EXPECT_FALSE(ui.has("menu.edit.undo")) << "there is nothing to undo";
    std::vector<std::string> lines = ui.names("menu.");
    std::erase_if(lines, [&](const std::string& line) { return !ui.visible(line); });
    EXPECT_GE(lines.size(), 5u) << "the first lines need no scrolling";
    for (const std::string& line : lines)
      for (const std::string& other : lines)
        EXPECT_TRUE(line == other || !ui.find(line).Overlaps(ui.find(other))) << line << ", " << other;
    if (width >= 1280) {
      EXPECT_THAT(cutOff(ui), IsEmpty()) << width;
    }
    ui.key(Key::escape);
    EXPECT_TRUE(ui.names("menu.").empty()) << width;
  }
}

TEST(MainMenu, UndoesWhatCanBeUndone) {
  UiDriver ui(1280, 720);
  ui.session().scene().setup.model.heads = 4;
  ui.frames(2).click("bar.menu");
  ASSERT_TRUE(ui.has("menu.edit.undo"));
  ui.click("menu.edit.undo");
  EXPECT_EQ(ui.scene().setup.model.heads, 8);
  EXPECT_TRUE(ui.names("menu.").empty()) << "a choice closes the menu";
}

TEST(MainMenu, HasNoRightPanelOnPagesWithoutOne) {
  UiDriver ui(1280, 720);
  ui.click("bar.menu");
  EXPECT_TRUE(ui.has("menu.look.side"));
  ui.key(Key::escape).click("page.flow").click("bar.menu");
  EXPECT_TRUE(ui.has("menu.manual"));
  EXPECT_FALSE(ui.has("menu.look.side"));
}

TEST(MainMenu, SaysWhatSwitchesAreAt) {
  UiDriver ui(1280, 720);
  app::uiState().watches = true;
  ui.click("bar.menu").frames(2);
  EXPECT_TRUE(ui.says("dark"));
  EXPECT_TRUE(ui.says("100 %"));
  ui.click("menu.appearance.theme").click("bar.menu").frames(2);
  EXPECT_TRUE(ui.says("light"));
  EXPECT_FALSE(ui.says("dark"));
}

TEST(MainMenu, LettersSearchInstead) {
  UiDriver ui(1280, 720);
  ui.key(Key::f10);
  ASSERT_TRUE(ui.has("menu.manual"));
  ui.type("hist");
  EXPECT_FALSE(ui.has("menu.manual"));
  ui.key(Key::enter);
  EXPECT_TRUE(ui.has("history.0")) << "all letters were searched for";
}

TEST(MainMenu, ArrowsMoveAndEnterChooses) {
  UiDriver ui(1280, 720);
  ui.key(Key::f10).key(Key::down).key(Key::enter);
  EXPECT_EQ(ui.dialog(), "Open a scene") << "the first line";
}

TEST(MainMenu, OpensByKeyboard) {
  UiDriver ui(1280, 720);
  const ImRect button = ui.find("bar.menu");
  const auto isThere = [&] {
    const app::TabStop* control = app::uiState().focus.control();
    return control && button.Contains(control->area.GetCenter());
  };
  for (int i = 0; i < 40 && !isThere(); ++i) ui.key(Key::tab);
  ASSERT_TRUE(isThere());
  ui.key(Key::enter);
  EXPECT_TRUE(ui.has("menu.manual"));
  ui.key(Key::escape);
  EXPECT_FALSE(ui.has("menu.manual"));
}

TEST(Told, AppearsBesideThePressedButtonAndExpires) {
  UiDriver ui;
  ui.click("page.mask").click("copy.text").frames(2);
  const ImRect button = ui.find("copy.text"), told = ui.find("told");
  EXPECT_LT(std::abs(told.GetCenter().y - button.GetCenter().y), 80);
  EXPECT_FALSE(told.Overlaps(button)) << "what was pressed can be pressed again";
  EXPECT_THAT(ui.view().messages.notice, HasSubstr("expression"));
  ui.wait(app::kPointerMessageSeconds + 0.1);
  EXPECT_FALSE(ui.has("told"));
}

TEST(Told, DisappearsWhenAKeyIsPressed) {
  UiDriver ui;
  rightClick(ui, "head.2");
  ui.click("menu.head.copy").frames(1);
  EXPECT_TRUE(ui.has("told"));
  ui.key(Key::right);
  EXPECT_FALSE(ui.has("told"));
}

}  // namespace
}  // namespace headscope::test
