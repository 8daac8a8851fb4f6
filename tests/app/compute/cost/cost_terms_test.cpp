#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/compute/cost/cost_figures.h"
#include "app/scene/text/number_text.h"

namespace headscope::app {
namespace {

using testing::HasSubstr;
using testing::Not;

CostFigures figuresOf(const char* name, Index gpus) {
  CostSetup setup;
  setup.tokens = 131072;
  setup.batch = 1;
  setup.gpus = gpus;
  setup.device = "H200";
  setup.format = attention::NumberFormat::bf16;
  const CostCatalogue catalogue = loadCatalogue({});
  return costFigures(setup, *attention::findShape(catalogue.shapes, name), catalogue);
}

TEST(CostTerms, SpellsOutTheNumbersOfAFigure) {
  const CostFigures llama = figuresOf("Llama-3.1-70B", 2);
  EXPECT_EQ(cacheTerms(llama), "327,680 B per token × 131,072 tokens × batch 1 = 40 GiB");
  EXPECT_EQ(reservedTerms(llama),
            "8,192 blocks of 16 tokens for each of 1 sequence: 40 GiB, 0 B of it empty");
  EXPECT_EQ(weightsTerms(llama),
            "70,553,706,496 parameters in bf16, 16 bits each = 131.4 GiB, estimated from the sizes; over 2 "
            "GPUs 65.71 "
            "GiB each");
  EXPECT_EQ(cachePerGpuTerms(llama), "4 of 8 kv heads on each of 2 GPUs: 20 GiB in whole pages");
  EXPECT_EQ(holdsTerms(llama.serving.memory),
            "65.71 GiB of weights + 20 GiB of cache + 784.2 MiB of activations = 86.47 GiB, of 118.2 GiB "
            "that are usable");
  EXPECT_TRUE(activationTerms(llama).starts_with(
      "8,192 tokens at once × 50,176 numbers × 2 B + 250.5 KiB of logits = 784.2 MiB. For each"))
      << activationTerms(llama);
  EXPECT_NE(timeTerms(llama).find("÷ (4.8 TB/s · 2 GPUs) = 18.95 ms"), std::string::npos) << timeTerms(llama);
}

TEST(CostTerms, UsesSingularAndNamesMemoryOnce) {
  EXPECT_EQ(countedText(1, "kv head"), "1 kv head");
  EXPECT_EQ(countedText(12288, "kv head"), "12,288 kv heads");
  attention::Machine machine;
  machine.name = "H100 80 GB";
  machine.memoryGb = 80;
  EXPECT_EQ(machineText(machine, ", "), "H100 80 GB");
  machine.name = "RTX 4090";
  machine.memoryGb = 24;
  EXPECT_EQ(machineText(machine, ", "), "RTX 4090, 24 GB");
  machine.name = "X180 GB";
  machine.memoryGb = 80;
  EXPECT_EQ(machineText(machine, ", "), "X180 GB, 80 GB") << "180 is another number";
}

TEST(CostTerms, CoversLatentsWindowsAndEncoders) {
  EXPECT_EQ(cachePerGpuTerms(figuresOf("DeepSeek-V3", 8)).substr(0, 36),
            "The whole latent on each of 8 GPUs: ");
  EXPECT_NE(timeTerms(figuresOf("DeepSeek-V3", 8))
                .find("2 · 128 heads · (512 + 64 for its score + 512 for its sum) = 278,528 FLOP"),
            std::string::npos);
  EXPECT_EQ(timeTerms(figuresOf("Llama-3.1-70B", 2)).find("absorbed"), std::string::npos);
  EXPECT_NE(cacheTerms(figuresOf("Gemma-3-27B", 1))
                .find("10 of 62 layers keep all tokens: 8,192 B × 131,072 tokens × batch 1, in all 10 GiB"),
            std::string::npos);
  EXPECT_NE(cacheTerms(figuresOf("BERT-base", 1)).find("keeps nothing"), std::string::npos);
}

TEST(CostWords, EncoderHasNoDecodePlotOrNotes) {
  const CostFigures bert = figuresOf("BERT-base", 1);
  CostSetup setup;
  setup.work = WorkPlot::decode;
  const CostPlot work = workPlot(setup, bert);
  EXPECT_EQ(work.title, "An encoder decodes nothing");
  EXPECT_TRUE(work.plot.lines.empty());
  const CostPlot memory = memoryPlot(setup, bert, loadCatalogue({}));
  EXPECT_TRUE(memory.notes.empty());
  EXPECT_FALSE(memoryPlot(setup, figuresOf("Llama-3.1-8B", 1), loadCatalogue({})).notes.empty());
}

TEST(CostWords, VerdictGivesItsReasons) {
  const CostFigures llama = figuresOf("Llama-3.1-70B", 2);
  EXPECT_TRUE(llama.fits());
  EXPECT_EQ(verdictText(llama), "Fits, 31.71 GiB free");
  EXPECT_NE(verdictReason(llama).find("on each of 2 × H200; longest context 338,880, largest batch 2"),
            std::string::npos)
      << verdictReason(llama);
  EXPECT_NE(speedReason(llama).find("at most; first token after 21.22 s; bound by reading weights"),
            std::string::npos)
      << speedReason(llama);
  const CostFigures large = figuresOf("Llama-3.1-405B", 1);
  EXPECT_FALSE(large.fits());
  EXPECT_NE(verdictText(large).find(" too large"), std::string::npos);
  EXPECT_EQ(speedText(large), "Can't run") << "no speed of what doesn't fit";
  EXPECT_NE(verdictReason(large).find("no batch and no context fits"), std::string::npos)
      << verdictReason(large);
}

TEST(CostWords, SaysLargeNumbersInWords) {
  CostFigures figures = figuresOf("Llama-3.1-70B", 2);
  const auto context = [&](attention::Index tokens) {
    figures.serving.longestContext = tokens;
    return verdictReason(figures);
  };
  EXPECT_THAT(context(1'978'123'456), HasSubstr("longest context 1.98 billion,"));
  EXPECT_THAT(context(999'900'000), HasSubstr("longest context 1 billion,"));
  EXPECT_THAT(context(12'345'678), HasSubstr("longest context 12.3 million,"));
  EXPECT_THAT(context(9'999'999), HasSubstr("longest context 9,999,999,"));
  EXPECT_THAT(context(1'234'000'000'000'000), HasSubstr("longest context 1,234 trillion,"));
  for (const double value : {999.4, 999.6, 1e3, 1234.5})
    EXPECT_THAT(threeDigits(value), Not(HasSubstr("e+"))) << value;
  EXPECT_THAT(secondsText(999.9e-6), Not(HasSubstr("e+")));
}

TEST(CostWords, ListsEachKindOfLayer) {
  EXPECT_TRUE(costLayers(figuresOf("Llama-3.1-70B", 1)).empty()) << "the product says it";
  const std::vector<CostLayers> jamba = costLayers(figuresOf("Jamba-1.5-Mini", 1));
  ASSERT_EQ(jamba.size(), 2u);
  EXPECT_EQ(jamba[0].words, "28 of 32 layers keep a state");
  EXPECT_EQ(jamba[1].product, "4,096 B × 131,072 tokens × batch 1");
  EXPECT_EQ(jamba[1].bytes, "2 GiB");
  const std::vector<attention::CacheKind> order = layerKinds(figuresOf("Jamba-1.5-Mini", 1));
  ASSERT_EQ(order.size(), 32u);
  EXPECT_EQ(order[4], attention::CacheKind::full);
  EXPECT_EQ(order[5], attention::CacheKind::recurrent);
  EXPECT_EQ(costLayers(figuresOf("Mamba-Codestral-7B", 1)).size(), 1u);
}

TEST(CostWords, NamesSyntheticLayerWithinASentence) {
  const Scene scene = openingScene();
  CostSetup setup = scene.cost;
  setup.tokens = 1;
  const CostFigures layer = costFigures(setup, shapeOfLayer(scene.setup), loadCatalogue({}));
  EXPECT_EQ(costSentence(layer), "KV cache of this layer at 1 token × batch 1");
  EXPECT_EQ(costFactors(layer)[1].label, "layer");
}

}  // namespace
}  // namespace headscope::app
