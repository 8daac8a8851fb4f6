#include <gtest/gtest.h>

#include <sstream>

#include "attention/cache/model_cost.h"
#include "attention/formats/safetensors.h"
#include "attention/models/checkpoint/checkpoint.h"
#include "attention/models/config/model_catalogue.h"
#include "tests/support/temporary_folder.h"

namespace headscope::attention::test {
namespace {

using headscope::test::putFile;

WeightCount count(std::string_view json, const Packing& packing = {4, 0}) {
  const auto counted = countTensors(json, packing, "x");
  EXPECT_TRUE(counted.ok()) << (counted.ok() ? "" : counted.error().message);
  return counted.ok() ? *counted : WeightCount();
}

TEST(WeightCount, CountsPackedTensorsUnpacked) {
  WeightCount all = count(R"({"a.weight": {"dtype": "F8_E4M3", "shape": [4, 8], "data_offsets": [0, 32]},
    "a.weight_scale_inv": {"dtype": "F32", "shape": [1], "data_offsets": [32, 36]}, "__metadata__": {}})");
  EXPECT_EQ(all.parameters, 32u);
  EXPECT_EQ(all.bytes, 36u);
  all = count(R"({"q.qweight": {"dtype": "I32", "shape": [8, 2], "data_offsets": [0, 64]},
    "q.qzeros": {"dtype": "I32", "shape": [1], "data_offsets": [64, 68]},
    "q.scales": {"dtype": "F16", "shape": [2], "data_offsets": [68, 72]}})");
  EXPECT_EQ(all.parameters, 128u) << "eight in a word";
  EXPECT_EQ(all.bytes, 72u);
  all = count(R"({"experts.w_blocks": {"dtype": "U8", "shape": [3, 16], "data_offsets": [0, 48]},
    "experts.w_scales": {"dtype": "U8", "shape": [3], "data_offsets": [48, 51]}})");
  EXPECT_EQ(all.parameters, 96u);
  all = count(R"({"w.weight": {"dtype": "U8", "shape": [10, 1], "data_offsets": [0, 10]},
    "w.weight.absmax": {"dtype": "F32", "shape": [1], "data_offsets": [10, 14]}})");
  EXPECT_EQ(all.parameters, 20u);
  all = count(R"({"h.0.attn.bias": {"dtype": "F32", "shape": [1, 1, 4, 4], "data_offsets": [0, 64]},
    "h.0.ln_1.bias": {"dtype": "F32", "shape": [4], "data_offsets": [64, 80]}})");
  EXPECT_EQ(all.parameters, 4u) << "a mask is no weight";
  EXPECT_EQ(all.bytes, 16u);
}

/// One matrix of 64 × 128 weights, as each library stores it.
TEST(WeightCount, CountsEachLibrarysPacking) {
  const struct {
    const char *name, *tensors;
    Packing packing;
  } kCases[] = {
      {"MLX, 4 bits",
       R"("q.weight": U32 [64,16], "q.scales": BF16 [64,2], "q.biases": BF16 [64,2])",
       {4, 64}},
      {"MLX, 8 bits among 4",
       R"("q.weight": U32 [64,32], "q.scales": BF16 [64,2], "q.biases": BF16 [64,2])",
       {4, 64}},
      {"GPTQ, 3 bits",
       R"("q.qweight": I32 [12,64], "q.scales": F16 [1,64], "q.qzeros": I32 [1,6], "q.g_idx": I32 [128])",
       {3, 128}},
      {"GPTQ, 8 bits", R"("q.qweight": I32 [32,64], "q.scales": F16 [1,64], "q.qzeros": I32 [1,16])", {8, 0}},
      {"NVFP4",
       R"("q.weight_packed": U8 [64,64], "q.weight_scale": F8_E4M3 [64,8], "q.weight_global_scale": F32 [1])",
       {4, 16}},
      {"ModelOpt",
       R"("q.weight": U8 [64,64], "q.weight_scale": F8_E4M3 [64,8], "q.weight_scale_2": F32 [1])",
       {4, 16}},
      {"BitNet", R"("q.weight": U8 [16,128], "q.weight_scale": BF16 [1])", {2, 0}},
      {"EETQ", R"("q.weight": I8 [64,128], "q.weight_scales": F16 [64])", {8, 0}},
      {"HQQ", R"("q.W_q": U8 [64,64], "q.scale": BF16 [128,1], "q.zero": BF16 [128,1])", {4, 64}},
      {"bitsandbytes", R"("q.weight": I8 [64,128], "q.SCB": F32 [64], "q.weight_format": U8 [1,1])", {8, 0}},
      {"plain, with a buffer", R"("q.weight": BF16 [64,128], "p.position_ids": I64 [1,512])", {}}};
  for (const auto& row : kCases) {
    std::string json = "{";
    std::uint64_t at = 0;
    std::istringstream words{std::string(row.tensors)};
    for (std::string name, dtype, shape; words >> name >> dtype >> shape; json += ", ") {
      const bool last = shape.back() != ',';
      if (!last) shape.pop_back();
      json += name + R"( {"dtype": ")" + dtype + R"(", "shape": )" + shape + R"(, "data_offsets": [)" +
              std::to_string(at) + ", " + std::to_string(at + 8) + "]}";
      at += 8;
      if (last) break;
    }
    EXPECT_EQ(count(json + "}", row.packing).parameters, 64u * 128) << row.name;
  }
  EXPECT_EQ(
      count(R"({"q.weight": {"dtype": "U32", "shape": [4, 4], "data_offsets": [0, 64]}})", {}).parameters, 0u)
      << "nobody says how they are packed";
}

