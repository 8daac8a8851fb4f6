#include "attention/cache/serving.h"

#include <gtest/gtest.h>

#include "attention/models/config/model_catalogue.h"

namespace headscope::attention::test {
namespace {

const ModelShape& servedShape(std::string_view name) {
  const ModelShape* found = findShape(modelShapes(), name);
  EXPECT_NE(found, nullptr) << name;
  return *found;
}
const Machine& machine(std::string_view name) {
  const Machine* found = findMachine(machines(), name);
  EXPECT_NE(found, nullptr) << name;
  return *found;
}

TEST(Serving, MemorySumsWeightsPagesAndActivations) {
  // By hand: 2 layers, d 8, 2 heads of 4, inner 16, vocabulary 10, bf16; 20 tokens in pages of 16, batch 3.
  ModelShape toy{.layers = 2, .modelDim = 8, .heads = 2, .kvHeads = 2, .headDim = 4, .context = 64};
  toy.innerDim = 16, toy.vocabulary = 10;
  const Machine small{"small", 1e-6, 100, 1000, ""};
  const GpuMemory memory = gpuMemory(toy, {.tokens = 20, .batch = 3}, small);
  EXPECT_DOUBLE_EQ(memory.usable, 900);
  EXPECT_DOUBLE_EQ(memory.weights, 2.0 * (2 * (4 * 64 + 2 * 128) + 2 * 80));
  EXPECT_DOUBLE_EQ(memory.cache, 2.0 * 2 * 8 * 2 * 32 * 3);
  EXPECT_EQ(memory.rows, 60);
  EXPECT_DOUBLE_EQ(memory.numbersPerRow, 2 * 8 + 6 * 4 + 2 * 16);
  EXPECT_DOUBLE_EQ(memory.activations, 60 * 72 * 2 + 3 * 10 * 4);
  EXPECT_FALSE(memory.fits());
}

TEST(Serving, LimitsAreTheLargestThatFit) {
  const CostRequest request{.tokens = 32768, .batch = 4, .tensorParallel = 4};
  const Serving serving = serve(servedShape("Llama-3.3-70B"), request, machine("H100"));
  ASSERT_TRUE(serving.memory.fits());
  const auto fits = [&](Index tokens, Index batch) {
    return gpuMemory(servedShape("Llama-3.3-70B"), {.tokens = tokens, .batch = batch, .tensorParallel = 4},
                     machine("H100"))
        .fits();
  };
  ASSERT_TRUE(serving.longestContext && serving.largestBatch);
  EXPECT_TRUE(fits(*serving.longestContext, 4));
  EXPECT_FALSE(fits(*serving.longestContext + 1, 4));
  EXPECT_TRUE(fits(32768, *serving.largestBatch));
  EXPECT_FALSE(fits(32768, *serving.largestBatch + 1));
  EXPECT_EQ(serve(servedShape("Llama-3.3-70B"), {.tensorParallel = 1}, machine("H100")).longestContext, 0);
  EXPECT_EQ(serve(servedShape("Mamba-Codestral-7B"), {}, machine("H100")).longestContext, std::nullopt)
      << "whatever it is";
}

TEST(Serving, MathFormatDeterminesPeakFlops) {
  const Machine& h100 = machine("H100");
  EXPECT_EQ(peakFlops(h100, MathFormat::bf16), 989e12);
  EXPECT_EQ(peakFlops(h100, MathFormat::fp8), 1979e12);
  EXPECT_EQ(peakFlops(machine("A100 80 GB"), MathFormat::fp8), 312e12) << "it has no fp8";
  const ModelShape& llama = servedShape("Llama-3.1-8B");
  CostRequest request{.tokens = 8192};
  EXPECT_EQ(serve(llama, request, h100).peak, 989e12);
  const double before = serve(llama, request, h100).prefillSeconds;
  request.weights = WeightFormat::fp8;
  EXPECT_EQ(serve(llama, request, h100).peak, 1979e12);
  EXPECT_NEAR(serve(llama, request, h100).prefillSeconds / before, 989.0 / 1979, 1e-6);
  request.weights = WeightFormat::awq;
  EXPECT_EQ(serve(llama, request, h100).peak, 989e12) << "weights are unpacked to 16 bits";
}

TEST(Serving, WeightBytesFollowTheFormat) {
  const ModelShape& llama = servedShape("Llama-3.1-70B");
  const ShapeParameters all = parametersOf(llama);
  const double layers = static_cast<double>(all.attention + all.feedForward),
               rest = static_cast<double>(all.total) - layers;
  const auto bytes = [&](WeightFormat format) {
    return static_cast<double>(weightBytes(llama, {.weights = format}));
  };
  EXPECT_NEAR(bytes(WeightFormat::fp8), layers + 2 * rest, 2);
  EXPECT_NEAR(bytes(WeightFormat::awq), layers * (4 + 20.0 / 128) / 8 + 2 * rest, 2);
  EXPECT_NEAR(bytes(WeightFormat::q4_k), (layers + rest) * 4.5 / 8, 2);
  // gpt-oss stores its experts in 4.25 bits: 60.8 GiB for 116.83 billion parameters (OpenAI 2025, table 1).
  EXPECT_NEAR(static_cast<double>(weightBytes(servedShape("gpt-oss-120b"), {})) / 0x1p30, 60.8, 0.5);
  EXPECT_NEAR(static_cast<double>(weightBytes(servedShape("gpt-oss-20b"), {})) / 0x1p30, 12.8, 0.2);
}

TEST(Serving, StepReportsItsBottleneck) {
  const Machine& h100 = machine("H100");
  const ModelShape& llama = servedShape("Llama-3.1-8B");
  EXPECT_EQ(serve(llama, {.tokens = 1024}, h100).bound, Bound::weights);
  EXPECT_EQ(serve(llama, {.tokens = 32768, .batch = 16}, h100).bound, Bound::cache);
  EXPECT_EQ(serve(llama, {.tokens = 16, .batch = 4096}, h100).bound, Bound::processor);
  const Serving one = serve(llama, {.tokens = 1024}, h100),
                many = serve(llama, {.tokens = 1024, .batch = 8}, h100);
  EXPECT_DOUBLE_EQ(many.tokensPerSecond, 8 * many.tokensPerSecondForOne);
  EXPECT_LT(many.tokensPerSecondForOne, one.tokensPerSecondForOne);
  EXPECT_NEAR(costPerMillion(many, 1, 3.6), 1000 / many.tokensPerSecond, 1e-9);
}

TEST(Serving, StepMatchesLLMViewer) {
  // Llama-2-7B on an A100 80 GB, batch 1, 4,096 tokens: LLM-Viewer (Yuan et al. 2024) counts the same reads
  // of weights and cache and takes 7.546 ms, of which 0.16 % are reads and writes of activations, which
  // aren't counted here.
  const ModelShape& llama = servedShape("Llama-2-7B");
  const CostRequest request{.tokens = 4096};
  const DecodeWork work = decodeWork(llama, request);
  EXPECT_EQ(work.weightBytes, 13214154752.0);
  EXPECT_EQ(work.cacheBytes, 2147483648.0);
  EXPECT_NEAR(serve(llama, request, machine("A100 80 GB")).stepSeconds / 7.546e-3, 1, 0.003);
}

TEST(Serving, AllReducesUseRings) {
  const ModelShape& llama = servedShape("Llama-3.1-70B");
  const Serving serving = serve(llama, {.tokens = 4096, .batch = 16, .tensorParallel = 8}, machine("H100"));
  // 160 of them: 2 · 7/8 · 16 tokens · 8,192 · 2 B at 450 GB/s.
  EXPECT_NEAR(serving.linkSeconds, 160 * 2 * 7.0 / 8 * 16 * 8192 * 2 / 450e9, 1e-9);
  EXPECT_EQ(serve(llama, {.tokens = 4096}, machine("H100")).linkSeconds, 0);
  Machine slow = machine("H100");
  slow.link = 1e6;
  EXPECT_EQ(serve(llama, {.tensorParallel = 8}, slow).bound, Bound::link);
}

TEST(Serving, CountsCopiedCachePerGpu) {
  const CacheCost latent = cacheCost(servedShape("DeepSeek-V3"), {.tokens = 1000, .tensorParallel = 8});
  EXPECT_EQ(latent.copiedPerGpu, latent.perGpu - latent.total / 8);
  const CacheCost heads = cacheCost(servedShape("Llama-3.1-70B"), {.tokens = 1024, .tensorParallel = 16});
  EXPECT_EQ(heads.copiedPerGpu, heads.perGpu / 2);
}

}  // namespace
}  // namespace headscope::attention::test
