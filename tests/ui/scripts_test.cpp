// Text in all scripts: shaped, in its writing direction, edited by whole clusters, and never rebuilding the
// atlas.

#include <gtest/gtest.h>

#include "app/platform/ui_state.h"
#include "app/widgets/paint.h"
#include "tests/support/matchers.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Direction;
using app::Key;
using app::TextPiece;

std::shared_ptr<const app::ShapedLine> lineOf(UiDriver& ui, const std::string& text) {
  return app::uiState().typesetter.line(ui.view().fonts->monoSmall, text);
}

bool hasKind(const app::ShapedLine& line, TextPiece::Kind kind) {
  return std::ranges::any_of(line.pieces, [&](const TextPiece& piece) { return piece.kind == kind; });
}

float caret(UiDriver& ui) {
  ui.frames(1);
  return ui.find("caret").Min.x;
}

TEST(Scripts, PlainTextSkipsTheTypesetter) {
  UiDriver ui;
  ui.draw();
  const app::Typesetter& typesetter = app::uiState().typesetter;
  const std::size_t kept = typesetter.linesKept();
  EXPECT_LT(kept, 8u) << "the lines of the text box";
  ui.frames(10);
  EXPECT_EQ(typesetter.linesKept(), kept);
  EXPECT_TRUE(app::Typesetter::isPlain(ui.view().fonts->text, "naïve – ∞ café"));
  EXPECT_FALSE(app::Typesetter::isPlain(ui.view().fonts->text, "नमस्ते"));
}

TEST(Scripts, NewCharactersKeepTheAtlas) {
  UiDriver ui;
  ui.draw();
  const ImFont* const font = ui.view().fonts->text;
  const int glyphs = font->Glyphs.Size;
  const ImTextureID texture = ImGui::GetIO().Fonts->TexID;
  ui.replaceText("text", "שלום سلام हिन्दी ไทย 文字 😀");
  EXPECT_EQ(ui.view().fonts->text, font);
  EXPECT_EQ(font->Glyphs.Size, glyphs);
  EXPECT_EQ(ImGui::GetIO().Fonts->TexID, texture);
}

TEST(Scripts, ShowsPlaceholderUntilTheFontIsFound) {
  UiDriver ui;
  ui.draw();
  const auto first = lineOf(ui, "ไทย");
  EXPECT_TRUE(hasKind(*first, TextPiece::Kind::awaited));
  EXPECT_GT(first->width, 0);
  ui.draw();
  const auto then = lineOf(ui, "ไทย");
  EXPECT_TRUE(hasKind(*then, TextPiece::Kind::glyphs));
  EXPECT_FALSE(hasKind(*then, TextPiece::Kind::number));
}

TEST(Scripts, ChipWidthsMatchTheShapedText) {
  UiDriver ui;
  ui.replaceText("text", "سلام हिन्दी ไทย שלום");
  for (const auto& token : ui.sequence().queries) {
    EXPECT_EQ(app::textWidth(ui.view().fonts->monoSmall, token.text), lineOf(ui, token.text)->width);
    EXPECT_FALSE(hasKind(*lineOf(ui, token.text), TextPiece::Kind::number)) << token.text;
  }
  EXPECT_LT(lineOf(ui, "سلام")->width,
            lineOf(ui, "س")->width + lineOf(ui, "ل")->width + lineOf(ui, "ا")->width + lineOf(ui, "م")->width)
      << "joined letters are narrower than the same alone";
}

TEST(Scripts, EmojiFamilyIsOneCluster) {
  UiDriver ui;
  ui.replaceText("text", "a 👩‍👩‍👧");
  EXPECT_EQ(lineOf(ui, "👩‍👩‍👧")->clusters.size(), 1u);
  ui.click("text").key(Key::end, kCtrl).key(Key::backspace);
  EXPECT_EQ(ui.scene().setup.input.text, "a ") << "it goes as a whole";
}

TEST(Scripts, PrivateUseCharactersAreShownByNumber) {
  UiDriver ui;
  ui.session().scene().setup.input.text = "\uE000 \U000F0000 \u200D";
  ui.draw();
  EXPECT_EQ(lineOf(ui, "\uE000")->pieces[0].text, "<E000>");
  EXPECT_EQ(lineOf(ui, "\U000F0000")->pieces[0].text, "<F0000>");
  EXPECT_EQ(lineOf(ui, "a\u200Db")->width, lineOf(ui, "ab")->width);
}

TEST(Scripts, ReportsEmojiWithoutAFont) {
  UiDriver ui;
  ui.session().scene().setup.input.text = "a 🚀";
  ui.draw();
  if (!hasKind(*lineOf(ui, "🚀"), TextPiece::Kind::number)) GTEST_SKIP() << "this machine has a font for it";
  EXPECT_EQ(ui.view().messages.notice, "No installed font has these emoji. Tokens are shown by number.");
}

