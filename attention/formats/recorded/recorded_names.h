#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "attention/formats/tensor_names.h"

namespace headscope::attention {

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

}  // namespace headscope::attention
