#include "attention/heads/planted.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "attention/core/attention.h"
#include "attention/core/random.h"
#include "attention/heads/detectors.h"
#include "attention/text/embedding.h"
#include "tests/attention/masks/mask_support.h"
#include "tests/support/matchers.h"

namespace headscope::attention::test {
namespace {

constexpr const char* kOpening = "The animal didn't cross the street because it was too tired .";

const std::vector<PlantedHead> kOpeningHeads = {
    {Behaviour::offset, 1}, {Behaviour::firstToken, 0}, {Behaviour::offset, 0},    {Behaviour::uniform, 0},
    {Behaviour::offset, 2}, {Behaviour::localBand, 0},  {Behaviour::sameToken, 0}, {Behaviour::random, 0}};

AttentionConfig configFor(Index modelDim, Index heads, Index kvHeads, Index headDim) {
  AttentionConfig config;
  config.modelDim = modelDim;
  config.heads = heads;
  config.kvHeads = kvHeads;
  config.headDim = headDim;
  return config;
}

/// `count` words, many of them recurring, with a full stop after every 16.
std::vector<Token> longText(Index count) {
  Random random(5);
  std::vector<Token> tokens;
  for (Index i = 0; i < count; ++i) {
    const auto word =
        static_cast<Index>(random.uniform() * random.uniform() * static_cast<double>(count) / 3);
    const bool stop = i % 17 == 16;
    tokens.push_back({stop ? "." : "w" + std::to_string(word), stop});
  }
  return tokens;
}

struct Pass {
  AttentionResult result;
  std::vector<HeadProfile> profiles;

