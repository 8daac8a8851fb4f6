#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "attention/formats/gguf/gguf_header.h"
#include "attention/models/checkpoint/checkpoint.h"

namespace headscope::attention {

/// Whether it is a file that begins as GGUF does.
bool isGguf(const std::filesystem::path& path);

/// A model in a GGUF file, or in the files it was split into, mapped and not read.
struct GgufSource {
  std::string name;  ///< for messages
  std::vector<MappedFile> files;
  GgufHeader header;                          ///< of the first; its bytes lie in the files
  std::map<std::string, TensorView> tensors;  ///< of all

  /// Any of the files stands for all. Errors: those of MappedFile and parseGgufHeader(); of a split model
  /// also a file that is missing, of another split, or has a tensor of another one's, and a sum of tensors
  /// that differs.
  static Result<GgufSource> open(const std::filesystem::path& path);
  /// As MappedFile has it, of all files.
  Status intact() const;
};

/// The metadata of a source by their keys; those of the model's architecture also without its name before
/// them. The first that is of another kind is remembered and every read gives nothing.
class GgufMetadata {
 public:
  explicit GgufMetadata(const GgufSource& source);

  /// What general.architecture says: "llama".
  const std::string& architecture() const { return architecture_; }
  /// Null where there is none.
  const GgufValue* find(const std::string& key) const;
  bool has(const std::string& key) const { return find(key) != nullptr; }
  std::optional<std::int64_t> integer(const std::string& key);
  std::optional<double> number(const std::string& key);
  std::optional<bool> flag(const std::string& key);
  std::optional<std::string_view> text(const std::string& key);
  std::optional<std::vector<std::string_view>> texts(const std::string& key);
  std::optional<std::vector<std::int64_t>> integers(const std::string& key);
  std::optional<std::vector<double>> numbers(const std::string& key);

  /// The key as the file has it, in quotes.
  std::string at(const std::string& key) const;
  /// Remembers the first, with the file's name before it.
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
