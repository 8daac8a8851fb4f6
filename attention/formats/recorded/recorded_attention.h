#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attention/formats/recorded/weight_faults.h"
#include "attention/formats/tensor_source.h"

namespace headscope::attention {

/// Rows of an array as they lie in a file: [heads, rows, cols] from value `first` of a tensor.
struct RecordedBlock {
  std::string tensor;
  std::uint64_t first = 0;
  Index rows = 0, cols = 0;
  Index row = 0, col = 0;  ///< its place in the array; columns beyond the array are padding
};

/// One layer's array: its own tensor or a part of one that all layers share, or several blocks with
/// zeros elsewhere: the steps of generate(), or the last keys of a layer with a window.
struct RecordedArray {
  Index heads = 0, rows = 0, cols = 0;
  std::vector<RecordedBlock> blocks;  ///< at least one
  bool tokensFirst = false;           ///< stored as [rows, heads, cols]; a single block
  const std::string& tensor() const { return blocks.front().tensor; }
};

/// The arrays of one layer in a file.
struct RecordedLayer {
  Index number = 0;         ///< the layer's number in the file
  RecordedArray attention;  ///< [heads, n, m], after the softmax
  // Optional arrays; those that don't fit are left out. Without q and k, scores can't be explained.
  std::optional<RecordedArray> q;  ///< [heads, n, headDim]
  std::optional<RecordedArray> k;  ///< [kvHeads, m, headDim]; kvHeads divides heads
  std::optional<RecordedArray> v;  ///< [kvHeads, m, headDim]
  Index keysFrom = 0;              ///< the first key that the layer has, the weights before are 0
};

/// The recorded weights of one head.
struct RecordedWeights {
  Matrix weights;  ///< [n, m]; NaN for every value that isn't finite
  WeightFaults faults;
};

/// Attention computed and saved by another program: a safetensors, .npz or .npy file with attention [layers,
/// heads, n, m], [heads, n, m] or [n, m], or one array per layer, named as in recorded_names.h, with an
/// optional batch axis of 1; optionally also q, k and v. Layers and heads are read on demand, so a file may
/// be much larger than memory. Copies share the file. Thread-safe.
///
/// Encoder, decoder and cross-attention in one file form groups, one of which is read. The steps of
/// generate() are joined into one text. Columns without any weight after the last query's own are a padded
/// cache and left out. A layer with fewer keys than others has the last ones, as a window keeps.
///
/// Tokens are in the metadata under "tokens" ("query_tokens" for queries of another text; "encoder_tokens"
/// and "decoder_tokens" in a file with several groups), or next to the file, under its name with
/// .tokens.json, .json, .tokens.txt or .txt, or as tokens.json or tokens.txt. They are a JSON list of texts,
/// an object with such a list, or text with one token per line, else one per word. Numbers are ids.
class RecordedAttention {
 public:
  /// Reads headers and tokens. `group` selects one of several groups; "" selects the first. Returns an Error,
  /// one sentence, in TensorSource's cases, and for no attention, two arrays of attention for one layer,
  /// unsupported or mismatched shapes and types of attention, more layers, heads or tokens than can be shown,
  /// Longformer's windows, or a missing group. Tokens, q, k and v that don't fit are left out with a note.
  static Result<RecordedAttention> open(const std::filesystem::path& path, const std::string& group = "");

  const std::filesystem::path& path() const { return path_; }
  /// The kinds of attention in the file according to its names: "encoder", "decoder", "cross", and
  /// "attention" for arrays whose names don't say; {""} if no name says.
  const std::vector<std::string>& groups() const { return groups_; }
  const std::string& group() const { return group_; }
  /// At least one layer, ascending by number; all have the same numbers of queries and keys.
  const std::vector<RecordedLayer>& layers() const { return layers_; }
  Index queries() const { return layers_[0].attention.rows; }
  Index keys() const { return layers_[0].attention.cols; }
  /// [n] and [m]; the positions "0", "1", … if the file has no tokens.
  const std::vector<std::string>& queryTokens() const { return queryTokens_; }
  const std::vector<std::string>& keyTokens() const { return keyTokens_; }
  bool hasTokens() const { return hasTokens_; }
  /// Why the list of tokens isn't used: "tokens: holds 9 tokens, expected 5". "" if it is, or if there is
  /// none.
  const std::string& unfitTokens() const { return unfitTokens_; }
  /// What was assumed or left out, a sentence each.
  const std::vector<std::string>& notes() const { return notes_; }
  /// The number of patches along a side of the image, if the file has no tokens and they seem to be image
  /// patches: a square, perhaps after one class token. Tokens are then named by row and column. Otherwise 0.
  Index patchSide() const { return patchSide_; }

  /// Reads one head's weights, whatever they are; `layer` is an index into layers(). Returns an Error for too
  /// little memory, or a file that can't be read or became shorter.
  Result<RecordedWeights> readWeights(Index layer, Index head) const;
  /// Reads one head of a layer's q, k or v, [n or m, headDim]. Same errors, and for values that
  /// aren't finite.
  Result<Matrix> readArray(const RecordedArray& array, Index head) const;

 private:
  RecordedAttention(std::filesystem::path path, TensorSource file)
      : path_(std::move(path)), file_(std::move(file)) {}
  void readTokens();
  void readTokensBeside();
  void namePatches();
  /// Reads one head of an array, whatever its values are.
  Result<Matrix> readValues(const RecordedArray& array, Index head) const;
  /// Leaves out the keys after the last one with any weight, if there are more keys than queries.
  Status leaveOutPadding();
  /// Takes q, k and v as [n, heads, headDim] where only that explains the weights.
  void checkLayouts();
  /// Returns the first of these integer tensors as a list of ids; "" if there is none.
  std::string idsIn(std::initializer_list<const char*> names) const;
  /// Returns the first of these names found in the metadata, with its text; null if there is none.
  const std::pair<const std::string, std::string>* said(std::initializer_list<const char*> names) const;
  /// `list` is the list's name in the file or next to it.
  void takeTokens(const std::string& text, const std::string& list);

  std::filesystem::path path_;
  TensorSource file_;
  std::vector<std::string> groups_;
  std::string group_;
  std::vector<RecordedLayer> layers_;
  std::vector<std::string> queryTokens_, keyTokens_;
  bool hasTokens_ = false;
  std::string unfitTokens_;
  std::vector<std::string> notes_;
  Index patchSide_ = 0;
};

}  // namespace headscope::attention
