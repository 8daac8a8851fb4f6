#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "attention/core/tensor.h"

namespace headscope::attention {

// What programs call the arrays of attention that they save. Weights are layer_names.h's, masks mask_names.h's.

enum class TensorRole { attention, queries, keys, values };

/// What a word of a name in lower case stands for. attention, attentions, attn, attn_weights,
/// attention_weights, attention_probs, attn_probs, weights, pattern, array and arr are attention after the
/// softmax; q, query and queries, k, key and keys, v, value and values are the layer's; each also with
/// _states at its end.
std::optional<TensorRole> tensorRoleOf(std::string_view word);
/// The words between dots and slashes: "layers", "3" and "q" of "layers.3/q".
std::vector<std::string_view> partsOfName(std::string_view name);
/// The number that all of a word is.
std::optional<Index> numberInName(std::string_view word);
/// Orders names as people count: "layers.9" before "layers.10".
bool naturallyBefore(std::string_view a, std::string_view b);

}  // namespace headscope::attention
