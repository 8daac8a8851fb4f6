#pragma once

#include <fstream>

#include "attention/formats/files/zip_archive.h"
#include "attention/formats/safetensors.h"

namespace headscope::attention {

/// The tensors of a NumPy .npz file (numpy.savez, numpy.savez_compressed): a zip archive of .npy files, each
/// a tensor of the same name.
struct NpzLayout : SafetensorsLayout {         ///< `begin` and `end` are bytes of a member
  std::map<std::string, std::size_t> members;  ///< of each tensor
};
/// Reads the arrays' headers. Single numbers and texts (shape ()) become metadata, as do lists of texts (as
/// JSON). Returns an Error, one sentence, for archives without arrays, and for arrays of unsupported types or
/// whose data doesn't match their shape.
Result<NpzLayout> readNpzLayout(const ZipArchive& archive, const std::filesystem::path& path);

/// Reads the layout of a single array (.npy) as a file with one tensor called "array".
Result<SafetensorsLayout> readNpyLayout(const RegularFile& file, const std::string& name);

/// Writes a compressed .npz file that numpy.load can read. Each array first goes to a file beside it, so that
/// arrays may be larger than memory. Errors are reported at the end.
class NpzWriter {
 public:
  explicit NpzWriter(std::filesystem::path path) : path_(std::move(path)) {}
  ~NpzWriter();
  NpzWriter(const NpzWriter&) = delete;
  NpzWriter& operator=(const NpzWriter&) = delete;

  /// Adds an array of float32 in C order, and returns its number for put(). What is put must fill the shape.
  std::size_t addNumbers(const std::string& name, const std::vector<std::uint64_t>& shape);
  void put(std::size_t array, std::span<const float> values);
  /// Adds a single numpy str, put together from parts of well-formed UTF-8.
  std::size_t addText(const std::string& name);
  void put(std::size_t array, std::string_view text);
  /// Writes the archive, replacing the file at once. Leaves no file after an Error.
  Status finish();

 private:
  struct Part {
    std::string name;
    std::filesystem::path path;
    std::ofstream file;
    std::uint64_t characters = 0;
    bool isText = false;
  };
  std::size_t add(const std::string& name, const std::string& preamble);
  std::filesystem::path beside(const std::string& name) const;
  Status finishParts();

  std::filesystem::path path_;
  std::vector<Part> parts_;
};

}  // namespace headscope::attention
