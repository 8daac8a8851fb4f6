#include "tests/fuzz/document_targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  headscope::fuzz::fuzzLink({data, size});
  return 0;
}