class CountedFolder : public testing::Test {
 protected:
  CountedFolder() {
    putFile(folder / "config.json", R"({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64,
      "num_attention_heads": 8, "intermediate_size": 128, "vocab_size": 100, "max_position_embeddings": 64})");
  }
  ModelShape shape() { return *readModelShape(folder / "config.json"); }
  headscope::test::TemporaryFolder folder;
};

TEST_F(CountedFolder, CountsWeightsInSafetensors) {
  EXPECT_EQ(shape().countedBytes, 0u) << "estimated where there are no files";
  SafetensorsFile file;
  file.tensors["w"] = fromFloats(std::vector<float>(12), {3, 4});
  ASSERT_TRUE(writeSafetensors(folder / "model.safetensors", file).ok());
  EXPECT_EQ(shape().countedParameters, 12u);
  EXPECT_EQ(weightBytes(shape(), {}), 48u);
  EXPECT_EQ(parametersOf(shape()).total, 12u);
  EXPECT_EQ(shape().weights.name, "fp32") << "of the file, not of config.json";
  EXPECT_EQ(shape().source, shape().name + "/config.json; weights from its safetensors files");
}

TEST_F(CountedFolder, CountsWeightsFromIndexAlone) {
  putFile(folder / "model.safetensors.index.json",
          R"({"metadata": {"total_size": 1000, "total_parameters": 500},
    "weight_map": {"w": "model-00001-of-00002.safetensors"}})");
  EXPECT_EQ(shape().countedBytes, 1000u);
  EXPECT_EQ(shape().countedParameters, 500u);
}

TEST_F(CountedFolder, UnknownQuantisationLeavesBytesOfFiles) {
  putFile(folder / "config.json", R"({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64,
    "num_attention_heads": 8, "intermediate_size": 128, "vocab_size": 100, "max_position_embeddings": 64,
    "quantization_config": {"quant_method": "odd"}})");
  SafetensorsFile file;
  file.tensors["w.weight"] = fromFloats(std::vector<float>(12), {3, 4});
  ASSERT_TRUE(writeSafetensors(folder / "model.safetensors", file).ok());
  EXPECT_EQ(weightBytes(shape(), {}), 48u);
  EXPECT_GT(parametersOf(shape()).total, 70'000u) << "from the sizes";
  ASSERT_EQ(shape().notes.size(), 1u);
  EXPECT_EQ(shape().notes[0],
            "its quantization_config (\"odd\") is not known: bytes are those of its files, parameters are "
            "estimated");
}

TEST_F(CountedFolder, NotesUnreadableFile) {
  putFile(folder / "model.safetensors", "short");
  ASSERT_EQ(shape().notes.size(), 1u);
  EXPECT_NE(shape().notes[0].find("weights are estimated: model.safetensors"), std::string::npos);
}

}  // namespace
}  // namespace headscope::attention::test
