// No sentence uses a plural for a count of one.

#include <gtest/gtest.h>

#include <regex>

#include "app/platform/ui_state.h"
#include "app/scene/fields.h"
#include "tests/support/ui_driver.h"
#include "tests/ui/page_views.h"

namespace headscope::test {
namespace {

/// Finds "1 tokens" and "1 kv heads", but not "21 tokens" or the second side of "1 × 1 tokens".
bool speaksOfSeveral(const std::string& text) {
  static const std::regex several(
      "(^|[^0-9.,×] |[(])1 ([a-z]+ )?"
      "(tokens|heads|keys|queries|layers|words|rows|columns|cells|requests|blocks|steps|tensors|positions|"
      "dimensions|texts|lines|answers|pairs|bytes|values|numbers|products|sequences|minutes|bits|entries)"
      "\\b");
  return std::regex_search(text, several);
}

TEST(Counts, CountOfOneIsNeverPlural) {
  app::Scene one = app::openingScene();
  one.setup.input.text = "alone";
  one.setup.model.heads = one.setup.model.kvHeads = one.setup.model.headDim = 1;
  one.setup.model.linked = false;
  one.setup.model.position = app::PositionKind::none;
  one.setup.weights.source = app::WeightSource::random;
  one.cost.cache.budget = 1;
  ASSERT_TRUE(app::validate(one).ok()) << app::validate(one).error().message;
  UiDriver ui;
  app::uiState().watches = true;
  for (const PageView& view : pageViews()) {
    ui.show(withView(one, view)).frames(2);
    EXPECT_FALSE(app::uiState().texts.empty()) << view.name;
    for (const app::DrawnText& text : app::uiState().texts)
      EXPECT_FALSE(speaksOfSeveral(text.text)) << view.name << ": " << text.text;
  }
}

TEST(Counts, CheckDetectsPluralsAfterOne) {
  for (const char* text : {"1 tokens", "of 1 tokens", "(1 kv heads)", "all 1 layers"})
    EXPECT_TRUE(speaksOfSeveral(text)) << text;
  for (const char* text : {"21 tokens", "0.1 tokens", "1 token", "4 × 1 tokens", "1,001 tokens"})
    EXPECT_FALSE(speaksOfSeveral(text)) << text;
}

}  // namespace
}  // namespace headscope::test
