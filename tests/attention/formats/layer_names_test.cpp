#include <gtest/gtest.h>

#include "attention/models/layers/attention_file.h"
#include "attention/models/layers/layer_reader.h"
#include "tests/support/matchers.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/small_problem.h"
#include "tests/support/tensor_source.h"

namespace headscope::attention {
namespace {

using headscope::test::gaussianTensor;

/// Layers of four heads on width 8, with these names for their first and output map.
SafetensorsFile layersCalled(const std::vector<std::pair<std::string, std::string>>& names) {
  SafetensorsFile file;
  file.metadata["heads"] = "4";
  file.tensors["x"] = gaussianTensor({3, 8}, 1);
  for (const auto& [first, output] : names) {
    file.tensors[first] = gaussianTensor({24, 8}, 2);
    file.tensors[output] = gaussianTensor({8, 8}, 3);
  }
  return file;
}

std::string nameErrorOf(const SafetensorsFile& file, const AttentionOptions& options = {}) {
  return messageOf(readProblem(headscope::test::sourceOf(file), options, "in"));
}

std::vector<std::string> prefixesOf(const SafetensorsFile& file) {
  std::vector<std::string> prefixes;
  const TensorSource source = headscope::test::sourceOf(file);
  for (const LayerPlace& place : findLayers(source.header())) prefixes.push_back(place.prefix);
  return prefixes;
}

TEST(LayerNames, FindsLayersInNumericOrder) {
  EXPECT_THAT(prefixesOf(layersCalled({{"h.10.attn.qkv.weight", "h.10.attn.proj.weight"},
                                       {"h.9.attn.qkv.weight", "h.9.attn.proj.weight"},
                                       {"in_proj_weight", "out_proj.weight"}})),
              testing::ElementsAre("", "h.9.attn.", "h.10.attn."));
  EXPECT_THAT(prefixesOf(layersCalled({})), testing::IsEmpty());
  // The names don't match at the end of a longer word.
  EXPECT_THAT(prefixesOf(layersCalled({{"my_qkv.weight", "my_proj.weight"}})), testing::IsEmpty());
}

TEST(LayerNames, SingleLayerNeedsNoNumber) {
  const auto file = layersCalled(
      {{"encoder.layers.5.self_attn.in_proj_weight", "encoder.layers.5.self_attn.out_proj.weight"}});
  EXPECT_EQ(nameErrorOf(file), "no error");
  EXPECT_EQ(nameErrorOf(file, {{"layer", "5"}}), "no error");
  EXPECT_EQ(nameErrorOf(file, {{"layer", "4"}}), "in: layer is 4, the file holds layer 5");
}

TEST(LayerNames, SeveralLayersRequireAChoice) {
  std::vector<std::pair<std::string, std::string>> names;
  for (int i = 0; i < 12; ++i) {
    const std::string prefix = "h." + std::to_string(i) + ".attn.";
    names.push_back({prefix + "c_attn.weight", prefix + "c_proj.weight"});
  }
  const auto file = layersCalled(names);
  EXPECT_EQ(nameErrorOf(file),
            "in: holds 12 attention layers (0 to 11), expected one of them to be chosen: --layer N, or "
            "weights.layer in a scene");
  EXPECT_EQ(nameErrorOf(file, {{"layer", "7"}}), "no error");
  EXPECT_EQ(nameErrorOf(file, {{"layer", "12"}}), "in: layer is 12, the file holds layers 0 to 11");
  EXPECT_THAT(nameErrorOf(file, {{"layer", "-1"}}),
              HasSubstr("option layer is -1, expected a whole number of at least 0"));
}

TEST(LayerNames, ReportsLayersWithSameNumber) {
  const auto file = layersCalled(
      {{"encoder.layers.0.self_attn.in_proj_weight", "encoder.layers.0.self_attn.out_proj.weight"},
       {"decoder.layers.0.self_attn.in_proj_weight", "decoder.layers.0.self_attn.out_proj.weight"}});
  EXPECT_EQ(nameErrorOf(file, {{"layer", "0"}}),
            "in: holds 2 attention layers of number 0 (\"decoder.layers.0.self_attn.in_proj_weight\", \"en"
            "coder.layers.0.self_attn.in_proj_weight\"), expected one: save the one you want to a separa"
            "te file");
}

TEST(LayerNames, AllowsOtherModelTensorsButNotMisspeltInputs) {
  auto file = layersCalled({{"h.0.attn.c_attn.weight", "h.0.attn.c_proj.weight"}});
  file.tensors["h.0.mlp.c_fc.weight"] = gaussianTensor({8, 8}, 4);
  EXPECT_EQ(nameErrorOf(file), "no error");
  file.tensors["maks"] = gaussianTensor({3, 3}, 4);
  EXPECT_THAT(nameErrorOf(file), HasSubstr("tensor \"maks\" is not a tensor of this file format"));
}

TEST(LayerNames, RefusesMismatchedFusedMaps) {
  auto file = layersCalled({{"qkv_proj.weight", "o_proj.weight"}});
  file.tensors["qkv_proj.weight"] = gaussianTensor({23, 8}, 2);
  EXPECT_EQ(nameErrorOf(file),
            "in: tensor \"qkv_proj.weight\" has 23 outputs, expected 8 and two equal parts, as o_proj.weight "
            "reads 8");
  file.tensors["qkv_proj.weight"] = gaussianTensor({8, 8}, 2);
  EXPECT_THAT(nameErrorOf(file), HasSubstr("has 8 outputs"));
  file = layersCalled({{"query_key_value.weight", "dense.weight"}});
  file.tensors["query_key_value.weight"] = gaussianTensor({16, 8}, 2);
  EXPECT_EQ(nameErrorOf(file),
            "in: tensor \"query_key_value.weight\" has 16 outputs, expected 24, as dense.weight reads 8");
  file = layersCalled({{"in_proj_weight", "out_proj.weight"}});
  file.tensors["in_proj_bias"] = gaussianTensor({8}, 2);
  EXPECT_EQ(nameErrorOf(file), "in: tensor \"in_proj_bias\" is [8], expected [24]");
  EXPECT_THAT(nameErrorOf(file, {{"kv_heads", "2"}}),
              HasSubstr("tensor \"in_proj_weight\" is [24, 8], expected [16, 8]"));
  file.tensors["in_proj_bias"] = gaussianTensor({24}, 2);
  file.tensors["bias_k"] = gaussianTensor({1, 1, 8}, 2);
  EXPECT_THAT(nameErrorOf(file), HasSubstr("tensor \"bias_k\" belongs to the layer's attention"));
}

TEST(LayerNames, RefusesTensorsThatChangeTheAttention) {
  const std::pair<const char*, const char*> layers[] = {{"model.layers.0.self_attn.", "qkv_proj"},
                                                        {"", "qkv_proj"}};
  for (const auto& [prefix, first] : layers)
    for (const char* extra : {"q_norm.weight", "k_norm.weight", "sinks", "lambda_q1",
                              "qkv_proj.lora_A.weight", "q_layernorm.weight", "bias_v"}) {
      const std::string front = prefix;
      auto file = layersCalled({{front + first + ".weight", front + "o_proj.weight"}});
      ASSERT_EQ(nameErrorOf(file), "no error");
      file.tensors[front + extra] = gaussianTensor({8}, 4);
      const auto layer = readLayer(headscope::test::sourceOf(file), {}, "in");
      ASSERT_FALSE(layer.ok()) << front << extra;
      EXPECT_THAT(layer.error().message,
                  HasSubstr("tensor \"" + front + extra + "\" belongs to the layer's"));
    }
  // Buffers and other modules don't change it.
  auto file = layersCalled({{"h.0.attn.c_attn.weight", "h.0.attn.c_proj.weight"}});
  for (const char* other :
       {"h.0.attn.bias", "h.0.attn.masked_bias", "h.0.ln_1.weight", "h.1.attn.q_norm.weight"})
    file.tensors[other] = gaussianTensor({8}, 4);
  EXPECT_EQ(nameErrorOf(file), "no error");
}

TEST(LayerNames, RefusesRotationsThatThetaCannotExpress) {
  const AttentionOptions rotated{{"rope_theta", "10000"}};
  const auto neox =
      layersCalled({{"layers.0.attention.query_key_value.weight", "layers.0.attention.dense.weight"}});
  EXPECT_EQ(nameErrorOf(neox), "no error");
  EXPECT_THAT(nameErrorOf(neox, rotated),
              HasSubstr("tensor \"layers.0.attention.query_key_value.weight\" is named as in GPT-NeoX"));
  auto llama = layersCalled({{"layers.0.self_attn.qkv_proj.weight", "layers.0.self_attn.o_proj.weight"}});
  const auto problem = checked(readProblem(headscope::test::sourceOf(llama), rotated, "in"));
  EXPECT_THAT(problem->notes,
              testing::ElementsAre(HasSubstr("rope_theta rotates all 2 numbers of each head")));
  // One frequency for heads of two numbers; GPT-J's and scaled ones are others.
  auto& frequencies = llama.tensors["layers.0.self_attn.rotary_emb.inv_freq"];
  frequencies = gaussianTensor({1}, 4);
  EXPECT_THAT(nameErrorOf(llama, rotated),
              HasSubstr("inv_freq\" holds other frequencies than rope_theta 10000"));
  EXPECT_EQ(nameErrorOf(llama), "no error");
}

/// nanoGPT uses GPT-2's names, but for maps of torch.nn.Linear instead of Conv1D.
TEST(LayerNames, ShapesDistinguishConv1DFromLinear) {
  auto linear = layersCalled({{"c_attn.weight", "c_proj.weight"}});
  auto conv = linear;
  for (const auto& [name, rows, cols] : {std::tuple{"c_attn.weight", 24, 8}, {"c_proj.weight", 8, 8}}) {
    const Matrix weight =
        MatrixView(headscope::test::toFloats(linear.tensors.at(name), name)->data(), rows, cols);
    const Matrix turned = weight.transpose();
    conv.tensors[name] = fromFloats({turned.data(), static_cast<std::size_t>(turned.size())},
                                    {static_cast<std::uint64_t>(cols), static_cast<std::uint64_t>(rows)});
  }
  const auto a = checked(readProblem(headscope::test::sourceOf(linear), {}, "in")),
             b = checked(readProblem(headscope::test::sourceOf(conv), {}, "in"));
  EXPECT_EQ(a->projections.k.weight, b->projections.k.weight);
  EXPECT_EQ(a->projections.o.weight, b->projections.o.weight);
}

TEST(FusedRows, FindsRowsOfEachPart) {
  EXPECT_THAT(rowsOf(FusedPart::v, FusedRows::thirds, 4, 2, 3), testing::ElementsAre(RowRange{18, 6}));
  EXPECT_THAT(rowsOf(FusedPart::k, FusedRows::heads, 2, 2, 3),
              testing::ElementsAre(RowRange{3, 3}, RowRange{12, 3}));
  EXPECT_THAT(rowsOf(FusedPart::q, FusedRows::heads, 4, 2, 3),
              testing::ElementsAre(RowRange{0, 6}, RowRange{12, 6}));
  EXPECT_THAT(rowsOf(FusedPart::v, FusedRows::heads, 4, 2, 3),
              testing::ElementsAre(RowRange{9, 3}, RowRange{21, 3}));
  EXPECT_THAT(rowsOf(FusedPart::v, FusedRows::quarters, 4, 4, 3),
              testing::ElementsAre(RowRange{3, 3}, RowRange{12, 3}, RowRange{21, 3}, RowRange{30, 3}));
}

}  // namespace
}  // namespace headscope::attention
