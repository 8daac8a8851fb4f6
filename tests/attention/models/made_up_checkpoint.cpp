#include "tests/attention/models/made_up_checkpoint.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "tests/attention/models/golden_models.h"

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

const PlainModel& plainNamed(const std::string& name) {
  static const std::vector<PlainModel> models = plainModels();
  const auto found = std::ranges::find(models, name, &PlainModel::name);
  if (found == models.end()) throw std::invalid_argument("plain_models.json has no model \"" + name + "\"");
  return *found;
}

std::shared_ptr<const Model> openPlain(const PlainModel& plain) {
  MadeUpTensors tensors(DType::F32, 5);
  (void)plain.run(tensors, {1, 2, 3});  // makes the tensors that the equations ask for
  return openModel(MadeUpCheckpoint(plain.config, tensors.file()).path());
}

MadeUpCheckpoint::MadeUpCheckpoint(const std::string& config, const SafetensorsFile& tensors) {
  headscope::test::putFile(folder_ / "config.json", config);
  headscope::test::putFile(folder_ / "model.safetensors", misaligned(tensors));
}

}  // namespace headscope::attention::test
