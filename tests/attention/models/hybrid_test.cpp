// Hybrids: their recurrences beside the textbook's loops, and whole models in one pass and token by token.
// tests/references compares them with transformers.

#include <gtest/gtest.h>

#include "attention/models/circuits.h"
#include "attention/models/recurrent.h"
#include "attention/models/session.h"
#include "tests/attention/models/golden_models.h"
#include "tests/attention/models/hybrid_fixture.h"
#include "tests/attention/models/made_up_checkpoint.h"
#include "tests/support/matchers.h"
#include "tests/support/small_problem.h"

namespace headscope::attention::test {
namespace {

using headscope::test::gaussianTensor;
using Kind = Recurrence::Kind;
using Shapes = std::vector<std::pair<std::string, std::vector<std::uint64_t>>>;

struct HybridCase {
  std::string name, config;
  Shapes shapes;  ///< of the tensors of layer 0 (recurrent) and 1 (attention); N stands for 2 and 3, too
};

constexpr const char* kSizes =
    R"("vocab_size": 19, "hidden_size": 12, "intermediate_size": 10, "num_hidden_layers": 4,
       "num_attention_heads": 2, "num_key_value_heads": 1, "tie_word_embeddings": true)";

Shapes withAttention(Shapes shapes, const std::string& o, std::uint64_t queries, std::uint64_t dim) {
  for (const auto& [name, out, in] : {std::tuple{std::string("q_proj"), queries, std::uint64_t{12}},
                                      {"k_proj", dim, 12},
                                      {"v_proj", dim, 12},
                                      {o, 12, 2 * dim}})
    shapes.push_back({"layers.1.self_attn." + name + ".weight", {out, in}});
  return shapes;
}

/// The tensors of layers 0 to 3, of which 1 attends.
Shapes withLayers(const Shapes& own, const std::vector<std::string>& norms, const Shapes& inner) {
  Shapes all = own;
  for (const char* layer : {"2", "3"})
    for (const auto& [name, shape] : own)
      if (name.starts_with("layers.0."))
        all.push_back({"layers." + std::string(layer) + name.substr(8), shape});
  for (const char* layer : {"0", "1", "2", "3"}) {
    for (const std::string& norm : norms)
      all.push_back({"layers." + std::string(layer) + "." + norm + ".weight", {12}});
    for (const auto& [name, shape] : inner)
      all.push_back({"layers." + std::string(layer) + "." + name, shape});
  }
  all.push_back({"embed_tokens.weight", {19, 12}});
  return all;
}

const std::vector<HybridCase>& hybrids() {
  static const std::vector<HybridCase> cases{
      {"lfm2",
       R"({"model_type": "lfm2", "block_auto_adjust_ff_dim": false,
           "layer_types": ["conv", "full_attention", "conv", "conv"], )",
       withLayers(withAttention({{"layers.0.conv.conv.weight", {12, 1, 3}},
                                 {"layers.0.conv.in_proj.weight", {36, 12}},
                                 {"layers.0.conv.out_proj.weight", {12, 12}},
                                 {"layers.1.self_attn.q_layernorm.weight", {6}},
                                 {"layers.1.self_attn.k_layernorm.weight", {6}},
                                 {"embedding_norm.weight", {12}}},
                                "out_proj", 12, 6),
                  {"operator_norm", "ffn_norm"},
                  {{"feed_forward.w1.weight", {10, 12}},
                   {"feed_forward.w3.weight", {10, 12}},
                   {"feed_forward.w2.weight", {12, 10}}})},
      {"bamba",
       R"({"model_type": "bamba", "attn_layer_indices": [1], "mamba_n_heads": 4, "mamba_n_groups": 2,
           "mamba_d_state": 5, "head_dim": 8, )",
       withLayers(withAttention({{"layers.0.mamba.conv1d.weight", {44, 1, 4}},
                                 {"layers.0.mamba.conv1d.bias", {44}},
                                 {"layers.0.mamba.in_proj.weight", {72, 12}},
                                 {"layers.0.mamba.out_proj.weight", {12, 24}},
                                 {"layers.0.mamba.A_log", {4}},
                                 {"layers.0.mamba.D", {4}},
                                 {"layers.0.mamba.dt_bias", {4}},
                                 {"layers.0.mamba.norm.weight", {24}},
                                 {"final_layernorm.weight", {12}}},
                                "o_proj", 16, 8),
                  {"input_layernorm", "pre_ff_layernorm"},
                  {{"feed_forward.gate_proj.weight", {10, 12}},
                   {"feed_forward.up_proj.weight", {10, 12}},
                   {"feed_forward.down_proj.weight", {12, 10}}})},
      {"jamba",
       R"({"model_type": "jamba", "attn_layer_period": 4, "attn_layer_offset": 1, "num_experts": 1,
           "mamba_d_state": 5, "mamba_dt_rank": 3, )",
       withLayers(withAttention({{"layers.0.mamba.conv1d.weight", {24, 1, 4}},
                                 {"layers.0.mamba.conv1d.bias", {24}},
                                 {"layers.0.mamba.in_proj.weight", {48, 12}},
                                 {"layers.0.mamba.x_proj.weight", {13, 24}},
                                 {"layers.0.mamba.dt_proj.weight", {24, 3}},
                                 {"layers.0.mamba.dt_proj.bias", {24}},
                                 {"layers.0.mamba.out_proj.weight", {12, 24}},
                                 {"layers.0.mamba.A_log", {24, 5}},
                                 {"layers.0.mamba.D", {24}},
                                 {"layers.0.mamba.dt_layernorm.weight", {3}},
                                 {"layers.0.mamba.b_layernorm.weight", {5}},
                                 {"layers.0.mamba.c_layernorm.weight", {5}},
                                 {"final_layernorm.weight", {12}}},
                                "o_proj", 12, 6),
                  {"input_layernorm", "pre_ff_layernorm"},
                  {{"feed_forward.gate_proj.weight", {10, 12}},
                   {"feed_forward.up_proj.weight", {10, 12}},
                   {"feed_forward.down_proj.weight", {12, 10}}})},
      {"qwen35",
       R"({"model_type": "qwen3_5_text", "head_dim": 8, "linear_num_key_heads": 2, "linear_num_value_heads": 4,
           "linear_key_head_dim": 5, "linear_value_head_dim": 3,
           "layer_types": ["linear_attention", "full_attention", "linear_attention", "linear_attention"], )",
       withLayers(withAttention({{"layers.0.linear_attn.conv1d.weight", {32, 1, 4}},
                                 {"layers.0.linear_attn.in_proj_qkv.weight", {32, 12}},
                                 {"layers.0.linear_attn.in_proj_z.weight", {12, 12}},
                                 {"layers.0.linear_attn.in_proj_b.weight", {4, 12}},
                                 {"layers.0.linear_attn.in_proj_a.weight", {4, 12}},
                                 {"layers.0.linear_attn.out_proj.weight", {12, 12}},
                                 {"layers.0.linear_attn.A_log", {4}},
                                 {"layers.0.linear_attn.dt_bias", {4}},
                                 {"layers.0.linear_attn.norm.weight", {3}},
                                 {"layers.1.self_attn.q_norm.weight", {8}},
                                 {"layers.1.self_attn.k_norm.weight", {8}},
                                 {"norm.weight", {12}}},
                                "o_proj", 32, 8),
                  {"input_layernorm", "post_attention_layernorm"},
                  {{"mlp.gate_proj.weight", {10, 12}},
                   {"mlp.up_proj.weight", {10, 12}},
                   {"mlp.down_proj.weight", {12, 10}}})}};
  return cases;
}

