#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "attention/models/session.h"
#include "tests/attention/models/golden_models.h"
#include "tests/support/float_limits.h"

namespace headscope::attention::test {
namespace {

Eigen::RowVectorXf row(std::initializer_list<float> values) {
  return Eigen::Map<const Eigen::RowVectorXf>(values.begin(), static_cast<Index>(values.size()));
}

/// How often each id is chosen over many positions.
std::map<Index, double> shares(const Eigen::RowVectorXf& logits, const Sampling& sampling) {
  constexpr int kDraws = 20000;
  std::map<Index, double> shares;
  for (Index position = 0; position < kDraws; ++position)
    shares[*chooseToken(logits, sampling, position)] += 1.0 / kDraws;
  return shares;
}

TEST(Sampling, GreedyTakesFirstOfLargestLogits) {
  EXPECT_EQ(*chooseToken(row({1, 3, 3, 2}), {}, 0), 1);
  EXPECT_EQ(*chooseToken(row({kNaN, -kInfinity, -5}), {}, 0), 2);
  EXPECT_EQ(*chooseToken(row({1, kInfinity}), {.temperature = 1}, 0), 1);
  EXPECT_FALSE(chooseToken(row({kNaN, -kInfinity}), {}, 0).ok());
}

TEST(Sampling, FrequenciesMatchSoftmax) {
  const Eigen::RowVectorXf logits = row({std::log(1.0f), std::log(5.0f), std::log(4.0f), -kInfinity});
  constexpr double kDeviations = 0.015;  // more than four standard deviations, for 20,000 draws
  auto found = shares(logits, {.temperature = 1, .seed = 3});
  EXPECT_NEAR(found[0], 0.1, kDeviations);
  EXPECT_NEAR(found[1], 0.5, kDeviations);
  EXPECT_NEAR(found[2], 0.4, kDeviations);
  EXPECT_EQ(found.count(3), 0u);
  // Squared at temperature ½: 1 : 25 : 16.
  found = shares(logits, {.temperature = 0.5, .seed = 3});
  EXPECT_NEAR(found[1], 25.0 / 42, kDeviations);
  found = shares(logits, {.temperature = 1, .topK = 2, .seed = 3});
  EXPECT_EQ(found.count(0), 0u);
  EXPECT_NEAR(found[1], 5.0 / 9, kDeviations);
  // The first token alone holds half; three fifths include the second one.
  EXPECT_EQ(shares(logits, {.temperature = 1, .topP = 0.5, .seed = 3}).size(), 1u);
  EXPECT_EQ(shares(logits, {.temperature = 1, .topP = 0.6, .seed = 3}).size(), 2u);
}

TEST(Sampling, SameSeedWritesSameText) {
  const auto model = openModel(goldenModel("llama"));
  const std::vector<Index> prompt{5, 6, 7};
  const auto write = [&](std::uint64_t seed) {
    ModelSession session(model);
    auto pass = session.append(prompt, {});
    EXPECT_TRUE(generate(session, pass->logits, 12, {.temperature = 2, .topP = 0.95, .seed = seed}, {},
                         [](Index, const PassResult&) { return true; })
                    .ok());
    return session.tokens();
  };
  EXPECT_EQ(write(1), write(1));
  EXPECT_NE(write(1), write(2));
}

TEST(Sampling, CallbackStopsGeneration) {
  const auto model = openModel(goldenModel("qwen2"));
  ModelSession session(model);
  const std::vector<Index> prompt{5, 6, 7};
  auto pass = session.append(prompt, {});
  Index told = 0;
  const Status status = generate(session, pass->logits, 50, {}, {}, [&](Index id, const PassResult& step) {
    EXPECT_EQ(session.tokens().back(), id);
    EXPECT_EQ(step.logits.rows(), 1);
    return ++told < 4;
  });
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(session.length(), 7);
}

TEST(Sampling, RefusesInvalidSettings) {
  EXPECT_EQ(validate(Sampling{.temperature = -1}).error().message,
            "temperature is -1, expected a number of at least 0");
  EXPECT_EQ(validate(Sampling{.topK = -2}).error().message, "top-k is -2, expected at least 0");
  EXPECT_EQ(validate(Sampling{.topP = 0}).error().message, "top-p is 0, expected above 0 and at most 1");
  EXPECT_FALSE(validate(Sampling{.temperature = std::numeric_limits<double>::quiet_NaN()}).ok());
}

}  // namespace
}  // namespace headscope::attention::test
