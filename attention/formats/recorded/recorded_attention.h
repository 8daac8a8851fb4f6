#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attention/formats/tensor_source.h"

namespace headscope::attention {

/// Where a file has one layer's array: a tensor [heads, rows, cols] of its own, or part of one that all
/// layers share.
struct RecordedArray {
  std::string tensor;
  std::uint64_t first = 0;  ///< the number of its first value in the tensor
  Index heads = 0, rows = 0, cols = 0;
};

/// What a file has of one layer.
struct RecordedLayer {
  Index number = 0;         ///< as the file counts
  RecordedArray attention;  ///< [heads, n, m], after the softmax
  // What may be missing. Without q and k there are weights to look at, and no scores to explain.
  std::optional<RecordedArray> q;  ///< [heads, n, headDim]
  std::optional<RecordedArray> k;  ///< [kvHeads, m, headDim]; kvHeads divides heads
  std::optional<RecordedArray> v;  ///< [kvHeads, m, headDim]
};

/// One head's weights as they were recorded, and how far they are from a softmax's.
struct RecordedWeights {
  Matrix weights;                   ///< [n, m], each 0 to 1
  float leastSum = 1, mostSum = 1;  ///< of the rows; both 0 are rows without a key
};

/// Attention that another program computed and saved: safetensors, .npz or .npy with attention
/// [layers, heads, n, m], [heads, n, m] or [n, m], or one array a layer, by the names of recorded_names.h, a
/// batch axis of 1 allowed; optionally q, k and v in the same ways. Read layer by layer and head by head,
/// when they are asked for, so that a file may be much larger than memory. Copies share the file; several
/// threads may read at once.
///
/// Encoder, decoder and cross attention in one file are groups, of which one is read.
///
/// Tokens are in the metadata under "tokens" (and "query_tokens" where queries are another text's; of a file
/// with several groups "encoder_tokens" and "decoder_tokens"), or beside
/// the file, under its name with .tokens.json, .json, .tokens.txt or .txt, or as tokens.json or tokens.txt: a
/// JSON list of texts, an object with such a list, or text, a token a line, else a token a word.
class RecordedAttention {
 public:
  /// Reads headers and tokens. Errors, each in one sentence: those of TensorSource; no attention; two arrays
  /// for the same; shapes and types that aren't read or don't fit together; as many layers, heads or tokens
  /// as can't be shown; tokens that are not as many as keys; a group that isn't there. Of several groups the
  /// one that is asked for, and the first where `group` is "".
  static Result<RecordedAttention> open(const std::filesystem::path& path, const std::string& group = "");

  const std::filesystem::path& path() const { return path_; }
  /// What the file has attention of, as its names say: "encoder", "decoder", "cross", and "attention" where
  /// some don't say; {""} where none do.
  const std::vector<std::string>& groups() const { return groups_; }
  const std::string& group() const { return group_; }
  /// At least one, ascending by number; all have as many queries and as many keys.
  const std::vector<RecordedLayer>& layers() const { return layers_; }
  Index queries() const { return layers_[0].attention.rows; }
  Index keys() const { return layers_[0].attention.cols; }
  /// [n] and [m]; their places, "0", "1", …, where the file says none.
  const std::vector<std::string>& queryTokens() const { return queryTokens_; }
  const std::vector<std::string>& keyTokens() const { return keyTokens_; }
  bool hasTokens() const { return hasTokens_; }
  /// Of a file with several groups: why its list of tokens isn't this group's, as "tokens: holds 9 tokens,
  /// expected 5"; "" where it is, or there is none.
  const std::string& unfitTokens() const { return unfitTokens_; }
  /// Where the file says no tokens and they can only be an image's patches, a square of them, perhaps after
  /// one class token: the patches along a side; they are named by row and column. Else 0.
  Index patchSide() const { return patchSide_; }

  /// One head's weights; `layer` counts the layers there are. Errors: values that aren't finite, below 0 or
  /// above 1 (scores, before the softmax), too little memory, a file that became shorter.
  Result<RecordedWeights> readWeights(Index layer, Index head) const;
  /// One head of a layer's q, k or v, [n or m, headDim]. Errors: values that aren't finite, and as above.
  Result<Matrix> readArray(const RecordedArray& array, Index head) const;

 private:
  RecordedAttention(std::filesystem::path path, TensorSource file)
      : path_(std::move(path)), file_(std::move(file)) {}
  Status readTokens();
  Status readTokensBeside();
  void namePatches();
  /// The first of the texts of that name in the metadata, after its name; null where there is none.
  const std::pair<const std::string, std::string>* said(std::initializer_list<const char*> names) const;
  /// `list`: what the list is called in the file or beside it.
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
