// Glossary entries appear where their terms are: at sliders and in lessons.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/platform/ui_state.h"
#include "app/scene/text/manual.h"
#include "tests/ui/lessons/lessons_support.h"

namespace headscope::test {
namespace {

TEST(GlossaryOnScreen, SliderHelpExplainsItsTerm) {
  UiDriver ui;
  ui.draw();
  ASSERT_TRUE(ui.view().glossary);
  app::uiState().watches = true;
  const ImRect slider = ui.find("kv_heads");
  ui.moveTo(slider.Min.x + 8, (slider.Min.y + slider.Max.y) / 2).wait(1);
  EXPECT_TRUE(ui.draw().says("A head's keys and values"));
}

TEST_F(Lessons, ExplainBoldTerms) {
  open("from_words_to_numbers", 1);
  ui.draw();
  ASSERT_TRUE(ui.has("term.embedding"));
  app::uiState().watches = true;
  const ImRect term = ui.find("term.embedding");
  ui.moveTo(term.GetCenter().x, term.GetCenter().y);
  EXPECT_TRUE(ui.draw().says("embedding: The vector of a token before the first layer."));
}

}  // namespace
}  // namespace headscope::test
