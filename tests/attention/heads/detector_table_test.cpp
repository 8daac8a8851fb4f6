#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "attention/core/attention.h"
#include "attention/core/random.h"
#include "attention/heads/detectors.h"
#include "tests/attention/masks/mask_support.h"
#include "tests/support/float_limits.h"
#include "tests/support/matchers.h"

namespace headscope::attention::test {
namespace {

/// Sentences with recurring words and a full stop after every eighth.
std::vector<Token> sentences(Index count) {
  std::vector<Token> tokens;
  Random random(3);
  for (Index i = 0; i < count; ++i) {
    const bool stop = i % 9 == 8;
    tokens.push_back({stop ? "." : "w" + std::to_string(static_cast<Index>(random.uniform() * 20)), stop});
  }
  return tokens;
}

class EveryDetector : public testing::TestWithParam<const Detector*> {
 protected:
  const Detector& detector_ = *GetParam();
};

TEST_P(EveryDetector, IsFullyDescribedAndHasAMeasure) {
  EXPECT_FALSE(detector_.name.empty());
  EXPECT_EQ(detector_.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string_view::npos);
  EXPECT_FALSE(detector_.title.empty());
  EXPECT_FALSE(detector_.shortName.empty());
  EXPECT_LE(detector_.shortName.size(), 8u) << "it stands on a tile";
  const bool labels = detector_.fallbackLabelThreshold || !detector_.mayLabel || detector_.titleOf;
  EXPECT_TRUE(!labels || detector_.compactName || detector_.shortName.size() <= 5) << "nor a tight name";
  EXPECT_THAT(std::string(detector_.help), HasSubstr("A[i][")) << "a formula";
  EXPECT_TRUE(detector_.help.ends_with('.'));
  EXPECT_TRUE(detector_.targets || detector_.measure || detector_.ofMaps);
  EXPECT_FALSE(detector_.ofMaps && (detector_.targets || detector_.measure));
}

TEST_P(EveryDetector, ScoresStayWithinTheirRange) {
  const std::vector<Token> tokens = sentences(40);
  const HeadText text(tokens, tokens, true);
  Random random(7);
  for (int round = 0; round < 40; ++round) {
    // Random keys are hidden, some rows see nothing, and the weights range from uniform to a single peak.
    const float sharpness = static_cast<float>(round % 8);
    Matrix weights = Matrix::Zero(40, 40), scores = Matrix::Constant(40, 40, kMinusInfinity);
    for (Index i = 0; i < 40; ++i) {
      if (random.uniform() < 0.1) continue;
      for (Index j = 0; j < 40; ++j) {
        if (random.uniform() < 0.3) continue;
        scores(i, j) = sharpness * random.gaussian();
        weights(i, j) = std::exp(scores(i, j));
      }
      if (weights.row(i).sum() > 0) weights.row(i) /= weights.row(i).sum();
    }
    const DetectorScore score =
        scoreOf(detector_, {MatrixView(weights.data(), 40, 40), MatrixView(scores.data(), 40, 40), text});
    if (detector_.ofMaps) {
      EXPECT_EQ(score.rows, 0) << "there are no maps to judge";
      continue;
    }
    const float most = detector_.unit.empty() ? 1 : 40;
    EXPECT_GE(score.raw, 0);
    EXPECT_LE(score.raw, most + 1e-5f);
    EXPECT_GT(score.baseline, 0);
    EXPECT_LE(score.baseline, most + 1e-5f);
    EXPECT_GT(score.rows, 0);
    EXPECT_LE(score.rows, 40);
  }
}

TEST_P(EveryDetector, ScoresItsBaselineForUniformWeights) {
  const std::vector<Token> tokens = sentences(40);
  const HeadText text(tokens, tokens, true);
  for (const Index window : {3, 12, 40}) {
    for (const bool causal : {true, false}) {
      Matrix weights = Matrix::Zero(40, 40), scores = Matrix::Constant(40, 40, kMinusInfinity);
      for (Index i = 0; i < 40; ++i) {
        for (Index j = 0; j < 40; ++j)
          if (i - j < window && (causal ? j <= i : j - i < window)) scores(i, j) = 0;
        weights.row(i) = (scores.row(i).array() == 0).cast<float>();
        weights.row(i) /= weights.row(i).sum();
      }
      const DetectorScore score =
          scoreOf(detector_, {MatrixView(weights.data(), 40, 40), MatrixView(scores.data(), 40, 40), text});
      // Up to 40 rows with up to 40 roundings each, of values as large as 20 tokens.
      const float unit = detector_.unit.empty() ? 1 : 20;
      EXPECT_NEAR(score.above(), 0, 40 * unit * std::numeric_limits<float>::epsilon()) << window << causal;
    }
  }
}

/// A causal head that does only what the detector looks for: each row attends evenly to its targets, or to
/// itself if it has none. If the detector has no targets, every row attends to the first token.
Matrix constructedWeights(const Detector& detector, const HeadText& text, Index n) {
  Matrix weights = Matrix::Zero(n, n);
  for (Index i = 0; i < n; ++i) {
    std::vector<Index> keys;
    if (detector.targets) detector.targets(text, i, keys);
    std::erase_if(keys, [&](Index key) { return key < 0 || key > i; });
    if (keys.empty()) keys = {detector.targets ? i : 0};
    for (const Index key : keys) weights(i, key) = 1 / static_cast<float>(keys.size());
  }
  return weights;
}

TEST_P(EveryDetector, ScoresItsIdealHead) {
  constexpr Index kTokens = 64;
  const std::vector<Token> tokens = sentences(kTokens);
  const HeadText text(tokens, tokens, true);
  const Matrix weights = constructedWeights(detector_, text, kTokens);
  Matrix scores = Matrix::Zero(kTokens, kTokens);
  for (Index i = 0; i < kTokens; ++i) scores.row(i).tail(kTokens - i - 1).setConstant(kMinusInfinity);
  const HeadMaps copies{Matrix::Identity(8, 4), Matrix::Identity(8, 4)};
  const DetectorScore score = scoreOf(
      detector_,
      {MatrixView(weights.data(), kTokens, kTokens), MatrixView(scores.data(), kTokens, kTokens), text},
      &copies);
  if (detector_.name == "copying") {
    EXPECT_EQ(score.rows, 0) << "needs a vocabulary";
  } else if (detector_.name == "next") {
    EXPECT_EQ(score.rows, 0) << "a causal head never sees it";
  } else if (detector_.name == "uniform") {
    EXPECT_NEAR(score.raw, 0, 1e-6f) << "one key has no entropy";
  } else if (detector_.name == "distance") {
    EXPECT_FLOAT_EQ(score.raw, (kTokens - 1) / 2.0f) << "of all rows";
  } else if (detector_.name == "offset") {
    EXPECT_LT(score.raw, 0.5f) << "a column is no diagonal";
  } else {
    EXPECT_GT(score.rows, 0);
    EXPECT_NEAR(score.raw, 1, 1e-5f);
  }
}

TEST_P(EveryDetector, FindsItsPlantedHead) {
  if (!detector_.planted) GTEST_SKIP() << "none can be planted in one layer; the test above constructs it";
  const bool ahead = detector_.planted->offset < 0;
  AttentionConfig config;
  config.modelDim = 256;
  config.heads = config.kvHeads = 1;
  config.headDim = 64;
  const std::vector<Token> tokens = sentences(64);
  const EmbeddingLayout layout = *plantedLayout(config.modelDim);
  EmbeddingOptions options;
  options.modelDim = config.modelDim;
  const Matrix x = embedPlanted(tokens, layout, options);
  const auto projections = checked(plantHeads(config, layout, {*detector_.planted}, false, 64, 0));
  const AttentionResult result =
      attend(config, *projections, x, x, ahead ? MaskInput() : maskFor("causal", config, 64, 64));
  const HeadText text(tokens, tokens, true);
  const HeadProfile profile = profileHead({result.weights[0], result.scores[0], text});
  EXPECT_GE(profile[detector_.name].raw, 0.8f);
  const HeadLabel label = labelHead(profile);
  ASSERT_NE(label.detector, nullptr);
  EXPECT_EQ(label.detector->name, detector_.name);
  EXPECT_EQ(describe(label), describe(*detector_.planted)) << "both say it in the same words";
}

std::string nameOf(const testing::TestParamInfo<const Detector*>& info) {
  return std::string(info.param->name);
}

INSTANTIATE_TEST_SUITE_P(Table, EveryDetector,
                         testing::ValuesIn(allDetectors().begin(), allDetectors().end()), nameOf);

TEST(DetectorTable, NamesTitlesAndHelpAreUnique) {
  std::set<std::string_view> names, titles, shortNames, helps;
  for (const Detector* detector : allDetectors()) {
    EXPECT_TRUE(names.insert(detector->name).second) << detector->name;
    EXPECT_TRUE(titles.insert(detector->title).second) << detector->title;
    EXPECT_TRUE(shortNames.insert(detector->shortName).second) << detector->shortName;
    EXPECT_TRUE(helps.insert(detector->help).second) << detector->help;
  }
}

TEST(DetectorTable, FindsDetectorsByName) {
  HeadProfile profile;
  profile.scores.resize(allDetectors().size());
  for (const Detector* detector : allDetectors()) EXPECT_EQ(profile[detector->name].rows, 0);
  EXPECT_THROW((void)profile["patience"], std::invalid_argument);
}

// Detectors beyond the pointing ones: sinks, distance, stripes, segments, confidence, copying, and which
// cells make up a score.

/// A causal head on one letter per token; '.' ends a sentence. Weights are uniform until set.
struct Causal {
  Matrix weights, scores;
  std::vector<Token> tokens;

