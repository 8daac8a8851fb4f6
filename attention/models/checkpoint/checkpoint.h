#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/result.h"
#include "attention/core/tensor.h"
#include "attention/models/checkpoint/tensor_view.h"

namespace headscope::attention {

/// A regular file, mapped for reading in place. Reads come from the system's page cache, so the file may be
/// much larger than memory.
///
/// Reading a mapped file that has become shorter, or whose disk is gone, raises a bus error, which would end
/// the program. Here the lost pages read as zeros from then on, and intact() reports it: a SIGBUS handler,
/// installed with the first mapping, maps zeros over them and passes bus errors elsewhere to the previous
/// handler. pread would need no handler, but would copy every weight once more for every token.
class MappedFile {
 public:
  /// Returns an Error if the path is missing, is a directory, a pipe or a device, can't be read or mapped, or
  /// if too many files are mapped at once. Follows symbolic links.
  static Result<MappedFile> open(const std::filesystem::path& path);
  MappedFile(MappedFile&&) noexcept;
  MappedFile& operator=(MappedFile&&) noexcept;
  ~MappedFile();

  const std::filesystem::path& path() const;
  /// The whole file. Call intact() after reading, before showing what was read.
  std::span<const std::uint8_t> bytes() const;
  /// Returns an Error if part of the mapping was lost, or if the file's size or change time differs from when
  /// it was opened.
  Status intact() const;

 private:
  struct State;
  explicit MappedFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Reads a model.safetensors.index.json: the file in the same folder that holds each tensor. Returns an
/// Error, one sentence that begins with `name`, if the text isn't JSON, has no weight_map, has file names
/// that aren't text or point outside the folder, or names more than 1,024 files.
Result<std::map<std::string, std::string>> parseShardIndex(std::string_view json, const std::string& name);

/// Files that people have: what opens, and what is refused, with what to do instead.
struct FileKind {
  enum class Opens { yes, notWithoutConfig, notAsWeights };
  std::string_view names;  ///< patterns, separated by spaces
  Opens opens = Opens::yes;
  std::string_view what, instead = {};
};
std::span<const FileKind> fileKinds();

/// The reason that a folder without a config.json can't be opened: what kind of folder it is instead.
Error withoutConfig(const std::filesystem::path& folder);
/// The model that an adapter's folder changes, as PEFT names it: a path, or a name on Hugging Face's hub.
Result<std::string> adapterBase(const std::filesystem::path& folder);
/// Whether a folder holds an adapter and no model.
bool isAdapter(const std::filesystem::path& folder);
/// The reason that a folder without safetensors can't be opened: where its weights are instead.
Error withoutWeights(const std::filesystem::path& folder);

struct TensorNaming;  // families.h
struct Quantisation;  // model_config.h

/// The weights in a model's folder: model.safetensors, or the files that model.safetensors.index.json names,
/// else pytorch_model.bin and its index, mapped but not read. Opening reads only the headers, whatever the
/// size, unless weights are packed by a library whose numbers kernels don't read: these are unpacked in
/// memory (packed_weights.h), as are a pickle's tensors that lie in another order. Experts of a family that
/// may store them in MXFP4 as two byte tensors, X_blocks and X_scales, count as one tensor X. A tensor that
/// save_model() stored once for several names has all of them; names that a wrapper extended have their own
/// form (model_weights.h).
class Checkpoint {
 public:
  /// With the changes of a LoRA adapter in the folder `adapter`, if given. Returns an Error, in one sentence,
  /// for a folder without weights (saying what it holds instead), an invalid index, file or header, a file
  /// that is missing or lacks a tensor of the index, or the tensors of an adapter.
  static Result<Checkpoint> open(const std::filesystem::path& folder, const TensorNaming& naming,
                                 const Quantisation& how, const std::filesystem::path& adapter = {});

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
  /// Maps a file and returns its tensors.
  Result<std::map<std::string, TensorView>> map(const std::filesystem::path& path);
  Status addShards(const std::filesystem::path& index);

  std::filesystem::path folder_;
  std::vector<MappedFile> files_;
  std::map<std::string, TensorView> tensors_;
  std::vector<std::vector<std::uint8_t>> own_;  ///< tensors that no file has as they are read
  std::vector<std::string> notes_;
};

/// The weights in the files of a folder.
struct WeightCount {
  std::uint64_t parameters = 0;  ///< weights after unpacking, without scales and zeros; 0: unknown
  std::uint64_t bytes = 0;       ///< of all tensors
  std::map<std::string, std::uint64_t> numbers = {};  ///< of each dtype
};

/// How weights are packed into whole numbers.
struct Packing {
  Index bits = 0;   ///< per weight; 0: not known, so weights in whole numbers can't be counted
  Index group = 0;  ///< weights that share a scale; 0: not known
};

/// Whether a tensor isn't a weight but the causal mask [1, 1, n, n] in files of GPT-2, GPT-Neo and GPT-NeoX.
bool isCausalMask(std::string_view name, std::span<const std::uint64_t> shape);

/// Counts one safetensors file from its JSON header, which gives each tensor's dtype, shape and data_offsets.
Result<WeightCount> countTensors(std::string_view json, const Packing& packing, const std::string& name);

/// Counts a folder's safetensors files from their headers alone. If a shard is absent, takes the totals from
/// model.safetensors.index.json. Returns nothing if there is neither.
Result<std::optional<WeightCount>> countWeights(const std::filesystem::path& folder, const Packing& packing);

}  // namespace headscope::attention
