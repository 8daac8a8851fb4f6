#include "tests/fuzz/picture_targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  headscope::fuzz::fuzzPicture({data, size});
  return 0;
}
