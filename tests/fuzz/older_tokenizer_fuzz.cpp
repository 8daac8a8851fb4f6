#include "tests/fuzz/tokenizer_targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  headscope::fuzz::fuzzOlderTokenizer({data, size});
  return 0;
}
