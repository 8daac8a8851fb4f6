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
  Json json = bytePairJson({"a", "b"}, {{"a", "b"}});
  json["added_tokens"] = Json::array();
  json[Json::json_pointer(pointer)] = value;
  return refusal(json);
}

std::string parseOutcome(const std::string& text) {
  const auto tokenizer = TextTokenizer::parse(text, "test");
  return tokenizer ? "accepted" : tokenizer.error().message;
}

TEST(TokenizerRefusals, ReportsUnsupportedTypes) {
  EXPECT_EQ(refusalOf("/model/type", "Syllables"),
            "test: model: type \"Syllables\" is not supported, expected one of BPE, WordPiece, WordLevel, "
            "Unigram");
  EXPECT_THAT(refusalOf("/normalizer", {{"type", "Nmt"}}),
              StartsWith("test: normalizer: type \"Nmt\" is not supported, expected one of NFC, "));
  EXPECT_THAT(refusalOf("/pre_tokenizer", {{"type", "UnicodeScripts"}}),
              StartsWith("test: pre_tokenizer: type \"UnicodeScripts\" is not supported"));
  EXPECT_THAT(refusalOf("/post_processor", {{"type", "Pair"}}),
              StartsWith("test: post_processor: type \"Pair\""));
  EXPECT_THAT(refusalOf("/decoder", {{"type", "CTC"}}),
              StartsWith("test: decoder: type \"CTC\" is not supported"));
  const Json nested = {{"type", "Sequence"}, {"decoders", {{{"type", "Fuse"}}, {{"type", "CTC"}}}}};
  EXPECT_THAT(refusalOf("/decoder", nested), StartsWith("test: decoder.decoders[1]: type \"CTC\""));
  EXPECT_EQ(refusalOf("/model/dropout", 0.1),
            "test: model: \"dropout\" is 0.1, expected none: it makes tokens random");
  EXPECT_EQ(refusalOf("/model/dropout", 0.0), "accepted");
}

TEST(TokenizerRefusals, RefusesInvalidIds) {
  EXPECT_EQ(refusalOf("/model/vocab/x", -1),
            "test: model.vocab: token \"x\" has the id -1, expected 0 to 4194303");
  EXPECT_THAT(refusalOf("/model/vocab/x", 4194304), HasSubstr("has the id 4194304, expected 0 to 4194303"));
  EXPECT_THAT(refusalOf("/model/vocab/x", 18446744073709551615u),
              HasSubstr("a whole number of at most 64 bits"));
  EXPECT_THAT(refusalOf("/model/vocab/x", 1.5), HasSubstr("expected a whole number"));
  EXPECT_EQ(refusalOf("/model/vocab/x", 1), "test: model.vocab: tokens \"a\" and \"x\" have the same id 1");
  EXPECT_EQ(parseOutcome(R"({"model": {"type": "BPE", "vocab": {"a": 0, "a": 1}, "merges": []}})"),
            "test: model.vocab: token \"a\" has two ids, 0 and 1");
  EXPECT_EQ(refusalOf("/added_tokens", Json::array({addedToken("<s>", -1)})),
            "test: added_tokens[0]: \"id\" is -1, expected 0 to 4194303");
  EXPECT_EQ(refusalOf("/added_tokens", Json::array({addedToken("<s>", 1)})),
            "test: added_tokens[0]: tokens \"<s>\" and, in the vocabulary, \"a\" have the same id 1");
  EXPECT_EQ(refusalOf("/added_tokens", Json::array({addedToken("a", 9)})),
            "test: added_tokens[0]: token \"a\" has the id 9, but 1 in the vocabulary");
  EXPECT_THAT(refusalOf("/added_tokens", Json::array({addedToken("<s>", 9), addedToken("</s>", 9)})),
              HasSubstr("have the same id 9"));
  EXPECT_THAT(refusalOf("/added_tokens", Json::array({addedToken("<s>", 8), addedToken("<s>", 9)})),
              HasSubstr("appears twice in the list"));
  EXPECT_EQ(refusalOf("/post_processor",
                      {{"type", "BertProcessing"}, {"cls", {"[CLS]", 77}}, {"sep", {"[SEP]", 1}}}),
            "test: post_processor: the id 77 has no token in the vocabulary");
}

