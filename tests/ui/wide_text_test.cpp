// Characters beyond U+FFFF: drawn where a font has them, told apart where none has.

#include <fontconfig/fontconfig.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/platform/ui_state.h"
#include "app/platform/wide_glyphs.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using ::testing::HasSubstr;

constexpr std::uint32_t kGrin = 0x1F600, kSmile = 0x1F603;

bool someFontHas(std::uint32_t code) {
  FcCharSet* const set = FcCharSetCreate();
  FcCharSetAddChar(set, code);
  FcPattern* const wanted = FcPatternCreate();
  FcPatternAddCharSet(wanted, FC_CHARSET, set);
  FcObjectSet* const asked = FcObjectSetBuild(FC_FILE, nullptr);
  FcFontSet* const found = FcFontList(nullptr, wanted, asked);
  const bool has = found && found->nfont > 0;
  FcFontSetDestroy(found);
  FcObjectSetDestroy(asked);
  FcPatternDestroy(wanted);
  FcCharSetDestroy(set);
  return has;
}

TEST(WideText, IsDrawnOrNumberedAndNeverMixedUp) {
  UiDriver ui;
  ui.session().scene().setup.input.text = "😀 😃 \U000F0000 a";
  ui.wait(0.3);
  const std::string grin = app::drawable("😀"), smile = app::drawable("😃");
  EXPECT_NE(grin, smile);
  const app::UiState& state = app::uiState();
  EXPECT_EQ(state.wide.contains(kGrin), someFontHas(kGrin));
  EXPECT_EQ(grin == "<1F600>", !someFontHas(kGrin)) << grin;
  EXPECT_EQ(smile == "<1F603>", !someFontHas(kSmile)) << smile;
  EXPECT_EQ(app::drawable("\U000F0000"), "<F0000>") << "a private-use character that no font has";
}

TEST(WideText, TwoTokensLookDifferent) {
  UiDriver ui;
  const auto picture = [&](const std::string& text) {
    ui.session().scene().setup.input.text = text;
    ui.wait(0.5);
    ui.park();
    return ui.screenshot();
  };
  const render::Image one = picture("😀 a 😀"), other = picture("😃 a 😃");
  const ImRect head = ui.find("head.0");
  const ImRect labels(head.Min.x - 60, head.Min.y, head.Min.x, head.Max.y);
  EXPECT_GT(pixelsApart(one, other, labels, 24), 4);
}

TEST(WideText, LeavesOutWhatDrawsNothingAndNumbersPrivateCharacters) {
  UiDriver ui;
  EXPECT_EQ(app::drawable("❤\uFE0F"), "❤");
  EXPECT_EQ(app::drawable("a\u200Db"), "ab");
  EXPECT_EQ(app::drawable("\uE000"), "<E000>");
  EXPECT_EQ(app::drawable("plain – text"), "plain – text");
  EXPECT_FALSE(app::needsStandIns("naïve 文字 ▶"));
}

}  // namespace
}  // namespace headscope::test