  const HeadProfile& operator[](std::size_t head) const { return profiles[head]; }
  std::string label(std::size_t head) const { return describe(labelHead(profiles[head])); }
};

/// Plants, attends and profiles with the same functions that the application calls.
Pass runHeads(const AttentionConfig& config, const std::vector<PlantedHead>& heads,
              const std::vector<Token>& tokens, bool sinusoidal = true, bool causal = true) {
  const EmbeddingLayout layout = *plantedLayout(config.modelDim);
  EmbeddingOptions options;
  options.modelDim = config.modelDim;
  options.sinusoidal = sinusoidal;
  const Matrix x = embedPlanted(tokens, layout, options);
  const auto n = static_cast<Index>(tokens.size());
  const auto projections = checked(plantHeads(config, layout, heads, true, n, 0));
  Pass pass;
  pass.result = attend(config, *projections, x, x,
                       causal ? maskFor("causal", config, x.rows(), x.rows()) : MaskInput());
  const HeadText text(tokens, tokens, true);
  const AttentionResult& result = pass.result;
  for (Index h = 0; h < config.heads; ++h) {
    pass.profiles.push_back(profileHead({result.weights[h], result.scores[h], text}));
  }
  return pass;
}

std::vector<Token> opening() {
  return tokenize(kOpening, Tokenization::words)->front();
}

TEST(Planted, OpeningSceneShowsEveryBehaviour) {
  const Pass scene = runHeads(configFor(256, 8, 2, 32), kOpeningHeads, opening());
  EXPECT_GE(scene[0]["previous"].raw, 0.9f);
  EXPECT_GE(scene[1]["first_token"].raw, 0.9f);
  EXPECT_GE(scene[2]["self"].raw, 0.9f);
  EXPECT_GE(scene[4]["offset"].raw, 0.9f);
  EXPECT_EQ(scene[4]["offset"].at, 2);
  EXPECT_GE(scene[5]["local_band"].raw, 0.85f);
  EXPECT_EQ(scene[6]["same_token"].rows, 1) << "the second \"the\"";
  EXPECT_GE(scene[6]["same_token"].raw, 0.9f);
  for (std::size_t h = 0; h < 7; ++h) EXPECT_EQ(scene.label(h), describe(kOpeningHeads[h]));
}

TEST(Planted, PeaksAreSharpButNotOneHot) {
  const Pass scene = runHeads(configFor(256, 8, 2, 32), kOpeningHeads, opening());
  for (const std::size_t h : {std::size_t{0}, std::size_t{4}}) {
    EXPECT_LT(scene[h]["offset"].raw, 0.97f);
    EXPECT_GT(scene[h]["offset"].raw, 0.93f);
  }
}

TEST(Planted, LocalBandSpreadsOverSeveralKeys) {
  const Pass scene = runHeads(configFor(256, 8, 2, 32), kOpeningHeads, opening());
  const MatrixView weights = scene.result.weights[5];
  for (Index i = 4; i < 12; ++i) {
    EXPECT_LT(weights.row(i).maxCoeff(), 0.6f);
    for (Index back = 0; back <= 2; ++back) EXPECT_GT(weights(i, i - back), 0.08f) << "row " << i;
    EXPECT_GT(weights(i, i), weights(i, i - 2));
  }
}

TEST(Planted, UniformIsExactAndRandomIsInBetween) {
  const Pass scene = runHeads(configFor(256, 8, 2, 32), kOpeningHeads, opening());
  EXPECT_NEAR(scene[3]["uniform"].raw, 1, 12 * std::numeric_limits<float>::epsilon());
  EXPECT_GT(scene[7]["uniform"].raw, 0.3f);
  EXPECT_LT(scene[7]["uniform"].raw, 0.9f);
}

TEST(Planted, SameTokenHeadIgnoresItself) {
  const Pass scene = runHeads(configFor(256, 8, 2, 32), kOpeningHeads, opening());
  EXPECT_LT(scene.result.weights.at(6, 4, 4), 0.01f) << "the second \"the\" does not look at itself";
  EXPECT_LT(scene[6]["self"].raw, 0.5f);
}

TEST(Planted, SeparatorHeadFindsFullStops) {
  const std::vector<PlantedHead> heads = {{Behaviour::separator, 0}, {Behaviour::firstToken, 0}};
  const Pass scene = runHeads(configFor(64, 2, 1, 16), heads, longText(64));
  EXPECT_GE(scene[0]["separator"].raw, 0.9f);
  EXPECT_EQ(scene.label(0), "separator");
  EXPECT_EQ(scene.label(1), "first token");
}

struct PlantedShape {
  Index modelDim, kvHeads, headDim, tokens;
  bool causal;
};

void PrintTo(const PlantedShape& s, std::ostream* out) {
  *out << "model" << s.modelDim << "kv" << s.kvHeads << "head" << s.headDim << "n" << s.tokens
       << (s.causal ? "causal" : "full");
}

std::string caseName(const testing::TestParamInfo<PlantedShape>& info) {
  return testing::PrintToString(info.param);
}

class PlantedShapes : public testing::TestWithParam<PlantedShape> {};

/// All behaviours at once are the hardest case: with one kv head they share one K.
TEST_P(PlantedShapes, DetectorsFindEveryBehaviour) {
  const PlantedShape& s = GetParam();
  const Pass scene = runHeads(configFor(s.modelDim, 8, s.kvHeads, s.headDim), kOpeningHeads,
                              longText(s.tokens), true, s.causal);
  for (std::size_t h = 0; h < 7; ++h) EXPECT_EQ(scene.label(h), describe(kOpeningHeads[h])) << "head " << h;
  // With fewer frequencies and longer texts, peaks lose some of their weight to distant keys.
  const bool roomy = s.headDim >= 32 && s.modelDim >= 64;
  const float least = roomy ? 0.9f : 0.7f;
  EXPECT_GE(scene[0]["previous"].raw, least);
  EXPECT_GE(scene[1]["first_token"].raw, 0.9f);
  EXPECT_GE(scene[2]["self"].raw, least);
  EXPECT_GE(scene[4]["offset"].raw, least);
  EXPECT_EQ(scene[4]["offset"].at, 2);
  EXPECT_GE(scene[5]["local_band"].raw, roomy ? 0.85f : 0.7f);
  EXPECT_TRUE(scene.result.output.allFinite());
}

INSTANTIATE_TEST_SUITE_P(
    MhaGqaMqa, PlantedShapes,
    testing::Values(PlantedShape{256, 8, 32, 64, true}, PlantedShape{256, 2, 32, 64, true},
                    PlantedShape{256, 1, 32, 64, true}, PlantedShape{256, 8, 16, 64, true},
                    PlantedShape{256, 2, 16, 64, true}, PlantedShape{256, 1, 16, 64, true},
                    PlantedShape{256, 2, 128, 64, true}, PlantedShape{64, 2, 16, 64, true},
                    PlantedShape{64, 1, 64, 64, true}, PlantedShape{4096, 2, 32, 64, true},
                    PlantedShape{256, 2, 32, 64, false}, PlantedShape{256, 1, 16, 64, false},
                    PlantedShape{256, 8, 32, 512, true}, PlantedShape{256, 2, 32, 512, true},
                    PlantedShape{256, 1, 32, 512, true}, PlantedShape{256, 2, 16, 512, true},
                    PlantedShape{64, 2, 64, 512, true}, PlantedShape{256, 2, 64, 512, false}),
    caseName);

TEST(Planted, WorksAtTwoThousandTokens) {
  const std::vector<PlantedHead> heads = {{Behaviour::offset, 1},
                                          {Behaviour::sameToken, 0},
                                          {Behaviour::localBand, 0},
                                          {Behaviour::firstToken, 0}};
  const Pass scene = runHeads(configFor(256, 4, 1, 32), heads, longText(2048));
  for (std::size_t h = 0; h < heads.size(); ++h) EXPECT_EQ(scene.label(h), describe(heads[h]));
  EXPECT_GE(scene[0]["previous"].raw, 0.9f);
  EXPECT_GE(scene[1]["same_token"].raw, 0.7f);
  EXPECT_GE(scene[2]["local_band"].raw, 0.85f);
  EXPECT_GE(scene[3]["first_token"].raw, 0.9f);
}

TEST(Planted, OffsetsReachBackAndAhead) {
  const std::vector<PlantedHead> heads = {
      {Behaviour::offset, -1}, {Behaviour::offset, 5}, {Behaviour::offset, -7}, {Behaviour::offset, 12}};
  const Pass scene = runHeads(configFor(128, 4, 2, 32), heads, longText(64), true, false);
  for (std::size_t h = 0; h < heads.size(); ++h) {
    EXPECT_EQ(scene[h]["offset"].at, heads[h].offset);
    EXPECT_GE(scene[h]["offset"].raw, 0.9f);
    EXPECT_EQ(scene.label(h), describe(heads[h]));
  }
}

TEST(Planted, HeadsReadKvHeadsByRepeatInterleave) {
  // Heads 0–3 read kv head 0, and 4–7 read kv head 1. With h mod kvHeads, half of these heads would need
  // something that their K doesn't hold: K of group 0 has no identity to match, K of group 1 no flag.
  std::vector<PlantedHead> heads(8);
  for (std::size_t h = 0; h < 4; ++h) heads[h] = {Behaviour::firstToken, 0};
  for (std::size_t h = 4; h < 8; ++h) heads[h] = {Behaviour::offset, 1};
  const AttentionConfig config = configFor(64, 8, 2, 16);
  const Pass scene = runHeads(config, heads, longText(64));
  for (std::size_t h = 0; h < 8; ++h) EXPECT_EQ(scene.label(h), h < 4 ? "first token" : "previous token");
  const Projections projections = *plantHeads(config, *plantedLayout(64), heads, false, 64, 0);
  EXPECT_EQ(projections.k.weight(0, kFlagFirst), 1);
  EXPECT_TRUE(projections.k.weight.bottomRows(16).col(kFlagFirst).isZero(0));
}

TEST(Planted, OffsetsAreUniformWithoutSinusoids) {
  const Pass scene = runHeads(configFor(256, 8, 2, 32), kOpeningHeads, opening(), false);
  for (const std::size_t h : {std::size_t{0}, std::size_t{2}, std::size_t{4}, std::size_t{5}}) {
    EXPECT_EQ(scene.label(h), "uniform");
  }
  EXPECT_EQ(scene.label(1), "first token");
  for (Index h = 0; h < 8; ++h) EXPECT_TRUE(scene.result.weights[h].allFinite());
}

TEST(Planted, ScaleSharpensOrFlattensPeaks) {
  AttentionConfig config = configFor(256, 8, 2, 32);
  const Pass usual = runHeads(config, kOpeningHeads, opening());
  config.scale = config.effectiveScale();
  EXPECT_EQ(runHeads(config, kOpeningHeads, opening())[0]["previous"].raw, usual[0]["previous"].raw);
  config.scale = config.effectiveScale() / 4;
  EXPECT_LT(runHeads(config, kOpeningHeads, opening())[0]["previous"].raw, 0.8f);
  config.scale = 1.0f;
  EXPECT_GT(runHeads(config, kOpeningHeads, opening())[0]["previous"].raw, 0.99f);
}

TEST(Planted, WeightsStayStableWhileTextGrows) {
  const AttentionConfig config = configFor(64, 8, 2, 16);
  const EmbeddingLayout layout = *plantedLayout(64);
  const auto queries = [&](Index longest) {
    return plantHeads(config, layout, kOpeningHeads, false, longest, 3)->q.weight;
  };
  EXPECT_EQ(queries(1), queries(64));
  EXPECT_EQ(queries(65), queries(128));
  EXPECT_NE(queries(64), queries(65));
}

TEST(Planted, OnlyValuesAndOutputHaveBiases) {
  const Projections projections =
      *plantHeads(configFor(64, 8, 2, 16), *plantedLayout(64), kOpeningHeads, true, 12, 3);
  EXPECT_TRUE(projections.q.bias.isZero(0));
  EXPECT_TRUE(projections.k.bias.isZero(0));
  EXPECT_EQ(projections.q.bias.size(), 128);
  EXPECT_FALSE(projections.v.bias.isZero(0));
  EXPECT_FALSE(projections.o.bias.isZero(0));
}

TEST(Planted, MisfitErrorNamesGroupAndItsNeeds) {
  const std::vector<PlantedHead> heads = {
      {Behaviour::offset, 1}, {Behaviour::firstToken, 0}, {Behaviour::offset, 0}, {Behaviour::sameToken, 0}};
  const auto planted = plantHeads(configFor(64, 4, 1, 4), *plantedLayout(64), heads, false, 12, 0);
  ASSERT_FALSE(planted.ok());
  EXPECT_EQ(
      planted.error().message,
      "kv head 0 is shared by heads 0–3, which need 7 dimensions (1 for the first-token flag, 4 for "
      "positions, 2 for token identity), but head size is 4: choose a larger head size or fewer behaviours");
  const std::vector<PlantedHead> second = {{Behaviour::uniform, 0}, {Behaviour::localBand, 0}};
  EXPECT_THAT(messageOf(plantHeads(configFor(64, 2, 2, 2), *plantedLayout(64), second, false, 12, 0)),
              HasSubstr("kv head 1 serves head 1, which needs 4 dimensions"));
}

TEST(Planted, WorksAtTheSmallestSizes) {
  // One dimension holds a flag; six hold positions and identity.
  EXPECT_EQ(runHeads(configFor(16, 1, 1, 1), {{Behaviour::firstToken, 0}}, opening()).label(0),
            "first token");
  const std::vector<PlantedHead> heads = {{Behaviour::offset, 1}, {Behaviour::sameToken, 0}};
  const Pass scene = runHeads(configFor(16, 2, 1, 6), heads, opening());
  EXPECT_EQ(scene.label(0), "previous token");
  for (const Behaviour behaviour :
       {Behaviour::random, Behaviour::uniform, Behaviour::separator, Behaviour::sameToken}) {
    const Pass one = runHeads(configFor(16, 1, 1, 2), {{behaviour, 0}}, {{"only", false}});
    EXPECT_EQ(one.result.weights.at(0, 0, 0), 1);
  }
}

TEST(Planted, HeadSizeMayExceedTheEmbedding) {
  const Pass scene = runHeads(configFor(16, 8, 2, 64), kOpeningHeads, opening());
  EXPECT_TRUE(scene.result.output.allFinite());
  EXPECT_EQ(scene.label(0), "previous token");
}

TEST(Planted, RefusesMismatchedHeadsAndLayouts) {
  const AttentionConfig config = configFor(64, 8, 2, 16);
  EXPECT_THROW((void)plantHeads(config, *plantedLayout(64), {{Behaviour::uniform, 0}}, false, 12, 0),
               std::invalid_argument);
  EXPECT_THROW((void)plantHeads(config, *plantedLayout(32), kOpeningHeads, false, 12, 0),
               std::invalid_argument);
}

TEST(Planted, DescribesHeadsInWords) {
  const auto words = [](Index offset) { return describe(PlantedHead{Behaviour::offset, offset}); };
  EXPECT_EQ(words(0), "self");
  EXPECT_EQ(words(1), "previous token");
  EXPECT_EQ(words(-1), "next token");
  EXPECT_EQ(words(3), "3 back");
  EXPECT_EQ(words(-2), "2 ahead");
  EXPECT_EQ(describe(PlantedHead{Behaviour::random, 0}), "random");
}

double scoreAt(const std::vector<double>& frequencies, const std::vector<double>& amplitudes, double d) {
  double score = 0;
  for (std::size_t f = 0; f < frequencies.size(); ++f) score += amplitudes[f] * std::cos(frequencies[f] * d);
  return score;
}

TEST(DistanceProfile, RecoversRepresentableProfile) {
  const std::vector<double> frequencies = {2.0, 0.7, 0.2}, wanted = {1.5, 0.5, 1.0};
  std::vector<double> target;
  for (int d = 0; d < 40; ++d) target.push_back(std::exp(scoreAt(frequencies, wanted, d)));
  const std::vector<double> found = fitDistanceProfile(frequencies, target);
  // The fit pulls amplitudes towards 0 by its ridge of 1e-5 over curvatures of about 0.1.
  for (std::size_t f = 0; f < 3; ++f) EXPECT_NEAR(found[f], wanted[f], 1e-3);
}

TEST(DistanceProfile, WeightsMatchTheTargetsMoments) {
  const std::vector<double> frequencies = plantedFrequencies(*plantedLayout(64));
  std::vector<double> target(64, 0.0005);
  target[0] = 0.9;
  target[1] = 0.02;
  const std::vector<double> amplitudes = fitDistanceProfile(frequencies, target);
  for (const double frequency : frequencies) {
    double have = 0, want = 0, haveSum = 0, wantSum = 0;
    for (int d = -63; d < 64; ++d) {
      const double weight =
          std::exp(scoreAt(frequencies, amplitudes, d) - scoreAt(frequencies, amplitudes, 0));
      const double wanted = target[static_cast<std::size_t>(std::abs(d))];
      have += weight * std::cos(frequency * d);
      want += wanted * std::cos(frequency * d);
      haveSum += weight;
      wantSum += wanted;
    }
    // At the optimum the moments differ by ridge · amplitude, and amplitudes are below 100.
    EXPECT_NEAR(have / haveSum, want / wantSum, 100 * 1e-5);
  }
}

TEST(DistanceProfile, PeakIsOneAboveAFlatRest) {
  const std::vector<double> frequencies = plantedFrequencies(*plantedLayout(256));
  const Index reach = 64;
  const std::vector<double> amplitudes = flattestPeak(frequencies, reach);
  double mean = 0, variance = 0;
  for (Index d = 1; d < reach; ++d) mean += scoreAt(frequencies, amplitudes, static_cast<double>(d)) / 63;
  for (Index d = 1; d < reach; ++d) {
    variance += std::pow(scoreAt(frequencies, amplitudes, static_cast<double>(d)) - mean, 2) / 63;
  }
  EXPECT_NEAR(scoreAt(frequencies, amplitudes, 0) - mean, 1, 1e-9);
  // Sixteen equal amplitudes in random phase would leave an evenly spread deviation of 1/√32.
  EXPECT_LT(std::sqrt(variance), 0.25);
}

TEST(DistanceProfile, RefusesEmptyInput) {
  EXPECT_THROW((void)fitDistanceProfile({}, std::vector<double>{1}), std::invalid_argument);
  EXPECT_THROW((void)flattestPeak(std::vector<double>{1}, 1), std::invalid_argument);
}

}  // namespace
}  // namespace headscope::attention::test
