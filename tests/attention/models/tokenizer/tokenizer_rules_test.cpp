// Each kind of rule separately, on vocabularies of single characters. The expected tokens are those of
// Hugging Face's library for the same files.

#include <gtest/gtest.h>

#include "attention/models/tokenizer/characters.h"
#include "attention/models/tokenizer/pattern.h"
#include "tests/attention/models/tokenizer/tokenizer_json.h"
#include "tests/support/matchers.h"

namespace headscope::attention::test {
namespace {

const std::vector<std::string> kCharacters = {"a", "b", "c", "e", "i", "o", "x", "1", "2",  "3", " ",
                                              ".", ",", "▁", "A", "é", "ß", "²", "́",  "日", "_", "-"};

/// A tokenizer with one rule and fused unknown tokens, for making the rule's pieces visible.
Json pieces(const std::string& member, const Json& rule) {
  Json json = bytePairJson(kCharacters);
  json["model"]["fuse_unk"] = true;
  json[member] = rule;
  return json;
}

/// The pieces that a pre-tokenizer makes, each preceded by a bar.
std::string split(const Json& rule, const std::string& text) {
  Json json = pieces("pre_tokenizer", rule);
  // If every piece is unknown and fused, each piece is one token and its span is the piece.
  json["model"]["vocab"] = {{"<unk>", 0}};
  const TextTokenizer tokenizer = made(json);
  const auto encoded = tokenizer.encode(text);
  if (!encoded) return encoded.error().message;
  std::string line;
  for (const ByteRange& span : encoded->spans) line += "|" + text.substr(span.begin, span.end - span.begin);
  return line;
}

Json splitRule(const std::string& expression, const std::string& behaviour, bool invert = false) {
  return {
      {"type", "Split"}, {"pattern", {{"Regex", expression}}}, {"behavior", behaviour}, {"invert", invert}};
}

TEST(TokenModels, BytePairsMarkPlacesInAWord) {
  Json json = bytePairJson({"a", "b", "b</w>", "a</w>", "##b", "##b</w>", "##a"});
  json["pre_tokenizer"] = {{"type", "Whitespace"}};
  Json ends = json;
  ends["model"]["end_of_word_suffix"] = "</w>";
  ends["model"]["vocab"]["ab</w>"] = 8;
  ends["model"]["merges"] = Json::array({Json::array({"a", "b</w>"})});
  ends["decoder"] = {{"type", "BPEDecoder"}, {"suffix", "</w>"}};
  EXPECT_EQ(spelled(made(ends), "ab ba b"), "|ab</w>|b|a</w>|b</w>");
  EXPECT_EQ(*made(ends).decode(std::vector<TokenId>{8, 2, 4, 3}), "ab ba b");
  Json inside = json;
  inside["model"]["continuing_subword_prefix"] = "##";
  inside["model"]["vocab"]["aba"] = 9;
  inside["model"]["vocab"]["ab"] = 8;
  inside["model"]["merges"] = Json::array({Json::array({"a", "##b"}), Json::array({"ab", "##a"})});
  EXPECT_EQ(spelled(made(inside), "aba abb b"), "|aba|ab|##b|b");
}

TEST(TokenModels, WordLevelTakesWholePieces) {
  Json json = {
      {"pre_tokenizer", {{"type", "Whitespace"}}},
      {"model",
       {{"type", "WordLevel"}, {"unk_token", "<unk>"}, {"vocab", {{"<unk>", 0}, {"the", 1}, {"cat", 2}}}}}};
  EXPECT_EQ(spelled(made(json), "the cat thecat"), "|the|cat|<unk>");
  json["model"]["unk_token"] = "[UNK]";
  EXPECT_EQ(refusal(json), "test: model: \"unk_token\" \"[UNK]\" is not in the vocabulary");
}

TEST(PreTokenizers, SplitsAtExpressions) {
  EXPECT_EQ(split(splitRule("-", "Isolated"), "a--b-"), "|a|-|-|b|-");
  EXPECT_EQ(split(splitRule("-", "MergedWithPrevious"), "-a--b"), "|-|a-|-|b");
  EXPECT_EQ(split(splitRule("-", "MergedWithNext"), "a--b-"), "|a|-|-b|-");
  EXPECT_EQ(split(splitRule("-", "Contiguous"), "a--b-"), "|a|--|b|-");
  // Removed text is added to the previous piece's span, so that the typed text stays covered.
  EXPECT_EQ(split(splitRule("-", "Removed"), "a--b-"), "|a--|b-");
  EXPECT_EQ(split(splitRule("[ab]+", "Removed", true), "1ab2ba3"), "|1ab2|ba3");
  EXPECT_EQ(split(splitRule("x*", "Isolated"), "axxb"), "|a|xx|b");
  EXPECT_EQ(split(splitRule(R"(\s+(?!\S)|\s+)", "Isolated"), "a   b  "), "|a|  | |b|  ");
}

TEST(PreTokenizers, SplitsByCharacterClass) {
  EXPECT_EQ(split({{"type", "Digits"}, {"individual_digits", true}}, "a12b²"), "|a|1|2|b|²");
  EXPECT_EQ(split({{"type", "Digits"}, {"individual_digits", false}}, "a12b²"), "|a|12|b|²");
  EXPECT_EQ(split({{"type", "Whitespace"}}, "a_b, c..é"), "|a_b|, |c|..|é");
  EXPECT_EQ(split({{"type", "WhitespaceSplit"}}, "a_b, c"), "|a_b, |c");
  EXPECT_EQ(split({{"type", "Punctuation"}}, "a.,b$"), "|a|.|,|b|$");
  EXPECT_EQ(split({{"type", "BertPreTokenizer"}}, "a.,b c"), "|a|.|,|b |c");
}

TEST(PreTokenizers, AppliesSequenceInOrder) {
  const Json both = {
      {"type", "Sequence"},
      {"pretokenizers", {{{"type", "Digits"}, {"individual_digits", true}}, splitRule("a", "Isolated")}}};
  EXPECT_EQ(split(both, "bab12"), "|b|a|b|1|2");
}

TEST(PreTokenizers, MarksSpaces) {
  const auto metaspace = [](const std::string& scheme, bool split) {
    return pieces(
        "pre_tokenizer",
        {{"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", scheme}, {"split", split}});
  };
  EXPECT_EQ(spelled(made(metaspace("always", true)), "a b"), "|▁|a|▁|b");
  EXPECT_EQ(spelled(made(metaspace("always", true)), " a"), "|▁|a");
  EXPECT_EQ(spelled(made(metaspace("never", true)), "a b"), "|a|▁|b");
  Json first = metaspace("first", false);
  first["added_tokens"] = {addedToken("<s>", 100)};
  EXPECT_EQ(spelled(made(first), "a<s>b"), "|▁|a|<s>|b");
  // What a rule leaves doesn't begin the text if the first typed character was dropped.
  first["normalizer"] = {{"type", "Replace"}, {"pattern", {{"String", "x"}}}, {"content", ""}};
  EXPECT_EQ(spelled(made(first), "xa<s>b"), "|a|<s>|b");
  // But it does for a table of characters; this one drops U+0001.
  first["normalizer"] = {{"type", "Precompiled"},
                         {"precompiled_charsmap", "IAAAAAAIAAAAAAAAAAAAAAERAAAAAAAAAAAAAAAAAAAAAAAAAA=="}};
  EXPECT_EQ(spelled(made(first), "\1\1a<s>\1b"), "|▁|a|<s>|b");
  Json older =
      pieces("pre_tokenizer", {{"type", "Metaspace"}, {"replacement", "▁"}, {"add_prefix_space", false}});
  EXPECT_EQ(spelled(made(older), "a"), "|a");
}

TEST(Normalizers, RewritesText) {
  const auto normalized = [](const Json& rule, const std::string& text) {
    return spelled(made(pieces("normalizer", rule)), text);
  };
  EXPECT_EQ(normalized({{"type", "NFC"}}, "e\u0301"), "|é");
  EXPECT_EQ(normalized({{"type", "NFD"}}, "é"), "|e|\u0301");
  EXPECT_EQ(normalized({{"type", "NFC"}}, "²"), "|²");
  EXPECT_EQ(normalized({{"type", "NFKC"}}, "²"), "|2");
  EXPECT_EQ(normalized({{"type", "NFKD"}}, "é²"), "|e|\u0301|2");
  EXPECT_EQ(normalized({{"type", "Lowercase"}}, "ABc"), "|a|b|c");
  EXPECT_EQ(normalized({{"type", "StripAccents"}}, "e\u0301"), "|e");
  EXPECT_EQ(normalized({{"type", "Strip"}, {"strip_left", true}, {"strip_right", false}}, "  a "), "|a| ");
  EXPECT_EQ(normalized({{"type", "Prepend"}, {"prepend", "x"}}, "a"), "|x|a");
  EXPECT_EQ(normalized({{"type", "Prepend"}, {"prepend", "x"}}, ""), "");
  EXPECT_EQ(normalized({{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", "bb"}}, "aca"),
            "|b|b|c|b|b");
  EXPECT_EQ(normalized({{"type", "Replace"}, {"pattern", {{"Regex", "[ab]+"}}}, {"content", ""}}, "abcab"),
            "|c");
  EXPECT_EQ(normalized({{"type", "BertNormalizer"}}, "Aé\t日b\u200B"), "|a|e| | |日| |b");
  // In the reference, ideographs resume 256 code points after the block's start.
  EXPECT_EQ(normalized({{"type", "BertNormalizer"}}, "\U0002B81Fb"), "| |<unk>| |b");
  EXPECT_EQ(normalized({{"type", "BertNormalizer"}}, "\U0002B820b"), "|<unk>|b");
  EXPECT_EQ(normalized({{"type", "BertNormalizer"}}, "\U0002B91Fb"), "|<unk>|b");
  EXPECT_EQ(normalized({{"type", "BertNormalizer"}}, "\U0002B920b"), "| |<unk>| |b");
}

TEST(Normalizers, MapsMarksAndSpacesToTypedBytes) {
  const Json llama = {{"type", "Sequence"},
                      {"normalizers",
                       {{{"type", "Prepend"}, {"prepend", "▁"}},
                        {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "▁"}}}}};
  const auto encoded = checked(made(pieces("normalizer", llama)).encode(" a"));
  // The typed space is the first mark; the second one, before the letter, has no typed bytes.
  EXPECT_EQ(encoded->spans, (std::vector<ByteRange>{{0, 1}, {1, 1}, {1, 2}}));
}

TEST(BytePairs, MergesByRankThenFromLeft) {
  EXPECT_EQ(spelled(made(bytePairJson({"a", "b", "c"}, {{"b", "c"}, {"a", "b"}})), "abc"), "|a|bc");
  EXPECT_EQ(spelled(made(bytePairJson({"a"}, {{"a", "a"}})), "aaaaa"), "|aa|aa|a");
  EXPECT_EQ(spelled(made(bytePairJson({"a", "b"}, {{"a", "b"}, {"ab", "ab"}, {"abab", "a"}})), "ababa"),
            "|ababa");
  // A later merge of the same pair replaces the earlier one.
  EXPECT_EQ(spelled(made(bytePairJson({"a", "b", "c"}, {{"a", "b"}, {"b", "c"}, {"a", "b"}})), "abc"),
            "|a|bc");
}

TEST(BytePairs, ReadsMergesOfOlderFiles) {
  Json json = bytePairJson({"a", "b"}, {{"a", "b"}});
  json["model"]["merges"] = {"a b"};
  json["model"].erase("type");
  EXPECT_EQ(spelled(made(json), "ab"), "|ab");
}

TEST(BytePairs, SpellsUnknownCharacters) {
  Json json = bytePairJson({"a", "<0xC3>", "<0xA9>"});
  EXPECT_EQ(spelled(made(json), "a日本a"), "|a|<unk>|<unk>|a");
  json["model"]["fuse_unk"] = true;
  EXPECT_EQ(spelled(made(json), "a日本a"), "|a|<unk>|a");
  json["model"]["byte_fallback"] = true;
  EXPECT_EQ(spelled(made(json), "aé日"), "|a|<0xC3>|<0xA9>|<unk>");
  json["model"]["unk_token"] = nullptr;
  EXPECT_EQ(spelled(made(json), "a日a"), "|a|a");
}

TEST(BytePairs, IgnoreMergesLooksUpWholePiecesFirst) {
  Json json = bytePairJson({"a", "b", "c"}, {{"b", "c"}});
  json["model"]["vocab"]["abc"] = 9;
  EXPECT_EQ(spelled(made(json), "abc"), "|a|bc");
  json["model"]["ignore_merges"] = true;
  EXPECT_EQ(spelled(made(json), "abc"), "|abc");
}

TEST(WordPieces, TakesLongestPrefix) {
  const auto words = [](int longest) {
    return Json{{"pre_tokenizer", {{"type", "WhitespaceSplit"}}},
                {"model",
                 {{"type", "WordPiece"},
                  {"unk_token", "[UNK]"},
                  {"max_input_chars_per_word", longest},
                  {"vocab", {{"[UNK]", 0}, {"a", 1}, {"ab", 2}, {"##c", 3}, {"##cd", 4}, {"é", 5}}}}}};
  };
  EXPECT_EQ(spelled(made(words(100)), "abcd abc acd abx é"), "|ab|##cd|ab|##c|a|##cd|[UNK]|é");
  EXPECT_EQ(spelled(made(words(3)), "abcd abc"), "|[UNK]|ab|##c");
  Json untyped = words(100);
  untyped["model"].erase("type");
  EXPECT_EQ(spelled(made(untyped), "abc"), "|ab|##c");
}

TEST(AddedTokens, MatchesLeftmostLongest) {
  Json json = bytePairJson({"a", "b", " "});
  json["added_tokens"] = {addedToken("<a>", 10), addedToken("<a><b>", 11), addedToken("b>a", 12)};
  EXPECT_EQ(spelled(made(json), "a<a><b>a<a>b>ab"), "|a|<a><b>|a|<a>|b>a|b");
}

TEST(AddedTokens, AppliesSingleWordAndStripFlags) {
  Json json = bytePairJson({"a", " ", "x"});
  Json word = addedToken("xx", 10), left = addedToken("<l>", 11), right = addedToken("<r>", 12);
  word["single_word"] = left["lstrip"] = right["rstrip"] = true;
  json["added_tokens"] = {word, left, right};
  EXPECT_EQ(spelled(made(json), "xx axx xx"), "|xx| |a|x|x| |xx");
  EXPECT_EQ(spelled(made(json), "a  <l>  a"), "|a|  <l>| | |a");
  EXPECT_EQ(spelled(made(json), "a  <r>  <l>"), "|a| | |<r>  |<l>");
}

TEST(AddedTokens, SpaceTakenByTheTokenBeforeIsGone) {
  Json json = bytePairJson({"a"});
  Json right = addedToken("<r>", 10), line = addedToken("\n", 11);
  right["rstrip"] = line["lstrip"] = true;
  json["added_tokens"] = {right, line};
  EXPECT_EQ(spelled(made(json), "a\n<r>\n\na"), "|a|\n|<r>\n\n|a");
  json["added_tokens"][1]["lstrip"] = false;
  EXPECT_EQ(made(json).encode("a<r>\n\na")->ids.size(), 5U);
}

TEST(Unigram, JoinsItsUnknownTokenWithUnknownText) {
  const Json vocabulary = Json::array({Json::array({"<unk>", 0}), Json::array({"a", -1})});
  Json json = {{"model", {{"type", "Unigram"}, {"unk_id", 0}, {"vocab", vocabulary}}}};
  EXPECT_EQ(spelled(made(json), "a<unk>xa"), "|a|<unk>|a");
  json["model"].erase("unk_id");
  EXPECT_EQ(spelled(made(json), "axa"),
            "\"x\" has no token, and the tokenizer has no \"unk_id\" for unknown text");
}

TEST(AddedTokens, NormalizesTokensLikeText) {
  Json json = bytePairJson({"a", "b"});
  json["normalizer"] = {{"type", "Lowercase"}};
  Json token = addedToken("AB", 10);
  token["normalized"] = true;
  json["added_tokens"] = {token, addedToken("Bb", 11)};
  EXPECT_EQ(spelled(made(json), "aBAbBb"), "|ab|ab|Bb");
}

TEST(PostProcessors, AddsTokensAroundText) {
  Json json = bytePairJson({"a"});
  json["added_tokens"] = {addedToken("<s>", 10), addedToken("</s>", 11)};
  json["post_processor"] = {{"type", "RobertaProcessing"}, {"cls", {"<s>", 10}}, {"sep", {"</s>", 11}}};
  EXPECT_EQ(spelled(made(json), "a"), "|<s>|a|</s>");
  const Json pieces = {{{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}},
                       {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}};
  json["post_processor"] = {{"type", "Sequence"},
                            {"processors",
                             {{{"type", "ByteLevel"}},
                              {{"type", "TemplateProcessing"},
                               {"single", pieces},
                               {"special_tokens", {{"<s>", {{"id", "<s>"}, {"ids", {10, 11}}}}}}}}}};
  EXPECT_EQ(spelled(made(json), "a"), "|<s>|</s>|a");
}

std::string decoded(const Json& decoder, const std::vector<std::string>& tokens) {
  Json json = bytePairJson(tokens);
  json["decoder"] = decoder;
  const TextTokenizer tokenizer = made(json);
  std::vector<TokenId> ids;
  for (const std::string& token : tokens) ids.push_back(*tokenizer.find(token));
  return *tokenizer.decode(ids);
}

TEST(Decoders, JoinsTokens) {
  const Json llama = {{"type", "Sequence"},
                      {"decoders",
                       {{{"type", "Replace"}, {"pattern", {{"String", "▁"}}}, {"content", " "}},
                        {{"type", "ByteFallback"}},
                        {{"type", "Fuse"}},
                        {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}}}};
  EXPECT_EQ(decoded(llama, {"▁a", "▁▁b", "<0xC3>", "<0xA9>"}), "a  bé");
  EXPECT_EQ(decoded(llama, {"a", "<0xC3>", "<0xC4>"}), "a\uFFFD\uFFFD");
  EXPECT_EQ(decoded({{"type", "ByteLevel"}}, {"Ġa", "Ã", "©", "ð"}), " aé\uFFFD");
  EXPECT_EQ(
      decoded({{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}, {"a", "##b", ",", "do", "n't"}),
      "ab, don't");
  EXPECT_EQ(decoded({{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", false}}, {"a", "."}), "a .");
  EXPECT_EQ(decoded({{"type", "Metaspace"}, {"replacement", "▁"}}, {"▁a", "▁b"}), "a b");
  EXPECT_EQ(decoded(nullptr, {"a", "b"}), "a b");
}

TEST(Decoders, ReplacesBrokenUtf8LikeBrowsers) {
  EXPECT_EQ(repairedUtf8("a\xF0\x9F\x98 b"), "a\uFFFD b");
  EXPECT_EQ(repairedUtf8("\xE2\x82"), "\uFFFD");
  EXPECT_EQ(repairedUtf8("\xC0\xAF\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(repairedUtf8("\xF4\x90\x80"), "\uFFFD\uFFFD\uFFFD");
}

TEST(RegexSyntax, TranslatesToPcre2OrRefuses) {
  EXPECT_EQ(*pcre2Expression(R"(\s+(?!\S))"), R"([\p{Z}\t-\r\x{85}]+(?![^\p{Z}\t-\r\x{85}]))");
  EXPECT_EQ(*pcre2Expression(R"([^\s\p{L}])"), R"([^\p{Z}\t-\r\x{85}\p{L}])");
  EXPECT_EQ(*pcre2Expression(R"(^a|\u4e00{1,2}$)"), R"((?m:^)a|\x{4e00}{1,2}(?m:$))");
  EXPECT_EQ(*pcre2Expression("[^a[b-d.]e]"), "[^ab-d.e]");
  // For PCRE2, the Mongolian vowel separator is white space.
  EXPECT_EQ(*pcre2Expression(R"([\Sa])"), R"([\S\x{180E}a])");
  for (const char* different : {R"(\h)", "(?m)a", "[a&&b]", "[[^a]b]", "[[a[b]]]", "[[:alpha:]]", "[a-[b]]",
                                "[[a]-b]", "a{1}+", "a{,2}", R"(\1)", "(?<n>a)", R"(\K)", "[a", "\\"})
    EXPECT_FALSE(pcre2Expression(different).ok()) << different;
}

}  // namespace
}  // namespace headscope::attention::test
