// The position of a checkpoint's number that isn't finite.

#include <gtest/gtest.h>

#include <limits>
#include <regex>

#include "attention/models/model.h"
#include "tests/attention/models/poisoned_checkpoint.h"

namespace headscope::attention::test {
namespace {

class TensorFaults : public testing::TestWithParam<std::string> {};

TEST_P(TensorFaults, FindsFaultsInEveryTensorThePassReads) {
  PoisonedCheckpoint checkpoint(GetParam());
  for (const std::string& name : checkpoint.tensors()) {
    checkpoint.write(name, std::numeric_limits<float>::quiet_NaN(), 1, std::size_t{1} << 40);
    const auto model = openModel(checkpoint.path());
    const auto fault = findTensorFault(*model, {true, model->config().layerCount(), true});
    ASSERT_TRUE(fault) << name;
    EXPECT_EQ(fault->tensor, name);
    EXPECT_EQ(fault->value, "NaN");
    EXPECT_TRUE(fault->at == "[1]" || fault->at == "[0, 1]") << fault->at;
    std::smatch number;
    const bool ofLayer = std::regex_search(name, number, std::regex(R"(\.(\d+)\.)"));
    EXPECT_EQ(fault->layer, ofLayer ? std::stoi(number[1]) : -1) << name;
  }
}

TEST_P(TensorFaults, IgnoresTensorsThePassDoesNotRead) {
  PoisonedCheckpoint checkpoint(GetParam());
  for (const std::string& name : checkpoint.tensors())
    if (name.find(".1.") != std::string::npos) {
      checkpoint.write(name, std::numeric_limits<float>::infinity(), 0, 1);
      const auto model = openModel(checkpoint.path());
      EXPECT_FALSE(findTensorFault(*model, {true, 1, false})) << name;
      const auto fault = findTensorFault(*model, {false, 2, false});
      ASSERT_TRUE(fault) << name;
      EXPECT_EQ(fault->value, "infinite");
    }
}

TEST_P(TensorFaults, FindsNoFaultInIntactCheckpoint) {
  const auto model = openModel(goldenModel(GetParam()));
  EXPECT_FALSE(findTensorFault(*model, {true, model->config().layerCount(), true}));
}

INSTANTIATE_TEST_SUITE_P(Families, TensorFaults, testing::Values("gpt2", "gemma2", "gpt_neox", "bert"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace headscope::attention::test
