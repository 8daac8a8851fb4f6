#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/linear_maps.h"
#include "attention/models/checkpoint/mapped_file.h"

namespace headscope::attention {

/// One tensor where it lies in a mapped file, at any byte.
struct TensorView {
  std::string_view kind;           ///< of its numbers, as files call it: "F32", "Q4_K"
  std::optional<WeightType> type;  ///< nothing: numbers of this kind aren't read
  std::vector<std::uint64_t> shape;
  const std::uint8_t* data = nullptr;
  std::uint64_t bytes = 0;
  const std::uint8_t* scales = nullptr;  ///< of mxfp4_apart, [numbers / 32]

  std::uint64_t numbers() const;
  /// Numbers first … first + values.size() − 1; first and last are the ends of blocks. An error where a
  /// double is beyond float's range, which names `name`. Throws std::invalid_argument where the type isn't
  /// read.
  Status read(std::uint64_t first, std::span<float> values, const std::string& name) const;
};

/// A model's weights as its folder has them: model.safetensors or the files that model.safetensors.index.json
/// names, mapped and not read. Opening takes the headers alone, whatever the size. A pair of tensors X_blocks
/// and X_scales of bytes is one tensor X in MXFP4.
class Checkpoint {
 public:
  /// Errors, each in one sentence: a folder without weights (naming what is there instead: a pickle, GGUF),
  /// what the index, the files and their headers refuse, a file that is missing or lacks a tensor of the
  /// index.
  static Result<Checkpoint> open(const std::filesystem::path& folder);

  /// Of files that are mapped already, at `path`.
  Checkpoint(std::filesystem::path path, std::vector<MappedFile> files,
             std::map<std::string, TensorView> tensors)
      : folder_(std::move(path)), files_(std::move(files)), tensors_(std::move(tensors)) {}
  /// Of no files: of a model whose weights lie in memory.
  static Checkpoint none() { return Checkpoint({}); }

  /// Or the file, of a model in one.
  const std::filesystem::path& folder() const { return folder_; }
  const std::map<std::string, TensorView>& tensors() const { return tensors_; }
  /// Of all files together.
  std::uint64_t bytes() const;
  /// An error if a file has changed since it was opened, or could not be read where it was asked for. To be
  /// asked after what was computed and before it is shown.
  Status intact() const;

 private:
  explicit Checkpoint(std::filesystem::path folder) : folder_(std::move(folder)) {}
  Status addSingle(const std::filesystem::path& path);
  Status addShards(const std::filesystem::path& index);

  std::filesystem::path folder_;
  std::vector<MappedFile> files_;
  std::map<std::string, TensorView> tensors_;
};

}  // namespace headscope::attention
