// How a session processes a text: in one pass, token by token, with changes, stopped, truncated.

#include "attention/models/session.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "tests/attention/models/golden_models.h"
#include "tests/attention/models/made_up_checkpoint.h"
#include "tests/support/float_limits.h"
#include "tests/support/matchers.h"

namespace headscope::attention::test {
namespace {

std::vector<Index> someIds(Index count, Index vocabulary, std::uint64_t seed) {
  Random random(seed);
  std::vector<Index> ids;
  for (Index i = 0; i < count; ++i)
    ids.push_back(static_cast<Index>(random.next() % static_cast<std::uint64_t>(vocabulary)));
  return ids;
}

PassRequest allOfAPass() {
  PassRequest request;
  request.projections = request.hidden = request.between = true;
  request.logits = LogitRows::all;
  return request;
}

PassResult passOf(ModelSession& session, std::span<const Index> ids, const PassRequest& request) {
  return *checked(session.append(ids, request));
}

class Sessions : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { model_ = openModel(goldenModel(GetParam())); }
  double tolerance(const Matrix& of) const {
    return streamTolerance(model_->config(), model_->config().layerCount() + 1) * of.cwiseAbs().maxCoeff();
  }
  std::shared_ptr<const Model> model_;
};

TEST_P(Sessions, DecodeAndChunkedPrefillMatchFullPass) {
  const auto ids = someIds(23, 300, 1);
  ModelSession whole(model_);
  const PassResult full = passOf(whole, ids, allOfAPass());
  for (const std::size_t step : {std::size_t{1}, std::size_t{5}}) {
    ModelSession session(model_);
    for (std::size_t first = 0; first < ids.size(); first += step) {
      const auto part = std::span(ids).subspan(first, std::min(step, ids.size() - first));
      const PassResult pass = passOf(session, part, allOfAPass());
      const auto row = static_cast<Index>(first), rows = static_cast<Index>(part.size());
      EXPECT_LE(distance(full.logits.middleRows(row, rows), pass.logits), tolerance(full.logits));
      for (std::size_t i = 0; i < full.layers.size(); ++i) {
        const LayerResult& a = *full.layers[i];
        const LayerResult& b = *pass.layers[i];
        EXPECT_LE(distance(a.hidden.middleRows(row, rows), b.hidden), tolerance(a.hidden));
        for (Index h = 0; h < a.weights.count(); ++h)
          EXPECT_LE(distance(a.weights[h].block(row, 0, rows, b.weights.cols()), b.weights[h]), 2e-5)
              << "layer " << i << ", head " << h << ", row " << row;
        for (Index g = 0; g < a.k.count(); ++g)
          EXPECT_LE(distance(a.k[g].middleRows(row, rows), b.k[g]), tolerance(a.k[g]));
      }
    }
  }
}

TEST_P(Sessions, ChangedTokenLeavesEarlierRowsUnchanged) {
  const auto ids = someIds(30, 300, 2);
  ModelSession first(model_);
  const PassResult before = passOf(first, ids, allOfAPass());
  for (const Index changed : {29, 17, 4}) {
    auto other = ids;
    auto& id = other[static_cast<std::size_t>(changed)];
    id = (id + 101) % 300;
    ModelSession second(model_);
    const PassResult after = passOf(second, other, allOfAPass());
    // Not one bit changes, in any layer.
    EXPECT_EQ(before.logits.topRows(changed), after.logits.topRows(changed));
    EXPECT_NE(before.logits.row(changed), after.logits.row(changed));
    for (std::size_t i = 0; i < before.layers.size(); ++i) {
      EXPECT_EQ(before.layers[i]->hidden.topRows(changed), after.layers[i]->hidden.topRows(changed));
      for (Index h = 0; h < before.layers[i]->weights.count(); ++h)
        EXPECT_EQ(before.layers[i]->weights[h].topRows(changed),
                  after.layers[i]->weights[h].topRows(changed));
    }
  }
}

TEST_P(Sessions, ContinuesAfterTruncation) {
  const auto ids = someIds(20, 300, 3);
  ModelSession straight(model_), cut(model_);
  (void)passOf(straight, std::span(ids).first(12), {});
  (void)passOf(cut, ids, {});
  cut.truncate(12);
  EXPECT_EQ(cut.tokens(), straight.tokens());
  const std::vector<Index> more{7, 8, 9};
  EXPECT_EQ(passOf(straight, more, {}).logits, passOf(cut, more, {}).logits);
}

INSTANTIATE_TEST_SUITE_P(Families, Sessions,
                         testing::Values("gpt2", "llama", "mistral", "qwen2", "qwen3", "gemma2", "phi3",
                                         "gpt_neox"),
                         [](const auto& info) { return info.param; });

TEST(Session, EncoderAttendsBothWays) {
  const auto model = openModel(goldenModel("bert"));
  auto ids = someIds(9, 300, 4);
  ModelSession first(model), second(model);
  const PassResult before = passOf(first, ids, allOfAPass());
  ids.back() = (ids.back() + 1) % 300;
  EXPECT_GT(distance(before.logits.topRows(8), passOf(second, ids, allOfAPass()).logits.topRows(8)), 1e-3);
}

TEST(Session, KeepsOnlyRequestedLayersAndHeads) {
  const auto model = openModel(goldenModel("gemma2"));
  const auto ids = someIds(13, 300, 5);
  ModelSession whole(model), some(model);
  const PassResult all = passOf(whole, ids, allOfAPass());
  PassRequest request;
  request.layers = {2};
  request.heads = {3, 1};
  request.logits = LogitRows::none;
  std::vector<Index> told;
  request.onLayer = [&](const std::shared_ptr<const LayerResult>& layer) { told.push_back(layer->layer); };
  const PassResult pass = passOf(some, ids, request);
  EXPECT_EQ(told, (std::vector<Index>{0, 1, 2}));
  ASSERT_EQ(pass.layers.size(), 1u);
  ASSERT_EQ(pass.layers[0]->weights.count(), 2);
  EXPECT_EQ(pass.layers[0]->weights[0], all.layers[2]->weights[3]);
  EXPECT_EQ(pass.layers[0]->weights[1], all.layers[2]->weights[1]);
  EXPECT_TRUE(pass.layers[0]->q.empty());
  EXPECT_EQ(pass.layers[0]->hidden.size() + pass.embedded.size() + pass.logits.size(), 0);
  EXPECT_EQ(pass.stream, all.stream);
}

TEST(Session, ReportsEachLayerBeforeComputingNext) {
  const auto model = openModel(goldenModel("mistral"));
  ModelSession session(model);
  std::stop_source source;
  PassRequest request;
  Index told = 0;
  request.onLayer = [&](const auto&) {
    ++told;
    source.request_stop();
  };
  const auto ids = someIds(5, 300, 6);
  EXPECT_EQ(messageOf(session.append(ids, request, source.get_token())), "stopped");
  EXPECT_EQ(told, 1);
  // The session is unchanged and still usable.
  EXPECT_EQ(session.length(), 0);
  ModelSession other(model);
  EXPECT_EQ(passOf(session, ids, {}).logits, passOf(other, ids, {}).logits);
}

TEST(Session, MidLayerStreamAddsAttentionOutput) {
  // If all heads are off, a layer's attention adds only W_O's bias, and Llama has none.
  const auto model = openModel(goldenModel("llama"));
  const auto ids = someIds(7, 300, 10);
  PassRequest request = allOfAPass();
  ModelSession on(model), off(model);
  const PassResult plain = passOf(on, ids, request);
  request.patches = {{.piece = Piece::head, .layer = 1}};
  const PassResult edited = passOf(off, ids, request);
  EXPECT_EQ(edited.layers[1]->between, edited.layers[0]->hidden);
  EXPECT_GT(distance(plain.layers[1]->between, plain.layers[0]->hidden), 1e-3);
  // The stream before attention plus Σ weights·v through W_O gives the stream after it.
  const LayerResult& layer = *plain.layers[1];
  for (Index h = 0; h < 4; ++h) EXPECT_LE(distance(layer.headOutput[h], layer.weights[h] * layer.v[0]), 1e-5);
  const Matrix added = model->weights().layers[1].o.apply(mergeHeads(layer.headOutput), {});
  EXPECT_LE(distance(layer.between, plain.layers[0]->hidden + added), 1e-5);
}

TEST(Session, EstimatesPassMemoryInAdvance) {
  const auto model = openModel(goldenModel("gemma2"));
  PassRequest request = allOfAPass();
  const auto bytes = [](const PassResult& pass) {
    Index numbers = pass.embedded.size() + pass.stream.size() + pass.logits.size();
    for (const auto& layer : pass.layers)
      numbers +=
          layer->q.size() + layer->k.size() + layer->v.size() + layer->weights.size() + layer->hidden.size();
    return static_cast<std::uint64_t>(numbers) * sizeof(float);
  };
  const auto ids = someIds(40, 300, 9);
  for (int i = 0; i < 2; ++i) {
    ModelSession session(model);
    const std::uint64_t kept = bytes(passOf(session, ids, request)),
                        told = passBytes(model->config(), 40, request);
    EXPECT_GE(told, kept);
    EXPECT_LE(told, 3 * kept);
    request.layers = {1};
    request.heads = {0};
  }
  EXPECT_EQ(passBytes(model->config(), Index{1} << 40, allOfAPass()),
            std::numeric_limits<std::uint64_t>::max());
}

TEST(Session, LastLayerLensEqualsLogits) {
  const auto model = openModel(goldenModel("qwen3"));
  ModelSession session(model);
  const PassResult pass = passOf(session, someIds(6, 300, 7), allOfAPass());
  EXPECT_EQ(model->logits(pass.layers.back()->hidden), pass.logits);
  EXPECT_GT(distance(model->logits(pass.layers.front()->hidden), pass.logits), 0.01);
}

TEST(Session, RefusesInvalidTokensAndRequests) {
  const auto model = openModel(goldenModel("gpt2"));
  ModelSession session(model);
  const auto message = [&](const std::vector<Index>& ids, const PassRequest& request = {}) {
    return messageOf(session.append(ids, request));
  };
  EXPECT_EQ(message({3, 300}), "token id 300 is not one of this model's 0 to 299");
  EXPECT_EQ(message({-1}), "token id -1 is not one of this model's 0 to 299");
  EXPECT_EQ(message(someIds(49, 300, 1)), "found 49 tokens, expected at most this model's 48 positions");
  PassRequest request;
  request.layers = {0, 2};
  EXPECT_EQ(message({1}, request), "layer is 2, expected 0 to 1");
  request.layers = {};
  request.heads = {-1};
  EXPECT_EQ(message({1}, request), "head is -1, expected 0 to 3");
  EXPECT_EQ(message(someIds(48, 300, 1)), "no error");
  EXPECT_EQ(message({1}), "found 49 tokens, expected at most this model's 48 positions");
  EXPECT_EQ(session.length(), 48);
}

/// Phi-3 with a table for texts of more than 8 tokens.
TEST(Session, RecomputesRotationsForLongRopeTable) {
  const auto ids = someIds(11, 31, 8);
  const auto model = openPlain(plainNamed("phi3_long"));
  ModelSession whole(model), grown(model);
  const PassResult full = passOf(whole, ids, {});
  (void)passOf(grown, std::span(ids).first(7), {});
  for (std::size_t i = 7; i < 10; ++i) (void)passOf(grown, {&ids[i], 1}, {});
  const PassResult last = passOf(grown, {&ids[10], 1}, {});
  EXPECT_LE(distance(full.logits, last.logits), 1e-4);
  // And back again.
  grown.truncate(4);
  ModelSession fresh(model);
  (void)passOf(fresh, std::span(ids).first(4), {});
  EXPECT_EQ(passOf(grown, {&ids[4], 1}, {}).logits, passOf(fresh, {&ids[4], 1}, {}).logits);
}

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
