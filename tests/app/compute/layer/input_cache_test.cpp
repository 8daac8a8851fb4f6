#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "app/compute/layer/layer_inputs.h"
#include "tests/app/compute/layer/snapshot_support.h"
#include "tests/support/small_problem.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app {
namespace {

constexpr std::uint64_t kRoom = std::uint64_t{1} << 30;

/// Expects the cache to give the same result as a fresh computation, whatever was requested before.
void expectAsNew(InputCache& cache, const app::Setup& setup) {
  const auto fresh = buildProjections(setup, 12);
  ASSERT_TRUE(fresh.ok());
  const auto kept = cache.projections(setup, 12);
  ASSERT_TRUE(kept.ok());
  EXPECT_EQ((*kept)->q.weight, fresh->q.weight);
  EXPECT_EQ((*kept)->o.weight, fresh->o.weight);
  EXPECT_EQ((*kept)->v.bias.size(), fresh->v.bias.size());
  const std::vector<LineTokens> lines = tokenizeBatch(setup).lines;
  const auto inputs = cache.inputs(setup, lines);
  ASSERT_TRUE(inputs.ok());
  ASSERT_EQ((*inputs)->size(), lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto line = embedLine(setup, lines[i]);
    EXPECT_EQ((**inputs)[i].x, line->x);
    EXPECT_EQ((**inputs)[i].context, line->context);
  }
}

TEST(InputCache, RecomputesAfterEveryRelevantChange) {
  const std::vector<void (*)(app::Setup&)> changes{
      [](app::Setup& s) { s.model.sharpness = 3; },
      [](app::Setup& s) { s.model.bias = !s.model.bias; },
      [](app::Setup& s) { s.weights.seed = 99; },
      [](app::Setup& s) {
        s.weights.planted = {{attention::Behaviour::uniform, 0}};
      },
      [](app::Setup& s) { s.weights.source = WeightSource::random; },
      [](app::Setup& s) { s.weights.seed = 3; },
      [](app::Setup& s) { s.model.position = PositionKind::none; },
      [](app::Setup& s) { s.weights.merged = true; },
      [](app::Setup& s) { s.model.kvHeads = 4; },
      [](app::Setup& s) { s.model.kvHeads = s.model.heads; },
      [](app::Setup& s) { s.input.seed = 5; },
      [](app::Setup& s) { s.input.text = "one two\nthree"; },
      [](app::Setup& s) { s.input.cross = true, s.input.contextText = "what is read"; },
      [](app::Setup& s) { s.input.contextText = "something else"; },
      [](app::Setup& s) { s.input.tokenization = attention::Tokenization::characters; },
      [](app::Setup& s) { s.input.ignoreCase = !s.input.ignoreCase; }};
  InputCache cache{MemoryBudget(kRoom)};
  app::Setup setup = openingScene().setup;
  expectAsNew(cache, setup);
  for (const auto& change : changes) {
    change(setup);
    expectAsNew(cache, setup);
    expectAsNew(cache, setup);
  }
}

// Regression: weights were planted again for each of these changes.
TEST(InputCache, KeepsInputsUnaffectedByAChange) {
  const std::vector<void (*)(app::Setup&)> changes{
      [](app::Setup& s) { s.model.sharpness = 2.5F; },
      [](app::Setup& s) { s.model.softcap = 20; },
      [](app::Setup& s) { s.model.dropout = 0.25F; },
      [](app::Setup& s) { s.model.scaled = !s.model.scaled; },
      [](app::Setup& s) { s.mask.compare = !s.mask.compare; },
      [](app::Setup& s) { s.prefill = 3; },
      [](app::Setup& s) { s.input.contextText = "not read without cross-attention"; },
      [](app::Setup& s) { s.weights.file = "not/read.safetensors"; }};
  app::Setup setup = openingScene().setup;
  InputCache cache{MemoryBudget(kRoom)};
  const std::vector<LineTokens> lines = tokenizeBatch(setup).lines;
  const auto weights = cache.projections(setup, 12);
  const auto inputs = cache.inputs(setup, lines);
  for (const auto& change : changes) {
    change(setup);
    EXPECT_EQ(*cache.projections(setup, 12), *weights);
    EXPECT_EQ(*cache.inputs(setup, lines), *inputs);
  }
  for (const PositionKind position :
       {PositionKind::none, PositionKind::rope, PositionKind::alibi, PositionKind::t5}) {
    setup.model.position = position;
    EXPECT_EQ(*cache.projections(setup, 12), *weights) << "positions are no part of the weights";
  }
  EXPECT_EQ(*cache.projections(setup, 60), *weights) << "planted for 64 positions at least";
  EXPECT_NE(*cache.projections(setup, 65), *weights);
}

TEST(InputCache, KeepsTwoAlternatingSetups) {
  app::Setup one = openingScene().setup, other = one;
  other.weights.seed = one.weights.seed + 1;
  InputCache cache{MemoryBudget(kRoom)};
  const auto first = cache.projections(one, 12), second = cache.projections(other, 12);
  EXPECT_NE(*first, *second);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(*cache.projections(one, 12), *first);
    EXPECT_EQ(*cache.projections(other, 12), *second);
  }
}

