// Guarantees of any tokenizer: spans that map back to the typed text, decodable text, time proportional to
// length, stopping.

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "attention/core/random.h"
#include "attention/models/tokenizer/pattern.h"
#include "attention/models/tokenizer/token_model.h"
#include "tests/attention/models/tokenizer/token_cases.h"
#include "tests/attention/models/tokenizer/tokenizer_json.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::attention::test {
namespace {

/// Words, white space, accents in both forms, Hangul in parts, emoji, added tokens and halves of them.
std::string randomText(Random& random) {
  static const std::vector<std::string> kParts = {"a",           "the ",
                                                  " head",       "  ",
                                                  "\n",          "\r\n",
                                                  "\t",          "é",
                                                  "e\u0301",     "e\u0323\u0301",
                                                  "ﬁ",           "각",
                                                  "각",          "日本",
                                                  "语",          "👩‍👩‍👧",
                                                  "🏽",        "<|end|>",
                                                  "<|user|>",    " <|pad|> ",
                                                  "<|",          "|>",
                                                  "subword",     "[CLS]",
                                                  "[MASK]",      "cafés",
                                                  "cafe\u0301s", "'s",
                                                  "I'LL",        "123456",
                                                  "½",           "\u200B",
                                                  "\u0000",      "\uFFFD",
                                                  "\U0010FFFF",  "½Ⅳ",
                                                  "▁",           "Ġ",
                                                  "##",          ".,!?",
                                                  "İ",           "ẞ",
                                                  "\u00A0",      "\u3000",
                                                  "x_y",         "don’t",
                                                  "(",           "سلام",
                                                  "ไทย",         "\u0085"};
  std::string text;
  for (auto parts = random.next() % 12; parts > 0; --parts) text += kParts[random.next() % kParts.size()];
  return text;
}

class AnyTokenizer : public testing::TestWithParam<const char*> {
 protected:
  AnyTokenizer() : tokenizer_(made(Json::parse(smallTokenizer(GetParam())))) {}
  TextTokenizer tokenizer_;
};

TEST_P(AnyTokenizer, SpansTileTypedText) {
  Random random(1);
  for (int i = 0; i < 3000; ++i) {
    const std::string text = randomText(random);
    for (const auto around : {SpecialTokens::keep, SpecialTokens::leaveOut}) {
      const auto encoded = checked(tokenizer_.encode(text, around));
      ASSERT_EQ(spanFault(*encoded, text), "") << text;
      for (const TokenId id : encoded->ids) ASSERT_TRUE(tokenizer_.spelling(id).has_value()) << id;
    }
  }
}
/// If nothing remains of the text, its bytes belong to the first of the tokens added around it.
TEST(Tokenizers, DroppedTextBelongsToFirstAddedToken) {
  const TextTokenizer words = made(Json::parse(smallTokenizer("small-wordpiece")));
  const std::string text = "\u200B\u00AD\u200B";
  const auto around = checked(words.encode(text));
  EXPECT_EQ(around->spans, (std::vector<ByteRange>{{0, 8}, {8, 8}}));
  EXPECT_EQ(test::spanFault(*around, text), "");
  const auto alone = checked(words.encode(text, SpecialTokens::leaveOut));
  EXPECT_TRUE(alone->ids.empty());
  const auto empty = words.encode("");
  EXPECT_EQ(empty->spans, (std::vector<ByteRange>{{0, 0}, {0, 0}}));
}

INSTANTIATE_TEST_SUITE_P(All, AnyTokenizer, testing::Values("small-byte-bpe", "small-wordpiece"));

TEST(Tokenizer, ByteLevelTokensRoundTrip) {
  Json json = Json::parse(smallTokenizer("small-byte-bpe"));
  json["normalizer"] = nullptr;
  json["added_tokens"] = Json::array();
  const TextTokenizer tokenizer = made(json);
  Random random(2);
  for (int i = 0; i < 3000; ++i) {
    const std::string text = randomText(random);
    const auto encoded = checked(tokenizer.encode(text));
    ASSERT_EQ(*tokenizer.decode(encoded->ids), text);
    for (std::size_t k = 0; k < encoded->ids.size(); ++k) {
      const ByteRange span = encoded->spans[k];
      // A single token decodes to its own bytes, unless it holds only part of a character.
      const auto alone = *tokenizer.decode(std::vector<TokenId>{encoded->ids[k]});
      if (alone.find("\uFFFD") != std::string::npos) continue;
      ASSERT_EQ(alone, text.substr(span.begin, span.end - span.begin));
    }
  }
}

TEST(Tokenizer, FindsAndMarksAddedTokensInsideWords) {
  const TextTokenizer tokenizer = made(Json::parse(smallTokenizer("small-byte-bpe")));
  const auto encoded = checked(tokenizer.encode("it<|end|>s"));
  EXPECT_THAT(encoded->sources,
              ElementsAre(TokenSource::text, TokenSource::text, TokenSource::added, TokenSource::text));
  EXPECT_TRUE(tokenizer.isSpecial(encoded->ids[2]));
  EXPECT_EQ(*tokenizer.decode(encoded->ids), "its");
  EXPECT_EQ(*tokenizer.decode(encoded->ids, SpecialTokens::keep), "it<|end|>s");
}

TEST(Tokenizer, SurroundingTokensCoverNoBytes) {
  const TextTokenizer tokenizer = made(Json::parse(smallTokenizer("small-wordpiece")));
  const auto with = checked(tokenizer.encode("the head")),
             without = checked(tokenizer.encode("the head", SpecialTokens::leaveOut));
  EXPECT_EQ(with->sources.front(), TokenSource::around);
  EXPECT_EQ(with->spans.front(), (ByteRange{0, 0}));
  EXPECT_EQ(with->spans.back(), (ByteRange{8, 8}));
  EXPECT_EQ(std::vector<TokenId>(with->ids.begin() + 1, with->ids.end() - 1), without->ids);
}

TEST(Tokenizer, ComposedCharactersKeepTypedBytes) {
  const TextTokenizer tokenizer = made(Json::parse(smallTokenizer("small-byte-bpe")));
  // i and a combining diaeresis, three bytes, become ï, two bytes and as many tokens.
  const auto encoded = checked(tokenizer.encode("i\u0308x"));
  EXPECT_THAT(encoded->spans, ElementsAre(ByteRange{0, 1}, ByteRange{1, 3}, ByteRange{3, 4}));
}

constexpr TokenId kBeyond = 523;  ///< one more than the largest id of small-byte-bpe

TEST(Tokenizer, ShowsTokensInReadableForm) {
  const TextTokenizer bytes = made(Json::parse(smallTokenizer("small-byte-bpe")));
  EXPECT_EQ(bytes.readable(*bytes.find("Ġthe")), "␣the");
  EXPECT_EQ(bytes.readable(*bytes.find("Ċ")), "<0A>");
  EXPECT_EQ(bytes.readable(*bytes.find("Ã")), "<C3>");
  EXPECT_EQ(bytes.readable(*bytes.find("<|end|>")), "<|end|>");
  EXPECT_EQ(bytes.readable(kBeyond - 1), "cafés");
  EXPECT_EQ(bytes.readable(kBeyond), std::nullopt);
  EXPECT_EQ(bytes.readable(-1), std::nullopt);
  const TextTokenizer words = made(Json::parse(smallTokenizer("small-wordpiece")));
  EXPECT_EQ(words.readable(*words.find("##er")), "##er");
}

TEST(Tokenizer, ShowsPartsOfACharacterTogether) {
  const TextTokenizer tokenizer = made(Json::parse(smallTokenizer("small-byte-bpe")));
  const auto encoded = checked(tokenizer.encode("a é👍"));
  EXPECT_EQ(encoded->ids.size(), 8u);
  EXPECT_THAT(tokenizer.readable(encoded->ids), ElementsAre(ReadableRun{0, 1, "a"}, ReadableRun{1, 2, "␣"},
                                                            ReadableRun{2, 4, "é"}, ReadableRun{4, 8, "👍"}));
  // During generation, the last character may be incomplete; a broken one is shown at once.
  const std::vector<TokenId> cut(encoded->ids.begin(), encoded->ids.begin() + 6);
  EXPECT_EQ(tokenizer.readable(cut).back(), (ReadableRun{4, 6, "<F0><9F>", false}));
  const std::vector<TokenId> broken{encoded->ids[4], encoded->ids[0], encoded->ids[3]};
  EXPECT_THAT(tokenizer.readable(broken), ElementsAre(ReadableRun{0, 2, "<F0>a"}, ReadableRun{2, 3, "<A9>"}));
}

TEST(Tokenizer, DecodeSkipsUnknownIds) {
  const TextTokenizer tokenizer = made(Json::parse(smallTokenizer("small-byte-bpe")));
  const std::vector<TokenId> ids{-7, *tokenizer.find("Ġthe"), 1 << 30, kBeyond};
  EXPECT_EQ(*tokenizer.decode(ids), " the");
  EXPECT_EQ(*tokenizer.decode({}), "");
}

TEST(Tokenizer, OpensFolderOrFile) {
  const headscope::test::TemporaryFolder folder;
  EXPECT_THAT(TextTokenizer::open(folder.path()).error().message, HasSubstr("tokenizer.json"));
  headscope::test::putFile(folder / "tokenizer.json", smallTokenizer("small-byte-bpe"));
  EXPECT_TRUE(TextTokenizer::open(folder.path()).ok());
  EXPECT_TRUE(TextTokenizer::open(folder / "tokenizer.json").ok());
}

TEST(Tokenizer, RefusesInvalidUtf8AndOverlongText) {
  const TextTokenizer tokenizer = made(Json::parse(smallTokenizer("small-byte-bpe")));
  EXPECT_THAT(tokenizer.encode("ab\xFF").error().message, HasSubstr("2"));
  EXPECT_EQ(tokenizer.encode(std::string((std::size_t{16} << 20) + 1, 'a')).error().message,
            "the text has 16777217 bytes, expected at most 16777216");
}

// Merges, searches and tries are counted, so that a busy machine doesn't affect the result.

/// The number of table lookups for one piece of `bytes` bytes that repeats `unit`.
template <class Model>
double stepsOf(const Model& model, const std::string& unit, std::size_t bytes) {
  std::string piece;
  while (piece.size() < bytes) piece += unit;
  const auto encoder = model->encoder();
  std::vector<PlacedToken> tokens;
  EXPECT_TRUE(encoder->encode(piece, 0, tokens, {}).ok());
  EXPECT_FALSE(tokens.empty());
  return static_cast<double>(encoder->steps());
}

TEST(TokenizerTime, GrowsLinearlyWithPieceLength) {
  const std::string json = Json::parse(smallTokenizer("small-byte-bpe")).at("model").dump();
  const auto model = checked(readTokenModel(json, "model", {}));
  for (const std::string unit : {"a", "the", "Ġreads", "abcdefghij", "é"}) {
    const double once = stepsOf(*model, unit, 30'000), tenTimes = stepsOf(*model, unit, 300'000);
    EXPECT_LT(tenTimes / once, 10.5) << unit;
    EXPECT_LT(once, 4 * 30'000) << unit;
  }
}

TEST(TokenizerTime, WordPieceStepsAreBoundedByLongestToken) {
  const std::string json = Json::parse(smallTokenizer("small-wordpiece")).at("model").dump();
  const auto model = checked(readTokenModel(json, "model", {}));
  const double longest = static_cast<double>((*model)->vocabulary().longest());
  EXPECT_LE(stepsOf(*model, "a", 50), 50 * longest);
  EXPECT_EQ(stepsOf(*model, "a", 1'000'000), 0);  // longer than a word may be
}

double searchSteps(const std::string& expression, const std::string& unit, std::size_t bytes) {
  const auto pattern = TextPattern::expression(expression);
  EXPECT_TRUE(pattern.ok()) << pattern.error().message;
  std::string text;
  while (text.size() < bytes) text += unit;
  PatternFinder finder(*pattern);
  std::vector<ByteRange> matches;
  const auto status = finder.find(text, matches, {});
  EXPECT_TRUE(status.ok()) << status.error().message;
  return static_cast<double>(finder.steps());
}

TEST(TokenizerTime, SearchStepsGrowLinearlyWithText) {
  const std::string llama =
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
  for (const std::string unit : {"a", " ", "\n", "the dog ", "1", " . ", "日本"}) {
    const double once = searchSteps(llama, unit, 100'000), tenTimes = searchSteps(llama, unit, 1'000'000);
    EXPECT_LT(tenTimes / once, 11) << unit;
    EXPECT_LT(once, 300 * 100'000.0) << unit;
  }
}

TEST(TokenizerTime, ExplodingExpressionsGiveErrors) {
  const std::string text = std::string(200'000, 'a') + "cb";
  // Exponential, quadratic by backtracking, and quadratic without backtracking.
  for (const char* expression : {"(a+)+b", "(a|a)*b", "a*?b|a", "a*b|a", "(?:a|b)*d|a"}) {
    const auto pattern = checked(TextPattern::expression(expression));
    PatternFinder finder(*pattern);
    std::vector<ByteRange> matches;
    const auto status = finder.find(text, matches, {});
    ASSERT_FALSE(status.ok()) << expression << ": " << matches.size();
    EXPECT_EQ(status.error().message,
              std::string("the expression \"") + expression + "\" takes too many steps on this text");
  }
}

/// A tokenizer of this model without any other part.
Json bareTokenizer(Json model) {
  return {{"added_tokens", Json::array()}, {"normalizer", nullptr}, {"pre_tokenizer", nullptr},
          {"post_processor", nullptr},     {"decoder", nullptr},    {"model", std::move(model)}};
}
Json bytePairModelOf(Json vocabulary) {
  return {{"type", "BPE"}, {"vocab", std::move(vocabulary)}, {"merges", Json::array()}};
}

/// Tokenizers that made a megabyte of text take minutes, each with its text.
std::vector<std::pair<Json, std::string>> timeBombs() {
  constexpr std::size_t kLong = std::size_t{1} << 20;
  const std::string as(kLong, 'a');
  std::vector<std::pair<Json, std::string>> bombs;
  for (const char* expression :
       {".*.*.*.*b", "a(?=.*b)", "(?:a(?=a*b))+", "(?=a*b)a|(?!.*c)b", "(?:a?){20}b"}) {
    Json json = bareTokenizer(bytePairModelOf({{"a", 0}, {"b", 1}}));
    json["pre_tokenizer"] = {
        {"type", "Split"}, {"pattern", {{"Regex", expression}}}, {"behavior", "Isolated"}, {"invert", false}};
    bombs.emplace_back(std::move(json), as);
  }
  Json alike = bareTokenizer(bytePairModelOf({{"a", 0}}));
  for (int i = 1; i <= 1000; ++i)
    alike["added_tokens"].push_back(
        {{"id", i}, {"content", std::string(static_cast<std::size_t>(i), 'a') + "b"}, {"normalized", false}});
  bombs.emplace_back(std::move(alike), as);
  Json rules = bareTokenizer(bytePairModelOf({{"a", 0}}));
  rules["normalizer"] = {{"type", "Sequence"}, {"normalizers", Json::array()}};
  auto& list = rules["normalizer"]["normalizers"];
  list.push_back({{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", std::string(30, 'b')}});
  for (int i = 0; i < 62; ++i) list.push_back({{"type", "NFKC"}});
  bombs.emplace_back(std::move(rules), as);
  Json parts = bareTokenizer({{"type", "WordPiece"},
                              {"unk_token", "[UNK]"},
                              {"continuing_subword_prefix", std::string(20'000, '#')},
                              {"max_input_chars_per_word", 1000},
                              {"vocab", {{"[UNK]", 0}, {"a", 1}, {std::string(21'000, '#'), 2}}}});
  parts["pre_tokenizer"] = {{"type", "WhitespaceSplit"}};
  std::string words;
  while (words.size() < kLong) words += std::string(999, 'a') + " ";
  bombs.emplace_back(std::move(parts), words);
  Json pieces = Json::array({Json::array({"<unk>", 0}), Json::array({"a", -1})});
  for (int i = 2; i <= 3000; ++i)
    pieces.push_back(Json::array({std::string(static_cast<std::size_t>(i), 'a'), -2.0 * i}));
  bombs.emplace_back(bareTokenizer({{"type", "Unigram"}, {"unk_id", 0}, {"vocab", std::move(pieces)}}), as);
  return bombs;
}

TEST(TokenizerTime, TimeBombsGiveErrors) {
  for (const auto& [json, text] : timeBombs()) {
    const TextTokenizer tokenizer = made(json);
    const auto encoded = tokenizer.encode(text);
    ASSERT_FALSE(encoded.ok()) << json.dump().substr(0, 300);
    EXPECT_THAT(encoded.error().message, testing::AnyOf(testing::HasSubstr("too many steps on this text"),
                                                        testing::HasSubstr("in total")));
  }
}

TextTokenizer unigramWithToken(const std::string& longest) {
  Json pieces = Json::array();
  for (const auto& [piece, score] :
       {std::pair<std::string, double>{"<unk>", 0}, {"a", -1}, {longest, -2}, {"ab", -1}})
    pieces.push_back(Json::array({piece, score}));
  return made(bareTokenizer({{"type", "Unigram"}, {"unk_id", 0}, {"vocab", std::move(pieces)}}));
}

TEST(TokenizerTime, LongUnigramTokensAreFoundWithinABudget) {
  const std::string longest(1'500, 'a');
  const auto encoded =
      checked(unigramWithToken(longest).encode(longest + longest + "aab" + std::string(60'000, 'a')));
  EXPECT_EQ(std::ranges::count(encoded->ids, 2), 2 + 40);
  EXPECT_EQ(encoded->ids.size(), 2 + 40 + 2u) << "with a and ab";
  EXPECT_EQ(messageOf(unigramWithToken(std::string(20'000, 'a')).encode(std::string(300'000, 'a'))),
            "the tokenizer's longest tokens take too many steps on this text");
}

TEST(TokenizerTime, AddedSpacesTakeLinearTime) {
  Json json = bareTokenizer(bytePairModelOf({{"a", 0}}));
  json["added_tokens"].push_back(
      {{"id", 1}, {"content", " "}, {"normalized", false}, {"lstrip", true}, {"rstrip", true}});
  const auto encoded = checked(made(json).encode("a" + std::string(1'000'000, ' ') + "a"));
  EXPECT_EQ(encoded->ids, (std::vector<TokenId>{0, 1, 0}));
}

TEST(TokenizerStop, StopsBeforeAndDuringEncoding) {
  const std::string json = smallTokenizer("small-byte-bpe");
  std::stop_source before;
  before.request_stop();
  EXPECT_EQ(TextTokenizer::parse(json, "test", before.get_token()).error().message, "stopped");
  const TextTokenizer tokenizer = made(Json::parse(json));
  EXPECT_EQ(tokenizer.encode("the head", SpecialTokens::keep, before.get_token()).error().message, "stopped");
  // Work that takes seconds, stopped after a moment.
  std::stop_source during;
  const std::string text(std::size_t{16} << 20, 'a');
  std::jthread person([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    during.request_stop();
  });
  auto encoded = tokenizer.encode(text, SpecialTokens::keep, during.get_token());
  while (encoded.ok()) encoded = tokenizer.encode(text, SpecialTokens::keep, during.get_token());
  EXPECT_EQ(encoded.error().message, "stopped");
}

}  // namespace
}  // namespace headscope::attention::test
