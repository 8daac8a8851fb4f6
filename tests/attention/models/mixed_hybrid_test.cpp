// Hybrids whose layers differ more than in hybrid_test.cpp: recurrences beside attention, layers of one part,
// other recurrences; and Llama 4. In one pass and token by token; the recurrences also beside their textbook
// loops. tests/references compares them with transformers.

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
using Shape = std::vector<std::uint64_t>;
using Shapes = std::vector<std::pair<std::string, Shape>>;

/// A layer's tensors, in the layers that it lists.
struct Part {
  std::string layers;
  Shapes shapes;
};

struct MixedCase {
  std::string name, config;
  std::vector<Part> parts;
  Shapes others;
  bool sums = true;  ///< its logits are a sum of pieces
};

Shapes attentionOf(const std::string& prefix, std::uint64_t queries, std::uint64_t keys) {
  return {{prefix + "q_proj.weight", {queries, 12}},
          {prefix + "k_proj.weight", {keys, 12}},
          {prefix + "v_proj.weight", {keys, 12}},
          {prefix + "o_proj.weight", {12, queries}}};
}

Shapes mlpOf(const std::string& prefix, std::uint64_t width) {
  return {{prefix + "gate_proj.weight", {width, 12}},
          {prefix + "up_proj.weight", {width, 12}},
          {prefix + "down_proj.weight", {12, width}}};
}

Shapes mambaOf(const std::string& prefix) {
  return {{prefix + "in_proj.weight", {40, 12}},
          {prefix + "out_proj.weight", {12, 8}},
          {prefix + "conv1d.weight", {28, 1, 4}},
          {prefix + "conv1d.bias", {28}},
          {prefix + "A_log", {4}},
          {prefix + "D", {4}},
          {prefix + "dt_bias", {4}}};
}

