#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "attention/kernels/ceilings.h"

namespace headscope::attention::kernels::test {
namespace {

TEST(Target, isOneTheProcessorHas) {
  const std::string name = targetName();
  EXPECT_FALSE(name.empty());
  // Where the tests run on an emulated processor, it is known what that has.
  if (const char* const expected = std::getenv("HEADSCOPE_EXPECTED_TARGET")) {
    EXPECT_EQ(name, expected);
  }
}

}  // namespace
}  // namespace headscope::attention::kernels::test
