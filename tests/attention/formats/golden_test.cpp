#include "tests/support/golden.h"

#include <gtest/gtest.h>

namespace headscope::attention {
namespace {

std::string caseName(const testing::TestParamInfo<std::filesystem::path>& info) {
  return info.param.stem().string();
}

class Golden : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Golden, EveryArrayIsWhatFloat64Found) {
  const auto file = readSafetensors(GetParam());
  ASSERT_TRUE(file.ok()) << file.error().message;
  const auto problem = readProblem(*file, {}, GetParam().filename().string());
  ASSERT_TRUE(problem.ok()) << problem.error().message;
  EXPECT_TRUE(problem->notes.empty()) << problem->notes[0];
  const auto results = solve(*problem);
  EXPECT_TRUE(checkFinite(*problem, results).ok());
  const auto wrong = test::mismatch(*file, resultFile(results, problem->batched));
  EXPECT_FALSE(wrong) << *wrong;
}

/// The tolerances would be worth nothing if they let a wrong computation pass.
TEST_P(Golden, ASlightlyWrongScaleIsNoticed) {
  const auto file = readSafetensors(GetParam());
  ASSERT_TRUE(file.ok());
  auto problem = readProblem(*file, {}, "golden");
  ASSERT_TRUE(problem.ok());
  problem->config.scale = problem->config.effectiveScale() * 1.001F;
  EXPECT_TRUE(test::mismatch(*file, resultFile(solve(*problem), problem->batched)));
}

TEST_P(Golden, ASlightlyWrongWeightIsNoticed) {
  const auto file = readSafetensors(GetParam());
  ASSERT_TRUE(file.ok());
  auto problem = readProblem(*file, {}, "golden");
  ASSERT_TRUE(problem.ok());
  problem->projections.o.weight *= 1.001F;
  const auto wrong = test::mismatch(*file, resultFile(solve(*problem), problem->batched));
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->substr(0, 6), "output");
}

INSTANTIATE_TEST_SUITE_P(Files, Golden, testing::ValuesIn(test::goldenFiles()), caseName);

TEST(GoldenFolder, HoldsEveryCase) {
  EXPECT_EQ(test::goldenFiles().size(), 30u);
}

}  // namespace
}  // namespace headscope::attention
