// The rules of generation, on cases worked out by hand from the definitions of transformers' logits
// processors.

#include <gtest/gtest.h>

#include "attention/models/config/config_reader.h"
#include "attention/models/config/model_config.h"
#include "attention/models/session.h"
#include "tests/attention/models/golden_models.h"
#include "tests/support/float_limits.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::attention::test {
namespace {

constexpr float kNo = -kInfinity;

/// The logits 4, 3, 2, 1, −1, −2 of tokens 0 to 5 after the rules, and the rule that displaced token 0.
struct Ruled {
  Ruled(const GenerationRules& rules, const std::vector<Index>& text, Index given = 1) {
    Eigen::RowVectorXf row(6);
    row << 4, 3, 2, 1, -1, -2;
    static const std::vector<Index> kEnds{5};
    because = applyRules(rules, {text, given, kEnds}, row);
    logits.assign(row.begin(), row.end());
  }
  std::vector<float> logits;
  std::string_view because;
};

GenerationRules rulesOf(const std::string& json) {
  const auto reader = ConfigReader::parse(json, "generation_config.json");
  std::vector<std::string> notes;
  GenerationRules rules = readRules(*reader, "generation_config.json", notes);
  EXPECT_TRUE(reader->status()) << reader->status().error().message;
  return rules;
}

TEST(GenerationRules, NoRulesLeaveLogitsUnchanged) {
  const Ruled plain({}, {0, 1});
  EXPECT_THAT(plain.logits, ElementsAre(4, 3, 2, 1, -1, -2));
  EXPECT_EQ(plain.because, "");
}

TEST(GenerationRules, PenalisesEachRepeatedTokenOnce) {
  const Ruled ruled(rulesOf(R"({"repetition_penalty": 2})"), {0, 0, 4, 0});
  EXPECT_THAT(ruled.logits, ElementsAre(2, 3, 2, 1, -2, -2));
  EXPECT_EQ(ruled.because, "repetition_penalty");
}

TEST(GenerationRules, ForbidsRepeatedNgrams) {
  const auto rules = rulesOf(R"({"no_repeat_ngram_size": 2})");
  // Token 1 was followed by 0 and by 3.
  EXPECT_THAT(Ruled(rules, {1, 0, 1, 3, 1}).logits, ElementsAre(kNo, 3, 2, kNo, -1, -2));
  EXPECT_EQ(Ruled(rules, {1, 0, 1, 3, 1}).because, "no_repeat_ngram_size");
  EXPECT_THAT(Ruled(rules, {1}).logits, ElementsAre(4, 3, 2, 1, -1, -2));
  EXPECT_THAT(Ruled(rulesOf(R"({"no_repeat_ngram_size": 1})"), {1, 5}).logits,
              ElementsAre(4, kNo, 2, 1, -1, kNo));
  EXPECT_THAT(Ruled(rulesOf(R"({"no_repeat_ngram_size": 3})"), {1, 0, 2, 1, 0}).logits,
              ElementsAre(4, 3, kNo, 1, -1, -2));
}

TEST(GenerationRules, ForbidsWholeBadWordsExceptEndToken) {
  const auto rules = rulesOf(R"({"bad_words_ids": [[2], [1, 0], [5], [3, 3, 1]]})");
  EXPECT_THAT(Ruled(rules, {4, 1}).logits, ElementsAre(kNo, 3, kNo, 1, -1, -2));
  EXPECT_THAT(Ruled(rules, {1, 4}).logits, ElementsAre(4, 3, kNo, 1, -1, -2));
  EXPECT_THAT(Ruled(rules, {0, 3, 3}).logits, ElementsAre(4, kNo, kNo, 1, -1, -2));
}

TEST(GenerationRules, ShortTextCannotEnd) {
  const auto whole = rulesOf(R"({"min_length": 3})"), own = rulesOf(R"({"min_new_tokens": 2})");
  EXPECT_EQ(Ruled(whole, {0, 0}).logits[5], kNo);
  EXPECT_EQ(Ruled(whole, {0, 0, 0}).logits[5], -2);
  EXPECT_EQ(Ruled(own, {0, 0, 0, 0}, 3).logits[5], kNo);
  EXPECT_EQ(Ruled(own, {0, 0, 0, 0}, 2).logits[5], -2);
}

TEST(GenerationRules, ForcesTokensAtTheirPositions) {
  const auto first = rulesOf(R"({"forced_bos_token_id": 3})");
  EXPECT_THAT(Ruled(first, {2}).logits, ElementsAre(kNo, kNo, kNo, 0, kNo, kNo));
  EXPECT_EQ(Ruled(first, {2}).because, "forced_bos_token_id");
  EXPECT_THAT(Ruled(first, {2, 2}).logits, ElementsAre(4, 3, 2, 1, -1, -2));
  const auto last = rulesOf(R"({"forced_eos_token_id": 5, "max_length": 4})");
  EXPECT_THAT(Ruled(last, {2, 2, 2}).logits, ElementsAre(kNo, kNo, kNo, kNo, kNo, 0));
  EXPECT_THAT(Ruled(last, {2, 2}).logits, ElementsAre(4, 3, 2, 1, -1, -2));
  // Whisper's form: a position with null is left to the model.
  const auto places = rulesOf(R"({"forced_decoder_ids": [[1, null], [2, 4]]})");
  EXPECT_THAT(Ruled(places, {2}).logits, ElementsAre(4, 3, 2, 1, -1, -2));
  EXPECT_THAT(Ruled(places, {2, 2}).logits, ElementsAre(kNo, kNo, kNo, kNo, 0, kNo));
}

TEST(GenerationRules, NeverWritesSuppressedTokens) {
  EXPECT_THAT(Ruled(rulesOf(R"({"suppress_tokens": [0, 4, 99]})"), {1}).logits,
              ElementsAre(kNo, 3, 2, 1, kNo, -2));
  const auto begin = rulesOf(R"({"begin_suppress_tokens": [0]})");
  EXPECT_EQ(Ruled(begin, {1, 1}, 2).because, "begin_suppress_tokens");
  EXPECT_EQ(Ruled(begin, {1, 1, 1}, 2).because, "");
  // After the forced tokens.
  const auto afterForced = rulesOf(R"({"begin_suppress_tokens": [0], "forced_bos_token_id": 3})");
  EXPECT_EQ(Ruled(afterForced, {1, 3}, 1).because, "begin_suppress_tokens");
  const auto whisper = rulesOf(R"({"begin_suppress_tokens": [0], "forced_decoder_ids": [[1, 2], [2, 3]]})");
  EXPECT_EQ(Ruled(whisper, {1, 2, 3}, 1).because, "begin_suppress_tokens");
  EXPECT_EQ(Ruled(whisper, {1, 2, 3, 1}, 1).because, "");
}

TEST(GenerationRules, NamesFirstEffectiveRule) {
  EXPECT_EQ(Ruled(rulesOf(R"({"suppress_tokens": [0, 1], "bad_words_ids": [[0]]})"), {2}).because,
            "bad_words_ids");
  EXPECT_EQ(Ruled(rulesOf(R"({"suppress_tokens": [1]})"), {2}).because, "") << "1 isn't the likeliest";
}

TEST(GenerationRules, ForcedEndWithoutMaximumLengthIsNamedAsNotApplied) {
  const auto reader =
      ConfigReader::parse(R"({"forced_eos_token_id": 5, "forced_bos_token_id": 3})", "g.json");
  std::vector<std::string> notes;
  EXPECT_TRUE(readRules(*reader, "g.json", notes).forcedLast.empty());
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_THAT(notes[0], HasSubstr("follows forced_bos_token_id in g.json"));
  EXPECT_THAT(notes[1],
              HasSubstr("sets forced_eos_token_id for generating text. Headscope doesn't apply it."));
}

TEST(GenerationRules, RefusesInvalidRulesByName) {
  for (const auto& [json, field] : {std::pair(R"({"bad_words_ids": [3]})", "bad_words_ids"),
                                    {R"({"forced_decoder_ids": [[1, 2, 3]]})", "forced_decoder_ids"},
                                    {R"({"repetition_penalty": -1})", "repetition_penalty"},
                                    {R"({"suppress_tokens": "a"})", "suppress_tokens"}}) {
    const auto reader = ConfigReader::parse(json, "g.json");
    std::vector<std::string> notes;
    (void)readRules(*reader, "g.json", notes);
    ASSERT_FALSE(reader->status()) << json;
    EXPECT_THAT(reader->status().error().message, HasSubstr(field));
  }
}

// The generated text changes; the model's logits for each next token don't.
TEST(GenerationRules, GenerationAppliesRulesButLogitsStayUnchanged) {
  const Golden golden("llama", "short");
  const auto write = [&](const std::string& rules) {
    const headscope::test::TemporaryFolder folder;
    std::filesystem::copy(goldenModel("llama"), folder.path());
    if (!rules.empty()) headscope::test::putFile(folder.path() / "generation_config.json", rules);
    ModelSession session(openModel(folder.path()));
    auto pass = session.append(golden.ids("input_ids"), {});
    const Matrix logits = pass->logits;
    std::vector<Index> written;
    EXPECT_TRUE(generate(session, std::move(pass->logits), 6, {}, {}, [&](Index id, const PassResult&) {
      written.push_back(id);
      return true;
    }));
    return std::pair(logits, written);
  };
  const auto [logits, plain] = write("");
  ASSERT_GE(plain.size(), 1u);
  const auto [same, ruled] = write("{\"suppress_tokens\": [" + std::to_string(plain[0]) + "]}");
  EXPECT_EQ(logits, same);
  EXPECT_NE(ruled[0], plain[0]);
  EXPECT_EQ(std::ranges::find(ruled, plain[0]), ruled.end());
}

}  // namespace
}  // namespace headscope::attention::test
