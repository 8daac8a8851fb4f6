// The classic mistakes on a layer that the user built: what the page says about them holds there.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <regex>

#include "app/pages/head_lab/map_view.h"
#include "tests/support/matchers.h"
#include "tests/ui/lab/head_lab_support.h"

namespace headscope::test {
namespace {

class Wrong : public LabTabOnScreen {
 protected:
  Wrong() : LabTabOnScreen("mistakes") {}
  /// The number of times a text appears on the page.
  std::ptrdiff_t count(const std::string& text) {
    written();
    return std::ranges::count(app::uiState().texts, text, &app::DrawnText::text);
  }
};

TEST_F(Wrong, ShowsScoresWhereWeightsAreNan) {
  ui.click("mistake.no_maximum");
  park();
  const attention::MistakeResult& result = page().study->result;
  const app::Index row = ui.scene().cursor.cell.query;
  app::Index key = 0;
  ASSERT_GT(result.wrongScores.row(row).maxCoeff(&key), 89);
  ASSERT_TRUE(std::isnan(result.wrongWeights(row, key)));
  const std::string score = app::head_lab_page::shortNumber(result.wrongScores(row, key), false);
  EXPECT_EQ(count(score), 2) << score << " below the wrong row and below the right one";
  expectTidy("no maximum");
}

TEST_F(Wrong, BarsPreviewHoveredRowAndFallBack) {
  park();
  const app::Cursor before = ui.scene().cursor;
  const std::string selected = written();
  ASSERT_THAT(selected, Not(HasSubstr("\nhover\n")));
  ui.hoverAt("stage.wrong", 2.5f / 12, 4.5f / 12);
  EXPECT_THAT(written(), HasSubstr("\nhover\n"));
  EXPECT_EQ(ui.scene().cursor, before);
  park();
  EXPECT_EQ(written(), selected);
}

TEST_F(Wrong, UsesRandomLayerWithoutText) {
  ui.choose("wrong.subject", "layer");
  ui.session().scene().setup.input.text = std::string();
  ui.draw();
  park();
  EXPECT_FALSE(page().study->question.snapshot);
  EXPECT_THAT(written(), AllOf(HasSubstr("No text yet:"), HasSubstr("on a random layer"),
                               Not(HasSubstr("on this layer"))));
  expectTidy("no text");
  ui.session().scene().setup.input.text = std::string("A text again .");
  ui.draw();
  EXPECT_THAT(written(), HasSubstr("on this layer")) << "what was chosen stays chosen";
  EXPECT_TRUE(page().study->question.snapshot);
}

/// With as many tokens as the head has dimensions, the product exists and is shown.
TEST_F(Wrong, UntransposedKeysAreShownIfShapesMatch) {
  std::string text;
  for (int i = 0; i < 32; ++i) text += fmt::format("w{} ", i);
  ui.session().scene().setup.input.text = text;
  ui.choose("wrong.subject", "layer").click("mistake.key_not_transposed");
  EXPECT_EQ(page().study->result.same, "");
  EXPECT_TRUE(ui.has("stage.wrong") && ui.has("stage.right"));
  EXPECT_THAT(written(), Not(HasSubstr("No difference here")));
  expectTidy("32 tokens of 32 dimensions");
}

/// Nothing has been computed from the scene's layer yet.
TEST(WrongFromTheStart, SelectsCellsOfRandomLayerWithoutText) {
  UiDriver ui(1920, 1080);
  ui.session().scene().setup.input.text = std::string();
  ui.session().scene().cursor.lab.tab = "mistakes";
  ui.key(static_cast<app::Key>('8')).clickAt("stage.wrong", 2.5f / 12, 4.5f / 12);
  EXPECT_EQ(ui.scene().cursor.cell.query, 4);
  EXPECT_EQ(ui.scene().cursor.cell.key, 2);
}

/// If a text is longer than fits, the page says which part is visible, and that part includes the query row.
TEST_F(Wrong, ReportsVisibleRowsOfLongText) {
  std::string text;
  for (int i = 0; i < 90; ++i) text += fmt::format("w{} ", i);
  app::Scene scene = ui.scene();
  scene.setup.input.text = text;
  scene.cursor.lab.subject = app::MistakeSubject::layer;
  for (const auto& [width, height] : {std::pair{1920, 1080}, {1280, 720}})
    for (const app::Index query : {0, 41, 89}) {
      ui.resize(width, height);
      choose(scene.cursor, {0, query, query / 2});
      ui.show(scene);
      park();
      expectTidy("90 tokens");
      const std::string words = written();
      std::smatch part;
      ASSERT_TRUE(std::regex_search(words, part, std::regex("rows (\\d+)–(\\d+) of 90, keys ")));
      EXPECT_LE(std::stoi(part[1]), query);
      EXPECT_GE(std::stoi(part[2]), query);
      EXPECT_GE(count(fmt::format("w{}", query)), 1) << "beside its row";
    }
  scene.setup.input.text = std::string("a short text");
  ui.show(scene);
  EXPECT_THAT(written(), Not(HasSubstr(", keys ")));
}

}  // namespace
}  // namespace headscope::test
