// gpt-oss in its published form, with experts in MXFP4, compared with the same checkpoint in F32.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "attention/models/checkpoint/model_weights.h"
#include "tests/attention/models/golden_models.h"
#include "tests/attention/models/made_up_checkpoint.h"
#include "tests/support/matchers.h"

namespace headscope::attention::test {
namespace {

constexpr const char* kConfig = R"({"model_type": "gpt_oss", "architectures": ["GptOssForCausalLM"],
  "vocab_size": 31, "hidden_size": 64, "head_dim": 6, "intermediate_size": 96, "num_hidden_layers": 2,
  "num_attention_heads": 4, "num_key_value_heads": 2, "num_local_experts": 5, "num_experts_per_tok": 2,
  "sliding_window": 4, "max_position_embeddings": 512, "rope_theta": 150, "swiglu_limit": 7.0,
  "rope_scaling": {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 64,
  "beta_fast": 32.0, "beta_slow": 1.0, "truncate": false}, "quantization_config": {"quant_method": "mxfp4",
  "modules_to_not_convert": ["model.layers.*.self_attn", "model.layers.*.mlp.router", "lm_head"]}})";
constexpr std::uint64_t kWidth = 64, kInner = 96, kExperts = 5;

NamedTensor bytesOf(std::vector<std::uint64_t> shape, const std::function<int()>& next) {
  NamedTensor tensor{DType::U8, std::move(shape), {}};
  tensor.bytes.resize(*byteExtent(DType::U8, tensor.shape));
  for (std::uint8_t& byte : tensor.bytes) byte = static_cast<std::uint8_t>(next());
  return tensor;
}

/// Number i of a row by OCP's definition: two neighbours per byte, the first in the low bits; a sign, two
/// bits of exponent and one of mantissa, times the block's power of two.
double numberAt(const NamedTensor& blocks, const NamedTensor& scales, std::uint64_t i) {
  const int code = blocks.bytes[i / 2] >> (i % 2 * 4) & 15, exponent = code >> 1 & 3, mantissa = code & 1;
  const double size = exponent == 0 ? mantissa / 2.0 : (1 + mantissa / 2.0) * std::exp2(exponent - 1);
  return (code & 8 ? -size : size) * std::exp2(scales.bytes[i / 32] - 127);
}

/// Unpacks [experts, out, in] to [experts, in, out] of F32.
NamedTensor unpacked(const NamedTensor& blocks, const NamedTensor& scales, std::uint64_t out,
                     std::uint64_t in) {
  std::vector<float> values(kExperts * out * in);
  for (std::uint64_t e = 0; e < kExperts; ++e)
    for (std::uint64_t o = 0; o < out; ++o)
      for (std::uint64_t i = 0; i < in; ++i)
        values[(e * in + i) * out + o] = static_cast<float>(numberAt(blocks, scales, (e * out + o) * in + i));
  return fromFloats(values, {kExperts, in, out});
}

/// The checkpoint as published, and the one in F32.
struct Pair {
  SafetensorsFile published, plain;
};

Pair checkpoints() {
  MadeUpTensors made(DType::F32, 7);
  made.matrix("model.embed_tokens.weight", 31, kWidth, 1);
  made.weight("lm_head", 31, kWidth);
  made.row("model.norm.weight", kWidth, 0.3, 1);
  for (Index i = 0; i < 2; ++i) {
    const std::string at = "model.layers." + std::to_string(i) + ".", in = at + "self_attn.";
    made.row(at + "input_layernorm.weight", kWidth, 0.3, 1);
    made.row(at + "post_attention_layernorm.weight", kWidth, 0.3, 1);
    for (const auto& [name, out, from] : {std::tuple("q_proj", Index{24}, Index{kWidth}),
                                          {"k_proj", 12, kWidth},
                                          {"v_proj", 12, kWidth},
                                          {"o_proj", kWidth, 24}}) {
      made.weight(in + name, out, from);
      made.row(in + name + ".bias", out, 0.3);
    }
    made.row(in + "sinks", 4, 1, 1);
    made.weight(at + "mlp.router", kExperts, kWidth);
    made.row(at + "mlp.router.bias", kExperts, 0.3);
    made.matrix(at + "mlp.experts.gate_up_proj_bias", kExperts, 2 * kInner, 1);
    made.matrix(at + "mlp.experts.down_proj_bias", kExperts, kWidth, 0.3);
  }
  Pair pair{made.file(), made.file()};
  std::uint32_t state = 1;
  const auto random = [&] { return static_cast<int>((state = state * 1664525 + 1013904223) >> 24); };
  for (int i = 0; i < 2; ++i)
    for (const auto& [name, out, in] :
         {std::tuple("gate_up_proj", 2 * kInner, kWidth), {"down_proj", kWidth, kInner}}) {
      const std::string at = "model.layers." + std::to_string(i) + ".mlp.experts." + name;
      const NamedTensor blocks = bytesOf({kExperts, out, in / 32, 16}, random);
      const NamedTensor scales = bytesOf({kExperts, out, in / 32}, [&] { return 121 + random() % 4; });
      pair.published.tensors[at + "_blocks"] = blocks;
      pair.published.tensors[at + "_scales"] = scales;
      pair.plain.tensors[at] = unpacked(blocks, scales, out, in);
    }
  return pair;
}

std::string withoutMxfp4() {
  const std::string config = kConfig;
  return config.substr(0, config.find(", \"quantization_config\"")) + "}";
}

