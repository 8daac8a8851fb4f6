#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/result.h"

namespace headscope::attention {

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
