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

/// Named tensors in a file: safetensors or NumPy's .npz and .npy, told apart by their first bytes. Only the
/// header is read up front and tensors on demand, so a file may be much larger than what is needed of it.
/// Copies share the file. Thread-safe.
class TensorSource {
 public:
  /// Reads and checks only the header; the tensor of a .npy file is called "array". Returns the errors of
  /// RegularFile and of the format, and an Error for PyTorch pickles and GGUF, which it names.
  static Result<TensorSource> open(const std::filesystem::path& path);

  const SafetensorsHeader& header() const { return layout_.header; }
  /// Fills `to` with a tensor's bytes, starting at `offset`. Throws if there is no such tensor or range.
  /// Returns an Error if the file can't be read or became shorter.
  Status read(const std::string& tensor, std::uint64_t offset, std::span<std::uint8_t> to) const;
  /// Fills `to` with a tensor's values as floats, starting at value number `first`. Returns the errors of
  /// read() and, prefixed by `at`, those of convertToFloats().
  Status readFloats(const std::string& tensor, std::uint64_t first, std::span<float> to,
                    const std::string& at) const;

 private:
  TensorSource(SafetensorsLayout layout, RegularFile file)
      : layout_(std::move(layout)), file_(std::make_shared<const RegularFile>(std::move(file))) {}

  explicit TensorSource(NpzFile archive)
      : layout_{archive.header(), 0}, archive_(std::make_shared<const NpzFile>(std::move(archive))) {}

  SafetensorsLayout layout_;
  // Exactly one of these is set.
  std::shared_ptr<const RegularFile> file_;
  std::shared_ptr<const NpzFile> archive_;
};

}  // namespace headscope::attention
