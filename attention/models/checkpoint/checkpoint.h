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

struct TensorNaming;  // families.h

/// A tensor within a mapped file, at any byte offset.
struct TensorView {
  std::string_view kind;           ///< number type as files name it: "F32", "Q4_K"
  std::optional<WeightType> type;  ///< nothing: numbers of this kind can't be read
  std::vector<std::uint64_t> shape;
  const std::uint8_t* data = nullptr;
  std::uint64_t bytes = 0;
  const std::uint8_t* scales = nullptr;  ///< for mxfp4_apart, [numbers / 32]

  std::uint64_t numbers() const;
  /// Reads numbers first … first + values.size() − 1; both ends must be block boundaries. Returns an Error
  /// naming `name` if a double exceeds float's range. Throws std::invalid_argument if the type can't be read.
  Status read(std::uint64_t first, std::span<float> values, const std::string& name) const;
};

/// The weights in a model's folder: model.safetensors, or the files that model.safetensors.index.json names,
/// mapped but not read. Opening reads only the headers, whatever the size. Experts of a family that may store
/// them in MXFP4 as two byte tensors, X_blocks and X_scales, count as one tensor X. A tensor that
/// save_model() stored once for several names has all of them; names that a wrapper extended have their own
/// form (stored_names.h).
class Checkpoint {
 public:
  /// Returns an Error, in one sentence, for a folder without weights (saying what it holds instead), an
  /// invalid index, file or header, a file that is missing or lacks a tensor of the index, or the tensors of
  /// an adapter.
  static Result<Checkpoint> open(const std::filesystem::path& folder, const TensorNaming& naming);

  /// Takes files at `path` that are already mapped.
  Checkpoint(std::filesystem::path path, std::vector<MappedFile> files,
             std::map<std::string, TensorView> tensors)
      : folder_(std::move(path)), files_(std::move(files)), tensors_(std::move(tensors)) {}
  /// A checkpoint without files, for a model whose weights are in memory.
  static Checkpoint none() { return Checkpoint({}); }

  /// The folder, or the file of a single-file model.
  const std::filesystem::path& folder() const { return folder_; }
  const std::map<std::string, TensorView>& tensors() const { return tensors_; }
  /// How names were changed, and what else is in the folder, one sentence each.
  const std::vector<std::string>& notes() const { return notes_; }
  /// Size of all files together.
  std::uint64_t bytes() const;
  /// Returns an Error if a file has changed since it was opened, or part of it couldn't be read. Call it
  /// after computing and before showing the result.
  Status intact() const;

 private:
  explicit Checkpoint(std::filesystem::path folder) : folder_(std::move(folder)) {}
  Status addSingle(const std::filesystem::path& path);
  Status addShards(const std::filesystem::path& index);

  std::filesystem::path folder_;
  std::vector<MappedFile> files_;
  std::map<std::string, TensorView> tensors_;
  std::vector<std::string> notes_;
};

}  // namespace headscope::attention