MadeUpCheckpoint checkpointOf(const HybridCase& hybrid, const Shapes& more = {}) {
  SafetensorsFile file;
  std::uint64_t seed = 1;
  for (const Shapes* shapes : {&hybrid.shapes, &more})
    for (const auto& [name, shape] : *shapes) file.tensors["model." + name] = gaussianTensor(shape, ++seed);
  return MadeUpCheckpoint(hybrid.config + kSizes + "}", file);
}

std::shared_ptr<const Model> opened(const HybridCase& hybrid) {
  return openModel(checkpointOf(hybrid).path());
}

class Hybrids : public testing::TestWithParam<HybridCase> {};

TEST_P(Hybrids, NumberTheirAttentionLayersAndSayWhich) {
  const auto model = opened(GetParam());
  const ModelConfig& config = model->config();
  ASSERT_EQ(config.layerCount(), 1);
  EXPECT_EQ(config.layerNumber(0), 1);
  EXPECT_EQ(config.layers[0].before, (std::vector<OtherLayer>{{0}}));
  EXPECT_EQ(config.layers[0].after, (std::vector<OtherLayer>{{2}, {3}}));
  EXPECT_THAT(
      config.notes,
      testing::Contains(testing::HasSubstr("1 of its 4 layers have attention, in the file layers 1;")));
}

