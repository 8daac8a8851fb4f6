#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/config.h"
#include "attention/core/mask.h"
#include "attention/core/projections.h"
#include "attention/formats/safetensors.h"
#include "attention/formats/tensor_source.h"
#include "attention/masks/plain_rules.h"
#include "attention/models/layers/layer_extras.h"

namespace headscope::attention {

/// Names of one layer's projections in a program, without ".weight" and ".bias".
struct LayerSpelling {
  std::string_view q = {}, k = {}, v = {};
  std::string_view qkv = {};  ///< the fused projection, instead of q, k and v
  FusedRows fused = FusedRows::thirds;
  std::string_view o = {};
  char ending = '.';  ///< separator before "weight" and "bias" of q, k, v or qkv
  /// Conv1D weights are [in, out], Linear weights of the same name [out, in]; the shapes tell them apart.
  bool mayBeConv1D = false;

  /// The fused projection or, without one, that of the queries.
  std::string_view first() const { return qkv.empty() ? q : qkv; }
  /// Returns the tensor name of a projection, without the layer's prefix: "in_proj_weight", "c_attn.weight".
  std::string weight(std::string_view map) const;
  std::string bias(std::string_view map) const;
};

/// An attention layer in a file. Its tensors are named `prefix` plus the spelling's names.
struct LayerPlace {
  std::string prefix;                       ///< "transformer.h.3.attn."; may be empty
  std::optional<Index> number;              ///< 3: the last number in the prefix
  const LayerSpelling* spelling = nullptr;  ///< never null; static
};

/// Returns all attention layers of a file, by number, then in natural order of the names. Empty if there are
/// none.
std::vector<LayerPlace> findLayers(const SafetensorsHeader& header);
/// Returns the layer with this number; without a number, the only layer or the one without a prefix. Errors,
/// prefixed by `name`, list the layers in the file.
Result<LayerPlace> chooseLayer(const SafetensorsHeader& header, std::optional<Index> number,
                               const std::string& name);

/// An attention layer and its input, as read by `headscope attend`.
struct AttentionProblem {
  AttentionConfig config;
  PlainRules rules;                ///< causal, window and sinks; `masks` includes them
  Projections projections;         ///< of multi-head latent attention only the output's
  LayerExtras extras;              ///< what `config` doesn't say
  std::vector<Matrix> x;           ///< per sequence [n, modelDim]
  std::vector<Matrix> context;     ///< per sequence [m, modelDim]; empty for self-attention
  std::vector<MaskInput> masks;    ///< per sequence
  bool batched = false;            ///< whether x has a batch axis; the output then has one
  std::vector<std::string> notes;  ///< how ambiguous masks and positions were interpreted
};

/// Options by name, as in a file's metadata (heads, kv_heads, head_dim, layer, causal, window, sinks,
/// cache_length, rope_theta, rotary_dim, rope_interleaved, rope_scaling, max_positions, qk_norm,
/// norm_epsilon, norm_plus_one, t5_max_distance, t5_bidirectional, alibi, softcap, scale, dropout,
/// dropout_seed), with Python's True, False and None.
using AttentionOptions = std::map<std::string, std::string>;

/// The parsed options. Sizes are separate because missing ones are inferred from the tensors' shapes.
struct ParsedOptions {
  AttentionConfig config;
  PlainRules rules{.causal = false, .padding = false};  ///< padding is false; it isn't an option
  std::optional<Index> heads, kvHeads, headDim;
  std::optional<Index> layer;  ///< which layer of the file
  bool causalGiven = false, cacheGiven = false;
  // What LayerExtras reads.
  std::optional<Index> rotaryDim, maxPositions, t5MaxDistance;
  std::optional<bool> interleaved, t5Bidirectional;
  std::optional<bool> layerNorm;  ///< qk_norm: "layer" instead of "rms"
  std::optional<double> normEpsilon;
  bool normPlusOne = false;         ///< norms multiply by 1 + weight
  std::string ropeScaling;          ///< rope_scaling of a config.json, JSON
  std::string_view rotationOption;  ///< the first given option that describes a rotation; empty: none
  std::string_view extrasOption;    ///< the first given option of all these; empty: none
  /// Success, or an Error for the first name that is neither an option nor a description of the file.
  Status known = success();
};

/// Parses metadata overridden by `options`; an empty text or "None" leaves an option out. Unknown names are
/// only reported in `known`: a file that holds more than a layer may have other metadata.
Result<ParsedOptions> parseOptions(const AttentionOptions& metadata, const AttentionOptions& options,
                                   const std::string& name);

/// Reads `mask`, PyTorch's and Hugging Face's `attn_mask`, `key_padding_mask` and `attention_mask`, and
/// `key_lengths`, which all apply together, and gives every sequence of `problem` its mask over `queries` and
/// `keys`. x and the rules must already be set. Adds notes about how masks of other programs were read.
Status readMasks(TensorReader& reader, Index queries, Index keys, AttentionProblem& problem);

/// Returns a tensor's whole numbers, each from 0 to `most`. Requires that the file has the tensor.
Result<std::vector<Index>> readIndices(TensorReader& reader, const std::string& tensor, Index most);

/// Reads the config and the projections of the layer chosen by the options and, with `extras`, what else
/// changes its attention; without, a layer that has any is an Error. Splits fused projections
/// (core/projections.h) and transposes Conv1D weights. Messages are prefixed by `name`.
Result<AttentionProblem> readLayerTensors(TensorReader& reader, const SafetensorsHeader& header,
                                          ParsedOptions options, const std::string& name, bool extras);

}  // namespace headscope::attention
