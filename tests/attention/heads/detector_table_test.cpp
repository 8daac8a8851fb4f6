#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "attention/core/attention.h"
#include "attention/core/random.h"
#include "attention/heads/detectors.h"
#include "tests/attention/masks/mask_support.h"
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
  if (detector_.name == "next") {
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
  const auto projections = plantHeads(config, layout, {*detector_.planted}, false, 64, 0);
  ASSERT_TRUE(projections.ok()) << projections.error().message;
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

}  // namespace
}  // namespace headscope::attention::test
