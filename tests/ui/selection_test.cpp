// One selection, one ghost: only clicks, keys, steps and views select; a hovered place is shown dashed and
// never enters the scene.

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/pages/heads/heads_page.h"
#include "app/platform/ui_state.h"
#include "app/scene/scene_json.h"
#include "app/scene/text/number_text.h"
#include "tests/support/ui_driver.h"
#include "tests/ui/lessons/lessons_support.h"
#include "tests/ui/page_views.h"

namespace headscope::test {
namespace {

using app::Cell;
using app::Index;
using app::Key;

/// The row's largest weight in the shown layer.
Index largestKey(UiDriver& ui) {
  const Cell& cell = ui.scene().cursor.cell;
  Index key = 0;
  ui.sequence().attention.weights[cell.head].row(cell.query).maxCoeff(&key);
  return key;
}

TEST(Selection, PointerNeverEntersTheScene) {
  UiDriver ui(1280, 720);
  for (const bool presents : {false, true}) {
    ui.view().present = presents;
    for (const PageView& view : pageViews()) {
      SCOPED_TRACE(view.name + (presents ? ", presented" : ""));
      ui.show(withView(app::openingScene(), view)).park().draw();
      const std::string before = ui.sceneText();
      for (int y = 40; y < 720; y += 173)
        for (int x = 20; x < 1280; x += 307) {
          ui.moveTo(static_cast<float>(x), static_cast<float>(y));
          ASSERT_EQ(ui.sceneText(), before) << "pointing at " << x << ", " << y;
        }
    }
  }
}

TEST(Selection, KeyNobodyChoseIsTheLargestWeight) {
  UiDriver ui;
  EXPECT_FALSE(ui.scene().cursor.keyChosen);
  for (const Index query : {11, 3, 0, 7})
    for (const Index head : {0, 1, 4, 6}) {
      ui.session().scene().cursor.cell.query = query;
      ui.session().scene().cursor.cell.head = head;
      ui.draw();
      EXPECT_EQ(ui.scene().cursor.cell.key, largestKey(ui)) << "query " << query << ", head " << head;
    }
  ui.session().scene().setup.mask.layers = {};
  ui.draw();
  EXPECT_EQ(ui.scene().cursor.cell.key, largestKey(ui)) << "another mask";
  ui.replaceText("text", "one two one two one");
  EXPECT_EQ(ui.scene().cursor.cell.key, largestKey(ui)) << "another text";
}

TEST(Selection, ChosenKeyStaysUntilItIsChosenAgain) {
  UiDriver ui;
  ui.clickAt("head.3", 2.5f / 12, 7.5f / 12);
  EXPECT_EQ(ui.scene().cursor.cell, (Cell{3, 7, 2}));
  EXPECT_TRUE(ui.scene().cursor.keyChosen);
  ui.key(Key::pageDown);
  EXPECT_EQ(ui.scene().cursor.cell, (Cell{4, 7, 2})) << "also in another head";
  ui.clickAt("focus", 2.5f / 12, 7.5f / 12);
  EXPECT_FALSE(ui.scene().cursor.keyChosen);
  EXPECT_EQ(ui.scene().cursor.cell, (Cell{4, 7, largestKey(ui)}));
}

TEST(Selection, OldScenesNameAKeyThatWasChosen) {
  const std::string before = R"({"format": "headscope scene", "version": 2, "cursor": {"key": 3}})";
  const auto scene = app::parseScene(before, "old");
  ASSERT_TRUE(scene.ok()) << scene.error().message;
  EXPECT_EQ(scene->cursor.cell.key, 3);
  EXPECT_TRUE(scene->cursor.keyChosen);
  const auto none = app::parseScene(R"({"format": "headscope scene", "version": 2})", "plain");
  ASSERT_TRUE(none.ok());
  EXPECT_FALSE(none->cursor.keyChosen);
  const auto again = app::parseScene(UiDriver::textOf(*none), "again");
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again, *none);
}

/// The receipt previews the hovered cell, says so, and says what is selected.
TEST(Selection, ReceiptPreviewsTheHoveredCell) {
  UiDriver ui;
  ui.park();
  EXPECT_FALSE(ui.has("receipt.selected"));
  const auto title = ui.screenshot("receipt.title");
  ui.hoverAt("head.2", 3.5f / 12, 9.5f / 12);
  EXPECT_TRUE(ui.has("receipt.selected"));
  EXPECT_GT(pixelsApart(title, ui.screenshot("receipt.title")), 20);
  ui.park();
  EXPECT_FALSE(ui.has("receipt.selected"));
  EXPECT_EQ(pixelsApart(title, ui.screenshot("receipt.title")), 0);
}

class RestingPointer : public SmallLessons {};

/// Where the pointer rests makes no difference to what a step shows, in the window and on stage.
TEST_F(RestingPointer, ChangesNothingInLessons) {
  const auto shown = [&] { return ui.screenshot(); };
  for (const bool presents : {false, true})
    for (const std::string lesson : {"scaled_attention", "shared_heads", "kv_cache", "cross_attention"}) {
      ui.view().present = presents;
      open(lesson);
      const auto steps = static_cast<Index>(page().here.lesson->steps.size());
      ui.park();
      for (Index step = 0; step < steps; ++step) open(lesson, step);  // which shows them as seen
      std::vector<render::Image> parked;
      for (Index step = 0; step < steps; ++step) {
        open(lesson, step);
        parked.push_back(shown());
      }
      for (Index step = 0; step < steps; ++step) {
        ui.moveTo(presents ? 300.0f : 760.0f, 300);
        open(lesson, step);
        // Above the line of figures, which counts the undo steps and the textures' bytes.
        EXPECT_EQ(pixelsApart(parked[static_cast<std::size_t>(step)], shown(), ImRect(0, 0, 1280, 685), 8), 0)
            << lesson << ", step " << step << (presents ? ", presented" : "");
      }
    }
}

TEST(Receipt, SaysTheWeightBeforeTheLastChange) {
  UiDriver ui(1920, 1080);
  app::uiState().watches = true;
  EXPECT_FALSE(ui.has("receipt.before"));
  const auto weight = [&] {
    const Cell cell = app::heads_page::selectedCell(ui.scene(), *ui.session().snapshot());
    return app::weightText(ui.sequence().probabilities().at(cell.head, cell.query, cell.key));
  };
  const std::string first = weight();
  ui.session().scene().setup.model.sharpness = 0.3f;
  ui.draw();
  ASSERT_NE(weight(), first);
  ASSERT_TRUE(ui.has("receipt.before"));
  EXPECT_TRUE(ui.says(first));
  ui.session().scene().setup.model.sharpness = 0.2f;
  ui.draw();
  EXPECT_TRUE(ui.says(first)) << "changes that follow each other are one";
  ui.session().scene().setup.model.sharpness = 1;
  ui.draw();
  EXPECT_FALSE(ui.has("receipt.before")) << "nothing has changed in the end";
  ui.session().scene().setup.model.sharpness = 0.3f;
  ui.draw();
  EXPECT_TRUE(ui.has("receipt.before"));
  ui.click("sentence.query.4");
  EXPECT_FALSE(ui.has("receipt.before")) << "another cell was selected";
}

}  // namespace
}  // namespace headscope::test