const std::vector<MixedCase>& mixed() {
  static const std::vector<MixedCase> cases{
      {"falcon",
       R"({"model_type": "falcon_h1", "mamba_d_ssm": 8, "mamba_n_heads": 4, "mamba_n_groups": 2,
           "mamba_d_state": 5, "attention_in_multiplier": 0.7, "key_multiplier": 0.6, "ssm_out_multiplier": 1.5,
           "mlp_multipliers": [0.8, 1.3], "ssm_multipliers": [0.9, 1.2, 1.1, 0.8, 0.7],)",
       {{"012", attentionOf("self_attn.", 12, 6)},
        {"012", mambaOf("mamba.")},
        {"012", mlpOf("feed_forward.", 10)},
        {"012", {{"input_layernorm.weight", {12}}, {"pre_ff_layernorm.weight", {12}}}}},
       {{"final_layernorm.weight", {12}}, {"embed_tokens.weight", {19, 12}}}},
      {"nemotron",
       R"({"model_type": "nemotron_h", "layers_block_type": ["mlp", "full_attention", "linear_attention", "moe"],
           "head_dim": 6, "mamba_num_heads": 4, "mamba_head_dim": 2, "n_groups": 2, "ssm_state_size": 5,
           "n_routed_experts": 3, "moe_intermediate_size": 7, "moe_shared_expert_intermediate_size": 8,
           "moe_latent_size": 5,)",
       {{"0", {{"mixer.up_proj.weight", {10, 12}}, {"mixer.down_proj.weight", {12, 10}}}},
        {"1", attentionOf("mixer.", 12, 6)},
        {"2", mambaOf("mixer.")},
        {"2", {{"mixer.norm.weight", {8}}}},
        {"3",
         {{"mixer.gate.weight", {3, 12}},
          {"mixer.gate.e_score_correction_bias", {3}},
          {"mixer.fc1_latent_proj.weight", {5, 12}},
          {"mixer.fc2_latent_proj.weight", {12, 5}},
          {"mixer.experts.0.up_proj.weight", {7, 5}},
          {"mixer.experts.0.down_proj.weight", {5, 7}},
          {"mixer.experts.1.up_proj.weight", {7, 5}},
          {"mixer.experts.1.down_proj.weight", {5, 7}},
          {"mixer.experts.2.up_proj.weight", {7, 5}},
          {"mixer.experts.2.down_proj.weight", {5, 7}},
          {"mixer.shared_experts.up_proj.weight", {8, 12}},
          {"mixer.shared_experts.down_proj.weight", {12, 8}}}},
        {"0123", {{"norm.weight", {12}}}}},
       {{"norm_f.weight", {12}}, {"embeddings.weight", {19, 12}}}},
      {"olmo",
       R"({"model_type": "olmo_hybrid", "linear_num_key_heads": 2, "linear_num_value_heads": 4,
           "linear_key_head_dim": 5, "linear_value_head_dim": 3,
           "layer_types": ["linear_attention", "full_attention", "linear_attention"],)",
       {{"1", attentionOf("self_attn.", 12, 6)},
        {"1",
         {{"self_attn.q_norm.weight", {12}},
          {"self_attn.k_norm.weight", {6}},
          {"post_attention_layernorm.weight", {12}},
          {"post_feedforward_layernorm.weight", {12}}}},
        {"02",
         {{"linear_attn.q_proj.weight", {10, 12}},
          {"linear_attn.k_proj.weight", {10, 12}},
          {"linear_attn.v_proj.weight", {12, 12}},
          {"linear_attn.a_proj.weight", {4, 12}},
          {"linear_attn.b_proj.weight", {4, 12}},
          {"linear_attn.g_proj.weight", {12, 12}},
          {"linear_attn.o_proj.weight", {12, 12}},
          {"linear_attn.q_conv1d.weight", {10, 1, 4}},
          {"linear_attn.k_conv1d.weight", {10, 1, 4}},
          {"linear_attn.v_conv1d.weight", {12, 1, 4}},
          {"linear_attn.A_log", {4}},
          {"linear_attn.dt_bias", {4}},
          {"linear_attn.o_norm.weight", {3}},
          {"attention_layer_norm.weight", {12}},
          {"feedforward_layer_norm.weight", {12}}}},
        {"012", mlpOf("mlp.", 10)}},
       {{"norm.weight", {12}}, {"embed_tokens.weight", {19, 12}}}},
      {"minimax",
       R"({"model_type": "minimax", "num_local_experts": 2, "linear_attn_alpha_factor": 1.5,
           "mlp_beta_factor": 0.5, "layer_types": ["linear_attention", "full_attention", "linear_attention"],)",
       {{"1", attentionOf("self_attn.", 12, 6)},
        {"02",
         {{"self_attn.qkv_proj.weight", {36, 12}},
          {"self_attn.output_gate.weight", {12, 12}},
          {"self_attn.out_proj.weight", {12, 12}},
          {"self_attn.norm.weight", {12}}}},
        {"012",
         {{"block_sparse_moe.gate.weight", {2, 12}},
          {"block_sparse_moe.experts.0.w1.weight", {10, 12}},
          {"block_sparse_moe.experts.0.w2.weight", {12, 10}},
          {"block_sparse_moe.experts.0.w3.weight", {10, 12}},
          {"block_sparse_moe.experts.1.w1.weight", {10, 12}},
          {"block_sparse_moe.experts.1.w2.weight", {12, 10}},
          {"block_sparse_moe.experts.1.w3.weight", {10, 12}},
          {"input_layernorm.weight", {12}},
          {"post_attention_layernorm.weight", {12}}}}},
       {{"norm.weight", {12}}, {"embed_tokens.weight", {19, 12}}},
       false},
      {"llama4",
       R"({"model_type": "llama4_text", "head_dim": 6, "attention_chunk_size": 4, "floor_scale": 3,
           "attn_scale": 0.5, "no_rope_layers": [1, 0, 1], "intermediate_size_mlp": 9, "num_local_experts": 2,
           "moe_layers": [1],)",
       {{"012", attentionOf("self_attn.", 12, 6)},
        {"012", {{"input_layernorm.weight", {12}}, {"post_attention_layernorm.weight", {12}}}},
        {"02", mlpOf("feed_forward.", 9)},
        {"1", mlpOf("feed_forward.shared_expert.", 10)},
        {"1",
         {{"feed_forward.router.weight", {2, 12}},
          {"feed_forward.experts.gate_up_proj", {2, 12, 20}},
          {"feed_forward.experts.down_proj", {2, 10, 12}}}}},
       {{"norm.weight", {12}}, {"embed_tokens.weight", {19, 12}}}}};
  return cases;
}

