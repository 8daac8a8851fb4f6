// What lessons say and show of tokens: words for positions, ids, rows of the embedding table, and rotation.

#include <gtest/gtest.h>

#include <cmath>

#include "app/compute/lessons/lesson_study.h"
#include "tests/support/matchers.h"

namespace headscope::app {
namespace {

constexpr Limits kTokenLimits{std::uint64_t{1} << 30};

TEST(LessonTokens, SaysPositionsAsWords) {
  const auto lesson =
      parseLesson(R"J({"format": "headscope lesson", "version": 1, "id": "a", "title": "A", "steps": [
    {"id": "one", "title": "T", "text": "{argmax(W[0,7]):word}; {argmax(W[:2,7],-1):word}"},
    {"id": "two", "title": "T", "text": "{n:word}"}]})J",
                  "a.json");
  ASSERT_TRUE(lesson) << lesson.error().message;
  Resources resources(kTokenLimits);
  const auto study = studyStep(**lesson, 0, resources);
  ASSERT_TRUE(study) << study.error().message;
  EXPECT_EQ((*study)->text, "“because” (6); “because” (6), “The” (0)");
  const auto beyond = studyStep(**lesson, 1, resources);
  ASSERT_FALSE(beyond);
  EXPECT_THAT(beyond.error().message, HasSubstr("12 is not the position of a word, expected 0 to 11"));
}

/// Lesson 0's pictures: ids and rows are the tokenizer's and the model's, and hands turn as RoPE says.
TEST(LessonTokens, TokenPicturesShowTheModel) {
  const auto lesson = parseLesson(R"J({"format": "headscope lesson", "version": 1, "id": "a", "title": "A",
    "scene": {"subject.model": "learned", "input.text": "The dog saw the cat . The"}, "steps": [
    {"id": "rows", "title": "T", "text": "x", "look": {"query": 6, "picture": "vectors"},
     "claims": ["ids[0]==ids[6]", "ids[0]!=ids[3]", "max(abs(E[0]-E[6]))==0", "shape(E)==[7,96]"]},
    {"id": "hands", "title": "T", "text": "x", "look": {"head": 0, "query": 6, "picture": "rotation"}}]})J",
                                  "a.json");
  ASSERT_TRUE(lesson) << lesson.error().message;
  Resources resources(kTokenLimits);
  const auto rows = studyStep(**lesson, 0, resources);
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_THAT((*rows)->failedClaims, IsEmpty());
  const TokenFigure& figure = *(*rows)->tokens;
  EXPECT_THAT(figure.compared, ElementsAre(0, 6, 3)) << "the same word, whatever its case";
  EXPECT_EQ(figure.vocabulary, 643);
  EXPECT_EQ(figure.rowOf(0), figure.rowOf(6));
  EXPECT_NE(figure.rowOf(0), figure.rowOf(3));
  EXPECT_TRUE(figure.pairs.empty());
  const auto hands = studyStep(**lesson, 1, resources);
  ASSERT_TRUE(hands) << hands.error().message;
  EXPECT_THAT((*hands)->tokens->compared, ElementsAre(0, 6));
  ASSERT_EQ((*hands)->tokens->pairs.size(), 8u) << "16 numbers";
  for (const TokenFigure::Pair& pair : (*hands)->tokens->pairs) {
    const double off = pair.angles[1] - pair.angles[0] - 6 * pair.step;
    EXPECT_NEAR(std::cos(off), 1, 1e-4) << pair.first;
  }
}

TEST(LessonTokens, TokenPicturesNeedAModel) {
  const auto lesson = parseLesson(
      R"J({"format": "headscope lesson", "version": 1, "id": "a", "title": "A", "steps": [
    {"id": "one", "title": "T", "text": "x", "look": {"query": 0, "picture": "ids"}},
    {"id": "two", "title": "T", "text": "{ids[0]}"}]})J",
      "a.json");
  ASSERT_TRUE(lesson) << lesson.error().message;
  Resources resources(kTokenLimits);
  const auto study = studyStep(**lesson, 0, resources);
  ASSERT_FALSE(study);
  EXPECT_THAT(study.error().message, HasSubstr("look.picture: this picture needs an opened model"));
  const auto name = studyStep(**lesson, 1, resources);
  ASSERT_FALSE(name);
  EXPECT_THAT(name.error().message, HasSubstr("ids needs an opened model"));
}

}  // namespace
}  // namespace headscope::app
