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

/// NumPy's .npz (numpy.savez, numpy.savez_compressed): a zip archive of .npy files, whose arrays stand for
/// tensors of the same names. Values are read when they are asked for. Copies share the file.
class NpzFile {
 public:
  /// Reads the directory and the headers of the arrays. Single numbers and texts among them (shape ()) become
  /// metadata, as do lists of texts, as JSON. Errors, each in one sentence: those of ZipArchive; PyTorch's
  /// pickles, which hold instructions instead of data and are never run: what to do instead is said; archives
  /// without arrays; arrays in Fortran's order, of other types, or with less data than their shape.
  static Result<NpzFile> open(const std::filesystem::path& path);

  const SafetensorsHeader& header() const { return header_; }
  /// As TensorSource::read().
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

/// A single array (.npy) as a file with one tensor, which is called "array".
Result<SafetensorsLayout> readNpyLayout(const RegularFile& file, const std::string& name);

/// How to save what a pickle of PyTorch holds, for the end of a sentence.
std::string savePickleInstead(const std::filesystem::path& path);

}  // namespace headscope::attention
