#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "attention/formats/files/regular_file.h"
#include "attention/formats/npz_file.h"
#include "attention/formats/safetensors_header.h"

namespace headscope::attention {

/// Named tensors in a file: safetensors, or NumPy's .npz and .npy, told apart by their first bytes. Only the
/// header is read, tensors when they are asked for, so that a file may be much larger than what is wanted of
/// it. Copies share the file; several threads may read at once.
class TensorSource {
 public:
  /// Reads and checks the header alone; a .npy file's tensor is called "array". Errors: those of RegularFile
  /// and of the format, and what is none of them, by name: PyTorch's pickles, GGUF.
  static Result<TensorSource> open(const std::filesystem::path& path);
  /// A file that is in memory, and has to outlive this.
  TensorSource(const SafetensorsFile& file);

  const SafetensorsHeader& header() const { return layout_.header; }
  /// Fills `to` with the bytes of a tensor from `offset` on. Throws where there is no such tensor or it has
  /// no such bytes; an error where the file can't be read or became shorter.
  Status read(const std::string& tensor, std::uint64_t offset, std::span<std::uint8_t> to) const;
  /// Fills `to` with a tensor's values from the one of number `first` on, as floats. Errors, which `at`
  /// stands in front of, as convertToFloats() has them, and those of read().
  Status readFloats(const std::string& tensor, std::uint64_t first, std::span<float> to,
                    const std::string& at) const;

 private:
  TensorSource(SafetensorsLayout layout, RegularFile file)
      : layout_(std::move(layout)), file_(std::make_shared<const RegularFile>(std::move(file))) {}

  explicit TensorSource(NpzFile archive)
      : layout_{archive.header(), 0}, archive_(std::make_shared<const NpzFile>(std::move(archive))) {}

  SafetensorsLayout layout_;
  // One of these is not null.
  std::shared_ptr<const RegularFile> file_;
  std::shared_ptr<const NpzFile> archive_;
  const SafetensorsFile* memory_ = nullptr;
};

}  // namespace headscope::attention