std::shared_ptr<const Model> opened(const MixedCase& mixed) {
  SafetensorsFile file;
  std::uint64_t seed = 1;
  const auto add = [&](const std::string& name, const Shape& shape) {
    file.tensors["model." + name] = gaussianTensor(shape, ++seed);
  };
  for (const auto& [layers, shapes] : mixed.parts)
    for (const char layer : layers)
      for (const auto& [name, shape] : shapes) add("layers." + std::string(1, layer) + "." + name, shape);
  for (const auto& [name, shape] : mixed.others) add(name, shape);
  const std::string sizes =
      R"( "vocab_size": 19, "hidden_size": 12, "intermediate_size": 10, "num_attention_heads": 2,
          "num_key_value_heads": 1, "num_hidden_layers": 3, "tie_word_embeddings": true})";
  return openModel(MadeUpCheckpoint(mixed.config + sizes, file).path());
}

class Mixed : public testing::TestWithParam<MixedCase> {};

TEST_P(Mixed, DecodeAndChunksMatchFullPass) {
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

TEST_P(Mixed, SeveralRunsAreThoseOfEachAlone) {
  const auto model = opened(GetParam());
  PassRequest both = wholePass();
  both.runs = {{Patch{.layer = 0, .head = 1}}, {Patch{.layer = 0, .head = 0}}};
  ModelSession together(model);
  const PassResult runs = *checked(together.append(kIds, both));
  for (Index run = 0; run < 2; ++run) {
    PassRequest alone = wholePass();
    alone.patches = both.runs[asSize(run)];
    ModelSession session(model);
    const PassResult one = *checked(session.append(kIds, alone));
    EXPECT_LE(distance(runs.logits.middleRows(run * std::ssize(kIds), std::ssize(kIds)), one.logits),
              tolerance(one.logits));
  }
}

TEST_P(Mixed, ContributionsSumToLogitOrAreRefused) {
  const auto model = opened(GetParam());
  ModelSession session(model);
  const PassResult run = *checked(session.append(kIds, wholePass()));
  const Index row = std::ssize(kIds) - 1;
  const auto found = attributeLogit(*model, run, row, {7, 3});
  ASSERT_EQ(found.ok(), GetParam().sums) << messageOf(found);
  if (!found.ok()) return;
  double sum = 0;
  for (const Contribution& part : found->parts) sum += part.value;
  EXPECT_NEAR(sum, double{run.logits(row, 7)} - double{run.logits(row, 3)}, tolerance(run.logits));
}

INSTANTIATE_TEST_SUITE_P(Families, Mixed, testing::ValuesIn(mixed()),
                         [](const auto& info) { return info.param.name; });

TEST(Llama4, ChunksAreMasksAndQueriesGrowWithoutPositions) {
  const auto model = opened(mixed().back());
  const ModelConfig& config = model->config();
  EXPECT_EQ(config.maskText(0), "chunked(4)");
  EXPECT_EQ(config.maskText(1), "causal");
  EXPECT_FLOAT_EQ(config.queryGrowth.at(1), 1);
  EXPECT_FLOAT_EQ(config.queryGrowth.at(2), 1 + 0.5F * std::log(2.0F));
  ModelSession session(model);
  const PassResult run = *checked(session.append(kIds, wholePass()));
  EXPECT_EQ(run.layers[0]->weights[0](5, 3), 0);
  EXPECT_GT(run.layers[0]->weights[0](5, 4), 0);
  EXPECT_GT(run.layers[1]->weights[0](5, 3), 0);
  // Rotated queries are normed.
  EXPECT_NEAR(run.layers[0]->q[0].row(5).squaredNorm(), 6, 1e-3);
}

TEST(Llama4, SharesMultiplyWhatExpertsRead) {
  const auto model = opened(mixed().back());
  const MixtureWeights& weights = *model->weights().layers[1].mixture;
  const Matrix x = Matrix::Random(3, 12);
  const Routing routing = routingOf(weights, model->config().mixture, x, {});
  const Matrix y = mixtureOf(weights, model->config(), routing, x, {});
  for (Index row = 0; row < 3; ++row) {
    const Matrix read = x.row(row) * routing.shares(row, 0);
    const Matrix expected =
        attention::mlpOf(weights.experts[static_cast<std::size_t>(routing.experts(row, 0))], read,
                         model->config(), {}) +
        attention::mlpOf(weights.shared, x.row(row), model->config(), {});
    EXPECT_LE(distance(y.row(row), expected), 1e-5);
  }
}

// The recurrences.

using Doubles = Eigen::MatrixXd;

/// Kimi's delta rule of one head, by its equation with matrices: a decay per channel, and maps in two steps.
TEST(Recurrent, DeltaRuleDecaysChannelsApart) {
  const Recurrence how{.kind = Kind::delta,
                       .kernel = 1,
                       .heads = 1,
                       .headDim = 3,
                       .state = 3,
                       .perChannel = true,
                       .sigmoidGate = true,
                       .rateScale = 2};
  const Index d = 5, n = 6;
  std::vector<Linear> maps;
  for (const auto& [out, in] : {std::pair{3, 5}, {3, 5}, {3, 5}, {1, 5}, {3, 5}, {3, 3}, {3, 5}, {3, 3}})
    maps.push_back({gaussian(out, in, 1 + maps.size()), {}});
  const Linear back{Matrix::Identity(3, 3), {}};
  RecurrentWeights weights;
  MappedLinear* const parts[] = {&weights.query,    &weights.key,  &weights.in,       &weights.rate,
                                 &weights.stepDown, &weights.step, &weights.gateDown, &weights.gate};
  for (std::size_t i = 0; i < maps.size(); ++i) *parts[i] = MappedLinear::of(maps[i]);
  weights.out = MappedLinear::of(back);
  weights.kernel = Matrix::Ones(9, 1);
  weights.decay = Matrix::Constant(1, 1, -0.7F);
  weights.stepBias = Vector::Constant(3, 0.2F);
  weights.norm.weight = Vector::Ones(3);
  const Matrix x = gaussian(n, d, 9);
  RecurrentState state;
  const Matrix y = recur(weights, how, x, state, {});
  Doubles s = Doubles::Zero(3, 3);
  for (Index row = 0; row < n; ++row) {
    const auto map = [&](std::size_t i, const Doubles& of) {
      return Doubles(maps[i].weight.cast<double>() * of);
    };
    const Doubles in = x.row(row).transpose().cast<double>();
    const auto silu = [](double value) { return value * sigmoid(value); };
    Doubles q = map(0, in).unaryExpr(silu), k = map(1, in).unaryExpr(silu);
    const Doubles v = map(2, in).unaryExpr(silu), step = map(5, map(4, in)), z = map(7, map(6, in));
    q /= std::sqrt(q.squaredNorm() + 1e-6) * std::sqrt(3.0);
    k /= std::sqrt(k.squaredNorm() + 1e-6);
    const double beta = 2 * sigmoid(map(3, in)(0));
    const Doubles kept =
        step.unaryExpr([](double value) { return std::exp(-0.7 * std::log1p(std::exp(value + 0.2))); });
    s = s * kept.asDiagonal() * (Doubles::Identity(3, 3) - beta * k * k.transpose()) +
        beta * v * k.transpose();
    const Doubles read = s * q;
    const double size = std::sqrt(read.squaredNorm() / 3 + how.epsilon);
    for (Index i = 0; i < 3; ++i) EXPECT_NEAR(y(row, i), read(i) / size * sigmoid(z(i)), 1e-5) << row;
  }
}

/// Lightning attention of one head: attention without softmax whose weights fall with the distance.
TEST(Recurrent, LightningIsAttentionThatFades) {
  const Recurrence how{.kind = Kind::lightning, .heads = 1, .headDim = 2, .state = 2};
  std::vector<Linear> maps;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) maps.push_back({gaussian(2, 4, seed), {}});
  const Linear back{Matrix::Identity(2, 2), {}};
  RecurrentWeights weights;
  MappedLinear* const parts[] = {&weights.query, &weights.key, &weights.in, &weights.gate};
  for (std::size_t i = 0; i < maps.size(); ++i) *parts[i] = MappedLinear::of(maps[i]);
  weights.out = MappedLinear::of(back);
  weights.decay = Matrix::Constant(1, 1, -0.3F);
  weights.norm.weight = Vector::Ones(2);
  const Matrix x = gaussian(5, 4, 7);
  RecurrentState state;
  const Matrix y = recur(weights, how, x, state, {});
  const auto map = [&](std::size_t i) {
    return Doubles(x.cast<double>() * maps[i].weight.transpose().cast<double>());
  };
  const auto silu = [](double value) { return value * sigmoid(value); };
  const Doubles q = map(0).unaryExpr(silu), k = map(1).unaryExpr(silu), v = map(2).unaryExpr(silu),
                z = map(3);
  for (Index i = 0; i < 5; ++i) {
    Doubles sum = Doubles::Zero(1, 2);
    for (Index j = 0; j <= i; ++j) sum += std::exp(-0.3 * double(i - j)) * q.row(i).dot(k.row(j)) * v.row(j);
    const double size = std::sqrt(sum.squaredNorm() / 2 + how.epsilon);
    for (Index c = 0; c < 2; ++c) EXPECT_NEAR(y(i, c), sum(c) / size * sigmoid(z(i, c)), 1e-5) << i;
  }
}

