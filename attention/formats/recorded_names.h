#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "attention/core/tensor.h"

namespace headscope::attention {

enum class RecordedRole { attention, queries, keys, values };

/// What the name of a recorded array says: what it is, and of which layer.
struct RecordedName {
  RecordedRole role;
  std::optional<Index> layer;  ///< nothing: of all, or of the only one
};

/// Reads names by which programs save attention (after the softmax), queries, keys and values, in any case:
/// attention, attentions, attn, attn_weights, attention_weights, attention_probs, weights, pattern, array;
/// q, query, queries; k, key, keys; v, value, values; each also with hook_ before it or _states behind it.
/// The layer is a number behind ("attention.3", "attn_weights_3") or the last one before
/// ("layers.3.attention", "blocks.3.attn.hook_pattern").
std::optional<RecordedName> recordedNameOf(std::string_view tensor);

}  // namespace headscope::attention
