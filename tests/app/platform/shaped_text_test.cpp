// Lines of text compared with HarfBuzz's own result for the same letters, using fonts from the test packages.

#include "app/platform/shaped_text.h"

#include <gtest/gtest.h>

#include "app/platform/fonts.h"
#include "tests/support/matchers.h"

namespace headscope::app {
namespace {

FoundFont fontFor(hb_script_t script) {
  FontFinder finder;
  finder.ask({script});
  finder.finish();
  std::vector<FoundFont> found = finder.take();
  return found.empty() ? FoundFont() : found.front();
}

/// HarfBuzz's glyphs and advances for the text, from left to right.
std::vector<std::pair<std::uint32_t, float>> shapedByHarfBuzz(const Typeface& typeface, float em,
                                                              const std::string& text, hb_script_t script,
                                                              hb_direction_t direction) {
  hb_buffer_t* const buffer = hb_buffer_create();
  hb_buffer_add_utf8(buffer, text.data(), static_cast<int>(text.size()), 0, -1);
  hb_buffer_set_script(buffer, script);
  hb_buffer_set_direction(buffer, direction);
  hb_shape(typeface.shapingFont(em), buffer, nullptr, 0);
  unsigned count = 0;
  const hb_glyph_info_t* infos = hb_buffer_get_glyph_infos(buffer, &count);
  const hb_glyph_position_t* positions = hb_buffer_get_glyph_positions(buffer, &count);
  std::vector<std::pair<std::uint32_t, float>> glyphs;
  float pen = 0;
  for (unsigned i = 0; i < count; ++i) {
    glyphs.emplace_back(infos[i].codepoint, pen + static_cast<float>(positions[i].x_offset) / 64);
    pen += static_cast<float>(positions[i].x_advance) / 64;
  }
  glyphs.emplace_back(0, pen);
  hb_buffer_destroy(buffer);
  return glyphs;
}

/// A font with ten pixels per Latin letter; everything else is from one typeface, which may be missing.
ShapingFont shapingFont(const Typeface* typeface) {
  return {20,
          [typeface](std::span<const std::uint32_t> codes, bool upright) -> FontChoice {
            if (upright && codes[0] < 0x180) return {};
            for (const std::uint32_t code : codes)
              if (!typeface || (!typeface->has(code) && !drawsNothing(code)))
                return {TextPiece::Kind::number};
            return {TextPiece::Kind::glyphs, typeface};
          },
          [](std::string_view text) { return 10 * static_cast<float>(text.size()); }};
}

class ShapedText : public ::testing::Test {
 protected:
  const Typeface* open(hb_script_t script) {
    const FoundFont found = fontFor(script);
    typeface_ = Typeface::open(found.bytes, found.index);
    EXPECT_TRUE(typeface_) << "the tests' packages have a font for it";
    return typeface_.get();
  }
  ShapedLine line(std::string_view text, Direction direction = Direction::label) const {
    return shapeLine(text, direction, shapingFont(typeface_.get()));
  }
  void expectAsHarfBuzz(const std::string& text, hb_script_t script, hb_direction_t direction) {
    const Typeface* typeface = open(script);
    ASSERT_TRUE(typeface);
    const ShapedLine shaped = line(text);
    const auto expected = shapedByHarfBuzz(*typeface, 20, text, script, direction);
    ASSERT_EQ(shaped.pieces.size(), 1u);
    const std::vector<ShapedGlyph>& glyphs = shaped.pieces[0].glyphs;
    ASSERT_EQ(glyphs.size() + 1, expected.size());
    for (std::size_t i = 0; i < glyphs.size(); ++i) {
      EXPECT_EQ(glyphs[i].glyph, expected[i].first) << i;
      EXPECT_FLOAT_EQ(glyphs[i].x, expected[i].second) << i;
    }
    EXPECT_FLOAT_EQ(shaped.width, expected.back().second);
  }
  std::unique_ptr<Typeface> typeface_;
};

TEST_F(ShapedText, JoinsArabicFromRightToLeft) {
  const std::string text = "سلام";
  expectAsHarfBuzz(text, HB_SCRIPT_ARABIC, HB_DIRECTION_RTL);
  hb_codepoint_t alone = 0;
  hb_font_get_nominal_glyph(typeface_->shapingFont(20), 0x633, &alone);
  EXPECT_NE(line(text).pieces[0].glyphs.back().glyph, alone) << "the first letter has its initial form";
}

TEST_F(ShapedText, ShapesDevanagariAndThai) {
  expectAsHarfBuzz("हिन्दी", HB_SCRIPT_DEVANAGARI, HB_DIRECTION_LTR);
  const ShapedLine hindi = line("हिन्दी");
  ASSERT_FALSE(hindi.clusters.empty());
  EXPECT_EQ(hindi.clusters.front().to, 6u) << "a vowel sign belongs to its consonant";
  expectAsHarfBuzz("ที่นี่", HB_SCRIPT_THAI, HB_DIRECTION_LTR);
  EXPECT_EQ(line("ที่นี่").clusters.size(), 2u) << "marks above belong to their consonant";
}

TEST_F(ShapedText, GlyphsNameTheirText) {
  open(HB_SCRIPT_ARABIC);
  const ShapedLine mixed = line("ab سلام");
  ASSERT_EQ(mixed.pieces.size(), 2u);
  EXPECT_EQ(mixed.pieces[0].to, 3u);
  EXPECT_EQ(mixed.pieces[1].from, 3u);
  EXPECT_EQ(mixed.pieces[1].to, mixed.text.size());
  EXPECT_EQ(mixed.pieces[1].glyphs.back().byte, 3u) << "the first letter is at the right";
  EXPECT_EQ(mixed.pieces[1].glyphs.front().byte, 9u);
}

TEST_F(ShapedText, OrdersHebrewWithLatinAndDigits) {
  open(HB_SCRIPT_HEBREW);
  const ShapedLine mixed = line("ab שלום 12");
  const auto leftOf = [&](std::size_t byte) { return mixed.clusters[byte].left; };
  // In a left-to-right sentence: ab, then the word from right to left, and the number after it on its left.
  EXPECT_LT(leftOf(0), leftOf(1));
  EXPECT_GT(leftOf(3), leftOf(4));
  EXPECT_GT(leftOf(4), leftOf(6));
  EXPECT_LT(leftOf(8), leftOf(6));
  EXPECT_LT(leftOf(8), leftOf(9)) << "digits run from left to right";
  const ShapedLine alone = line("שלום!");
  EXPECT_TRUE(alone.rightToLeft);
  EXPECT_EQ(alone.clusters.back().left, 0) << "what ends the sentence stands at its left";
  EXPECT_FALSE(line("ab").rightToLeft);
  EXPECT_TRUE(runsRightToLeft("שלום ab"));
  EXPECT_FALSE(runsRightToLeft("ab שלום"));
}

TEST_F(ShapedText, CaretPositionsRoundTrip) {
  open(HB_SCRIPT_ARABIC);
  for (const std::string text : {"سلام", "لا إله", "ab سلام cd", "abc"}) {
    const ShapedLine shaped = line(text, Direction::leftToRight);
    std::size_t at = 0;
    for (const TextCluster& cluster : shaped.clusters) {
      EXPECT_EQ(cluster.from, at) << text << ": clusters tile the text";
      at = cluster.to;
      EXPECT_EQ(shaped.caretAt(cluster.from), cluster.rightToLeft ? cluster.right : cluster.left);
      const float quarter = (cluster.right - cluster.left) / 4;
      EXPECT_EQ(shaped.byteAt(cluster.left + quarter), cluster.rightToLeft ? cluster.to : cluster.from);
      EXPECT_EQ(shaped.byteAt(cluster.right - quarter), cluster.rightToLeft ? cluster.from : cluster.to);
    }
    EXPECT_EQ(at, text.size());
  }
  const ShapedLine salam = line("سلام");
  EXPECT_EQ(salam.caretAt(0), salam.width) << "text from right to left begins at the right";
  EXPECT_EQ(salam.caretAt(8), 0);
}

TEST_F(ShapedText, LettersShareALigature) {
  open(HB_SCRIPT_ARABIC);
  const ShapedLine ligature = line("لا");
  ASSERT_EQ(ligature.clusters.size(), 2u);
  EXPECT_FLOAT_EQ(ligature.clusters[0].left, ligature.clusters[1].right);
  EXPECT_GT(ligature.clusters[0].right, ligature.clusters[0].left);
  EXPECT_GT(ligature.clusters[1].right, ligature.clusters[1].left);
}

TEST_F(ShapedText, UnsupportedCharactersShowAsCodepoints) {
  const ShapedLine thai = line("ที่a");
  ASSERT_EQ(thai.pieces.size(), 2u);
  EXPECT_EQ(thai.pieces[0].text, "<E17><E35><E48>");
  EXPECT_EQ(thai.pieces[1].text, "a");
  EXPECT_THAT(thai.clusters, ::testing::SizeIs(2));
  const ShapedLine family = line("👩‍👩‍👧");
  EXPECT_EQ(family.clusters.size(), 1u);
  EXPECT_EQ(family.pieces[0].text, "<1F469><1F469><1F467>");
  EXPECT_EQ(line("❤\uFE0F").pieces[0].text, "<2764>");
}

TEST_F(ShapedText, ClustersTileAnyBytes) {
  open(HB_SCRIPT_ARABIC);
  std::uint32_t dice = 7;
  for (int round = 0; round < 400; ++round) {
    std::string text;
    for (int i = 0; i < 12; ++i) {
      dice = dice * 1664525 + 1013904223;
      static const std::string kPieces[] = {"ل",      "ا",      "ש",      "a",    " ", "1",
                                            "\u200D", "\u202E", "\u0301", "\xF0", "(", "👩"};
      text += kPieces[(dice >> 20) % std::size(kPieces)];
    }
    const ShapedLine shaped = line(text);
    std::size_t at = 0;
    for (const TextCluster& cluster : shaped.clusters) {
      ASSERT_EQ(cluster.from, at);
      ASSERT_LE(cluster.left, cluster.right);
      at = cluster.to;
    }
    ASSERT_EQ(at, text.size());
    for (std::size_t byte = 0; byte < text.size(); ++byte) {
      ASSERT_GT(nextCluster(text, byte), byte);
      ASSERT_LE(previousCluster(text, byte), byte);
    }
  }
}

TEST(FontFinder, FindsFontsForScripts) {
  const FoundFont thai = fontFor(HB_SCRIPT_THAI), deva = fontFor(HB_SCRIPT_DEVANAGARI);
  EXPECT_TRUE(Typeface::open(thai.bytes, thai.index)->has(0xE17)) << thai.path;
  EXPECT_TRUE(Typeface::open(deva.bytes, deva.index)->has(0x939)) << deva.path;
  EXPECT_EQ(scriptName(HB_SCRIPT_THAI), "Thai");
}

}  // namespace
}  // namespace headscope::app
