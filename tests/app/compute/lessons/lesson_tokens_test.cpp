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

TEST(LessonTokens, ArraysAndPlanesAreComputed) {
  const auto read = [](const std::string& look) {
    return parseLesson(R"J({"format": "headscope lesson", "version": 1, "id": "a", "title": "A", "scene":
    {"weights.source": "random", "model.linked": false, "model.head_dim": 2}, "steps": [{"id": "one", "title": "T", "text": "x", "look": )J" +
                           look + "}]}",
                       "a.json");
  };
  Resources resources(kTokenLimits);
  const auto arrays = read(R"J({"picture": "arrays", "arrays": [
    {"label": "{n} words", "values": "W[0,7]", "words": true}, {"label": "maps", "values": "W[:2]", "result": true}]})J");
  ASSERT_TRUE(arrays) << arrays.error().message;
  const auto study = studyStep(**arrays, 0, resources);
  ASSERT_TRUE(study) << study.error().message;
  ASSERT_EQ((*study)->arrays.size(), 2u);
  const ArrayFigure &row = (*study)->arrays[0], &maps = (*study)->arrays[1];
  EXPECT_EQ(row.label, "12 words");
  EXPECT_EQ(row.words[7], "it");
  EXPECT_NEAR(row.values[0].sum(), 1, 1e-5);
  EXPECT_EQ(maps.values.size(), 2u);
  EXPECT_TRUE(maps.result);
  EXPECT_EQ(maps.values[1].row(7), (*study)->snapshot->sequences[0].attention.weights[1].row(7));
  const auto plane = read(R"J({"picture": "plane", "head": 1, "query": 3})J");
  ASSERT_TRUE(plane) << plane.error().message;
  EXPECT_EQ((*studyStep(**plane, 0, resources))->plane->query, 3);
  const auto number = read(R"J({"picture": "arrays", "arrays": [{"label": "a", "values": "n"}]})J");
  EXPECT_THAT(studyStep(**number, 0, resources).error().message,
              HasSubstr("look.arrays[0].values: this has the shape"));
  for (const auto& [look, expected] : {std::pair(R"J({"picture": "arrays"})J", "look.arrays"),
                                       std::pair(R"J({"picture": "arrays", "arrays": [{"label": "a"}]})J",
                                                 "look.arrays[0].values is missing")})
    EXPECT_THAT(read(look).error().message, HasSubstr(expected));
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