// Regression: a file's weights were copied for every picture.
TEST(InputCache, SharesFileWeightsUntilTheFileChanges) {
  const test::TemporaryFolder folder;
  const auto path = folder / "layer.safetensors";
  attention::SafetensorsFile file = test::smallProblem();
  file.tensors.erase("x");
  ASSERT_TRUE(attention::writeSafetensors(path, file).ok());
  app::Setup setup = openingScene().setup;
  setup.weights.source = WeightSource::file;
  setup.weights.file = path.string();
  setup.model = test::sizedModel(4, 2, 4, 8);
  InputCache cache{MemoryBudget(kRoom)};
  const auto weights = cache.projections(setup, 12);
  ASSERT_TRUE(weights.ok()) << weights.error().message;
  setup.model.sharpness = 2;
  EXPECT_EQ(*cache.projections(setup, 12), *weights);
  setup.model.modelDim = 16;
  EXPECT_FALSE(cache.projections(setup, 12).ok()) << "the sizes are checked each time";
  setup.model.modelDim = 8;
  file.tensors["q_proj.weight"] = test::gaussianTensor({16, 8}, 9);
  ASSERT_TRUE(attention::writeSafetensors(path, file).ok());
  std::filesystem::last_write_time(path,
                                   std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  const auto changed = cache.projections(setup, 12);
  ASSERT_TRUE(changed.ok());
  EXPECT_NE((*changed)->q.weight, (*weights)->q.weight);
  std::filesystem::remove(path);
  EXPECT_FALSE(cache.projections(setup, 12).ok());
}

TEST(InputCache, SharesMaskCellsUntilTheFileChanges) {
  using attention::MaskConvention;
  const test::TemporaryFolder folder;
  const std::string path = (folder / "m.csv").string(), other = (folder / "n.csv").string();
  test::putFile(path, "1,0\n1,1\n");
  test::putFile(other, "1,0\n1,1\n");
  const MemoryBudget memory(kRoom);
  InputCache cache(memory);
  const auto cells = cache.maskCells(path, MaskConvention::visible);
  ASSERT_TRUE(cells.ok()) << cells.error().message;
  EXPECT_EQ((*cells)->queries, 2);
  const std::uint64_t counted = memory.used();
  EXPECT_GT(counted, 0U);
  EXPECT_EQ(*cache.maskCells(path, MaskConvention::visible), *cells);
  EXPECT_EQ(memory.used(), counted);
  EXPECT_NE(*cache.maskCells(path, MaskConvention::masked), *cells);
  EXPECT_NE(*cache.maskCells(other, MaskConvention::visible), *cells);
  EXPECT_EQ(*cache.maskCells(path, MaskConvention::visible), *cells) << "a scene may name several";
  test::putFile(path, "0,0\n1,1\n");
  std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) + std::chrono::seconds(2));
  const auto changed = cache.maskCells(path, MaskConvention::visible);
  ASSERT_TRUE(changed.ok());
  EXPECT_FALSE(**changed == **cells);
  std::filesystem::remove(path);
  const auto gone = cache.maskCells(path, MaskConvention::visible);
  ASSERT_FALSE(gone.ok());
  EXPECT_NE(gone.error().message.find("m.csv"), std::string::npos);
}

/// The mask's study and its weights request the mask at the same time on two threads, and copying as code on
/// a third.
TEST(InputCache, ConcurrentThreadsShareOneCopy) {
  const test::TemporaryFolder folder;
  const std::string path = (folder / "m.csv").string();
  std::string row = "0", text;
  for (int i = 1; i < 300; ++i) row += i % 2 ? ",1" : ",0";
  for (int i = 0; i < 300; ++i) text += row + "\n";
  test::putFile(path, text);
  const MemoryBudget memory(kRoom);
  InputCache cache(memory);
  std::vector<std::shared_ptr<const attention::CellTable>> got(4);
  {
    std::vector<std::jthread> threads;
    for (auto& cells : got)
      threads.emplace_back([&] { cells = *cache.maskCells(path, attention::MaskConvention::visible); });
  }
  for (const auto& cells : got) EXPECT_EQ(cells, got[0]);
  const MemoryBudget alone(kRoom);
  InputCache asked(alone);
  EXPECT_TRUE(asked.maskCells(path, attention::MaskConvention::visible).ok());
  EXPECT_EQ(memory.used(), alone.used()) << "what the slower ones read is let go of";
}

TEST(InputCache, CountsAndLimitsKeptMemory) {
  const app::Setup setup = openingScene().setup;
  const std::uint64_t weights = 4 * (2 * 256 * 256 + 2 * 64 * 256);  // 8 heads of 32, 2 of them for K and V
  const MemoryBudget roomy(16 * weights), narrow(2 * weights);
  InputCache keeps(roomy), doesNot(narrow);
  const auto first = keeps.projections(setup, 12);
  EXPECT_EQ(roomy.used(), weights);
  EXPECT_EQ(*keeps.projections(setup, 12), *first);
  {
    const auto unkept = doesNot.projections(setup, 12);
    EXPECT_EQ(narrow.used(), weights) << "as long as it is in use";
    EXPECT_NE(*doesNot.projections(setup, 12), *unkept);
  }
  EXPECT_EQ(narrow.used(), 0U);
}

}  // namespace
}  // namespace headscope::app
