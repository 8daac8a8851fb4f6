#include "tests/attention/models/made_up_checkpoint.h"

#include <cstring>

namespace headscope::attention::test {

std::vector<std::uint8_t> misaligned(const SafetensorsFile& tensors) {
  std::vector<std::uint8_t> bytes = *formatSafetensors(tensors);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  bytes.insert(bytes.begin() + 8 + static_cast<std::ptrdiff_t>(length), ' ');
  ++length;
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes;
}

MadeUpCheckpoint::MadeUpCheckpoint(const std::string& config, const SafetensorsFile& tensors) {
  headscope::test::putFile(folder_ / "config.json", config);
  headscope::test::putFile(folder_ / "model.safetensors", misaligned(tensors));
}

}  // namespace headscope::attention::test
