// Number formatting: as in the settings on screen, with a decimal point in files.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <regex>

#include "app/pages/model/model_page.h"
#include "app/platform/ui_state.h"
#include "app/scene/links/link.h"
#include "app/scene/scene_json.h"
#include "app/scene/text/number_text.h"
#include "tests/support/matchers.h"
#include "tests/support/ui_driver.h"
#include "tests/ui/page_views.h"

namespace headscope::test {
namespace {

using app::Key;
using app::NumberStyle;

class Numbers : public testing::Test {
 protected:
  ~Numbers() override { app::setNumberStyle(NumberStyle::point); }
  void write(NumberStyle style) {
    ui.view().preferences.numbers = static_cast<std::uint8_t>(1 + static_cast<int>(style));
    ui.draw();
  }
  /// The texts of the frame that contain a fraction with that decimal mark.
  std::vector<std::string> fractions(char mark) {
    // "3.10" is head 10 of layer 3, "Llama 3.1 8B" a model's name, "a.json" a file's.
    static const std::regex kNames(R"(\b\d{1,2}\.\d{1,2}\b(?= |→|$)|[A-Z][A-Za-z-]*[ -]?\d\.\d)");
    std::vector<std::string> found;
    for (const app::DrawnText& text : app::uiState().texts) {
      const std::string words = mark == '.' ? std::regex_replace(text.text, kNames, "") : text.text;
      const std::regex fraction(mark == '.' ? R"(\d\.\d|^[−+]?\.\d)" : R"(\d,\d(?!\d\d(\D|$))|^[−+]?,\d)");
      if (std::regex_search(words, fraction)) found.push_back(text.text);
    }
    return found;
  }

  UiDriver ui{1280, 720};
};

TEST_F(Numbers, EveryViewUsesOneDecimalMark) {
  ui.request("model.learned");
  const app::Scene model = ui.scene();
  for (const bool present : {false, true})
    for (const PageView& view : pageViews()) {
      SCOPED_TRACE(view.name + (present ? ", presented" : ""));
      ui.view().present = present;
      ui.session().setScene(withView(view.cursor.page == "model" ? model : app::openingScene(), view));
      write(NumberStyle::point);
      EXPECT_THAT(fractions(','), IsEmpty());
      const std::size_t points = fractions('.').size();
      write(NumberStyle::comma);
      EXPECT_THAT(fractions('.'), IsEmpty());
      if (points > 3) {
        EXPECT_GT(fractions(',').size(), points / 2);
      }
    }
}

TEST_F(Numbers, TypingAcceptsPointAndComma) {
  for (const NumberStyle style : {NumberStyle::point, NumberStyle::comma, NumberStyle::space}) {
    write(style);
    for (const char* typed : {"12.5", "12,5"}) {
      ui.session().scene().setup.model.softcap = 0;
      ui.draw().typeValue("softcap", typed);
      EXPECT_EQ(ui.scene().setup.model.softcap, 12.5f) << typed;
    }
  }
}

TEST_F(Numbers, FilesAndLinksAlwaysUseThePoint) {
  app::Scene scene = app::openingScene();
  scene.setup.model.softcap = 12.5f;
  const std::string file = app::formatScene(scene);
  const auto link = app::linkTo(scene);
  ASSERT_TRUE(link.ok());
  write(NumberStyle::comma);
  EXPECT_EQ(app::formatScene(scene), file);
  EXPECT_EQ(*app::linkTo(scene), *link);
  ui.show(scene);
  const std::string formula = ui.snapshot().config.softcap > 0 ? "set" : "";
  EXPECT_EQ(formula, "set");
}

}  // namespace
}  // namespace headscope::test
