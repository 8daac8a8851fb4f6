#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  headscope::fuzz::fuzzSchedule({data, size});
  return 0;
}