TEST(Mxfp4Checkpoint, PassesMatchUnpackedNumbers) {
  const Pair pair = checkpoints();
  const MadeUpCheckpoint published(kConfig, pair.published), plain(withoutMxfp4(), pair.plain);
  const auto found = openModel(published.path()), expected = openModel(plain.path());
  const std::vector<Index> ids{3, 30, 0, 7, 7, 19, 4, 28, 3, 11, 5};
  PassRequest request;
  request.hidden = true;
  request.logits = LogitRows::all;
  for (const bool whole : {true, false}) {  // panels of weights, and a row at a time
    ModelSession a(expected), b(found);
    for (std::size_t i = 0; i < ids.size(); i += whole ? ids.size() : 1) {
      const std::span<const Index> next(&ids[i], whole ? ids.size() : 1);
      const auto one = checked(a.append(next, request)), other = checked(b.append(next, request));
      for (std::size_t layer = 0; layer < 2; ++layer) {
        const Matrix &want = one->layers[layer]->hidden, &have = other->layers[layer]->hidden;
        EXPECT_LE(distance(want, have), 1e-5 * want.cwiseAbs().maxCoeff()) << "layer " << layer;
      }
      EXPECT_LE(distance(one->logits, other->logits), 1e-5 * one->logits.cwiseAbs().maxCoeff());
    }
  }
}

TEST(Mxfp4Checkpoint, WeightsStayPackedAndMatchDefinition) {
  const Pair pair = checkpoints();
  const MadeUpCheckpoint published(kConfig, pair.published), plain(withoutMxfp4(), pair.plain);
  const auto found = openModel(published.path()), expected = openModel(plain.path());
  const TensorView& kept = found->checkpoint().tensors().at("model.layers.1.mlp.experts.down_proj");
  EXPECT_EQ(kept.kind, "MXFP4");
  EXPECT_EQ(kept.bytes, kExperts * kWidth * kInner / 32 * 17);
  for (std::size_t e = 0; e < kExperts; ++e) {
    const auto &one = expected->weights().layers[1].mixture->experts[e],
               &other = found->weights().layers[1].mixture->experts[e];
    EXPECT_EQ(weightRows(one.down, 3, 9), weightRows(other.down, 3, 9)) << e;
    EXPECT_EQ(weightRows(one.gateUp, 40, 9), weightRows(other.gateUp, 40, 9)) << e;
    EXPECT_EQ(weightColumns(one.down, 30, 5), weightColumns(other.down, 30, 5)) << e;
  }
}

TEST(Mxfp4Checkpoint, ReadsExtremeScales) {
  const std::vector<std::uint8_t> blocks(5 * 16, 0x21), scales{0, 1, 127, 254, 255};
  std::vector<float> found(5 * 32);
  kernels::unpackWeights(WeightType::mxfp4_apart, blocks.data(), found.size(), found.data(), scales.data());
  EXPECT_EQ(found[0], std::ldexp(0.5f, -127));
  EXPECT_EQ(found[1], std::ldexp(1.0f, -127));
  EXPECT_EQ(found[32], std::ldexp(0.5f, -126));
  EXPECT_EQ(found[64], 0.5f);
  EXPECT_EQ(found[97], std::ldexp(1.0f, 127));
  EXPECT_TRUE(std::isnan(found[128]));
}

TEST(Mxfp4Checkpoint, RefusesBlocksWithoutScales) {
  SafetensorsFile file = checkpoints().published;
  const std::string at = "model.layers.0.mlp.experts.gate_up_proj";
  const auto refusal = [&] { return Model::open(MadeUpCheckpoint(kConfig, file).path()).error().message; };
  file.tensors.at(at + "_scales").shape = {kExperts, kInner, 4};
  EXPECT_THAT(refusal(),
              HasSubstr(R"("layers.0.mlp.experts.gate_up_proj_blocks" has no scales of its shape)"));
  file.tensors.erase(at + "_scales");
  EXPECT_THAT(refusal(), HasSubstr(R"(expected "layers.0.mlp.experts.gate_up_proj_scales")"));
  file.tensors.erase(at + "_blocks");
  EXPECT_THAT(refusal(), HasSubstr("has no tensor"));
}

/// Only the family's experts are in MXFP4: a pair of tensors with such names is nothing special elsewhere.
TEST(Mxfp4Checkpoint, PairsElsewhereAreNotJoined) {
  const auto golden = *headscope::test::readSafetensors(goldenModel("llama") / "model.safetensors");
  const std::string config = headscope::test::fileText(goldenModel("llama") / "config.json");
  for (const char* name : {"model.layers.0.self_attn.q_proj.weight", "model.layers.1.mlp.down_proj.weight",
                           "model.embed_tokens.weight", "model.norm.weight"}) {
    SafetensorsFile file = golden;
    file.tensors.erase(name);
    file.tensors[name + std::string("_blocks")] = bytesOf({32, 1, 16}, [] { return 0x21; });
    file.tensors[name + std::string("_scales")] = bytesOf({32, 1}, [] { return 127; });
    const auto model = Model::open(MadeUpCheckpoint(config, file).path());
    ASSERT_FALSE(model.ok()) << name;
    EXPECT_THAT(model.error().message,
                AnyOf(HasSubstr("has no tensor \"" + std::string(name)), HasSubstr("which isn't supported")));
  }
}

}  // namespace
}  // namespace headscope::attention::test
