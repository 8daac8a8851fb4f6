#pragma once

#include "attention/models/model.h"
#include "tests/attention/models/plain/plain_model.h"
#include "tests/support/temporary_folder.h"

namespace headscope::attention::test {

/// A model's folder, removed at the end of the test. Tensors are stored at odd bytes, as some programs write
/// them.
class MadeUpCheckpoint {
 public:
  MadeUpCheckpoint(const std::string& config, const SafetensorsFile& tensors);
  std::filesystem::path path() const { return folder_.path(); }
  std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }

 private:
  headscope::test::TemporaryFolder folder_;
};

/// A model by its equations, opened from a checkpoint of synthetic weights.
std::shared_ptr<const Model> openPlain(const PlainModel& plain);
/// The model of that name in plain_models.json. Throws std::invalid_argument if there is none.
const PlainModel& plainNamed(const std::string& name);

/// The file's bytes with an additional space in its header.
std::vector<std::uint8_t> misaligned(const SafetensorsFile& tensors);

}  // namespace headscope::attention::test
