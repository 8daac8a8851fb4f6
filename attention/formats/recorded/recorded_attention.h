#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attention/formats/tensor_source.h"

namespace headscope::attention {

/// The location of one layer's array in a file: a separate tensor [heads, rows, cols], or part of one that
/// all layers share.
struct RecordedArray {
  std::string tensor;
  std::uint64_t first = 0;  ///< index of its first value in the tensor
  Index heads = 0, rows = 0, cols = 0;
};

/// The arrays of one layer in a file.
struct RecordedLayer {
  Index number = 0;         ///< the layer's number in the file
  RecordedArray attention;  ///< [heads, n, m], after the softmax
  // Optional arrays. Without q and k, weights can be shown but scores can't be explained.
  std::optional<RecordedArray> q;  ///< [heads, n, headDim]
  std::optional<RecordedArray> k;  ///< [kvHeads, m, headDim]; kvHeads divides heads
  std::optional<RecordedArray> v;  ///< [kvHeads, m, headDim]
};

/// The recorded weights of one head, and the range of their row sums, which a softmax makes 1.
struct RecordedWeights {
  Matrix weights;                ///< [n, m], each 0 to 1
  float minSum = 1, maxSum = 1;  ///< of the rows; a row without a visible key sums to 0
};

/// Attention computed and saved by another program: a safetensors, .npz or .npy file with attention [layers,
/// heads, n, m], [heads, n, m] or [n, m], or one array per layer, named as in recorded_names.h, with an
/// optional batch axis of 1; optionally also q, k and v. Layers and heads are read on demand, so a file may
/// be much larger than memory. Copies share the file. Thread-safe.
///
/// Encoder, decoder and cross-attention in one file form groups, one of which is read.
///
/// Tokens are in the metadata under "tokens" ("query_tokens" for queries of another text; "encoder_tokens"
/// and "decoder_tokens" in a file with several groups), or next to the file, under its name with
/// .tokens.json, .json, .tokens.txt or .txt, or as tokens.json or tokens.txt. They are a JSON list of texts,
/// an object with such a list, or text with one token per line, else one per word.
class RecordedAttention {
 public:
  /// Reads headers and tokens. `group` selects one of several groups; "" selects the first. Returns an Error,
  /// one sentence, in TensorSource's cases, and for no attention, two arrays for the same role, unsupported
  /// or mismatched shapes and types, more layers, heads or tokens than can be shown, a number of tokens that
  /// differs from the keys, or a missing group.
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
  /// In a file with several groups, why its list of tokens doesn't belong to this group: "tokens: holds 9
  /// tokens, expected 5". "" if it does, or if there is no list.
  const std::string& unfitTokens() const { return unfitTokens_; }
  /// The number of patches along a side of the image, if the file has no tokens and they seem to be image
  /// patches: a square, perhaps after one class token. Tokens are then named by row and column. Otherwise 0.
  Index patchSide() const { return patchSide_; }

  /// Reads one head's weights; `layer` is an index into layers(). Returns an Error for values that aren't
  /// finite or lie outside 0 to 1 (scores before the softmax), too little memory, or a file that became
  /// shorter.
  Result<RecordedWeights> readWeights(Index layer, Index head) const;
  /// Reads one head of a layer's q, k or v, [n or m, headDim]. Same errors, but any finite value is allowed.
  Result<Matrix> readArray(const RecordedArray& array, Index head) const;

 private:
  RecordedAttention(std::filesystem::path path, TensorSource file)
      : path_(std::move(path)), file_(std::move(file)) {}
  Status readTokens();
  Status readTokensBeside();
  void namePatches();
  /// Returns the first of these names found in the metadata, with its text; null if there is none.
  const std::pair<const std::string, std::string>* said(std::initializer_list<const char*> names) const;
  /// `list` is the list's name in the file or next to it.
  Status takeTokens(const std::string& text, const std::string& file, const std::string& list);

  std::filesystem::path path_;
  TensorSource file_;
  std::vector<std::string> groups_;
  std::string group_;
  std::vector<RecordedLayer> layers_;
  std::vector<std::string> queryTokens_, keyTokens_;
  bool hasTokens_ = false;
  std::string unfitTokens_;
  Index patchSide_ = 0;
};

}  // namespace headscope::attention