TEST_P(Hybrids, RefuseATensorOfALayerThatIsNotRead) {
  const MadeUpCheckpoint checkpoint = checkpointOf(GetParam(), {{"layers.2.gain.weight", {12}}});
  EXPECT_THAT(messageOf(Model::open(checkpoint.path())), testing::HasSubstr("layers.2.gain.weight"));
}

TEST_P(Hybrids, DecodeAndChunksMatchFullPass) {
  const auto model = opened(GetParam());
  ModelSession whole(model);
  const PassResult full = *checked(whole.append(kIds, wholePass()));
  ASSERT_TRUE(full.logits.allFinite());
  for (const std::size_t step : {std::size_t{1}, std::size_t{4}}) {
    ModelSession session(model);
    for (std::size_t first = 0; first < kIds.size(); first += step) {
      const auto part = std::span(kIds).subspan(first, std::min(step, kIds.size() - first));
      const PassResult pass = *checked(session.append(part, wholePass()));
      EXPECT_LE(distance(full.logits.middleRows(static_cast<Index>(first), std::ssize(part)), pass.logits),
                tolerance(full.logits))
          << step << " " << first;
    }
  }
}

TEST_P(Hybrids, ATextThatWasCutOrStoppedIsComputedAnew) {
  const auto model = opened(GetParam());
  ModelSession whole(model), session(model);
  const PassResult full = *checked(whole.append(kIds, wholePass()));
  (void)checked(session.append(std::vector<Index>{3, 11, 0, 9, 9, 9}, wholePass()));
  session.truncate(3);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(session.append(std::span(kIds).subspan(3, 2), wholePass(), stop.get_token()).ok());
  const PassResult rest = *checked(session.append(std::span(kIds).subspan(3), wholePass()));
  EXPECT_LE(distance(full.logits.bottomRows(rest.logits.rows()), rest.logits), tolerance(full.logits));
}

TEST_P(Hybrids, SeveralRunsAreThoseOfEachAlone) {
  const auto model = opened(GetParam());
  const Patch off{.layer = 0, .head = 1}, half{.piece = Piece::stream, .layer = 0, .by = Scaled{0.5F}};
  PassRequest both = wholePass();
  both.runs = {{off}, {half}};
  ModelSession together(model);
  const PassResult runs = *checked(together.append(kIds, both));
  for (const auto& [patch, row] : {std::pair(off, 0), std::pair(half, 1)}) {
    PassRequest alone = wholePass();
    alone.patches = {patch};
    ModelSession session(model);
    const PassResult one = *checked(session.append(kIds, alone));
    EXPECT_LE(distance(runs.logits.middleRows(row * std::ssize(kIds), std::ssize(kIds)), one.logits),
              tolerance(one.logits));
  }
}