/// RG-LRU with one channel per block.
TEST(Recurrent, GatedLinearUnitKeepsItsVariance) {
  const Recurrence how{.kind = Kind::gatedLinear, .kernel = 1, .heads = 2, .headDim = 1, .groups = 2};
  const Linear in{gaussian(2, 3, 1), {}}, gate{gaussian(2, 3, 2), {}}, back{Matrix::Identity(2, 2), {}};
  RecurrentWeights weights;
  weights.in = MappedLinear::of(in);
  weights.gate = MappedLinear::of(gate);
  weights.out = MappedLinear::of(back);
  weights.kernel = Matrix::Ones(2, 1);
  weights.stepBias = Vector::Constant(2, -2);
  weights.inputGate = Matrix::Constant(2, 1, 0.4F);
  weights.decayGate = Matrix::Constant(2, 1, -0.6F);
  weights.inputGateBias = Vector::Constant(2, 0.1F);
  weights.decayGateBias = Vector::Constant(2, 0.3F);
  const Matrix x = gaussian(6, 3, 5);
  RecurrentState state;
  const Matrix y = recur(weights, how, x, state, {});
  for (Index c = 0; c < 2; ++c) {
    double s = 0;
    for (Index row = 0; row < 6; ++row) {
      const double value = double{x.row(row).dot(in.weight.row(c))},
                   z = double{x.row(row).dot(gate.weight.row(c))};
      const double a = std::exp(-8 * sigmoid(-0.6 * value + 0.3) * std::log1p(std::exp(-2.0)));
      s = a * s + (row == 0 ? 1 : std::sqrt(1 - a * a)) * sigmoid(0.4 * value + 0.1) * value;
      const double gelu = 0.5 * z * (1 + std::tanh(0.7978845608 * (z + 0.044715 * z * z * z)));
      EXPECT_NEAR(y(row, c), s * gelu, 1e-5) << row;
    }
  }
}

}  // namespace
}  // namespace headscope::attention::test