  explicit Causal(const std::string& text) {
    for (const char letter : text) tokens.push_back({std::string(1, letter), letter == '.'});
    const auto n = std::ssize(tokens);
    weights = Matrix::Zero(n, n);
    scores = Matrix::Zero(n, n);
    for (Index i = 0; i < n; ++i) {
      weights.row(i).head(i + 1).setConstant(1 / static_cast<float>(i + 1));
      scores.row(i).tail(n - i - 1).setConstant(kMinusInfinity);
    }
  }
  /// Puts all of the row's weight on one key.
  void point(Index row, Index key) {
    weights.row(row).setZero();
    weights(row, key) = 1;
  }
  Index n() const { return weights.rows(); }
  HeadProfile profile() const {
    const HeadText text(tokens, tokens, true);
    return profileHead({MatrixView(weights.data(), n(), n()), MatrixView(scores.data(), n(), n()), text});
  }
  std::vector<Index> counted(std::string_view name, Index row) const {
    const HeadText text(tokens, tokens, true);
    const ObservedHead head{MatrixView(weights.data(), n(), n()), MatrixView(scores.data(), n(), n()), text};
    for (const Detector* detector : allDetectors())
      if (detector->name == name) return countedKeys(*detector, scoreOf(*detector, head), head, row);
    throw std::invalid_argument("no such detector");
  }
};

TEST(MoreDetectors, SinksCountFromTheFifthRow) {
  Causal head("abcdefgh");
  for (Index i = 0; i < 8; ++i) head.point(i, std::min<Index>(i, 2));
  const DetectorScore sinks = head.profile()["sinks"];
  EXPECT_EQ(sinks.rows, 4);
  EXPECT_EQ(sinks.raw, 1);
  EXPECT_FLOAT_EQ(sinks.baseline, (4 / 5.0f + 4 / 6.0f + 4 / 7.0f + 4 / 8.0f) / 4);
  for (Index i = 0; i < 8; ++i) head.point(i, i);
  EXPECT_EQ(head.profile()["sinks"].raw, 0);
}

TEST(MoreDetectors, LabelsFirstTokenHeads) {
  Causal head("abcdefghijklmnopqrstuvwx");
  for (Index i = 0; i < head.n(); ++i) head.point(i, 0);
  EXPECT_EQ(describe(labelHead(head.profile())), "first token");
  for (Index i = 0; i < head.n(); ++i) {
    head.weights.row(i).setZero();
    const Index count = std::min<Index>(i + 1, 4);
    head.weights.row(i).head(count).setConstant(1 / static_cast<float>(count));
  }
  EXPECT_EQ(describe(labelHead(head.profile())), "first four tokens");
}

TEST(MoreDetectors, DistanceIsInTokens) {
  Causal head("abcdef");
  for (Index i = 0; i < 6; ++i) head.point(i, std::max<Index>(0, i - 2));
  const DetectorScore distance = head.profile()["distance"];
  EXPECT_FLOAT_EQ(distance.raw, (0 + 1 + 2 + 2 + 2 + 2) / 6.0f);
  EXPECT_FLOAT_EQ(distance.baseline, (0 + 0.5f + 1 + 1.5f + 2 + 2.5f) / 6);
  EXPECT_NE(labelHead(head.profile()).detector->name, "distance");
}

TEST(MoreDetectors, StripeReportsItsKey) {
  Causal head("abcdefghijkl");
  for (Index i = 0; i < 12; ++i) head.point(i, std::min<Index>(i, 3));
  const HeadProfile profile = head.profile();
  EXPECT_EQ(profile["stripe"].at, 3);
  EXPECT_EQ(profile["stripe"].raw, 1);
  EXPECT_EQ(profile["stripe"].rows, 8) << "not its own row";
  EXPECT_THAT(head.counted("stripe", 7), ElementsAre(3));
  EXPECT_THAT(head.counted("stripe", 3), IsEmpty());
  EXPECT_THAT(head.counted("stripe", 2), IsEmpty()) << "it isn't visible yet";
}

TEST(MoreDetectors, DiagonalIsNotAStripe) {
  Causal head("abcdefghijkl");
  for (Index i = 0; i < 12; ++i) head.point(i, std::max<Index>(0, i - 1));
  const HeadProfile profile = head.profile();
  EXPECT_LT(profile["stripe"].raw, 0.4f);
  EXPECT_EQ(describe(labelHead(profile)), "previous token");
}

TEST(MoreDetectors, SegmentsAreSentencesUnlessMarked) {
  Causal head("abc.defg");
  for (Index i = 0; i < 8; ++i) head.point(i, i < 4 ? i : 4);
  EXPECT_EQ(head.profile()["segment"].raw, 1);
  EXPECT_EQ(head.profile()["segment"].rows, 8);
  EXPECT_THAT(head.counted("segment", 6), ElementsAre(4, 5, 6));
  for (Index i = 4; i < 8; ++i) head.point(i, 0);
  EXPECT_FLOAT_EQ(head.profile()["segment"].raw, 0.5f);
  HeadText text(head.tokens, head.tokens, true);
  TextStructure marked;
  marked.documentStarts = {0, 6};
  text.divide(marked);
  EXPECT_EQ(text.segmentOf(5), (KeyRun{0, 6}));
  EXPECT_EQ(text.segmentOf(6), (KeyRun{6, 8}));
}

TEST(MoreDetectors, ConfidenceIsTheMeanLargestWeight) {
  Causal head("abcd");
  EXPECT_NEAR(head.profile()["confidence"].above(), 0, 4 * kEpsilon);
  head.weights.row(3) << 0.1f, 0.6f, 0.2f, 0.1f;
  EXPECT_FLOAT_EQ(head.profile()["confidence"].raw, (1 + 1 / 2.0f + 1 / 3.0f + 0.6f) / 4);
  EXPECT_THAT(head.counted("confidence", 3), ElementsAre(1));
}

TEST(MoreDetectors, CopyingNeedsTheHeadsMaps) {
  const Causal head("abcd");
  EXPECT_EQ(head.profile()["copying"].rows, 0);
  const HeadText text(head.tokens, head.tokens, true);
  const ObservedHead seen{MatrixView(head.weights.data(), 4, 4), MatrixView(head.scores.data(), 4, 4), text};
  HeadMaps maps{Matrix::Identity(6, 3), Matrix::Identity(6, 3)};
  EXPECT_EQ(profileHead(seen, &maps)["copying"].rows, 0) << "there is no vocabulary";
  EXPECT_FLOAT_EQ(profileHead(seen, &maps)["vo_eigenvalues"].raw, 1);
  maps.o *= -1;
  EXPECT_FLOAT_EQ(profileHead(seen, &maps)["vo_eigenvalues"].raw, -1);
}

TEST(MoreDetectors, CountedCellsFollowTheDetectedOffset) {
  Causal head("abcdefghijkl");
  for (Index i = 0; i < 12; ++i) head.point(i, std::max<Index>(0, i - 3));
  EXPECT_THAT(head.counted("offset", 8), ElementsAre(5));
  EXPECT_THAT(head.counted("offset", 2), IsEmpty());
  EXPECT_THAT(head.counted("local_band", 1), ElementsAre(0, 1)) << "the future is masked";
  EXPECT_THAT(head.counted("uniform", 8), IsEmpty()) << "no cells make an entropy";
}

/// The weights that planted heads put on their keys. Peaks deliberately keep some spread, so that heatmaps
/// show rows.
constexpr float kPeakPromise = 0.94f, kFlagPromise = 0.95f, kBandPromise = 0.9f;

TEST(PlantedOverRandomTexts, HeadsReachTheirPromisedScores) {
  struct Promise {
    PlantedHead head;
    std::string_view detector;
    float score;
  };
  const Promise promises[] = {{{Behaviour::offset, 1}, "previous", kPeakPromise},
                              {{Behaviour::offset, 0}, "self", kPeakPromise},
                              {{Behaviour::offset, 3}, "offset", kPeakPromise},
                              {{Behaviour::firstToken, 0}, "first_token", kFlagPromise},
                              {{Behaviour::separator, 0}, "separator", kFlagPromise},
                              {{Behaviour::localBand, 0}, "local_band", kBandPromise},
                              {{Behaviour::uniform, 0}, "uniform", 1}};
  Random random(11);
  for (int round = 0; round < 12; ++round) {
    const auto n = static_cast<Index>(24 + random.uniform() * 60);
    std::vector<Token> tokens;
    for (Index i = 0; i < n; ++i) {
      const bool stop = i > 0 && random.uniform() < 0.12;
      tokens.push_back({stop ? "." : "w" + std::to_string(static_cast<Index>(random.uniform() * 30)), stop});
    }
    tokens[1] = {".", true};  // at least one
    AttentionConfig config;
    config.modelDim = 256;
    config.heads = config.kvHeads = std::ssize(promises);
    config.headDim = 32;
    const EmbeddingLayout layout = *plantedLayout(config.modelDim);
    EmbeddingOptions options;
    options.modelDim = config.modelDim;
    options.seed = static_cast<std::uint64_t>(round);
    const Matrix x = embedPlanted(tokens, layout, options);
    std::vector<PlantedHead> heads;
    for (const Promise& promise : promises) heads.push_back(promise.head);
    const auto planted = checked(plantHeads(config, layout, heads, false, n, 0));
    const AttentionResult result = attend(config, *planted, x, x, maskFor("causal", config, n, n));
    const HeadText text(tokens, tokens, true);
    for (std::size_t h = 0; h < heads.size(); ++h) {
      const auto at = static_cast<Index>(h);
      const HeadProfile profile = profileHead({result.weights[at], result.scores[at], text});
      const Promise& promise = promises[h];
      EXPECT_GE(profile[promise.detector].raw, 0.95f * promise.score) << promise.detector << " " << n;
      EXPECT_EQ(describe(labelHead(profile)), describe(promise.head)) << promise.detector << " " << n;
    }
  }
}

}  // namespace
}  // namespace headscope::attention::test