TEST(Scripts, ReportsAScriptWithoutAFontOnce) {
  UiDriver ui;
  const std::pair<hb_script_t, std::string> scripts[] = {{HB_SCRIPT_EGYPTIAN_HIEROGLYPHS, "𓀀𓁐"},
                                                         {HB_SCRIPT_YI, "ꀀꀁ"},
                                                         {HB_SCRIPT_GOTHIC, "𐌰𐌱"},
                                                         {HB_SCRIPT_TIBETAN, "བོད"}};
  for (const auto& [script, text] : scripts) {
    ui.replaceText("text", "plain");
    ui.view().messages.clear();
    ui.session().scene().setup.input.text = text;
    ui.draw();
    if (!hasKind(*lineOf(ui, text), TextPiece::Kind::number)) continue;  // this machine has a font for it
    const std::string name(app::scriptName(script));
    EXPECT_EQ(ui.view().messages.notice, "No installed font has " + name + ". Tokens are shown by number.");
    ui.click("text").type("x");
    EXPECT_THAT(ui.view().messages.notice, ::testing::HasSubstr(name)) << "typing on doesn't hide it";
    ui.view().messages.clear();
    ui.session().scene().setup.input.text = text + text;
    ui.draw();
    EXPECT_EQ(ui.view().messages.notice, "") << "said once";
    return;
  }
  GTEST_SKIP() << "fonts for all of these scripts are installed";
}

/// A glyph that is larger than a page of the sheet would empty it in every frame.
TEST(Scripts, GlyphsLargerThanASheetAreDrawn) {
  UiDriver ui;
  ui.draw();
  app::Typesetter& typesetter = app::uiState().typesetter;
  const auto line = lineOf(ui, "﷽");
  const auto piece = std::ranges::find(line->pieces, TextPiece::Kind::glyphs, &TextPiece::kind);
  if (piece == line->pieces.end()) GTEST_SKIP() << "no font has the sign";
  auto& sheet = const_cast<app::GlyphSheet&>(typesetter.sheet());
  const std::uint64_t starts = sheet.starts();
  float width = 0;
  for (const float em : {100.0f, 400.0f}) {
    const app::GlyphImage& image = sheet.find(*piece->typeface, piece->glyphs.front().glyph, em, 0);
    EXPECT_NE(image.texture, 0u);
    EXPECT_LE(std::max(image.to.x, image.to.y), 1);
    if (width > 0) {
      EXPECT_NEAR(image.width / width, 4, 0.1f);
    }
    width = image.width;
  }
  sheet.beginFrame();
  EXPECT_EQ(sheet.starts(), starts);
}

TEST(TextBox, RightToLeftTextStartsAtTheRight) {
  UiDriver ui;
  ui.replaceText("text", "שלום עולם");
  const ImRect box = ui.find("text");
  ui.key(Key::home, kCtrl);
  const float first = caret(ui);
  EXPECT_GT(first, box.GetCenter().x);
  ui.key(Key::left);
  const float second = caret(ui);
  EXPECT_LT(second, first) << "left goes left, which is on";
  ui.type("ב");
  EXPECT_EQ(ui.scene().setup.input.text, "שבלום עולם");
  ui.key(Key::end, kCtrl);
  EXPECT_LT(caret(ui), second);
  // A click at the caret's position puts it there.
  ui.key(Key::home, kCtrl).key(Key::left).key(Key::left);
  const float third = caret(ui);
  ui.key(Key::end, kCtrl).clickAt("text", (third - box.Min.x) / box.GetWidth(), 0.2f);
  EXPECT_EQ(caret(ui), third);
  EXPECT_EQ(ui.view().edit.caret, 4u);
}

TEST(TextBox, MovesSelectsAndErasesWholeClusters) {
  UiDriver ui;
  ui.replaceText("text", "हिन्दी").key(Key::home, kCtrl).key(Key::right);
  EXPECT_EQ(ui.view().edit.caret, 6u) << "behind the consonant and its vowel";
  ui.key(Key::home, kCtrl).key(Key::del);
  EXPECT_EQ(ui.scene().setup.input.text, std::string("हिन्दी").substr(6));
  ui.replaceText("text", "e\u0301x").key(Key::home, kCtrl).key(Key::right, {.shift = true});
  EXPECT_EQ(ui.view().edit.selection(), std::make_pair(std::size_t{0}, std::size_t{3}));
}

TEST(TextBox, SupportsEditorKeys) {
  UiDriver ui;
  ui.replaceText("text", "one two\nthree").key(Key::home, kCtrl).key(Key::right, kCtrl);
  EXPECT_EQ(ui.view().edit.caret, 4u);
  ui.key(Key::down);
  EXPECT_GT(ui.view().edit.caret, 8u);
  ui.key(Key::home);
  EXPECT_EQ(ui.view().edit.caret, 8u);
  ui.key(Key::end, {.shift = true}).chord(kCtrl, Key::x);
  EXPECT_EQ(ui.scene().setup.input.text, "one two\n");
  ui.key(Key::home, kCtrl).chord(kCtrl, Key::v);
  EXPECT_EQ(ui.scene().setup.input.text, "threeone two\n");
  ui.key(Key::backspace, kCtrl);
  EXPECT_EQ(ui.scene().setup.input.text, "one two\n");
  ui.doubleClick("text").chord(kCtrl, Key::a).type("x");
  EXPECT_EQ(ui.scene().setup.input.text, "x");
}

TEST(TextBox, WrapsWordsWiderThanTheBox) {
  UiDriver ui;
  std::string thai;
  for (int i = 0; i < 40; ++i) thai += "ภาษาไทย";
  ui.replaceText("text", thai);
  EXPECT_EQ(ui.scene().setup.input.text, thai);
  const ImRect box = ui.find("text");
  ui.key(Key::end, kCtrl);
  EXPECT_LT(caret(ui), box.Max.x);
  EXPECT_GT(ui.find("caret").Min.y, box.Min.y + 20) << "it is on another line";
}

}  // namespace
}  // namespace headscope::test
