#include "attention/text/tokenizer.h"

#include <gtest/gtest.h>

#include <chrono>

#include "attention/text/unicode.h"
#include "tests/support/matchers.h"

namespace headscope::attention::test {
namespace {

using namespace std::string_literals;

/// The texts of a batch, one line per sequence.
std::vector<std::vector<std::string>> texts(std::string_view text, Tokenization how) {
  std::vector<std::vector<std::string>> lines;
  const auto batch = checked(tokenize(text, how));
  for (const auto& tokens : *batch) {
    lines.emplace_back();
    for (const Token& token : tokens) lines.back().push_back(token.text);
  }
  return lines;
}

std::vector<std::string> oneLine(std::string_view text, Tokenization how = Tokenization::words) {
  const auto lines = texts(text, how);
  EXPECT_EQ(lines.size(), 1u) << text;
  return lines.empty() ? std::vector<std::string>{} : lines.front();
}

TEST(Tokenizer, WordsKeepInnerApostrophesAndHyphens) {
  EXPECT_THAT(oneLine("The animal didn't cross the street because it was too tired ."),
              ElementsAre("The", "animal", "didn't", "cross", "the", "street", "because", "it", "was", "too",
                          "tired", "."));
  EXPECT_THAT(oneLine("it's state-of-the-art, isn’t it?"),
              ElementsAre("it's", "state-of-the-art", ",", "isn’t", "it", "?"));
  EXPECT_THAT(oneLine("'quoted' a--b -5 dogs'"),
              ElementsAre("'", "quoted", "'", "a", "-", "-", "b", "-", "5", "dogs", "'"));
}

TEST(Tokenizer, WordsMayContainDigitsAndUnderscores) {
  EXPECT_THAT(oneLine("snake_case x2 _ 3.14"), ElementsAre("snake_case", "x2", "_", "3.14"));
}

TEST(Tokenizer, DecimalPointBelongsToNumber) {
  EXPECT_THAT(oneLine("pi is 3.14. Really 3."), ElementsAre("pi", "is", "3.14", ".", "Really", "3", "."));
  EXPECT_THAT(oneLine("v1.2.3 a.5 .5 5.a 3..4"),
              ElementsAre("v1.2.3", "a", ".", "5", ".", "5", "5", ".", "a", "3", ".", ".", "4"));
}

TEST(Tokenizer, DecimalPointIsNotASeparator) {
  for (const Tokenization how : {Tokenization::characters, Tokenization::bytes}) {
    const auto tokens = tokenize("3.1.", how)->front();
    ASSERT_EQ(tokens.size(), 4u);
    EXPECT_FALSE(tokens[1].separator);
    EXPECT_TRUE(tokens[3].separator);
  }
}

TEST(Tokenizer, SplitsWordsInOtherScripts) {
  EXPECT_THAT(oneLine("Ärger über naïve café"), ElementsAre("Ärger", "über", "naïve", "café"));
  EXPECT_THAT(oneLine("Привет, мир"), ElementsAre("Привет", ",", "мир"));
  EXPECT_THAT(oneLine("cafe\u0301s"), ElementsAre("cafe\u0301s")) << "a combining accent is inside the word";
  EXPECT_THAT(oneLine("我爱 AI。かな"), ElementsAre("我", "爱", "AI", "。", "か", "な"));
  EXPECT_THAT(oneLine("한국어 문장"), ElementsAre("한국어", "문장")) << "Korean is written with spaces";
  EXPECT_THAT(oneLine("a→b 👍🏽!"), ElementsAre("a", "→", "b", "👍🏽", "!"));
}

TEST(Tokenizer, WordsSkipInvisibleCharacters) {
  EXPECT_THAT(oneLine("a\u00A0b\u3000c\u200Bd\te"), ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_THAT(oneLine("\uFEFFword"), ElementsAre("word"));
}

TEST(Tokenizer, CharactersKeepMarksWithTheirBase) {
  EXPECT_THAT(oneLine("e\u0301a b", Tokenization::characters), ElementsAre("e\u0301", "a", "␣", "b"));
  EXPECT_THAT(oneLine("👩‍👩‍👧x🇩🇪🇫🇷", Tokenization::characters),
              ElementsAre("👩‍👩‍👧", "x", "🇩🇪", "🇫🇷"));
  EXPECT_THAT(oneLine("👍🏽❤️", Tokenization::characters), ElementsAre("👍🏽", "❤️"));
  EXPECT_THAT(oneLine("\u0301a", Tokenization::characters), ElementsAre("\u0301", "a"));
  EXPECT_THAT(oneLine("日本", Tokenization::characters), ElementsAre("日", "本"));
  EXPECT_THAT(oneLine("a\u200Eb", Tokenization::characters), ElementsAre("a", "<200E>", "b"));
}

/// What a reader perceives as one character is one token (Unicode Standard Annex 29).
TEST(Tokenizer, CharactersAreGraphemeClusters) {
  const std::vector<std::string> clusters = {"क\u0947",  // Devanagari: a letter and its vowel sign
                                             "ਕ\u0A3E",  // Gurmukhi, whose vowel sign is next to the letter
                                             "ก\u0E33",  // Thai sara am
                                             "\u1112\u1161\u11AB",  // a Hangul syllable in its three letters
                                             "e\u0302\u0301",       // two accents
                                             "1\uFE0F\u20E3",       // a keycap
                                             "🏴󠁧󠁢󠁳󠁣󠁴󠁿",  // Scotland's flag: tags
                                             "🧑🏽‍🚀",               // a profession with a skin tone
                                             "❤️‍🔥",
                                             "🇺🇳"};
  for (const std::string& cluster : clusters) {
    EXPECT_THAT(oneLine("a" + cluster + "b", Tokenization::characters), ElementsAre("a", cluster, "b"));
    EXPECT_THAT(oneLine(cluster, Tokenization::words), ElementsAre(cluster));
  }
  EXPECT_THAT(oneLine("co\u00ADop", Tokenization::characters), ElementsAre("c", "o", "<AD>", "o", "p"));
  EXPECT_THAT(oneLine(" \u0301", Tokenization::characters), ElementsAre("␣", "\u0301"))
      << "a mark on a space would not be seen";
}

TEST(Tokenizer, SoftHyphensDoNotSplitWords) {
  EXPECT_THAT(oneLine("co\u00ADop end\u00AD"), ElementsAre("co\u00ADop", "end"));
}

TEST(Tokenizer, WordsKeepMarksInEveryScript) {
  // Vocalised Syriac, Balinese and Tibetan, with marks that carry the sound.
  for (const char* word : {"ܫܠ\u0733ܡ\u0733ܐ", "ᬩ\u1B32\u1B44ᬮᬶ", "བ\u0F7Cད"})
    EXPECT_THAT(oneLine(word), ElementsAre(word));
  EXPECT_THAT(oneLine("नमस्ते।"), ElementsAre("नमस्ते", "।"));
}

TEST(Tokenizer, BytesModeGivesOneTokenPerByte) {
  EXPECT_THAT(oneLine("aé \x7F", Tokenization::bytes), ElementsAre("a", "<C3>", "<A9>", "␣", "<7F>"));
}

TEST(Tokenizer, EscapesControlCharactersAndZeroBytes) {
  const std::string text = "a\0b\x1B"s;
  for (const Tokenization how : {Tokenization::words, Tokenization::characters, Tokenization::bytes}) {
    EXPECT_THAT(oneLine(text, how), ElementsAre("a", "<00>", "b", "<1B>"));
  }
  EXPECT_THAT(oneLine("a\tb", Tokenization::characters), ElementsAre("a", "<09>", "b"));
}

TEST(Tokenizer, EveryLineIsASequence) {
  for (const Tokenization how : {Tokenization::words, Tokenization::characters, Tokenization::bytes}) {
    EXPECT_THAT(texts("a\nb\r\nc\rd\n", how),
                ElementsAre(ElementsAre("a"), ElementsAre("b"), ElementsAre("c"), ElementsAre("d")));
    EXPECT_THAT(texts("", how), IsEmpty());
    EXPECT_THAT(texts("\n\r\n\n", how), IsEmpty());
    EXPECT_THAT(texts("\n\na\n\n\nb", how), ElementsAre(ElementsAre("a"), ElementsAre("b")));
  }
  EXPECT_THAT(texts("  \n\t\na", Tokenization::words), ElementsAre(ElementsAre("a")));
  EXPECT_THAT(texts(" \na", Tokenization::characters), ElementsAre(ElementsAre("␣"), ElementsAre("a")));
}

TEST(Tokenizer, SeparatorsArePunctuation) {
  const auto batch = checked(tokenize("Well , (yes) — no。 a_b + $ 👍", Tokenization::words));
  std::string separators;
  for (const Token& token : batch->front()) {
    if (token.separator) separators += token.text;
  }
  EXPECT_EQ(separators, ",()—。");
}

struct BadText {
  std::string text;
  std::vector<std::string> says;
};

TEST(Tokenizer, ReportsInvalidUtf8WithOffset) {
  const std::vector<BadText> table = {
      {"abc\xFFz", {"0xFF", "offset 3", "never occurs"}},
      {"\x80", {"0x80", "offset 0", "continues"}},
      {"é\xC3(", {"0xC3", "offset 2", "incomplete"}},
      {"a\xE2\x82", {"0xE2", "offset 1", "incomplete"}},
      {"\xC0\xAF", {"0xC0", "offset 0", "overlong"}},
      {"\xE0\x80\x80", {"0xE0", "offset 0", "overlong"}},
      {"x\xED\xA0\x80", {"0xED", "offset 1", "surrogate"}},
      {"\xF4\x90\x80\x80", {"0xF4", "offset 0", "U+10FFFF"}},
      {"\xF8\x88\x80\x80\x80", {"0xF8", "offset 0", "never occurs"}},
  };
  for (const BadText& bad : table) {
    for (const Tokenization how : {Tokenization::words, Tokenization::characters, Tokenization::bytes}) {
      const auto batch = tokenize(bad.text, how);
      ASSERT_FALSE(batch.ok()) << testing::PrintToString(bad.text);
      for (const std::string& part : bad.says) EXPECT_THAT(batch.error().message, HasSubstr(part));
    }
  }
}

TEST(Tokenizer, AcceptsWellFormedUtf8) {
  for (const std::string& text : {""s, "\0"s, "\x7F"s, "\u0080"s, "\u07FF"s, "\u0800"s, "\uD7FF"s, "\uE000"s,
                                  "\uFFFF"s, "\U00010000"s, "\U0010FFFF"s}) {
    EXPECT_TRUE(validateUtf8(text).ok()) << testing::PrintToString(text);
  }
}

TEST(Tokenizer, Utf8RoundTripsEveryCodePoint) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    std::string text;
    appendUtf8(c, text);
    const DecodedCodePoint decoded = decodeUtf8(text, 0);
    ASSERT_EQ(decoded.fault, nullptr) << static_cast<unsigned>(c);
    ASSERT_EQ(decoded.value, c);
    ASSERT_EQ(decoded.length, text.size());
  }
}

TEST(Tokenizer, IdentityIgnoresCaseInEveryScript) {
  const auto identity = [](const char* text) { return tokenIdentity({text, false}, true); };
  EXPECT_EQ(identity("The"), identity("tHE"));
  EXPECT_EQ(identity("ÄRGER"), identity("ärger"));
  EXPECT_EQ(identity("ПРИВЕТ"), identity("привет"));
  EXPECT_EQ(identity("ΣΊΣΥΦΟΣ"), identity("Σίσυφος")) << "final sigma";
  EXPECT_EQ(identity("STRASSE"), identity("straße"));
  EXPECT_EQ(identity("ᎠᏂ"), identity("ꭰꮒ")) << "Cherokee";
  EXPECT_NE(identity("the"), identity("them"));
  EXPECT_EQ(tokenIdentity({"The", false}, false), "The");
}

TEST(Tokenizer, LongInputTakesLinearTime) {
  // Every case is a megabyte that a careless loop would traverse again and again.
  const std::size_t size = 1 << 20;
  std::string marks = "a", joined = "👩";
  while (marks.size() < size) marks += "\u0301";
  while (joined.size() < size) joined += "\u200D👩";
  std::string hyphens(size, '-'), lines(size, '\n'), word(size, 'a'), mixed;
  while (mixed.size() < size) mixed += "it's 我 , ";
  for (const std::string* text : {&marks, &joined, &hyphens, &lines, &word, &mixed}) {
    for (const Tokenization how : {Tokenization::words, Tokenization::characters, Tokenization::bytes}) {
      EXPECT_TRUE(tokenize(*text, how).ok());
    }
  }
  // 18 megabytes: quadratic time would take hours, which exceeds the test run's limit.
  EXPECT_EQ(oneLine(marks).size(), 1u);
  EXPECT_EQ(oneLine(joined, Tokenization::characters).size(), 1u);
}

}  // namespace
}  // namespace headscope::attention::test