TEST_P(Hybrids, ContributionsSumToLogit) {
  const auto model = opened(GetParam());
  ModelSession session(model);
  const PassResult run = *checked(session.append(kIds, wholePass()));
  const Index row = std::ssize(kIds) - 1;
  const auto found = checked(attributeLogit(*model, run, row, {7, 3}));
  const double logit = double{run.logits(row, 7)} - double{run.logits(row, 3)};
  double sum = 0, others = 0;
  for (const Contribution& part : found->parts) {
    sum += part.value;
    if (part.by == Writer::others) others += std::abs(part.value);
    if (part.by != Writer::head) continue;
    EXPECT_NEAR(double{found->byKey[part.layer].row(part.head).sum()}, part.value, tolerance(run.logits));
  }
  EXPECT_NEAR(sum, logit, tolerance(run.logits));
  EXPECT_GT(others, 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Families, Hybrids, testing::ValuesIn(hybrids()),
                         [](const auto& info) { return info.param.name; });

TEST(Hybrid, HeadsWithGatesHaveNoMaps) {
  EXPECT_THAT(opened(hybrids().back())->config().checkHeadMaps().error().message, testing::HasSubstr("gate"));
}

TEST(Hybrid, RefusesWhatItCanNotShowOrDoesNotCompute) {
  const auto refusal = [](const std::string& config) {
    return messageOf(readModelConfig(config + kSizes + "}", "config.json"));
  };
  EXPECT_THAT(refusal(R"({"model_type": "lfm2", "layer_types": ["conv", "conv", "conv", "conv"], )"),
              testing::HasSubstr("none of its 4 layers has attention to show"));
  EXPECT_THAT(refusal(R"({"model_type": "lfm2", "layer_types": ["conv", "full_attention"], )"),
              testing::HasSubstr("a list of 2, expected a name for each of the 4 layers"));
  EXPECT_THAT(
      refusal(R"({"model_type": "lfm2", "layer_types": ["conv", "full_attention", "conv", "rwkv"], )"),
      testing::HasSubstr("\"rwkv\""));
  EXPECT_THAT(refusal(R"({"model_type": "bamba", "attn_layer_indices": [1], "mamba_n_heads": 4, "head_dim": 8,
                           "time_step_limit": [0.0, 0.1], )"),
              testing::HasSubstr("time_step_limit"));
  for (const std::string none : {"Infinity", R"({"__float__": "Infinity"})"})
    EXPECT_EQ(refusal(R"({"model_type": "bamba", "attn_layer_indices": [1], "mamba_n_heads": 4, "head_dim": 8,
                          "time_step_limit": [0.0, )" +
                      none + "], "),
              "no error");
}

// The recurrences.

/// RMS norm of a row, in double precision.
std::vector<double> normed(const std::vector<double>& x, double epsilon) {
  double sum = 0;
  for (const double each : x) sum += each * each;
  std::vector<double> y;
  for (const double each : x) y.push_back(each / std::sqrt(sum / static_cast<double>(x.size()) + epsilon));
  return y;
}

/// The delta rule of one head over all rows, by its equation with matrices.
TEST(Recurrent, DeltaRuleErasesAndWrites) {
  const Recurrence how{.kind = Kind::delta, .kernel = 1, .heads = 1, .headDim = 3, .groups = 1, .state = 4};
  const Index d = 5, n = 6;
  std::vector<Linear> maps;
  for (const auto& [out, seed] : {std::pair{4, 1}, {4, 2}, {3, 3}, {3, 4}, {1, 5}, {1, 6}})
    maps.push_back({gaussian(out, d, seed), {}});
  const Linear back{Matrix::Identity(3, 3), {}};
  RecurrentWeights weights;
  MappedLinear* const parts[] = {&weights.query, &weights.key,  &weights.in,
                                 &weights.gate,  &weights.rate, &weights.step};
  for (std::size_t i = 0; i < maps.size(); ++i) *parts[i] = MappedLinear::of(maps[i]);
  weights.out = MappedLinear::of(back);
  weights.kernel = Matrix::Ones(11, 1);
  weights.decay = Matrix::Constant(1, 1, -0.7F);
  weights.stepBias = Vector::Constant(1, 0.2F);
  weights.norm.weight = Vector::Ones(3);
  const Matrix x = gaussian(n, d, 9);
  RecurrentState state;
  const Matrix y = recur(weights, how, x, state, {});
  EXPECT_EQ(state.tokens, n);
  using Doubles = Eigen::MatrixXd;
  Doubles s = Doubles::Zero(3, 4);
  for (Index row = 0; row < n; ++row) {
    const auto map = [&](std::size_t i) {
      return Doubles(maps[i].weight.cast<double>() * x.row(row).transpose().cast<double>());
    };
    const auto silu = [](double value) { return value * sigmoid(value); };
    Doubles q = map(0).unaryExpr(silu), k = map(1).unaryExpr(silu);
    const Doubles v = map(2).unaryExpr(silu), z = map(3).unaryExpr(silu);
    q /= std::sqrt(q.squaredNorm() + 1e-6) * 2;
    k /= std::sqrt(k.squaredNorm() + 1e-6);
    const double beta = sigmoid(map(4)(0)), decay = std::exp(-0.7 * std::log1p(std::exp(map(5)(0) + 0.2)));
    s = decay * s * (Doubles::Identity(4, 4) - beta * k * k.transpose()) + beta * v * k.transpose();
    const Doubles read = s * q;
    const auto out = normed({read.data(), read.data() + 3}, how.epsilon);
    for (Index i = 0; i < 3; ++i) EXPECT_NEAR(y(row, i), out[asSize(i)] * z(i), 1e-5) << row << " " << i;
  }
}

/// Mamba-2 with one head: y_i = Σ_j exp(A·Σ_{j<t≤i} Δ_t)·Δ_j·(q_i·k_j)·x_j, attention with decaying weights.
TEST(Recurrent, Mamba2IsAttentionWithDecay) {
  const Recurrence how{.kind = Kind::mamba2, .kernel = 1, .heads = 1, .headDim = 2, .groups = 1, .state = 3};
  const Index d = 4, n = 5;
  const Linear in{gaussian(2 + 8 + 1, d, 1), {}}, back{Matrix::Identity(2, 2), {}};
  RecurrentWeights weights;
  weights.in = MappedLinear::of(in);
  weights.out = MappedLinear::of(back);
  weights.kernel = Matrix::Ones(8, 1);
  weights.decay = Matrix::Constant(1, 1, -0.5F);
  weights.stepBias = Vector::Constant(1, 0.1F);
  weights.skip = Vector::Constant(1, 0.3F);
  weights.norm.weight = Vector::Ones(2);
  const Matrix x = gaussian(n, d, 2);
  RecurrentState state;
  const Matrix y = recur(weights, how, x, state, {});
  const Eigen::MatrixXd all = x.cast<double>() * in.weight.transpose().cast<double>();
  const auto silu = [](double value) { return value * sigmoid(value); };
  const Eigen::MatrixXd mixed = all.middleCols(2, 8).unaryExpr(silu);
  const auto step = [&](Index row) { return std::log1p(std::exp(all(row, 10) + 0.1)); };
  for (Index i = 0; i < n; ++i) {
    std::vector<double> out(2);
    for (Index c = 0; c < 2; ++c) {
      double sum = 0.3 * mixed(i, c), decayed = 0;
      for (Index j = i; j >= 0; --j) {
        const double score = mixed.row(i).segment(5, 3).dot(mixed.row(j).segment(2, 3));
        sum += std::exp(-0.5 * decayed) * step(j) * score * mixed(j, c);
        decayed += step(j);
      }
      out[asSize(c)] = sum * silu(all(i, c));
    }
    const auto expected = normed(out, how.epsilon);
    for (Index c = 0; c < 2; ++c) EXPECT_NEAR(y(i, c), expected[asSize(c)], 1e-5) << i << " " << c;
  }
}

}  // namespace
}  // namespace headscope::attention::test
