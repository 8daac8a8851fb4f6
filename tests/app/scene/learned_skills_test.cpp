#include "app/scene/learned_skills.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/platform/assets.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

TEST(LearnedSkills, OfTheMiniatureAreThoseOfItsFile) {
  const auto skills = readLearnedSkills(miniatureFolder());
  ASSERT_TRUE(skills.ok()) << skills.error().message;
  ASSERT_EQ(skills->size(), 6u);
  const LearnedSkill& first = skills->front();
  EXPECT_EQ(first.title, "What “it” was");
  EXPECT_THAT(first.text, EndsWith(" The"));
  EXPECT_EQ(first.next, "dog");
  EXPECT_EQ(first.of, 200);
  EXPECT_GE(first.right, 190);
  ASSERT_TRUE(first.head);
  EXPECT_GE(first.head->score, 0.8);
  EXPECT_EQ(skills->back().of, 0);
}

TEST(LearnedSkills, AFileThatIsSomethingElseIsAnError) {
  const test::TemporaryFolder folder;
  EXPECT_THAT(readLearnedSkills(folder.path()).error().message, HasSubstr("No such file"));
  for (const char* text :
       {"", "[]", "{}", R"({"skills": 3})", R"({"skills": [{"title": "x"}]})",
        R"({"skills": [{"name": "a", "title": "b", "text": "c", "score": "d", "layer": 0, "head": 0}]})",
        R"({"skills": [{"name": "a", "title": "b", "text": "c", "score": 1, "layer": -1, "head": 0}]})",
        R"({"skills": [{"name": "a", "title": "b", "text": "c", "right": 1e30, "of": 2}]})"}) {
    test::putFile(folder / "scores.json", std::string_view(text));
    const auto skills = readLearnedSkills(folder.path());
    EXPECT_TRUE(!skills.ok() || skills->empty()) << text;
  }
}

}  // namespace
}  // namespace headscope::app
