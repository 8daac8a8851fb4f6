#pragma once

#include <cstring>

#include "tests/attention/models/golden_models.h"
#include "tests/support/matchers.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/temporary_folder.h"

namespace headscope::attention::test {

/// A golden checkpoint's folder with numbers of one tensor replaced.
class PoisonedCheckpoint {
 public:
  explicit PoisonedCheckpoint(const std::string& family) {
    for (const auto& entry : std::filesystem::directory_iterator(goldenModel(family)))
      if (entry.path().extension() == ".json")
        std::filesystem::copy_file(entry.path(), folder_ / entry.path().filename().string());
    auto file = checked(headscope::test::readSafetensors(goldenModel(family) / "model.safetensors"));
    weights_ = std::move(*file);
  }

  std::filesystem::path path() const { return folder_.path(); }
  /// The names of floating-point tensors with more than one number.
  std::vector<std::string> tensors() const {
    std::vector<std::string> names;
    for (const auto& [name, tensor] : weights_.tensors)
      if ((tensor.dtype == DType::F32 || tensor.dtype == DType::BF16 || tensor.dtype == DType::F16) &&
          tensor.bytes.size() > byteSize(tensor.dtype))
        names.push_back(name);
    return names;
  }
  /// Writes the checkpoint with every `stride`th number of that tensor replaced, starting at `first`.
  void write(const std::string& name, float value, std::size_t first, std::size_t stride) {
    SafetensorsFile file = weights_;
    NamedTensor& tensor = file.tensors.at(name);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    const std::size_t size = byteSize(tensor.dtype);
    const std::uint16_t half = std::isnan(value) ? 0x7E00
                               : value > 0       ? 0x7C00
                                                 : 0xFC00,
                        brain = static_cast<std::uint16_t>(bits >> 16);
    const std::uint16_t& small = tensor.dtype == DType::F16 ? half : brain;
    const void* const from = size == 4 ? static_cast<const void*>(&bits) : &small;
    for (std::size_t at = first * size; at + size <= tensor.bytes.size(); at += stride * size)
      std::memcpy(tensor.bytes.data() + at, from, size);
    if (const auto written = writeSafetensors(folder_ / "model.safetensors", file); !written)
      throw std::runtime_error(written.error().message);
  }

 private:
  headscope::test::TemporaryFolder folder_;
  SafetensorsFile weights_;
};

}  // namespace headscope::attention::test
