// A word's vector as a mixture of words, typed or dragged on a map.

#include "app/kit/word_mix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace headscope::test {
namespace {

using app::EditedWord;
using app::Index;
using app::MixTerm;
using Mix = std::vector<MixTerm>;

const std::vector<std::string> kMixNames{"The", "animal", "it", "the", "+", "2", "New York", "3rd", "."};

Mix mixRead(const char* text, Index self = 2) {
  const auto terms = app::parseMix(text, kMixNames, self);
  EXPECT_TRUE(terms.ok()) << text << ": " << terms.error().message;
  return terms.ok() ? *terms : Mix();
}

TEST(WordMix, ReadsSumsOfNumbersAndWords) {
  EXPECT_EQ(mixRead("0.3·it + 0.7·animal"), (Mix{{0.3, 2}, {0.7, 1}}));
  EXPECT_EQ(mixRead(" 0.3 * it+0,7·animal "), (Mix{{0.3, 2}, {0.7, 1}}));
  EXPECT_EQ(mixRead("2 it"), (Mix{{2, 2}}));
  EXPECT_EQ(mixRead("it"), (Mix{{1, 2}}));
  EXPECT_EQ(mixRead("it - 0.5·animal"), (Mix{{1, 2}, {-0.5, 1}}));
  EXPECT_EQ(mixRead("−it − animal"), (Mix{{-1, 2}, {-1, 1}}));
  EXPECT_EQ(mixRead("0.5·New York + it"), (Mix{{0.5, 6}, {1, 2}}));
}

TEST(WordMix, ReadsWordsThatLookLikeSomethingElse) {
  EXPECT_EQ(mixRead("2"), (Mix{{1, 5}})) << "the word, not a number";
  EXPECT_EQ(mixRead("2·2 + 0.5·."), (Mix{{2, 5}, {0.5, 8}}));
  EXPECT_EQ(mixRead("it + +"), (Mix{{1, 2}, {1, 4}}));
  EXPECT_EQ(mixRead("3rd + 3·3rd"), (Mix{{1, 7}, {3, 7}}));
  EXPECT_EQ(mixRead("the"), (Mix{{1, 3}})) << "as it is written";
  EXPECT_EQ(mixRead("THE", 3), (Mix{{1, 3}})) << "the edited word first";
  EXPECT_EQ(mixRead("THE"), (Mix{{1, 0}}));
}

TEST(WordMix, SaysWhatItCannotRead) {
  const std::pair<const char*, const char*> kBad[] = {{"", "Type a sum"},
                                                      {"0.3·anmal", "“anmal” is not a word"},
                                                      {"0.3·it +", "missing at the end"},
                                                      {"0.3·", "missing after 0.3"},
                                                      {"0.3", "missing after 0.3"},
                                                      {"it animal", "Put +"},
                                                      {"9999999·it", "too large"},
                                                      {"it + much + animal", "“much”"}};
  for (const auto& [text, why] : kBad) {
    const auto terms = app::parseMix(text, kMixNames, 2);
    ASSERT_FALSE(terms.ok()) << text;
    EXPECT_THAT(terms.error().message, testing::HasSubstr(why)) << text;
    EXPECT_EQ(terms.error().message.back(), '.') << text;
  }
}

TEST(WordMix, IsWrittenAsItIsRead) {
  for (const Mix& mix : {Mix{{0.3, 2}, {0.7, 1}}, Mix{{-1, 2}, {0.25, 6}, {-2.5, 0}}, Mix{{1, 2}}})
    EXPECT_EQ(mixRead(app::mixText(mix, kMixNames).c_str()), mix);
}

/// Random vectors of some words, and the plane of their first two components.
struct MixWords {
  explicit MixWords(unsigned seed) : random(seed) {
    values = attention::Matrix(9, 24).unaryExpr([&](float) { return normal(random); });
    before = values.row(2);
    plane = attention::principalPlane(values);
    points = attention::onPlane(plane, values);
  }
  EditedWord edited() const { return {values, before, 2}; }
  Eigen::RowVector2f place(const Eigen::RowVectorXf& vector) const {
    const attention::Matrix row = vector;
    return Eigen::RowVector2f(attention::onPlane(plane, row));
  }
  std::mt19937 random;
  std::normal_distribution<float> normal;
  attention::Matrix values, points;
  Eigen::RowVectorXf before;
  attention::Plane plane;
};

TEST(WordMix, FindsTheMixtureThatAVectorIs) {
  MixWords words(1);
  EXPECT_EQ(app::findMix(words.edited()), (Mix{{1, 2}}));
  for (const Mix& mix : {Mix{{0.3, 2}, {0.7, 1}}, Mix{{1, 2}, {0.5, 5}}, Mix{{-2, 2}}, Mix{{1, 8}}}) {
    words.values.row(2) = app::mixOf(mix, words.edited());
    EXPECT_EQ(app::findMix(words.edited()), mix);
  }
  words.values.row(2).setRandom();
  EXPECT_TRUE(app::findMix(words.edited()).empty());
}

/// On open ground only the two shown directions change; on a line the vector is a mixture. Either way the
/// point is where it was dragged to.
TEST(WordMix, DragOnTheMapChangesTheShownPlaneOnlyOrMixes) {
  constexpr float kReach = 0.2f;
  int caught = 0, open = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    MixWords words(seed);
    const Eigen::RowVectorXf start = words.before + 0.5f * words.plane.first;
    words.values.row(2) = start;
    words.points.row(2) = words.place(start);
    for (int i = 0; i < 20; ++i) {
      const Eigen::RowVector2f to(4 * words.normal(words.random), 4 * words.normal(words.random));
      const app::MapMove move = app::moveOnMap(words.plane, words.points, words.edited(), start, to, kReach);
      EXPECT_LT((words.place(move.vector) - to).norm(), kReach + 0.1f);
      if (move.caught >= 0) {
        ++caught;
        const Eigen::RowVectorXf mixed =
            (1 - move.share) * words.before + move.share * words.values.row(move.caught);
        EXPECT_LT((move.vector - mixed).norm(), 1e-4f);
        continue;
      }
      ++open;
      const Eigen::RowVectorXf by = move.vector - start;
      const Eigen::RowVectorXf out = by - by.dot(words.plane.first) * words.plane.first -
                                     by.dot(words.plane.second) * words.plane.second;
      EXPECT_LT(out.norm(), 1e-4f * (1 + by.norm()));
    }
  }
  EXPECT_GT(caught, 20);
  EXPECT_GT(open, 200);
}

