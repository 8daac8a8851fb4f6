#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "attention/core/machine.h"
#include "attention/kernels/targets.h"

namespace headscope::attention::kernels::test {
namespace {

TEST(Target, NameMatchesExpectedTarget) {
  const std::string name = targetName();
  EXPECT_FALSE(name.empty());
  // If the tests run on an emulated processor, its instruction set is known.
  if (const char* const expected = std::getenv("HEADSCOPE_EXPECTED_TARGET")) {
    EXPECT_EQ(name, expected);
  }
  // The same if the tests are restricted to one.
  if (const char* const held = std::getenv("HEADSCOPE_TARGET")) {
    EXPECT_EQ(name, held);
  }
}

TEST(Target, RefusesUnknownNameAndListsChoices) {
  const std::string before = targetName();
  EXPECT_FALSE(restrictTarget("AVX9000"));
  const Status refused = restrictInstructionSet("AVX9000");
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("\"AVX9000\", expected one of " + targetNames()), std::string::npos);
  EXPECT_NE(targetNames().find(before), std::string::npos);
  EXPECT_EQ(before, targetName());
}

}  // namespace
}  // namespace headscope::attention::kernels::test
