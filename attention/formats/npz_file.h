#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "attention/formats/files/zip_archive.h"
#include "attention/formats/npy_header.h"
#include "attention/formats/safetensors_header.h"

namespace headscope::attention {

/// A NumPy .npz file (numpy.savez, numpy.savez_compressed): a zip archive of .npy files, each a tensor of the
/// same name. Values are read on demand. Copies share the file.
class NpzFile {
 public:
  /// Reads the directory and the arrays' headers. Single numbers and texts (shape ()) become metadata, as do
  /// lists of texts (as JSON). Returns an Error, one sentence, in ZipArchive's cases; for PyTorch pickles,
  /// which contain instructions instead of data and are never run (the message says what to do instead); for
  /// archives without arrays; and for arrays in Fortran order, of unsupported types, or whose data doesn't
  /// match their shape.
  static Result<NpzFile> open(const std::filesystem::path& path);

  const SafetensorsHeader& header() const { return header_; }
  /// Like TensorSource::read().
  Status read(const std::string& tensor, std::uint64_t offset, std::span<std::uint8_t> to) const;

 private:
  struct Place {
    std::size_t member = 0;
    std::uint64_t dataBegin = 0;
  };
  explicit NpzFile(ZipArchive archive) : archive_(std::move(archive)) {}
  Status addArray(std::size_t member, const std::string& name);
  Status addText(std::size_t member, const std::string& name, const NpyHeader& header);

  ZipArchive archive_;
  SafetensorsHeader header_;
  std::map<std::string, Place> places_;
};

/// Reads the layout of a single array (.npy) as a file with one tensor called "array".
Result<SafetensorsLayout> readNpyLayout(const RegularFile& file, const std::string& name);

/// Explains how to re-save the contents of a PyTorch pickle; ends a sentence.
std::string savePickleInstead(const std::filesystem::path& path);

}  // namespace headscope::attention
