#include "render/software_threads.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <thread>

namespace headscope::test {
namespace {

constexpr const char* kName = "LP_NUM_THREADS";

TEST(SoftwareThreads, AreMoreThanAFewProcessors) {
  const unsigned processors = std::thread::hardware_concurrency();
  unsetenv(kName);
  render::setSoftwareThreads();
  const char* const found = std::getenv(kName);
  if (processors > 1 && processors <= 4) {
    ASSERT_NE(found, nullptr);
    EXPECT_GT(std::stoul(found), processors);
  } else {
    EXPECT_EQ(found, nullptr) << "Mesa starts one for each processor";
  }
}

TEST(SoftwareThreads, AreThoseOfTheEnvironmentIfItNamesThem) {
  setenv(kName, "1", 1);
  render::setSoftwareThreads();
  EXPECT_STREQ(std::getenv(kName), "1");
}

}  // namespace
}  // namespace headscope::test