TEST(WordMix, DragOntoAWordCopiesItsVector) {
  const MixWords words(7);
  for (const Index other : {0, 4, 8}) {
    const app::MapMove move = app::moveOnMap(words.plane, words.points, words.edited(), words.before,
                                             Eigen::RowVector2f(words.points.row(other)), 0.2f);
    EXPECT_EQ(move.caught, other);
    EXPECT_EQ(move.share, 1);
    EXPECT_TRUE(move.vector == words.values.row(other));
  }
}

TEST(WordMix, NearestWordsAreSortedAndNamedOnce) {
  MixWords words(3);
  words.values.row(5) = 2 * words.values.row(2);
  words.values.row(6) = words.values.row(7);
  const auto nearest = app::nearestWords(words.values, 2, 20);
  ASSERT_EQ(nearest.size(), 7u) << "all others, two of them once";
  EXPECT_EQ(nearest.front().word, 5);
  EXPECT_NEAR(nearest.front().cosine, 1, 1e-5f);
  for (std::size_t i = 1; i < nearest.size(); ++i) EXPECT_LE(nearest[i].cosine, nearest[i - 1].cosine);
  EXPECT_EQ(app::nearestWords(words.values, 2, 3).size(), 3u);
}

}  // namespace
}  // namespace headscope::test
