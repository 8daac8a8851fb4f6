#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "attention/formats/regular_file.h"
#include "attention/formats/safetensors_header.h"

namespace headscope::attention {

/// A safetensors file whose header is read, and whose tensors are when they are asked for, so that a file may
/// be much larger than what is wanted of it. Copies share the file; several threads may read at once.
class TensorSource {
 public:
  /// Reads and checks the header alone. Errors: those of RegularFile and of the format.
  static Result<TensorSource> open(const std::filesystem::path& path);
  /// A file that is in memory, and has to outlive this.
  TensorSource(const SafetensorsFile& file);

  const SafetensorsHeader& header() const { return layout_.header; }
  /// Fills `to` with the bytes of a tensor from `offset` on. Throws where there is no such tensor or it has
  /// no such bytes; an error where the file can't be read or became shorter.
  Status read(const std::string& tensor, std::uint64_t offset, std::span<std::uint8_t> to) const;

 private:
  TensorSource(SafetensorsLayout layout, RegularFile file)
      : layout_(std::move(layout)), file_(std::make_shared<const RegularFile>(std::move(file))) {}

  SafetensorsLayout layout_;
  std::shared_ptr<const RegularFile> file_;  ///< null where the file is in memory
  const SafetensorsFile* memory_ = nullptr;
};

}  // namespace headscope::attention
