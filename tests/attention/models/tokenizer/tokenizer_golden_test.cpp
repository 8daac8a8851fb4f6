// tests/golden/tokens: the results of Hugging Face's own library for the same texts, compared by id and by
// byte.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/attention/models/tokenizer/token_cases.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::attention::test {
namespace {

void expectGolden(const std::string& json, const std::string& name) {
  const auto tokenizer = checked(TextTokenizer::parse(json, name));
  const auto cases = tokenCases(name);
  ASSERT_GT(cases.size(), 50u);
  for (const TokenCase& one : cases) EXPECT_EQ(difference(*tokenizer, one), "") << one.text;
}

class SmallTokenizers : public testing::TestWithParam<const char*> {};

TEST_P(SmallTokenizers, MatchesReference) {
  expectGolden(smallTokenizer(GetParam()), GetParam());
}
INSTANTIATE_TEST_SUITE_P(All, SmallTokenizers,
                         testing::Values("small-byte-bpe", "small-wordpiece", "small-unigram"));

class LargeTokenizers : public testing::TestWithParam<const char*> {};

TEST_P(LargeTokenizers, MatchesReference) {
  const std::string name = GetParam();
  const char* folder = std::getenv("HEADSCOPE_TOKENIZERS");
  if (!folder) GTEST_SKIP() << "ctest -R tokenizers.large fetches the large vocabularies and tests them.";
  const auto path = std::filesystem::path(folder) / (name + ".json");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " could not be fetched.";
  const std::string text = headscope::test::fileText(path);
  expectGolden(name == "bert-uncased" ? bertTokenizer(text) : text, name);
}
INSTANTIATE_TEST_SUITE_P(All, LargeTokenizers,
                         testing::Values("gpt2", "llama-2", "llama-3.1", "qwen-3", "gemma-3",
                                         "bert-uncased"));

}  // namespace
}  // namespace headscope::attention::test
