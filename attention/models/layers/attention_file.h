#pragma once

#include "attention/core/attention.h"
#include "attention/models/layers/layer_reader.h"

namespace headscope::attention {

/// Reads only the layer: its projections, under attend's tensor names or those of PyTorch models
/// (layer_reader.h; the option `layer` picks one of several), and the config, from metadata overridden by
/// `options`. Infers sizes missing from the metadata if the shapes allow it; reads no other tensors. Returns
/// an Error, prefixed by `name`, for NaN or infinite values and for tensors that together exceed `budget`
/// bytes.
Result<AttentionProblem> readLayer(const TensorSource& file, const AttentionOptions& options,
                                   const std::string& name,
                                   std::uint64_t budget = std::numeric_limits<std::uint64_t>::max());
/// Reads the layer and its input: x, context, masks (mask_file.h), key_lengths. Also returns an Error for
/// NaN or infinite inputs, except −inf in an additive mask, and for unknown tensors and options, except
/// `expect.*`, `snapshot.*` and the results of an earlier run.
Result<AttentionProblem> readProblem(const TensorSource& file, const AttentionOptions& options,
                                     const std::string& name,
                                     std::uint64_t budget = std::numeric_limits<std::uint64_t>::max());

/// Checks before solve() that the results of `problem` fit into `bytes`. The error says how much they need.
Status checkBudget(const AttentionProblem& problem, std::uint64_t bytes);

/// Runs attention on every sequence of the batch.
std::vector<AttentionResult> solve(const AttentionProblem& problem);

/// Checks for overflow, which finite inputs can still cause. The error names the first array that holds NaN,
/// an infinite value, or a score of −inf for a visible key.
Status checkFinite(const AttentionProblem& problem, const std::vector<AttentionResult>& results);

/// Returns the names of the arrays in a result.
std::vector<std::string_view> resultNames();
/// Returns q, k, v, scores, weights, lse, head_output and output as F32, with a leading batch axis if
/// `batched`. All results must have the same shapes.
SafetensorsFile resultFile(const std::vector<const AttentionResult*>& results, bool batched);
SafetensorsFile resultFile(const std::vector<AttentionResult>& results, bool batched);

/// What a tensor's name says: its role and its layer.
struct QkName {
  TensorRole role;    ///< queries or keys
  std::string layer;  ///< the name without the role, "model.layers.3.self_attn"; may be empty
};

/// Parses names under which queries, keys or key caches are saved, in any case: q, query, queries,
/// query_states, q_states; k, key, keys, key_states, k_states, key_cache, k_cache. The layer precedes the
/// role ("layers.3.q", "past_key_values.3.key", "layer3/k", "layer_3_q") or is a number after it
/// ("key_cache.3", "k_3"). Returns nullopt for other names, including those of weights ("q_proj.weight",
/// "W_q").
std::optional<QkName> qkNameOf(std::string_view tensor);

struct SafetensorsHeader;

/// A tensor that stores its heads consecutively, each [tokens, headDim] and row-major.
struct QkTensor {
  std::string name;
  DType dtype = DType::F32;
  std::vector<std::uint64_t> shape;
  Index heads = 0, tokens = 0, headDim = 0;
};

/// The queries and keys of one layer in a file.
struct QkLayer {
  std::string name;  ///< the layer's name in the file ("layers.3"); empty if it has none
  QkTensor q, k;
  bool queriesFromKeys = false;  ///< a cache dump: the file has no queries, q is k and keys attend to keys

  /// Sizes come from the tensors, everything else from the metadata, named as in AttentionOptions ("causal":
  /// "true", "scale": "0.125"). "rope_theta" means that q and k still need rotation. By default, a cache dump
  /// is causal, and queries fewer than keys belong to the last tokens (cacheLength = keys − queries).
  AttentionConfig config;
  PlainRules rules;  ///< causal, window and sinks

  Index queries() const { return q.tokens; }
  Index keys() const { return k.tokens; }
};

/// Finds tensors by name (qkNameOf), each [tokens, headDim], [heads, tokens, headDim] or [1, heads, tokens,
/// headDim] of F32, F16, BF16 or F64, within tensor.h; ignores other tensors. Returns at least one layer,
/// in natural order ("layers.9" before "layers.10"). Returns an Error, prefixed by `name`, if there are no
/// keys, queries without keys, or two tensors for the same role, or if types, shapes or options don't match.
Result<std::vector<QkLayer>> findQkLayers(const SafetensorsHeader& header, const std::string& name);

/// Queries and keys in a tensor file (see TensorSource), read head by head, so a file may be much larger than
/// memory. findQkLayers() decides which tensors they are. Move-only. Thread-safe.
class QkFile {
 public:
  /// Reads only the header and allocates nothing for heads. Returns the errors of TensorSource and
  /// findQkLayers(), each in one sentence.
  static Result<QkFile> open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  /// The file's layers, at least one.
  const std::vector<QkLayer>& layers() const { return layers_; }

  /// Reads a head's queries, [queries, headDim]; its keys if queriesFromKeys. Takes the memory of one head
  /// and a small buffer. Returns an Error for a value that isn't finite as a float, too little memory, or a
  /// file that became shorter. Throws std::invalid_argument if there is no such layer or head.
  Result<Matrix> readQueries(Index layer, Index head) const;
  /// Reads a kv head's keys, [keys, headDim], otherwise like readQueries(). config.kvHeadOf(h) is the kv head
  /// of query head h.
  Result<Matrix> readKeys(Index layer, Index kvHead) const;

 private:
  QkFile(std::filesystem::path path, TensorSource tensors, std::vector<QkLayer> layers)
      : path_(std::move(path)), tensors_(std::move(tensors)), layers_(std::move(layers)) {}
  const QkLayer& layerAt(Index layer) const;
  Result<Matrix> readHead(const QkTensor& tensor, Index head) const;

  std::filesystem::path path_;
  TensorSource tensors_;
  std::vector<QkLayer> layers_;
};

}  // namespace headscope::attention
