#pragma once

#include <set>

#include "attention/formats/npz_file.h"
#include "attention/formats/quote.h"
#include "attention/formats/safetensors.h"

namespace headscope::attention {

// Names under which programs save attention arrays. For weights see layer_reader.h, for masks mask_file.h.

enum class TensorRole { attention, queries, keys, values };

/// Returns the role that a lower-case word of a name stands for. Attention after the softmax: attention,
/// attentions, attn, attns, each of attn and attention with _weight(s), _probs, _map(s) or _pattern,
/// PyTorch's attn_output_weights, ONNX's softmax_output, attention_probabilities,
/// attention_matrix, weights, pattern, array, arr, llama.cpp's kq_soft_max. Queries,
/// keys and values: q, query, queries; k, key, keys; v, value, values. Each may end in _states.
std::optional<TensorRole> tensorRoleOf(std::string_view word);
/// Splits a name at dots and slashes: "layers", "3" and "q" for "layers.3/q".
std::vector<std::string_view> splitName(std::string_view name);
/// Returns the number that a whole word is; nullopt if it isn't one.
std::optional<Index> numberInName(std::string_view word);
/// Orders names naturally: "layers.9" before "layers.10".
bool naturalLess(std::string_view a, std::string_view b);

/// Named tensors in a file: safetensors, NumPy's .npz and .npy or PyTorch's .pt, told apart by their first
/// bytes. Only the header is read up front and tensors on demand, so a file may be much larger than what is
/// needed of it; tensors in another order than row by row are read up front. Copies share the file.
/// Thread-safe.
class TensorSource {
 public:
  /// Reads and checks only the header; the tensor of a .npy file is called "array". Returns the errors of
  /// RegularFile and of the format, and an Error for GGUF, which it names.
  static Result<TensorSource> open(const std::filesystem::path& path);

  const SafetensorsHeader& header() const { return layout_.header; }
  /// Fills `to` with a tensor's bytes, starting at `offset`. Throws if there is no such tensor or range.
  /// Returns an Error if the file can't be read or became shorter.
  Status read(const std::string& tensor, std::uint64_t offset, std::span<std::uint8_t> to) const;
  /// Fills `to` with a tensor's values as floats, starting at value number `first`. Returns the errors of
  /// read() and, prefixed by `at`, those of convertToFloats().
  Status readFloats(const std::string& tensor, std::uint64_t first, std::span<float> to,
                    const std::string& at) const;

 private:
  TensorSource(SafetensorsLayout layout, RegularFile file)
      : layout_(std::move(layout)), file_(std::make_shared<const RegularFile>(std::move(file))) {}
  TensorSource(NpzLayout layout, ZipArchive archive)
      : layout_(std::move(layout)), archive_(std::move(archive)), members_(std::move(layout.members)) {}
  /// Reads the tensors in another order.
  Status rewrite(const std::string& name);

  SafetensorsLayout layout_;
  std::shared_ptr<const RegularFile> file_;  ///< null if `archive_` holds the tensors
  std::optional<ZipArchive> archive_;
  std::map<std::string, std::size_t> members_;  ///< of each tensor in `archive_`
  std::map<std::string, std::shared_ptr<const std::vector<std::uint8_t>>> rewritten_;
};

/// The endings of files that a TensorSource reads.
inline constexpr std::string_view kTensorFiles[] = {".safetensors", ".npz", ".npy", ".pt", ".pth"};
inline bool isTensorFile(const std::filesystem::path& path) {
  return std::ranges::find(kTensorFiles, path.extension().string()) != std::end(kTensorFiles);
}

inline Index asIndex(std::uint64_t value) {
  return static_cast<Index>(value);
}

/// The prefix of what a snapshot holds in addition to the tensors that attend reads and writes.
inline constexpr std::string_view kSnapshotPrefix = "snapshot.";

/// Reads tensors of a file with checks and records which ones were requested. In total they may take `budget`
/// bytes; a tensor that exceeds it is an Error before any of it is read.
class TensorReader {
 public:
  TensorReader(const TensorSource& file, const std::string& name, std::uint64_t budget)
      : file_(file), name_(name), budget_(budget) {}

  /// All tensors of the file.
  const std::map<std::string, TensorEntry>& all() const { return file_.header().tensors; }
  bool wasRequested(const std::string& tensor) const { return asked_.contains(tensor); }
  /// Returns null if the file has no such tensor.
  const TensorEntry* find(const std::string& tensor);
  /// Finds a tensor with `least` to `most` axes, none of them empty; `expected` describes the shape in
  /// messages.
  Result<const TensorEntry*> get(const std::string& tensor, std::size_t least, std::size_t most,
                                 const std::string& expected);
  /// Reads a tensor's values. Returns an Error if one is NaN or infinite.
  Result<std::vector<float>> floats(const std::string& tensor, const TensorEntry& found);
  /// Reads a tensor's bytes as stored in the file.
  Result<std::vector<std::uint8_t>> bytes(const std::string& tensor, const TensorEntry& found);
  Error wrongShape(const std::string& tensor, const Shape& shape, const std::string& expected) const;
  /// `file: tensor "q"`, for messages.
  std::string at(const std::string& tensor) const { return name_ + ": tensor " + quotedText(tensor); }
  /// From now on, checkNames() accepts tensors with a dot in their names, as in a whole model.
  void passOverOtherParts() { passesOtherParts_ = true; }
  /// Returns an Error for the first tensor of the file that was not requested, except `expect.*`,
  /// `snapshot.*` and those in `passedOver`.
  Status checkNames(const std::vector<std::string_view>& passedOver) const;

 private:
  /// Takes `bytes` from the budget. Returns an Error if fewer are left.
  Status take(const std::string& tensor, std::uint64_t bytes);

  const TensorSource& file_;
  const std::string& name_;
  const std::uint64_t budget_;
  std::uint64_t taken_ = 0;
  std::set<std::string, std::less<>> asked_;
  bool passesOtherParts_ = false;
};

}  // namespace headscope::attention
