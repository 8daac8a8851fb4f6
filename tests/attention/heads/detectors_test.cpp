#include "attention/heads/detectors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/float_limits.h"

namespace headscope::attention::test {
namespace {

/// One head on a text with one letter per token; '.' separates.
struct Head {
  Matrix weights, scores;
  std::string queries, keys;
  Index firstPosition = 0;
  bool cross = false;

  HeadProfile profile() const {
    const HeadText text(tokens(queries), tokens(keys), false, firstPosition, cross);
    const MatrixView w(weights.data(), weights.rows(), weights.cols());
    const MatrixView s(scores.data(), scores.rows(), scores.cols());
    return profileHead({w, s, text});
  }

  static std::vector<Token> tokens(const std::string& text) {
    std::vector<Token> tokens;
    for (const char c : text) tokens.push_back({std::string(1, c), c == '.'});
    return tokens;
  }
};

/// A head whose weight is spread evenly over the visible keys; causal if `causal` is set.
Head uniformHead(const std::string& text, bool causal) {
  const auto n = static_cast<Index>(text.size());
  Head head{Matrix::Zero(n, n), Matrix::Zero(n, n), text, text};
  for (Index i = 0; i < n; ++i) {
    const Index visible = causal ? i + 1 : n;
    head.weights.row(i).head(visible).setConstant(1 / static_cast<float>(visible));
    head.scores.row(i).tail(n - visible).setConstant(kMinusInfinity);
  }
  return head;
}

/// A head whose row i puts all its weight on `target(i)`, or on itself if that isn't visible.
template <typename Target>
Head pointingHead(const std::string& text, bool causal, Target target) {
  Head head = uniformHead(text, causal);
  head.weights.setZero();
  for (Index i = 0; i < head.weights.rows(); ++i) {
    const Index j = target(i);
    const bool visible = j >= 0 && j < head.weights.cols() && head.scores(i, j) != kMinusInfinity;
    head.weights(i, visible ? j : i) = 1;
  }
  return head;
}

/// The name of the detector that labels a head.
std::string labelled(const HeadProfile& profile, float threshold = 0.3f) {
  const HeadLabel label = labelHead(profile, threshold);
  return label.detector ? std::string(label.detector->name) : "mixed";
}

TEST(Detectors, CompareIdsWhereThereAreSome) {
  // "a" and "␣a" read the same: 0 and 2 are one token, 1 is another.
  const std::vector<Token> tokens = Head::tokens("aaa");
  const std::vector<Index> ids{7, 8, 7}, none{7, 8, -1};
  HeadText text(tokens, tokens, false);
  EXPECT_EQ(text.keysLike(2).size(), 3u);
  text.compareIds(none, none);
  EXPECT_EQ(text.keysLike(2).size(), 3u) << "words, as a token has no id";
  text.compareIds(ids, ids);
  EXPECT_EQ(std::vector(text.keysLike(2).begin(), text.keysLike(2).end()), (std::vector<Index>{0, 2}));
  EXPECT_THROW(text.compareIds({ids.data(), 2}, ids), std::invalid_argument);
  // Row 2 looks at key 0 for the same token, and at key 1 for induction.
  Head head = pointingHead("aaa", true, [](Index) { return 0; });
  const auto view = [](const Matrix& of) { return MatrixView(of.data(), of.rows(), of.cols()); };
  const HeadProfile profile = profileHead({view(head.weights), view(head.scores), text});
  EXPECT_EQ(profile["same_token"].raw, 1);
  EXPECT_EQ(profile["same_token"].rows, 1);
  EXPECT_EQ(profile["induction"].raw, 0);
  EXPECT_EQ(profile["induction"].rows, 1);
}

TEST(Detectors, PerfectPreviousTokenHeadScoresOne) {
  for (const bool causal : {true, false}) {
    const HeadProfile profile = pointingHead("abcdefgh", causal, [](Index i) { return i - 1; }).profile();
    EXPECT_EQ(profile["previous"].raw, 1);
    EXPECT_EQ(profile["previous"].rows, 7) << "row 0 has no previous token";
    EXPECT_EQ(profile["offset"].at, 1);
    EXPECT_EQ(profile["offset"].raw, 1);
  }
}

TEST(Detectors, PreviousBaselineAveragesOneOverVisibleKeys) {
  const HeadProfile profile = pointingHead("abcd", true, [](Index i) { return i - 1; }).profile();
  EXPECT_NEAR(profile["previous"].baseline, (1 / 2.0f + 1 / 3.0f + 1 / 4.0f) / 3, kEpsilon);
}

TEST(Detectors, LabelsEachPointingHead) {
  struct Case {
    std::string_view detector;
    bool causal;
    Index (*target)(Index);
  };
  for (const Case& c :
       {Case{"previous", true, [](Index i) { return i - 1; }}, Case{"self", true, [](Index i) { return i; }},
        Case{"next", false, [](Index i) { return i + 1; }},
        Case{"first_token", true, [](Index) { return Index{0}; }},
        Case{"offset", true, [](Index i) { return i - 3; }}}) {
    const HeadProfile profile = pointingHead("abcdefghijklmnop", c.causal, c.target).profile();
    EXPECT_EQ(profile[c.detector].raw, 1) << c.detector;
    EXPECT_EQ(labelled(profile), c.detector);
  }
}

TEST(Detectors, LabelsNameTheOffset) {
  const auto labelOf = [](Index offset, bool causal) {
    const auto target = [offset](Index i) { return i - offset; };
    return describe(labelHead(pointingHead("abcdefghijklmnop", causal, target).profile()));
  };
  EXPECT_EQ(labelOf(1, true), "previous token");
  EXPECT_EQ(labelOf(2, true), "2 back");
  EXPECT_EQ(labelOf(-3, false), "3 ahead");
}

TEST(Detectors, UniformHeadScoresItsBaseline) {
  for (const bool causal : {true, false}) {
    const Head head = uniformHead("abca.bc.dd", causal);
    const HeadProfile profile = head.profile();
    for (const Detector* detector : allDetectors()) {
      // A mean over rows of sums over keys, each rounded once per term.
      EXPECT_NEAR(profile[detector->name].above(), 0, 20 * kEpsilon) << detector->name;
    }
    EXPECT_NEAR(profile["uniform"].raw, 1, 20 * kEpsilon);
    EXPECT_EQ(describe(labelHead(profile)), "uniform");
  }
}

TEST(Detectors, EntropyIsRelativeToItsMaximum) {
  // ln 2 of ln 4: the weight is on two of four keys.
  Head head = uniformHead("abcd", false);
  head.weights.leftCols(2).setConstant(0.5f);
  head.weights.rightCols(2).setZero();
  EXPECT_NEAR(head.profile()["uniform"].raw, 0.5f, 4 * kEpsilon);
  EXPECT_EQ(pointingHead("abcd", true, [](Index i) { return i; }).profile()["uniform"].raw, 0);
}

TEST(Detectors, MaskForcedWeightIsNotBehaviour) {
  // A window of one key: every row can only attend to itself.
  Head head = pointingHead("abcdef", true, [](Index i) { return i; });
  for (Index i = 0; i < 6; ++i) {
    for (Index j = 0; j < 6; ++j) head.scores(i, j) = i == j ? 0 : kMinusInfinity;
  }
  const HeadProfile profile = head.profile();
  EXPECT_EQ(profile["self"].raw, 1);
  EXPECT_EQ(profile["self"].above(), 0);
  EXPECT_EQ(profile["local_band"].above(), 0);
  EXPECT_EQ(profile["previous"].rows, 0) << "no row can see its previous token";
  EXPECT_EQ(profile["uniform"].rows, 0) << "no row has a choice";
  EXPECT_EQ(labelled(profile), "mixed");
}

TEST(Detectors, NextTokenIsIneligibleUnderCausalMask) {
  const DetectorScore next = uniformHead("abcd", true).profile()["next"];
  EXPECT_EQ(next.rows, 0);
  EXPECT_EQ(next.raw, 0);
  EXPECT_EQ(next.baseline, 0);
}

TEST(Detectors, SameTokenCountsOnlyEarlierOccurrences) {
  // Rows 3 (a), 4 (b) and 5 (a) have an earlier occurrence.
  Head head = uniformHead("abcaba", false);
  head.weights.setZero();
  head.weights.col(2).setOnes();
  head.weights.row(3) << 0.5f, 0, 0, 0.5f, 0, 0;       // half on the earlier a, half on itself
  head.weights.row(4) << 0, 1, 0, 0, 0, 0;             // all on the earlier b
  head.weights.row(5) << 0.25f, 0, 0, 0.25f, 0, 0.5f;  // both earlier a's
  const DetectorScore same = head.profile()["same_token"];
  EXPECT_EQ(same.rows, 3);
  EXPECT_FLOAT_EQ(same.raw, (0.5f + 1 + 0.5f) / 3);
  EXPECT_FLOAT_EQ(same.baseline, (1 / 6.0f + 1 / 6.0f + 2 / 6.0f) / 3);
}

TEST(Detectors, CrossAttentionComparesTokensNotPositions) {
  Head head{Matrix::Zero(2, 3), Matrix::Zero(2, 3), "ab", "cba"};
  head.weights << 0, 0, 1, 0, 1, 0;
  EXPECT_EQ(head.profile()["same_token"].rows, 0) << "within one text, nothing stands before";
  head.cross = true;
  const HeadProfile profile = head.profile();
  EXPECT_EQ(profile["same_token"].rows, 2);
  EXPECT_EQ(profile["same_token"].raw, 1);
  EXPECT_EQ(profile["first_token"].rows, 2);
  for (const char* place : {"previous", "next", "self", "local_band", "offset", "distance"})
    EXPECT_EQ(profile[place].rows, 0) << place << ": places of two texts can't be compared";
}

TEST(Detectors, PositionsCountFromTheFirstQuery) {
  // Two queries after a cache of three: rows at positions 3 and 4.
  Head head{Matrix::Zero(2, 5), Matrix::Zero(2, 5), "da", "abcda"};
  head.firstPosition = 3;
  head.scores(0, 4) = kMinusInfinity;
  head.weights(0, 2) = 1;
  head.weights(1, 3) = 1;
  const HeadProfile profile = head.profile();
  EXPECT_EQ(profile["previous"].raw, 1);
  EXPECT_EQ(profile["previous"].rows, 2);
  EXPECT_EQ(profile["offset"].at, 1);
  EXPECT_EQ(profile["same_token"].rows, 1) << "the second a; d has not been seen before";
}

TEST(Detectors, RowsWithoutVisibleKeysAreIneligible) {
  Head head = pointingHead("aaaa", true, [](Index i) { return i - 1; });
  head.scores.row(2).setConstant(kMinusInfinity);
  head.weights.row(2).setZero();
  const HeadProfile profile = head.profile();
  EXPECT_EQ(profile["previous"].rows, 2);
  EXPECT_EQ(profile["previous"].raw, 1);
  EXPECT_EQ(profile["self"].rows, 3);
  EXPECT_EQ(profile["same_token"].rows, 2);
  for (Index i = 0; i < 4; ++i) head.scores.row(i).setConstant(kMinusInfinity);
  const HeadProfile dead = head.profile();
  for (const DetectorScore& score : dead.scores) EXPECT_EQ(score.rows, 0);
  EXPECT_EQ(labelled(dead), "mixed");
}

TEST(Detectors, SeparatorCountsOnlyRowsThatSeeOne) {
  Head head = pointingHead("ab.cd", true, [](Index i) { return std::min<Index>(i, 2); });
  const DetectorScore separator = head.profile()["separator"];
  EXPECT_EQ(separator.rows, 3);
  EXPECT_EQ(separator.raw, 1);
  EXPECT_FLOAT_EQ(separator.baseline, (1 / 3.0f + 1 / 4.0f + 1 / 5.0f) / 3);
}

TEST(Detectors, LocalBandSpreadsOverSeveralOffsets) {
  Head head = uniformHead("abcdefghijklmnopqrst", true);
  head.weights.setZero();
  for (Index i = 0; i < 20; ++i) {
    const Index from = std::max<Index>(0, i - 2);
    head.weights.row(i).segment(from, i - from + 1).setConstant(1 / static_cast<float>(i - from + 1));
  }
  const HeadProfile profile = head.profile();
  EXPECT_NEAR(profile["local_band"].raw, 1, 4 * kEpsilon);
  EXPECT_EQ(describe(labelHead(profile)), "local band");
}

TEST(Detectors, SingleBrightCornerIsNotAnOffset) {
  // The first-token head alone fills the only cell of the longest diagonal.
  const HeadProfile profile = pointingHead("abcdefghijkl", true, [](Index) { return Index{0}; }).profile();
  EXPECT_LT(profile["offset"].raw, 0.5f);
  EXPECT_EQ(describe(labelHead(profile)), "first token");
}

TEST(Detectors, ThresholdDecidesBetweenBehaviourAndMixed) {
  Head head = uniformHead("abcdefgh", false);
  // Half on the previous token, half evenly on all: above the baseline by ½·(1 − 1/8).
  head.weights *= 0.5f;
  for (Index i = 1; i < 8; ++i) head.weights(i, i - 1) += 0.5f;
  const HeadProfile profile = head.profile();
  EXPECT_NEAR(profile["previous"].above(), 0.4375f, 4 * kEpsilon);
  EXPECT_EQ(labelled(profile, 0.43f), "previous");
  EXPECT_EQ(labelled(profile, 0.45f), "mixed");
}

TEST(Detectors, FewRowsNeedHigherScores) {
  // Only the last row repeats a token: it puts `share` of its weight on the earlier one.
  const auto profileOf = [](float share) {
    Head head = uniformHead("abcdefgha", true);
    head.weights.row(8).setConstant((1 - share) / 8);
    head.weights(8, 0) = share;
    return head.profile();
  };
  EXPECT_GT(profileOf(0.6f)["same_token"].above(), 0.4f);
  EXPECT_NE(labelled(profileOf(0.6f)), "same_token");
  EXPECT_EQ(labelled(profileOf(0.8f)), "same_token");
  const Detector* const same = labelHead(profileOf(0.8f)).detector;
  ASSERT_TRUE(same);
  EXPECT_TRUE(tooFewRows(*same, profileOf(0.6f), 0.3f));
  EXPECT_FALSE(tooFewRows(*same, profileOf(0.8f), 0.3f));
  EXPECT_FALSE(tooFewRows(*same, profileOf(0.2f), 0.3f)) << "a low score needs no more rows";
  EXPECT_EQ(leastScore(*same, 4, 0.3f), 0.3f) << "four rows are enough";
  EXPECT_FLOAT_EQ(leastScore(*same, 1, 0.3f), 0.6f);
}

TEST(Detectors, InductionNeedsTwoRepeats) {
  const auto continued = [](const std::string& text) {
    return pointingHead(text, true, [](Index i) { return i >= 8 ? i - 7 : i / 2; }).profile();
  };
  const HeadProfile once = continued("abcdefgha"), twice = continued("abcdefghab");
  EXPECT_EQ(once["induction"].raw, 1);
  EXPECT_EQ(once["induction"].rows, 1);
  EXPECT_NE(labelled(once), "induction");
  EXPECT_EQ(twice["induction"].rows, 2);
  EXPECT_EQ(labelled(twice), "induction");
}

TEST(Detectors, RefusesMismatchedSizes) {
  Head head = uniformHead("abcd", true);
  head.keys = "abc";
  EXPECT_THROW(head.profile(), std::invalid_argument);
  head = uniformHead("abcd", true);
  head.scores.resize(4, 3);
  EXPECT_THROW(head.profile(), std::invalid_argument);
}

}  // namespace
}  // namespace headscope::attention::test
