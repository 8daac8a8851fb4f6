#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "attention/formats/tensor_names.h"

namespace headscope::attention {

/// Whose attention it is, where a model has more than one. `only` where a name doesn't say.
enum class RecordedGroup { only, encoder, decoder, cross };
/// "", "encoder", "decoder" or "cross".
std::string_view groupName(RecordedGroup group);

/// What the name of a recorded array says: what it is, and of which layer.
struct RecordedName {
  TensorRole role;
  std::optional<Index> layer;  ///< nothing: of all, or of the only one
  RecordedGroup group = RecordedGroup::only;
};

/// Reads names by which programs save attention (after the softmax), queries, keys and values, in any case,
/// see tensorRoleOf(); each also with hook_ before it. The layer is a number after them ("attention.3",
/// "attn_weights_3", "attn3"), before them in the same word
/// ("layer3_attn"), or the last one before ("layers.3.attention", "blocks.3.attn.hook_pattern"); NumPy's
/// "arr_3" is attention of layer 3. The group is a word in front ("encoder_attentions", "cross_attentions",
/// "decoder.layers.0.self_attn.weights"); what a decoder's encoder_attn, crossattention, EncDecAttention or
/// multihead_attn has is cross-attention.
std::optional<RecordedName> recordedNameOf(std::string_view tensor);

}  // namespace headscope::attention
