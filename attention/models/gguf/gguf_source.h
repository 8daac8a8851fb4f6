#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "attention/formats/gguf/gguf_header.h"
#include "attention/models/checkpoint/checkpoint.h"

namespace headscope::attention {

/// Whether the path is a file that begins like a GGUF file.
bool isGguf(const std::filesystem::path& path);

/// A model in a GGUF file, or in the parts it was split into, mapped but not read.
struct GgufSource {
  std::string name;  ///< for messages
  std::vector<MappedFile> files;
  GgufHeader header;                          ///< of the first file; its bytes are in `files`
  std::map<std::string, TensorView> tensors;  ///< of all files

  /// Opens a model by any of its files. Returns an Error of MappedFile or parseGgufHeader(); for a split
  /// model also if a file is missing, belongs to another split or repeats another file's tensor, or if the
  /// number of tensors differs from the stated one.
  static Result<GgufSource> open(const std::filesystem::path& path);
  /// Returns the first Error of the files' MappedFile::intact().
  Status intact() const;
};

/// Reads a source's metadata by key; keys of the model's architecture also without its name in front. The
/// first value of a wrong type is kept as an error in status(); reading it returns nothing.
class GgufMetadata {
 public:
  explicit GgufMetadata(const GgufSource& source);

  /// The value of general.architecture, such as "llama".
  const std::string& architecture() const { return architecture_; }
  /// Returns null if there is none.
  const GgufValue* find(const std::string& key) const;
  bool has(const std::string& key) const { return find(key) != nullptr; }
  std::optional<std::int64_t> integer(const std::string& key);
  std::optional<double> number(const std::string& key);
  std::optional<bool> flag(const std::string& key);
  std::optional<std::string_view> text(const std::string& key);
  std::optional<std::vector<std::string_view>> texts(const std::string& key);
  std::optional<std::vector<std::int64_t>> integers(const std::string& key);
  std::optional<std::vector<double>> numbers(const std::string& key);

  /// Returns the key as in the file, in quotes.
  std::string at(const std::string& key) const;
  /// Records an error, prefixed by the file's name; only the first is kept.
  void fail(const std::string& message);
  Status status() const { return error_ ? Status(*error_) : success(); }

 private:
  template <typename Value>
  Value read(const std::string& key, Value (GgufValue::*as)() const, const char* expected);

  const GgufSource& source_;
  std::string architecture_;
  std::optional<Error> error_;
};

}  // namespace headscope::attention
