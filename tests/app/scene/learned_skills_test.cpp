#include <gtest/gtest.h>

#include "app/platform/assets.h"
#include "app/scene/models/open_model.h"
#include "attention/models/tokenizer/text_tokenizer.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app {
namespace {

TEST(LearnedSkills, ReadsSkillsOfTheLearnedModel) {
  const auto learned = readLearned(miniatureFolder());
  ASSERT_TRUE(learned.ok()) << learned.error().message;
  const std::vector<LearnedSkill>& skills = learned->skills;
  ASSERT_EQ(skills.size(), 6u);
  const LearnedSkill& first = skills.front();
  EXPECT_EQ(first.title, "What “it” was");
  EXPECT_THAT(first.text, EndsWith(" The"));
  EXPECT_EQ(first.next, "dog");
  EXPECT_EQ(first.of, 200);
  EXPECT_GE(first.right, 190);
  ASSERT_TRUE(first.head);
  EXPECT_GE(first.head->score, 0.8);
  EXPECT_EQ(skills.back().of, 0);
}

TEST(LearnedSkills, RefusesInvalidFiles) {
  const test::TemporaryFolder folder;
  EXPECT_THAT(readLearned(folder.path()).error().message, HasSubstr("No such file"));
  for (const char* text :
       {"", "[]", "{}", R"({"skills": 3})", R"({"skills": [{"title": "x"}]})",
        R"({"skills": [{"name": "a", "title": "b", "text": "c", "score": "d", "layer": 0, "head": 0}]})",
        R"({"skills": [{"name": "a", "title": "b", "text": "c", "score": 1, "layer": -1, "head": 0}]})",
        R"({"skills": [{"name": "a", "title": "b", "text": "c", "right": 1e30, "of": 2}]})"}) {
    test::putFile(folder / "scores.json", std::string_view(text));
    const auto learned = readLearned(folder.path());
    EXPECT_TRUE(!learned.ok() || learned->skills.empty()) << text;
  }
}

/// The miniature's word list contains exactly its tokenizer's single-token words.
TEST(LearnedSkills, EveryWordIsOneToken) {
  const auto learned = readLearned(miniatureFolder());
  const auto tokenizer = attention::TextTokenizer::open(miniatureFolder());
  ASSERT_TRUE(learned.ok() && tokenizer.ok());
  ASSERT_GT(learned->words.size(), 200u);
  for (const std::string& word : learned->words) {
    const auto encoded = tokenizer->encode(word);
    ASSERT_TRUE(encoded.ok());
    EXPECT_EQ(encoded->ids.size(), 1u) << word;
  }
  for (const LearnedSkill& skill : learned->skills)
    EXPECT_THAT(wordsOutside(learned->words, skill.text), IsEmpty()) << skill.text;
}

TEST(LearnedSkills, NamesUnknownWordsOnce) {
  const std::vector<std::string> words{"The", "didn't", "dog"};
  EXPECT_THAT(wordsOutside(words, "The zebra didn't see the Häuser, zebra dog."),
              ElementsAre("zebra", "see", "the", "Häuser"));
  EXPECT_THAT(wordsOutside(words, "The dog didn’t . , '' "), IsEmpty());
  EXPECT_THAT(wordsOutside({}, "zebra"), IsEmpty()) << "a model that lists none";
}

}  // namespace
}  // namespace headscope::app
