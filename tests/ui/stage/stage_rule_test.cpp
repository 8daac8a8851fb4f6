// The rule of the stage finds each kind of breach, on a page made for it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/platform/ui_state.h"
#include "app/widgets/heat_parts.h"
#include "app/widgets/panel.h"
#include "tests/support/page_check.h"

namespace headscope::test {
namespace {

using namespace app;

/// A picture above one line of words with its legend, and one breach.
class PlantedPage : public Page {
 public:
  explicit PlantedPage(PageServices& services) : view_(services.view) {}
  void draw(Scene&, const Layout& layout) override {
    if (beginPanel(view_, "planted", layout.center, 0, 0)) paint(layout.center);
    endPanel();
  }
  void ask(const Scene&) override {}
  PageStatus status(const Scene&) const override { return {}; }
  std::optional<std::string> error(const Scene&) const override { return std::nullopt; }
  static inline std::string breach;

 private:
  void paint(const ImRect& area) {
    Canvas list = *ImGui::GetWindowDrawList();
    const bool low = breach == "low", cropped = breach == "cropped", wordy = breach == "wordy";
    const float top = low ? 0.6f : cropped ? -0.1f : 0.1f;
    const float right = area.Max.x * (wordy ? 0.5f : 1);
    notePicture({area.Min.x, top * area.GetHeight(), right, 0.9f * area.GetHeight()},
                static_cast<int>(render::Colormap::magma));
    if (breach != "legend")
      paintLegendLine(view_, list, ImVec2(area.Max.x, area.Max.y - view_.px(12)), area.GetWidth() / 2,
                      {"weight", render::Colormap::magma, {"0", "", "1"}});
    const auto& fonts = ImGui::GetIO().Fonts->Fonts;
    const auto least = std::ranges::min_element(fonts, {}, [](ImFont* font) { return lineHeight(font); });
    say(list, breach == "small" ? *least : view_.fonts->small, 0.1f, "A line of words");
    if (breach == "over") say(list, view_.fonts->text, 0.12f, "Other words");
    if (breach == "cut") say(list, view_.fonts->text, 0.98f, "Words beyond the edge");
    if (breach == "shortened") say(list, view_.fonts->text, 0.5f, "Words without …");
    if (wordy)
      paintParagraph(list, view_.fonts->text, ImVec2(right + view_.px(10), 0.1f * area.GetHeight()),
                     area.GetWidth() * 0.45f, view_.theme->text, manyWords());
  }
  void say(Canvas list, ImFont* font, float x, const std::string& words) {
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    paintText(list, font, ImVec2(x * size.x, 0.05f * size.y), view_.theme->text, words);
  }
  static std::string manyWords() {
    std::string all;
    for (int i = 0; i < 170; ++i) all += "wordy ";
    return all;
  }
  View& view_;
};

std::vector<std::string> flawsOf(const std::string& breach) {
  PlantedPage::breach = breach;
  std::vector<PageRow> rows(pageTable().begin(), pageTable().end());
  rows.push_back({{"planted", "Planted", {static_cast<Key>('Y'), {}}, "Go to it", "", "Planted"},
                  [](PageServices& services) -> std::unique_ptr<Page> {
                    return std::make_unique<PlantedPage>(services);
                  }});
  UiDriver ui(1280, 720, 1, rows);
  ui.key(static_cast<Key>('Y'));
  ui.view().present = true;
  ui.draw().park().wait(2.5);
  return stageFlaws(ui);
}

TEST(StageRule, FindsEachBreach) {
  EXPECT_THAT(flawsOf(""), testing::IsEmpty());
  for (const auto& [breach, says] : {std::pair("low", "of the height"),
                                     {"cropped", "cropped"},
                                     {"legend", "no legend"},
                                     {"small", "pixels high"},
                                     {"over", "lies over"},
                                     {"cut", "reaches out"},
                                     {"shortened", "is shortened"},
                                     {"wordy", "of the area"}})
    EXPECT_THAT(flawsOf(breach), testing::Contains(testing::HasSubstr(says))) << breach;
}

}  // namespace
}  // namespace headscope::test
