#include "tests/support/golden.h"

#include <gtest/gtest.h>

#include "tests/support/matchers.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/tensor_source.h"

namespace headscope::attention {
namespace {

std::string caseName(const testing::TestParamInfo<std::filesystem::path>& info) {
  return info.param.stem().string();
}

class Golden : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Golden, EveryArrayMatchesFloat64) {
  const auto file = checked(headscope::test::readSafetensors(GetParam()));
  const auto problem =
      checked(readProblem(headscope::test::sourceOf(*file), {}, GetParam().filename().string()));
  EXPECT_TRUE(problem->notes.empty()) << problem->notes[0];
  const auto results = solve(*problem);
  EXPECT_TRUE(checkFinite(*problem, results).ok());
  const auto wrong = headscope::test::mismatch(*file, resultFile(results, problem->batched));
  EXPECT_FALSE(wrong) << *wrong;
}

/// The tolerances would be worthless if they let a wrong computation pass.
TEST_P(Golden, NoticesSlightlyWrongScale) {
  const auto file = checked(headscope::test::readSafetensors(GetParam()));
  auto problem = checked(readProblem(headscope::test::sourceOf(*file), {}, "golden"));
  problem->config.scale = problem->config.effectiveScale() * 1.001F;
  EXPECT_TRUE(headscope::test::mismatch(*file, resultFile(solve(*problem), problem->batched)));
}

TEST_P(Golden, NoticesSlightlyWrongWeight) {
  const auto file = checked(headscope::test::readSafetensors(GetParam()));
  auto problem = checked(readProblem(headscope::test::sourceOf(*file), {}, "golden"));
  problem->projections.o.weight *= 1.001F;
  const auto wrong = headscope::test::mismatch(*file, resultFile(solve(*problem), problem->batched));
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->substr(0, 6), "output");
}

INSTANTIATE_TEST_SUITE_P(Files, Golden, testing::ValuesIn(headscope::test::goldenFiles()), caseName);

SafetensorsFile goldenCase(const std::string& name) {
  for (const auto& path : headscope::test::goldenFiles())
    if (path.stem() == name) {
      return *checked(headscope::test::readSafetensors(path));
    }
  ADD_FAILURE() << "no golden case " << name;
  return {};
}

/// Expects the case, with its mask under another name, to give the golden result.
void expectGolden(const SafetensorsFile& file, const std::string& name) {
  const auto problem = checked(readProblem(headscope::test::sourceOf(file), {}, name));
  const auto wrong = headscope::test::mismatch(file, resultFile(solve(*problem), problem->batched));
  EXPECT_FALSE(wrong) << name << ": " << *wrong;
}

/// The results of torch.nn.MultiheadAttention with its own attn_mask and key_padding_mask.
TEST(GoldenMasks, PyTorchNamesGiveGoldenResults) {
  for (const char* name : {"mask_bool", "mask_additive", "mask_per_head", "mask_dead_row"}) {
    auto file = goldenCase(name);
    file.tensors["attn_mask"] = file.tensors.at("mask");
    file.tensors.erase("mask");
    EXPECT_EQ(file.metadata.at("witness"), "torch.nn.MultiheadAttention");
    expectGolden(file, name);
  }
  auto file = goldenCase("padding");
  const std::size_t batch = file.tensors.at("x").shape[0], tokens = file.tensors.at("x").shape[1];
  NamedTensor padding{DType::Bool, {batch, tokens}, {}}, attended = padding;
  for (std::size_t i = 0; i < batch; ++i)
    for (std::size_t key = 0; key < tokens; ++key) {
      const bool real = key < file.tensors.at("key_lengths").bytes[8 * i];
      padding.bytes.push_back(real ? 0 : 1);
      attended.bytes.push_back(real ? 1 : 0);
    }
  file.tensors.erase("key_lengths");
  file.tensors["key_padding_mask"] = padding;
  expectGolden(file, "key_padding_mask");
  file.tensors.erase("key_padding_mask");
  file.tensors["attention_mask"] = attended;
  expectGolden(file, "attention_mask");
}

TEST(GoldenFolder, HoldsEveryCase) {
  EXPECT_EQ(headscope::test::goldenFiles().size(), 35u);
}

}  // namespace
}  // namespace headscope::attention
