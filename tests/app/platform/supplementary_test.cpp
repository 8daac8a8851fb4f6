#include "app/platform/supplementary.h"

#include <gtest/gtest.h>

#include "attention/text/tokenizer.h"
#include "tests/app/scene/random_scene.h"

namespace headscope::app {
namespace {

using test::Dice;

constexpr std::uint32_t kSurrogatesFrom = 0xD800, kSurrogatesTo = 0xDFFF, kPrivateFrom = 0xE000,
                        kPrivateTo = 0xF8FF;

bool isSurrogate(std::uint32_t code) {
  return code >= kSurrogatesFrom && code <= kSurrogatesTo;
}
bool isPrivate(std::uint32_t code) {
  return code >= kPrivateFrom && code <= kPrivateTo;
}

std::string utf8(std::uint32_t code) {
  std::string text;
  appendUtf8(text, code);
  return text;
}

/// Whether every character of `text` is one that a 16-bit editor can hold: three bytes of UTF-8 or fewer.
bool isEditable(const std::string& text) {
  for (const char byte : text)
    if (static_cast<unsigned char>(byte) >= 0xF0) return false;
  return attention::validateUtf8(text).ok();
}

void expectRoundTrip(StandIns& standIns, const std::string& text) {
  const std::string editable = standIns.toEditable(text);
  EXPECT_TRUE(isEditable(editable)) << text;
  EXPECT_EQ(standIns.fromEditable(editable), text);
}

constexpr int kRoom = 6400;

TEST(AppendUtf8, WritesWhatTheTokenizerAccepts) {
  for (std::uint32_t code = 1; code <= 0x10FFFF; code += code < 0x3000 ? 1 : 97) {
    if (isSurrogate(code)) continue;
    EXPECT_TRUE(attention::validateUtf8(utf8(code)).ok()) << code;
    EXPECT_EQ(utf8(code).size(), code < 0x80 ? 1u : code < 0x800 ? 2u : code < 0x10000 ? 3u : 4u) << code;
  }
  EXPECT_EQ(utf8(0x1F98A), "🦊");
  EXPECT_EQ(utf8(0x20AC), "€");
}

TEST(Supplementary, LeavesTheRestOfUnicodeAlone) {
  StandIns standIns;
  std::string all;
  for (std::uint32_t code = 1; code <= 0xFFFF; ++code) {
    if (isSurrogate(code) || isPrivate(code)) continue;
    ASSERT_EQ(standIns.editableCharacter(code), code);
    appendUtf8(all, code);
  }
  EXPECT_EQ(standIns.toEditable(all), all);
  EXPECT_EQ(standIns.fromEditable(all), all);
}

TEST(Supplementary, GivesEmojiAndRareIdeographsBack) {
  StandIns standIns;
  expectRoundTrip(standIns, "");
  expectRoundTrip(standIns,
                  "a fox 🦊 and a family 👩‍👩‍👧‍👦 in 🇨🇦, 𠮷野家, 𝔄𝔟𝔠");
  expectRoundTrip(standIns, std::string("nul\0🦊", 8));
  expectRoundTrip(standIns, utf8(0x10000) + utf8(0x10FFFF));
}

/// Fonts of icons use the private use area; such a character must not come back as somebody's emoji.
TEST(Supplementary, KeepsPrivateUseCharactersApart) {
  StandIns standIns;
  const std::string fox = standIns.toEditable("🦊");
  expectRoundTrip(standIns, utf8(kPrivateFrom) + "🦊" + utf8(kPrivateTo));
  expectRoundTrip(standIns, fox);
  EXPECT_EQ(standIns.fromEditable(fox), "🦊");
  EXPECT_EQ(standIns.toEditable("🦊"), fox) << "a character keeps its stand-in";
  // The fox has taken the place of one of them.
  for (std::uint32_t code = kPrivateFrom; code < kPrivateTo - 1; ++code)
    expectRoundTrip(standIns, utf8(code));
}

/// Past the last stand-in a character is lost, but nothing that came before is.
TEST(Supplementary, FillsUp) {
  StandIns standIns;
  std::string all;
  for (std::uint32_t i = 0; i < kRoom; ++i) appendUtf8(all, 0x10000 + i);
  expectRoundTrip(standIns, all);
  EXPECT_EQ(standIns.fromEditable(standIns.toEditable("🦊")), utf8(0xFFFD));
  expectRoundTrip(standIns, all);
}

TEST(Supplementary, RoundTripsAnyText) {
  StandIns standIns;
  Dice dice(3);
  std::vector<std::uint32_t> rare;
  for (int i = 0; i < kRoom; ++i) rare.push_back(static_cast<std::uint32_t>(dice.between(0x10000, 0x10FFFF)));
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (Index i = dice.between(1, 60); i > 0; --i) {
      std::uint32_t code =
          dice.coin() ? dice.pick(rare) : static_cast<std::uint32_t>(dice.between(0, 0xD7FF));
      appendUtf8(text, code);
    }
    expectRoundTrip(standIns, text);
  }
}

/// Text that is no UTF-8 may change, but is never read past its end.
TEST(Supplementary, SurvivesBrokenText) {
  StandIns standIns;
  Dice dice(4);
  for (const char* broken : {"\xF0", "\xF0\x9F", "\xF0\x9F\xA6", "\xFF", "\x80", "\xE2\x82", "\xC3"}) {
    const std::string exact(broken);
    EXPECT_LE(standIns.fromEditable(standIns.toEditable(exact)).size(), 4 * exact.size());
  }
  for (int round = 0; round < 200; ++round) {
    std::string bytes(static_cast<std::size_t>(dice.between(1, 12)), ' ');
    for (char& byte : bytes) byte = static_cast<char>(dice.between(0x70, 0xDF));
    standIns.toEditable(bytes);
    standIns.fromEditable(bytes);
  }
}

}  // namespace
}  // namespace headscope::app
