#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attention/core/result.h"
#include "attention/core/tensor.h"
#include "attention/formats/tensor_source.h"

namespace headscope::attention {

/// What recorded weights are that a softmax's never are. Half precision is allowed for.
struct WeightFaults {
  std::uint64_t all = 0;                                 ///< weights examined
  std::uint64_t notFinite = 0, negative = 0, above = 0;  ///< weights: NaN or infinite, below 0, above 1
  std::uint64_t rows = 0;                                ///< rows whose sum is neither 1 nor 0
  float least = 0, most = 0;                             ///< of the finite weights, and 0
  /// Sums of the rows whose weights are finite and don't sum to 0.
  float minSum = std::numeric_limits<float>::infinity(), maxSum = -minSum;

  void add(const WeightFaults& other);
  /// The ends of a scale around 0 that holds all weights, if some are negative; otherwise 0.
  float aroundZero() const { return negative == 0 ? 0 : most > -least ? most : -least; }
  /// What was found with the likeliest cause, in sentences; "" if nothing was.
  std::string describe() const;
};
/// Whether a weight lies above 1 by more than rounding.
constexpr bool isAboveOne(float weight) {
  return weight > 1.01F;
}

/// Returns the weights, [n, m], as they are drawn on a scale from 0 to 1: those above 1 as NaN, which has its
/// own colour.
Matrix markedWeights(const Matrix& weights);

/// Examines one head's weights, [n, m].
WeightFaults faultsOf(const Matrix& weights);

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
/// heads, n, m], [heads, n, m] or [n, m], or one array per layer, named as for recordedNameOf(), with an
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
  /// Whether the tokens are numbers: ids of a tokenizer.
  bool hasIds() const { return hasIds_; }
  /// Names each id by what `text` returns, without the mark of a space before it; ids without a text stay.
  void nameIds(const std::function<std::optional<std::string>(Index id)>& text);
  void note(std::string sentence) { notes_.push_back(std::move(sentence)); }
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
  /// Notes that names of tensors or metadata speak of attention sinks, if there are q and k.
  void noteSinks();
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
  bool hasTokens_ = false, hasIds_ = false;
  std::string unfitTokens_;
  std::vector<std::string> notes_;
  Index patchSide_ = 0;
};

/// The layers of one kind of attention: a model's encoder, its decoder, or cross-attention between them.
struct RecordedLayers {
  std::string group;                  ///< "" for the only group in a file if the names don't say
  std::vector<RecordedLayer> layers;  ///< at least one, ascending; all with the same queries and keys
  std::vector<std::string> notes;     ///< what was assumed or left out, a sentence each
};

/// Finds recorded attention by the names and shapes of a file's tensors; ignores other tensors. Returns at
/// least one group, in the order unnamed, encoder, decoder, cross. Same errors as RecordedAttention::open(),
/// prefixed by `name`.
Result<std::vector<RecordedLayers>> findRecordedLayers(const SafetensorsHeader& header,
                                                       const std::string& name);

/// Which part of a model attention belongs to; `only` if the name doesn't say.
enum class RecordedGroup { only, encoder, decoder, cross };
/// Returns "", "encoder", "decoder" or "cross".
std::string_view groupName(RecordedGroup group);

/// What the name of a recorded array says: its role, layer and group.
struct RecordedName {
  TensorRole role;
  std::optional<Index> layer;  ///< nullopt: all layers, or the only one
  RecordedGroup group = RecordedGroup::only;
  std::optional<Index> step = {};  ///< of generate(): the rows of one new token
  bool tokensFirst = false;        ///< TransformerLens's hook_q, hook_k and hook_v: [n, heads, headDim]
};

/// Parses names under which programs save attention (after the softmax), queries, keys and values, in any
/// case (see tensorRoleOf()), also with hook_ before them. The layer is the number with the first word that
/// counts layers ("layers.3.attention", "layer3_attn", Flax's "layers_3/attention/attention_weights/0"), else
/// a number after the role ("attention.3", "attn_weights_3", "attn3", "kq_soft_max-3"), else the last number
/// before it; NumPy's "arr_3" is attention of layer 3. A step is a number with the word step
/// ("attentions.step2.layer3"). The group is a word before the role ("encoder_attentions",
/// "cross_attentions", "decoder.layers.0.self_attn.weights"); a decoder's encoder_attn, crossattention,
/// EncDecAttention and multihead_attn are cross-attention.
std::optional<RecordedName> recordedNameOf(std::string_view tensor);

/// Parses the tokens of recorded attention from metadata or a file: a JSON list of texts or ids, an
/// object with such a list under "tokens" or "input_ids", or text with one token per line if that yields
/// `expected`, else one per word. Drops the mark of a space before a word ("Ġ", "▁"). Returns an Error,
/// prefixed by `name`, unless there are `expected` tokens; messages call them `what`.
Result<std::vector<std::string>> parseTokens(const std::string& text, Index expected, const std::string& what,
                                             const std::string& name);

}  // namespace headscope::attention
