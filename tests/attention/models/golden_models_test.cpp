// Nine tiny checkpoints compared with their float64 results (tests/golden_models).

#include "tests/attention/models/golden_models.h"

#include <gtest/gtest.h>

#include "attention/models/session.h"
#include "tests/support/matchers.h"

namespace headscope::attention::test {
namespace {

/// The largest errors that tests/golden_models/README.md allows.
constexpr double kWeightLimit = 1e-5, kStreamLimit = 6e-5;

constexpr const char* kPrompts[] = {"short", "long"};

class GoldenModels : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { model_ = openModel(goldenModel(GetParam())); }
  const ModelConfig& config() const { return model_->config(); }

  /// Compares within the tolerance of `layers` layers, relative to the largest number.
  void expectNear(const Eigen::Ref<const Matrix>& expected, const Eigen::Ref<const Matrix>& found,
                  Index layers, const std::string& what) {
    const double derived = streamTolerance(config(), layers) * expected.cwiseAbs().maxCoeff();
    EXPECT_LE(distance(expected, found), std::min(derived, kStreamLimit)) << what;
  }
  /// Scores are products of two rows of the stream and at most about a dozen, and a weight changes by at most
  /// half as much as its score.
  void expectWeights(const Eigen::Ref<const Matrix>& expected, const Eigen::Ref<const Matrix>& found,
                     Index layers, const std::string& what) {
    constexpr double kLargestScore = 12;
    const double derived = streamTolerance(config(), layers) * kLargestScore / 2;
    EXPECT_LE(distance(expected, found), std::min(derived, kWeightLimit)) << what;
    EXPECT_TRUE(((expected.array() != 0) || (found.array() == 0)).all()) << what << ": a masked cell isn't 0";
  }

  std::shared_ptr<const Model> model_;
};

TEST_P(GoldenModels, AttentionStreamAndLogitsMatchFloat64) {
  for (const char* prompt : kPrompts) {
    const Golden golden(GetParam(), prompt);
    const auto ids = golden.ids("input_ids");
    ModelSession session(model_);
    const auto pass = checked(session.append(ids, everything()));
    const Stack attention = golden.stack("attention"), hidden = golden.stack("hidden");
    const Index layers = config().layerCount(), heads = config().heads;
    ASSERT_EQ(std::ssize(pass->layers), layers);
    ASSERT_EQ(attention.count(), layers * heads);
    expectNear(hidden[0], pass->embedded, 0, "embedded");
    for (Index i = 0; i < layers; ++i) {
      const LayerResult& layer = *pass->layers[static_cast<std::size_t>(i)];
      const std::string at = std::string(prompt) + ", layer " + std::to_string(i);
      for (Index h = 0; h < heads; ++h)
        expectWeights(attention[i * heads + h], layer.weights[h], i + 1, at + ", head " + std::to_string(h));
      expectNear(hidden[i + 1], layer.hidden, i + 1, at);
    }
    expectNear(golden.matrix("final_norm"), model_->finalNorm(pass->stream), layers + 1, "final norm");
    expectNear(golden.matrix("logits"), pass->logits, layers + 1, "logits");
  }
}

TEST_P(GoldenModels, GreedyContinuationMatchesReference) {
  if (!config().causal) GTEST_SKIP() << "an encoder doesn't write on";
  for (const char* prompt : kPrompts) {
    const Golden golden(GetParam(), prompt);
    const auto expected = golden.ids("greedy_ids");
    const Stack attention = golden.stack("greedy_attention");
    const Matrix logits = golden.matrix("greedy_logits");
    const Index layers = config().layerCount(), heads = config().heads;
    ModelSession session(model_);
    auto pass = checked(session.append(golden.ids("input_ids"), {}));
    for (std::size_t step = 0; step < expected.size(); ++step) {
      const auto t = static_cast<Index>(step);
      expectNear(logits.row(t), pass->logits, layers + 1, "logits of step " + std::to_string(t));
      const Index keys = session.length();
      for (Index i = 0; i < layers * heads; ++i) {
        const Stack& weights = pass->layers[static_cast<std::size_t>(i / heads)]->weights;
        expectWeights(attention[t * layers + i / heads].row(i % heads).leftCols(keys),
                      weights[i % heads].bottomRows(1), i / heads + 1, "step " + std::to_string(t));
      }
      const auto id = chooseToken(pass->logits.row(0), {}, session.length());
      ASSERT_EQ(*id, expected[step]) << prompt << ", step " << step;
      if (step + 1 == expected.size()) break;  // the golden keys end before the last token
      pass = session.append({&*id, 1}, {});
      ASSERT_TRUE(pass.ok()) << pass.error().message;
    }
    if (!golden.has("keys")) continue;
    const Stack keys = golden.stack("keys"), values = golden.stack("values");
    for (Index i = 0; i < keys.count(); ++i) {
      const KvCache& cache = session.cache(i / config().kvHeads);
      expectNear(keys[i], cache.keys(i % config().kvHeads), i / config().kvHeads + 1, "cached keys");
      expectNear(values[i], cache.values(i % config().kvHeads), i / config().kvHeads + 1, "cached values");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, GoldenModels, testing::ValuesIn(kGoldenFamilies),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace headscope::attention::test
