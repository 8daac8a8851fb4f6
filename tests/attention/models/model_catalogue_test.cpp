#include "attention/models/config/model_catalogue.h"

#include <gtest/gtest.h>

#include <set>

#include "attention/cache/model_cost.h"

namespace headscope::attention::test {
namespace {

std::string found(std::string_view name) {
  const ModelShape* shape = findModel(modelShapes(), name);
  return shape ? shape->name : "none";
}

TEST(ModelCatalogue, ParameterCountsMatchPublished) {
  ASSERT_EQ(catalogueModels().size(), modelShapes().size());
  for (std::size_t i = 0; i < modelShapes().size(); ++i) {
    const ModelShape& shape = modelShapes()[i];
    const double count = static_cast<double>(parametersOf(shape).total + shape.mtpParameters) / 1e9;
    EXPECT_NEAR(count / catalogueModels()[i].published, 1, 0.005) << shape.name << ": " << count;
  }
}

TEST(ModelCatalogue, EntriesAreValidAndCiteSources) {
  std::set<std::string> names, plain;
  for (const ModelShape& each : modelShapes()) {
    const Status valid = validate(each);
    EXPECT_TRUE(valid.ok()) << each.name << ": " << (valid.ok() ? "" : valid.error().message);
    EXPECT_FALSE(each.source.empty()) << each.name;
    EXPECT_TRUE(each.contextKnown) << each.name;
    names.insert(each.name);
    plain.insert(plainModelName(each.name));
  }
  EXPECT_EQ(names.size(), modelShapes().size());
  EXPECT_EQ(plain.size(), modelShapes().size()) << "names that people can't tell apart";
}

TEST(ModelCatalogue, CacheBytesMatchPublished) {
  const auto bytes = [](const char* name, Index tokens, Index batch = 1) {
    return cacheBytes(*findShape(modelShapes(), name), tokens, batch, NumberFormat::bf16);
  };
  // Per token, in 16 bits (DeepSeek-AI 2025, Insights into DeepSeek-V3, table 1).
  EXPECT_EQ(bytes("DeepSeek-V3", 1), 70272u);
  EXPECT_EQ(bytes("Qwen2.5-72B", 1), 327680u);
  EXPECT_EQ(bytes("Llama-3.1-405B", 1), 516096u);
  // At 256 k tokens, in whole GiB (Jamba Team 2024, Jamba-1.5, table 1; Lieber et al. 2024, Jamba, table 1).
  const std::pair<const char*, double> long_[] = {
      {"Llama-2-7B", 128},   {"Llama-3.1-8B", 32},  {"Mixtral-8x7B", 32},       {"Jamba-1.5-Mini", 4},
      {"Llama-3.1-70B", 80}, {"Mixtral-8x22B", 56}, {"Mistral-Large-123B", 88}, {"Jamba-1.5-Large", 9}};
  for (const auto& [name, gib] : long_)
    EXPECT_NEAR(static_cast<double>(bytes(name, 262144)) / 0x1p30, gib, 0.05) << name;
  // 512 sequences of 512 + 32 tokens: 1.2 TiB (Sheng et al. 2023, FlexGen, section 3).
  EXPECT_NEAR(static_cast<double>(bytes("OPT-175B", 544, 512)) / 0x1p40, 1.2, 0.01);
}

TEST(ModelCatalogue, OperationCountsMatchPublished) {
  // GFLOP to train one token of a text of 4,096: three times a pass, including the output head for every
  // token (DeepSeek-AI 2025, Insights into DeepSeek-V3, table 2).
  const std::pair<const char*, double> published[] = {
      {"DeepSeek-V2", 155}, {"DeepSeek-V3", 250}, {"Llama-3.1-405B", 2448}};
  for (const auto& [name, giga] : published) {
    const ModelShape& shape = *findShape(modelShapes(), name);
    const double pass = prefillWork(shape, 4096).total() / 4096,
                 heads = 2 * static_cast<double>(shape.modelDim * shape.vocabulary);
    EXPECT_NEAR(3 * (pass + heads) / 1e9 / giga, 1, 0.012) << name;
  }
}

TEST(ModelCatalogue, GgufFileSizesMatchPublished) {
  const auto gigabytes = [](const char* name, WeightFormat format) {
    return static_cast<double>(weightBytes(*findShape(modelShapes(), name), {.weights = format})) / 1e9;
  };
  // File sizes published for llama.cpp's quantize (tools/quantize/README.md).
  EXPECT_NEAR(gigabytes("Llama-3.1-70B", WeightFormat::q4_k_m) / 43.1, 1, 0.005);
  EXPECT_NEAR(gigabytes("Llama-3.1-405B", WeightFormat::q4_k_m) / 249.1, 1, 0.005);
  const std::pair<WeightFormat, double> gib[] = {{WeightFormat::q8_0, 7.95},
                                                 {WeightFormat::q6_k, 6.14},
                                                 {WeightFormat::q5_k_m, 5.33},
                                                 {WeightFormat::q4_k_m, 4.58},
                                                 {WeightFormat::bf16, 14.96}};
  for (const auto& [format, size] : gib)
    EXPECT_NEAR(gigabytes("Llama-3.1-8B", format) * 1e9 / 0x1p30, size, 0.01) << rowOf(format).name;
}

TEST(ModelCatalogue, ActiveParametersMatchPublished) {
  // In billions, from the models' reports; some of them don't count the embedding table.
  const std::pair<const char*, double> active[] = {
      {"Mixtral-8x7B", 12.9},         {"Qwen3-235B", 22.2},  {"DBRX", 36.5},
      {"Jamba-1.5-Large", 94},        {"DeepSeek-V3", 37.6}, {"Kimi-K2", 32.9},
      {"Llama-4-Scout-17B-16E", 17.2}};
  for (const auto& [name, billions] : active)
    EXPECT_NEAR(static_cast<double>(parametersOf(*findShape(modelShapes(), name)).active) / 1e9 / billions, 1,
                0.01)
        << name;
}

TEST(ModelCatalogue, FindsNamesInCommonSpellings) {
  for (const char* name :
       {"Llama-3.3-70B", "llama 3.3 70b", "meta-llama/Llama-3.3-70B-Instruct", "LLAMA_3.3_70B"})
    EXPECT_EQ(found(name), "Llama-3.3-70B") << name;
  EXPECT_EQ(found("llama-3.1-8b"), "Llama-3.1-8B");
  EXPECT_EQ(found("meta-llama/Meta-Llama-3.1-8B-Instruct"), "Llama-3.1-8B");
  EXPECT_EQ(found("Qwen/Qwen3-235B-A22B"), "Qwen3-235B");
  EXPECT_EQ(found("google/gemma-3-27b-it"), "Gemma-3-27B");
  EXPECT_EQ(found("mistralai/Mistral-Small-24B-Instruct-2501"), "Mistral-Small-24B");
  EXPECT_EQ(found("llama 4 scout"), "Llama-4-Scout-17B-16E") << "the only one that begins so";
  EXPECT_EQ(found("DeepSeek-V3"), "DeepSeek-V3") << "though V3.1 begins so too";
  for (const char* name : {"Llama", "gpt2-medium", "Llama-3.3-7B", "", "-"})
    EXPECT_EQ(found(name), "none") << name;
}

TEST(ModelCatalogue, NearMissSuggestsSameFamily) {
  EXPECT_EQ(nearestModel(modelShapes(), "Lama-3.1-8B"), "; did you mean Llama-3.1-8B?");
  EXPECT_EQ(nearestModel(modelShapes(), "Llama-3.3-7B"), "; did you mean Llama-3.3-70B?");
  EXPECT_NE(nearestModel(modelShapes(), "Qwen3-9999B-xyz").find("Qwen"), std::string::npos);
  EXPECT_EQ(nearestModel(modelShapes(), "wholly unlike"), "");
}

}  // namespace
}  // namespace headscope::attention::test
