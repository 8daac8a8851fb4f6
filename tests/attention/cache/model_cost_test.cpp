#include "attention/cache/model_cost.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "attention/cache/kv_cache.h"
#include "attention/cache/serving.h"
#include "attention/core/machine.h"
#include "attention/core/projections.h"
#include "attention/models/config/model_catalogue.h"

namespace headscope::attention::test {
namespace {

constexpr std::uint64_t kKiB = 1024, kMiB = kKiB * 1024, kGiB = kMiB * 1024;
constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

const ModelShape& shape(std::string_view name) {
  const ModelShape* found = findShape(modelShapes(), name);
  EXPECT_NE(found, nullptr) << name;
  return *found;
}

double hundredths(std::uint64_t bytes, std::uint64_t unit) {
  return std::round(100 * static_cast<double>(bytes) / static_cast<double>(unit)) / 100;
}

TEST(ModelCost, DecodeStepReadsCopiedHeadsOnEveryGpu) {
  for (const char* name : {"Llama-3.1-70B", "DeepSeek-V3"})
    for (const Index gpus : {1, 8, 16}) {
      const CostRequest request{.tokens = 131072, .tensorParallel = gpus};
      const CacheCost cost = cacheCost(shape(name), request);
      EXPECT_EQ(decodeWork(shape(name), request).cacheBytes,
                static_cast<double>(cost.perGpu) * static_cast<double>(gpus))
          << name << " on " << gpus;
    }
}

TEST(ModelCost, AttentionOvertakesWhereCurvesCross) {
  for (const ModelShape& each : modelShapes()) {
    const auto at = attentionOvertakes(each, true, PairCount::causal);
    if (!at) continue;
    const auto share = [&](Index tokens) {
      const PrefillWork work = prefillWork(each, tokens);
      return work.attention() / (work.projections + work.feedForward);
    };
    EXPECT_GE(share(*at), 1) << each.name;
    EXPECT_LT(share(*at - 1), 1) << each.name;
  }
}

TEST(ModelCost, CacheBytesOfOneTextbookLayer) {
  ModelShape one{.layers = 1, .modelDim = 64, .heads = 4, .kvHeads = 4, .headDim = 16, .context = 5};
  EXPECT_EQ(cacheBytes(one, 5, 2, NumberFormat::fp32), 5120u);
}

TEST(ModelCost, CacheBytesMatchPublishedModels) {
  const ModelShape full = withKvHeads(shape("Llama-2-70B"), 64);
  EXPECT_EQ(cacheBytes(full, 8192, 1, NumberFormat::fp16), 20 * kGiB);
  EXPECT_EQ(cacheBytes(full, 8192, 1, NumberFormat::fp16) / 80, 256 * kMiB);
  EXPECT_EQ(cacheBytes(shape("Llama-2-70B"), 8192, 1, NumberFormat::fp16), 5 * kGiB / 2);
  EXPECT_EQ(cacheBytes(shape("Llama-3.1-70B"), 8192, 1, NumberFormat::fp16), 5 * kGiB / 2);
  EXPECT_EQ(cacheBytes(shape("Llama-3.1-8B"), 1, 1, NumberFormat::bf16), 131072u);
  EXPECT_EQ(cacheBytes(shape("GPT-3 175B"), 1, 1, NumberFormat::fp16), 4718592u);
  const ModelShape& gemma = shape("Gemma-3-27B");
  EXPECT_EQ(hundredths(cacheBytes(gemma, 131072, 1, NumberFormat::bf16), kGiB), 10.41);
  EXPECT_EQ(cacheBytes(withKvHeads(gemma, 16), 131072, 1, NumberFormat::bf16), 62 * kGiB);
  const ModelShape& deepSeek = shape("DeepSeek-V3");
  EXPECT_EQ(cacheBytes(deepSeek, 1, 1, NumberFormat::bf16), 70272u);
  EXPECT_EQ(hundredths(cacheBytes(deepSeek, 163840, 1, NumberFormat::bf16), kGiB), 10.72);
}

TEST(ModelCost, Llama70BMatchesTheCostPage) {
  CostRequest request{.tokens = 131072, .tensorParallel = 2};
  const ModelShape& llama = shape("Llama-3.1-70B");
  CacheCost cost = cacheCost(llama, request);
  EXPECT_EQ(cost.perToken, 327680u);
  EXPECT_EQ(cost.total, 42949672960u);
  EXPECT_EQ(cost.total, 40 * kGiB);
  EXPECT_EQ(cost.reserved, cost.total);
  EXPECT_EQ(cost.perGpu, 20 * kGiB);
  EXPECT_EQ(cost.copies, 1);
  EXPECT_EQ(hundredths(cost.weights, kGiB), 131.42);
  EXPECT_EQ(hundredths(cost.weightsPerGpu + cost.perGpu, kGiB), 85.71);
  request.tensorParallel = 16;
  cost = cacheCost(llama, request);
  EXPECT_EQ(cost.copies, 2) << "8 kv heads on 16 GPUs";
  EXPECT_EQ(cost.kvHeadsPerGpu, 1);
  EXPECT_EQ(cost.perGpu, 5 * kGiB);
  EXPECT_EQ(cacheBytes(withKvHeads(llama, 64), 131072, 1, NumberFormat::bf16), 320 * kGiB);
  EXPECT_EQ(cacheBytes(withKvHeads(llama, 1), 131072, 1, NumberFormat::bf16), 5 * kGiB);
}

TEST(ModelCost, AttentionOvertakesAtPublishedLengths) {
  const ModelShape& llama = shape("Llama-3.1-70B");
  EXPECT_EQ(attentionOvertakes(llama, false, PairCount::causal), 18431);
  EXPECT_EQ(attentionOvertakes(llama, true, PairCount::causal), 104447);
  EXPECT_EQ(attentionOvertakes(llama, false, PairCount::all), 9216);
  EXPECT_EQ(attentionOvertakes(llama, true, PairCount::all), 52224);
  // MHA with H·s = d: 8·n·d² compared with 4·n²·d.
  EXPECT_EQ(attentionOvertakes(shape("LLaMA-7B"), false, PairCount::all), 2 * 4096);
  // Every layer has a sliding window, and 4,096 keys per query cost less than the projections.
  EXPECT_EQ(attentionOvertakes(shape("Mistral-7B v0.1"), true, PairCount::causal), std::nullopt);
}

TEST(ModelCost, OperationCountsFollowTheFormulas) {
  const ModelShape one{
      .layers = 3, .modelDim = 48, .heads = 6, .kvHeads = 2, .headDim = 16, .context = 64, .innerDim = 100};
  const PrefillWork work = prefillWork(one, 10);
  EXPECT_EQ(work.projections,
            3 * (2.0 * 10 * 48 * 6 * 16 + 2.0 * 2 * 10 * 48 * 2 * 16 + 2.0 * 10 * 6 * 16 * 48));
  EXPECT_EQ(work.feedForward, 3 * 2.0 * 2 * 10 * 48 * 100);
  EXPECT_EQ(work.scores, 3 * 2.0 * 6 * 55 * 16);
  EXPECT_EQ(work.weightedSum, work.scores);
  EXPECT_EQ(work.softmax, 3 * 5.0 * 6 * 55);
  EXPECT_EQ(prefillWork(one, 10, PairCount::all).scores, 3 * 2.0 * 6 * 100 * 16);
  ModelShape slides = one;
  slides.window = 4;
  slides.globalLayers = 1;
  // 55 pairs in the global layer, 1+2+3+4·7 in each of the other two.
  EXPECT_EQ(prefillWork(slides, 10).scores, 2.0 * 6 * 16 * (55 + 2 * 34));
}

TEST(ModelCost, LayerParametersMatchProjections) {
  const ModelShape one{.layers = 1, .modelDim = 48, .heads = 6, .kvHeads = 2, .headDim = 16, .context = 1};
  AttentionConfig config;
  config.modelDim = 48;
  config.heads = 6;
  config.kvHeads = 2;
  config.headDim = 16;
  EXPECT_EQ(attentionParameters(one), parameterCount(config, false));
}

TEST(ModelCost, DecodeReadsWeightsAndCacheOnce) {
  const ModelShape& llama = shape("Llama-3.1-70B");
  const CostRequest request{.tokens = 131072};
  const DecodeWork one = decodeWork(llama, request);
  EXPECT_DOUBLE_EQ(one.cacheBytes, 40.0 * static_cast<double>(kGiB));
  const Machine& h200 = *findMachine(machines(), "H200");
  EXPECT_NEAR(one.bytes() / (2 * h200.bandwidth) * 1e3, 18.95, 0.01);
  EXPECT_NEAR(roofline(h200, 2, one.intensity()) / (2 * h200.flops), 0.0129, 0.0001);
  EXPECT_NEAR(prefillWork(llama, 131072).total() / (2 * h200.flops), 20.46, 0.01);
  CostRequest many = request;
  many.batch = 65536;
  EXPECT_NEAR(decodeWork(llama, many).intensity(), 11.2, 0.05);
  // With a mixture of experts, one sequence reads only its own experts, and many sequences read all of them.
  const ModelShape& mixtral = shape("Mixtral-8x7B");
  const ShapeParameters all = parametersOf(mixtral);
  EXPECT_NEAR(decodeWork(mixtral, {}).weightBytes,
              2 * static_cast<double>(all.attention + all.activeFeedForward + all.head), 1);
  EXPECT_NEAR(decodeWork(mixtral, {.batch = 4096}).weightBytes,
              2 * static_cast<double>(all.attention + all.feedForward + all.head), 1);
}

TEST(ModelCost, LatentAttentionDecodesOverTheLatent) {
  ModelShape toy;
  toy.layers = 2, toy.modelDim = 8, toy.heads = toy.kvHeads = 2, toy.headDim = 3, toy.valueDim = 5;
  toy.latentDim = 4, toy.ropeDim = 2;
  // By hand, for one layer and token: q 8·2·(3 + 2) = 80, down 8·(4 + 2) = 48, up 4·2·(3 + 5) = 64, absorbed
  // as W_UK and W_UV into query and output, o 2·5·8 = 80; in total 272 multiply-adds, 544 operations. After
  // 10 tokens: 2 heads · 2 · ((4 + 2) + 4) · 10 = 400.
  EXPECT_DOUBLE_EQ(decodeWork(toy, {.tokens = 10}).flops, 2 * (544 + 400));
  EXPECT_DOUBLE_EQ(decodeWork(toy, {.tokens = 10, .batch = 3}).flops, 3 * 2 * (544 + 400));
  // A prefill of 10 tokens unpacks the latents: 55 pairs with 2 heads · 2 · (3 + 2 + 5) = 40 each.
  const PrefillWork prefill = prefillWork(toy, 10);
  EXPECT_DOUBLE_EQ(prefill.projections, 2 * 10 * 544);
  EXPECT_DOUBLE_EQ(prefill.attention(), 2 * 55 * 40);
  // DeepSeek-V3: 61 layers · 2 · 128 heads · (512 + 64 + 512) per cached token.
  const ModelShape& v3 = shape("DeepSeek-V3");
  EXPECT_DOUBLE_EQ(decodeWork(v3, {.tokens = 4096}).flops - decodeWork(v3, {.tokens = 0}).flops,
                   4096.0 * 16990208);
}

TEST(ModelCost, ReservesWholeBlocksAndReleasesThoseBeforeWindow) {
  const ModelShape& llama = shape("Llama-3.1-8B");
  const auto reserved = [](const ModelShape& of, const CostRequest& asked) {
    return cacheCost(of, asked).reserved;
  };
  CostRequest request{.tokens = 100, .batch = 3, .block = 16};
  EXPECT_EQ(reserved(llama, request), 3 * 112 * 131072u);
  request.tokens = 112;
  EXPECT_EQ(reserved(llama, request), cacheBytes(llama, 112, 3, NumberFormat::bf16));
  // 10 layers keep all 100,000 tokens, and 52 keep a window of 1,024 that begins and ends inside a page: 8.6
  // GB.
  EXPECT_EQ(reserved(shape("Gemma-3-27B"), {.tokens = 100000}), 8192ull * (10 * 100000 + 52 * 1040));
  EXPECT_EQ(reserved(shape("Gemma-3-27B"), {.tokens = 100}), 8192ull * 62 * 112);
  request.tokens = std::numeric_limits<Index>::max();
  EXPECT_EQ(reserved(llama, request), kMax);
}

TEST(ModelCost, LayerKindsAddUpToTheTotal) {
  for (const ModelShape& each : modelShapes()) {
    const CostRequest request{.tokens = 5000, .batch = 3};
    std::uint64_t bytes = 0, reserved = 0;
    for (const LayerGroupCost& kind : layerCosts(each, request)) {
      bytes += kind.bytes;
      reserved += kind.reserved;
      EXPECT_GE(kind.reserved, kind.bytes) << each.name;
    }
    EXPECT_EQ(bytes, cacheBytes(each, 5000, 3, NumberFormat::bf16)) << each.name;
    EXPECT_EQ(reserved, cacheCost(each, request).reserved) << each.name;
  }
}

TEST(ModelCost, ChunksHaveNoPairsBetweenThem) {
  const ModelShape one{.layers = 2, .modelDim = 8, .heads = 2, .kvHeads = 2, .headDim = 4, .context = 64};
  ModelShape chunked = one;
  chunked.groups = layerGroups(one);
  chunked.groups[0].kind = CacheKind::chunk;
  chunked.groups[0].span = 4;
  // 10 tokens: two chunks of 10 pairs and one of 3.
  EXPECT_EQ(prefillWork(chunked, 10).scores, 2 * 2.0 * 2 * 4 * 23);
  EXPECT_EQ(keptTokens(chunked.groups[0], 10), 4);
}

TEST(ModelCost, StatesAreReadAndWrittenEachStep) {
  const ModelShape& mamba = shape("Mamba-Codestral-7B");
  const DecodeWork one = decodeWork(mamba, {.tokens = 1}), late = decodeWork(mamba, {.tokens = 1 << 20});
  EXPECT_EQ(one.cacheBytes, late.cacheBytes);
  EXPECT_EQ(one.cacheBytes, 2 * static_cast<double>(cacheBytes(mamba, 1, 1, NumberFormat::bf16)));
  EXPECT_EQ(one.flops, late.flops);
  EXPECT_EQ(attentionOvertakes(mamba, true, PairCount::causal), std::nullopt);
}

TEST(ModelCost, HeadsSplitEvenlyOrNotAtAll) {
  EXPECT_TRUE(splits(shape("Llama-3.1-70B"), 16).ok());
  EXPECT_TRUE(splits(shape("StarCoder"), 16).ok());
  EXPECT_EQ(splits(shape("GPT-2 XL"), 2).error().message, "25 heads can't be split evenly over 2 GPUs");
  EXPECT_EQ(splits(shape("Llama-3.1-8B"), 0).error().message, "0 GPUs, expected at least 1");
  const ModelShape odd{.layers = 1, .modelDim = 48, .heads = 12, .kvHeads = 6, .headDim = 4, .context = 1};
  EXPECT_EQ(splits(odd, 4).error().message, "6 kv heads can't be split evenly over 4 GPUs");
  EXPECT_EQ(nearestSplit(odd, 5), 2);
  EXPECT_EQ(nearestSplit(odd, 3), 3);
  EXPECT_EQ(nearestSplit(shape("GPT-2 XL"), 16), 1);
  EXPECT_THROW(cacheCost(odd, {.tensorParallel = 4}), std::invalid_argument);
  // Every GPU stores the whole latent.
  const CacheCost latent = cacheCost(shape("DeepSeek-V3"), {.tokens = 1000, .tensorParallel = 8});
  EXPECT_EQ(latent.perGpu, latent.total);
  EXPECT_EQ(latent.copies, 8);
}

TEST(ModelCost, SaturatesInsteadOfOverflowing) {
  const ModelShape& gpt = shape("GPT-3 175B");
  // 4.5 MiB per token, so 2⁴¹ tokens take 9 EiB.
  EXPECT_GE(cacheBytes(gpt, Index{1} << 41, 1, NumberFormat::fp16), kTooManyBytes);
  EXPECT_EQ(cacheBytes(gpt, std::numeric_limits<Index>::max(), 65536, NumberFormat::int4), kMax);
  EXPECT_EQ(bytesOf(kMax, NumberFormat::int4), kMax);
  EXPECT_EQ(bytesOf(5, NumberFormat::int4), 3u);
  EXPECT_EQ(bytesOf(kMax - 1, NumberFormat::int4), kMax / 2);
  EXPECT_EQ(bytesOf(kMax / 2, NumberFormat::fp16), kMax - 1);
  EXPECT_EQ(bytesOf(kMax / 2 + 1, NumberFormat::fp16), kMax);
  EXPECT_THROW(cacheBytes(gpt, -1, 1, NumberFormat::fp16), std::invalid_argument);
  EXPECT_THROW(cacheBytes(gpt, 1, -1, NumberFormat::fp16), std::invalid_argument);
}

TEST(ModelCost, EncodersKeepNoCache) {
  EXPECT_EQ(cacheBytes(shape("BERT-base"), 512, 8, NumberFormat::fp32), 0u);
  EXPECT_EQ(cacheCost(shape("BERT-base"), {.tokens = 512}).reserved, 0u);
}

TEST(ModelCost, FormulaMatchesActualCacheReservation) {
  for (const Index kvHeads : {1, 2, 8})
    for (const CacheType type : {CacheType::f32, CacheType::f16, CacheType::bf16}) {
      AttentionConfig config;
      config.modelDim = 256;
      config.heads = 8;
      config.kvHeads = kvHeads;
      config.headDim = 32;
      releaseIdleMemory();  // a cache takes any idle memory that it fits into, even if that is larger
      const KvCache cache(config, 4096, type);
      const NumberFormat format = type == CacheType::f32 ? NumberFormat::fp32 : NumberFormat::bf16;
      const ModelShape one{
          .layers = 1, .modelDim = 256, .heads = 8, .kvHeads = kvHeads, .headDim = 32, .context = 1};
      const std::uint64_t formula = cacheBytes(one, 4096, 1, format);
      EXPECT_GE(cache.bytes(), formula);
      EXPECT_LE(cache.bytes(), formula + 2 * 2 * kMiB) << "rounded up to pages";
      EXPECT_TRUE(cache.bytes() == formula || formula >= 2 * kMiB);
    }
}

TEST(ModelCost, RejectsInvalidShapes) {
  const auto message = [](auto change) {
    ModelShape one{.layers = 2, .modelDim = 64, .heads = 4, .kvHeads = 2, .headDim = 16, .context = 8};
    change(one);
    const Status status = validate(one);
    return status.ok() ? std::string("fine") : status.error().message;
  };
  EXPECT_EQ(message([](ModelShape&) {}), "fine");
  EXPECT_EQ(message([](ModelShape& s) { s.layers = 0; }), "layers is 0, expected 1 to 2147483648");
  EXPECT_EQ(message([](ModelShape& s) { s.window = -1; }), "window is -1, expected 0 to 2147483648");
  EXPECT_EQ(message([](ModelShape& s) { s.kvHeads = 3; }),
            "kv_heads is 3, expected a divisor of the 4 heads");
  EXPECT_EQ(message([](ModelShape& s) { s.globalLayers = 3; }),
            "global_layers is 3, expected at most the 2 layers");
  EXPECT_EQ(message([](ModelShape& s) { s.activeExperts = 1; }),
            "active_experts is 1, expected at most the 0 experts");
}

TEST(Machines, AreSortedByMemoryAndFoundByName) {
  double before = 0;
  for (const Machine& machine : machines()) {
    EXPECT_GE(machine.memoryGb, before) << machine.name;
    before = machine.memoryGb;
    EXPECT_FALSE(machine.source.empty());
  }
  EXPECT_GE(machines().size(), 20u);
  EXPECT_EQ(findMachine(machines(), "h100")->name, "H100 80 GB");
  EXPECT_EQ(findMachine(machines(), "A100-80GB")->name, "A100 80 GB");
  EXPECT_EQ(findMachine(machines(), "Z9"), nullptr);
  const Machine m{"m", 1, 10, 100, ""};
  EXPECT_EQ(roofline(m, 2, 5), 100);
  EXPECT_EQ(roofline(m, 2, 50), 200);
}

constexpr std::uint64_t kOneGiB = std::uint64_t{1} << 30;
constexpr std::uint64_t kMaxBytes = std::numeric_limits<std::uint64_t>::max();

TEST(Cost, CacheBytesMatchPublishedModels) {
  // One layer, batch 2, 4 heads of 16, 5 tokens, fp32.
  EXPECT_EQ(2 * kvCacheBytes(4, 16, 5, 4), 5120u);
  EXPECT_EQ(kvCacheBytes(4, 16, 5, 4, 2), 5120u);
  // 70B with a kv head per head, fp16, 8,192 tokens: 256 MiB per layer, 20 GiB for 80 layers.
  EXPECT_EQ(kvCacheBytes(64, 128, 8192, 2), kOneGiB / 4);
  EXPECT_EQ(80 * kvCacheBytes(64, 128, 8192, 2), 20 * kOneGiB);
  // Llama-2-70B and Llama-3-70B with 8 kv heads.
  EXPECT_EQ(80 * kvCacheBytes(8, 128, 8192, 2), 5 * kOneGiB / 2);
  // Llama-3.1-8B and GPT-3 175B, one token.
  EXPECT_EQ(32 * kvCacheBytes(8, 128, 1, 2), 131072u);
  EXPECT_EQ(96 * kvCacheBytes(96, 128, 1, 2), 4718592u);
}

TEST(Cost, CacheBytesCoverSlidingLayers) {
  // Gemma-3-27B at 131,072 tokens: of 62 layers, 10 are global and 52 keep only their window of 1,024.
  const std::uint64_t global = kvCacheBytes(16, 128, 131072, 2), sliding = kvCacheBytes(16, 128, 1024, 2);
  EXPECT_EQ(62 * global, 62 * kOneGiB);
  EXPECT_EQ(
      std::llround(static_cast<double>(10 * global + 52 * sliding) / static_cast<double>(kOneGiB) * 100),
      1041);
}

TEST(Cost, SaturatesInsteadOfOverflowing) {
  EXPECT_EQ(kvCacheBytes(Index{1} << 30, Index{1} << 30, 8, 4), kMaxBytes);
  EXPECT_EQ(kvCacheBytes(Index{1} << 62, Index{1} << 62, 0, 4), 0u);
  EXPECT_THROW(kvCacheBytes(8, 128, -1, 2), std::invalid_argument);
}

TEST(Cost, ParameterCountMatchesProjections) {
  AttentionConfig config;
  config.modelDim = 48;
  config.heads = 6;
  config.kvHeads = 2;
  config.headDim = 16;
  for (const bool bias : {false, true}) {
    const Projections p = xavierProjections(config, bias, 1);
    Index count = 0;
    for (const Linear* map : {&p.q, &p.k, &p.v, &p.o}) count += map->weight.size() + map->bias.size();
    EXPECT_EQ(parameterCount(config, bias), static_cast<std::uint64_t>(count));
  }
  // MHA with heads · headDim = modelDim has 4·d² weights.
  config = {};
  config.modelDim = 768;
  config.heads = config.kvHeads = 12;
  config.headDim = 64;
  EXPECT_EQ(parameterCount(config, false), 4u * 768 * 768);
  EXPECT_EQ(parameterCount(config, true), 4u * 768 * 768 + 4 * 768);
  config.modelDim = Index{1} << 60;
  EXPECT_EQ(parameterCount(config, true), kMaxBytes);
}

}  // namespace
}  // namespace headscope::attention::test
