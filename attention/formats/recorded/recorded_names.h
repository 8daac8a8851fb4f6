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
};

/// Parses names under which programs save attention (after the softmax), queries, keys and values, in any
/// case (see tensorRoleOf()), also with hook_ before them. The layer is a number after the role
/// ("attention.3", "attn_weights_3", "attn3"), before it in the same word ("layer3_attn"), or the last one in
/// the words before ("layers.3.attention", "blocks.3.attn.hook_pattern"); NumPy's "arr_3" is attention of
/// layer 3. The group is a word before the role ("encoder_attentions", "cross_attentions",
/// "decoder.layers.0.self_attn.weights"); a decoder's encoder_attn, crossattention, EncDecAttention and
/// multihead_attn are cross-attention.
std::optional<RecordedName> recordedNameOf(std::string_view tensor);

}  // namespace headscope::attention