TEST(TokenizerRefusals, RefusesInvalidMerges) {
  EXPECT_EQ(refusalOf("/model/merges", nullptr),
            "test: model.merges: byte 0: found \"null\", expected a list");
  EXPECT_EQ(refusalOf("/model/merges", Json::array({Json::array({"a", "x"})})),
            "test: model.merges[0] (\"a\", \"x\") joins \"x\", which is not in the vocabulary");
  EXPECT_EQ(refusalOf("/model/merges", Json::array({Json::array({"a", "b"}), Json::array({"b", "a"})})),
            "test: model.merges[1] (\"b\", \"a\") makes \"ba\", which is not in the vocabulary");
  EXPECT_THAT(refusalOf("/model/merges", Json::array({Json::array({"a", ""})})),
              HasSubstr("joins an empty token"));
  EXPECT_THAT(refusalOf("/model/merges", Json::array({Json::array({"a"})})),
              HasSubstr("fewer than two parts"));
  EXPECT_THAT(refusalOf("/model/merges", Json::array({Json::array({"a", "b", "a"})})),
              HasSubstr("more than two parts"));
  EXPECT_THAT(refusalOf("/model/merges", Json::array({"a b a"})), HasSubstr("one space between"));
  EXPECT_THAT(refusalOf("/model/merges", Json::array({1})), HasSubstr("expected a list"));
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
  EXPECT_THAT(refusalOf("/added_tokens", Json::array({addedToken("", 9)})), HasSubstr("has 0 bytes"));
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
  const auto encoded = made(json).encode(std::string(100'000, 'a'));
  ASSERT_FALSE(encoded.ok());
  EXPECT_EQ(encoded.error().message, "the tokenizer's rules make the text longer than 3265536 bytes");
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
    const auto encoded = tokenizer.encode("a");
    ASSERT_FALSE(encoded.ok());
    EXPECT_EQ(encoded.error().message, "the tokenizer's 40 rules rewrite more than 65600 bytes in total");
    const auto decoded = tokenizer.decode(std::vector<TokenId>{*tokenizer.find("a")});
    ASSERT_FALSE(decoded.ok());
    EXPECT_EQ(decoded.error().message, "the tokenizer's rules make the text longer than 65568 bytes");
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
    const auto encoded = tokenizer.encode(text);
    ASSERT_FALSE(encoded.ok());
    EXPECT_EQ(encoded.error().message, "the tokenizer's rules make the text longer than 37748736 bytes");
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
  const auto encoded = made(json).encode("é");
  ASSERT_FALSE(encoded.ok());
  EXPECT_EQ(encoded.error().message, "the tokenizer's rules make the text longer than 65600 bytes");
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
  EXPECT_EQ(parseOutcome(""), "test: no tokenizer.json: byte 0: found the end, expected an object");
  EXPECT_EQ(parseOutcome("{}"), "test: no tokenizer.json: \"model\" is missing, expected an object");
  EXPECT_THAT(parseOutcome("[1, 2]"), HasSubstr("found \"[1, 2]\", expected an object"));
  EXPECT_THAT(parseOutcome(R"({"model": {"type": "BPE")"),
              HasSubstr("expected the end of the open object or list"));
  EXPECT_THAT(parseOutcome(R"({"model": {}, "model": {}})"), HasSubstr("\"model\" appears twice"));
  EXPECT_THAT(parseOutcome(R"({"model": {}} x)"), HasSubstr("expected nothing more"));
  EXPECT_THAT(parseOutcome(R"({"model": 5})"), HasSubstr("model: byte 0: found \"5\", expected an object"));
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
  EXPECT_EQ(model(R"("vocab": [["a", -1.5], ["b", -2e0]], "unk_id": 1)"), "accepted");
  EXPECT_EQ(model(R"("unk_id": 0)"), "test: model: \"vocab\" is missing, expected a list");
  EXPECT_EQ(model(R"("vocab": {"a": 0})"), "test: model: \"vocab\" is missing, expected a list");
  EXPECT_EQ(model(R"("vocab": [])"), "test: model: \"vocab\" is empty, expected a list of tokens");
  EXPECT_EQ(model(R"("vocab": [["a", -1]], "unk_id": 1)"),
            "test: model: \"unk_id\" is 1, expected one of the 1 tokens");
  EXPECT_EQ(model(R"("vocab": [["a", null]])"),
            "test: model.vocab: the score of \"a\" is \"null\", expected a number");
  EXPECT_EQ(model(R"("vocab": [["a", 1e999]])"),
            "test: model.vocab: the score of \"a\" is \"1e999\", expected a number");
  EXPECT_EQ(model(R"("vocab": [["a", 1, 2]])"), "test: model.vocab: a token is not a pair of text and score");
  EXPECT_THAT(model(R"("vocab": [["a", 1], ["a", 2]])"), HasSubstr("\"a\""));
}

TEST(TokenizerRefusals, RefusesDamagedCharacterTables) {
  const auto table = [](const std::string& base64) {
    return parseOutcome(R"({"normalizer": {"type": "Precompiled", "precompiled_charsmap": ")" + base64 +
                        R"("}, "model": {"type": "Unigram", "vocab": [["a", 0]]}})");
  };
  const std::string at = "test: normalizer.precompiled_charsmap: ";
  EXPECT_EQ(table("A?=="), at + "is not base64");
  EXPECT_EQ(table("AAA"), at + "is not base64");
  EXPECT_EQ(table("AAA="), at + "has 2 bytes, expected a trie and texts");
  EXPECT_EQ(table("AAAAAA=="), at + "has a trie of 0 bytes, expected a multiple of 4 up to 0");
  EXPECT_EQ(table("CAAAAAAAAAA="), at + "has a trie of 8 bytes, expected a multiple of 4 up to 4");
  // A trie that points outside itself replaces nothing.
  EXPECT_EQ(table("BAAAAP////8="), "accepted");
  const auto lost = TextTokenizer::parse(
      R"({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "BAAAAP////8="},
          "model": {"type": "Unigram", "vocab": [["a", 0]]}})",
      "test");
  EXPECT_EQ(lost->encode("aa")->ids, (std::vector<TokenId>{0, 0}));
}

}  // namespace
}  // namespace headscope::attention::test
