// Damaged and hostile files, and unsupported ones: one sentence names the problem, without delay.

#include <gtest/gtest.h>

#include "attention/models/tokenizer/characters.h"
#include "attention/models/tokenizer/json_value.h"
#include "tests/attention/models/tokenizer/token_cases.h"
#include "tests/attention/models/tokenizer/tokenizer_json.h"
#include "tests/support/matchers.h"
#include "tests/support/peak_memory.h"

namespace headscope::attention::test {
namespace {

/// The error for a tokenizer with `value` at the place `pointer`.
std::string refusalOf(const std::string& pointer, const Json& value) {
  return refusal(tokenizerWith(pointer, value));
}

std::string parseOutcome(const std::string& text) {
  return messageOf(TextTokenizer::parse(text, "test"));
}

TEST(TokenizerRefusals, ReportsUnsupportedTypes) {
  const Json nested = {{"type", "Sequence"}, {"decoders", {{{"type", "Fuse"}}, {{"type", "CTC"}}}}};
  EXPECT_THAT(refusalOf("/decoder", nested), StartsWith("test: decoder.decoders[1]: type \"CTC\""));
  EXPECT_EQ(refusalOf("/model/dropout", 0.0), "no error");
}

TEST(TokenizerRefusals, RefusesInvalidMerges) {
  Json none = bytePairJson({"a"});
  none["model"].erase("merges");
  EXPECT_EQ(refusal(none), "test: model: \"merges\" is missing, expected a list");
  Json unknown = bytePairJson({"a"});
  unknown["model"]["unk_token"] = "<x>";
  EXPECT_EQ(refusal(unknown), "test: model: \"unk_token\" \"<x>\" is not in the vocabulary");
}

TEST(TokenizerRefusals, RefusesInvalidRules) {
  const Json split = {{"type", "Split"}, {"behavior", "Isolated"}, {"invert", false}};
  EXPECT_THAT(refusalOf("/pre_tokenizer", split), HasSubstr("\"pattern\" is missing, expected an object"));
  Json bad = split;
  bad["pattern"] = {{"Regex", "(a"}};
  EXPECT_THAT(refusalOf("/pre_tokenizer", bad),
              HasSubstr("the expression \"(a\" can't be read: missing closing parenthesis"));
  bad["pattern"] = {{"Regex", "\\h"}};
  EXPECT_THAT(refusalOf("/pre_tokenizer", bad), HasSubstr("which is not supported here"));
  bad["pattern"] = {{"Regex", std::string(20'000, 'a')}};
  EXPECT_THAT(refusalOf("/pre_tokenizer", bad),
              HasSubstr("the expression has 20000 bytes, expected at most 10000"));
  bad["pattern"] = {{"String", ""}};
  EXPECT_THAT(refusalOf("/pre_tokenizer", bad), HasSubstr("searches for an empty string"));
  bad["pattern"] = {{"String", "a"}};
  bad["behavior"] = "Elsewhere";
  EXPECT_THAT(refusalOf("/pre_tokenizer", bad), HasSubstr("\"behavior\" is \"Elsewhere\", expected Removed"));
  EXPECT_THAT(
      refusalOf("/normalizer", {{"type", "Sequence"}, {"normalizers", Json::array_t(65, {{"type", "NFC"}})}}),
      HasSubstr("more than 64 rules"));
  EXPECT_THAT(refusalOf("/added_tokens", Json::array({addedToken(std::string(1025, 'a'), 9)})),
              HasSubstr("has 1025 bytes, expected 1 to 1024"));
  Json words = Json::parse(smallTokenizer("small-wordpiece"));
  words["model"]["max_input_chars_per_word"] = 1'000'000'000;
  EXPECT_THAT(refusal(words), HasSubstr("\"max_input_chars_per_word\" is 1000000000, expected 1 to 1000"));
  Json tem = Json::parse(smallTokenizer("small-wordpiece"));
  tem["post_processor"]["single"] = Json::array();
  EXPECT_THAT(refusal(tem), HasSubstr("\"single\" has the text 0 times, expected once"));
}

TEST(TokenizerRefusals, RefusesExplodingNormalizers) {
  Json json = bytePairJson({"a"});
  json["normalizer"] = {
      {"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", std::string(100'000, 'a')}};
  EXPECT_EQ(messageOf(made(json).encode(std::string(100'000, 'a'))),
            "the tokenizer's rules make the text longer than 3265536 bytes");
}

/// Replacing "a" with "aa" forty times would turn a letter into 10¹² of them. Texts are refused once they are
/// as long as a few pages.
TEST(TokenizerRefusals, RefusesRepeatedDoubling) {
  const Json doubling = {{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", "aa"}};
  Json regex = doubling;
  regex["pattern"] = {{"Regex", "a"}};
  for (const Json& rule : {doubling, regex}) {
    Json json = bytePairJson({"a"});
    json["normalizer"] = {{"type", "Sequence"}, {"normalizers", Json::array_t(40, rule)}};
    json["decoder"] = {{"type", "Sequence"}, {"decoders", Json::array_t(40, rule)}};
    const TextTokenizer tokenizer = made(json);
    EXPECT_EQ(messageOf(tokenizer.encode("a")),
              "the tokenizer's 40 rules rewrite more than 65600 bytes in total");
    EXPECT_EQ(messageOf(tokenizer.decode(std::vector<TokenId>{*tokenizer.find("a")})),
              "the tokenizer's rules make the text longer than 65568 bytes");
    EXPECT_EQ(tokenizer.readable(*tokenizer.find("a"))->size(), 65'536u) << "the last rule that fits";
  }
}

/// The longest text, expanded to the longest allowed form.
TEST(TokenizerRefusals, RefusingLongTextsTakesLittleMemory) {
  Json json = bytePairJson({"a"});
  json["normalizer"] = {
      {"type", "Sequence"},
      {"normalizers",
       Json::array_t(40, {{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", "aa"}})}};
  const TextTokenizer tokenizer = made(json);
  const std::string text(kMaxTyped, 'a');
  const auto peak = headscope::test::peakMemoryOf([&] {
    EXPECT_EQ(messageOf(tokenizer.encode(text)),
              "the tokenizer's rules make the text longer than 37748736 bytes");
  });
  EXPECT_LT(peak.value_or(0), std::uint64_t{512} << 20);
}

/// Spelling bytes as characters doubles the length each time.
TEST(TokenizerRefusals, RefusesExplodingPreTokenizers) {
  Json json = bytePairJson({"a"});
  json["pre_tokenizer"] = {
      {"type", "Sequence"},
      {"pretokenizers",
       Json::array_t(60, {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}})}};
  EXPECT_EQ(messageOf(made(json).encode("é")), "the tokenizer's rules make the text longer than 65600 bytes");
}

/// Normal text is never refused: here, the character that expands to eleven times its length, spelled in
/// bytes as well.
TEST(TokenizerRefusals, AcceptsLongestDecomposition) {
  Json json = bytePairJson({"a"});
  json["normalizer"] = {{"type", "NFKD"}};
  json["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", true}};
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += "\uFDFA";
  EXPECT_TRUE(made(json).encode(text).ok());
}

TEST(TokenizerRefusals, RefusesTooManyValues) {
  std::string json = R"({"normalizer": [0)";
  for (int i = 0; i < 2'000'000; ++i) json += ",0";
  EXPECT_THAT(parseOutcome(json + "], \"model\": {}}"),
              HasSubstr("normalizer: found more than 2000000 values"));
}

TEST(TokenizerRefusals, RefusesInvalidTokenizerJson) {
  EXPECT_THAT(parseOutcome("{\"model\": {\"type\": \"BPE\", \"vocab\": {\"\xFF\": 0}, \"merges\": []}}"),
              HasSubstr("expected UTF-8"));
  const std::string deep =
      R"({"model": {}, "decoder": )" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  EXPECT_THAT(parseOutcome(deep), HasSubstr("more than 64 deep"));
}

TEST(TokenizerJson, ReadsOnlyStandardJson) {
  const auto text = [](const std::string& json) {
    const auto value = parseJson(json);
    return value ? value->text : "no: " + value.error().message;
  };
  EXPECT_EQ(text(R"("a\u00e9\ud83d\ude00\n\/\"")"), "aé😀\n/\"");
  EXPECT_EQ(text(" \"é\" "), "é");
  EXPECT_EQ(text("-12.5e+3"), "-12.5e+3");
  for (const char* bad :
       {"\"\\ud83d\"", "\"\\ud83dx\"", "\"\\x\"",  "\"\\u12g4\"", "\"a",  "01",    "1.",
        ".5",          "+1",           "1e",       "nul",         "[1,]", "[1 2]", "{\"a\" 1}",
        "{\"a\":1,}",  "\"\n\"",       "\"\xC3\"", "[1]]",        "tru",  ""})
    EXPECT_THAT(text(bad), StartsWith("no: ")) << bad;
}

TEST(TokenizerRefusals, UnigramErrorsNameTokenAndReason) {
  const auto model = [](const std::string& rest) {
    return parseOutcome(R"({"model": {"type": "Unigram", )" + rest + "}}");
  };
  EXPECT_EQ(model(R"("vocab": [["a", -1.5], ["b", -2e0]], "unk_id": 1)"), "no error");
}

TEST(TokenizerRefusals, RefusesDamagedCharacterTables) {
  const auto table = [](const std::string& base64) {
    return parseOutcome(R"({"normalizer": {"type": "Precompiled", "precompiled_charsmap": ")" + base64 +
                        R"("}, "model": {"type": "Unigram", "vocab": [["a", 0]]}})");
  };
  // A trie that points outside itself replaces nothing.
  EXPECT_EQ(table("BAAAAP////8="), "no error");
  const auto lost = TextTokenizer::parse(
      R"({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "BAAAAP////8="},
          "model": {"type": "Unigram", "vocab": [["a", 0]]}})",
      "test");
  EXPECT_EQ(lost->encode("aa")->ids, (std::vector<TokenId>{0, 0}));
}

}  // namespace
}  // namespace headscope::attention::test
