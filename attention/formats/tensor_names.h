#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "attention/core/tensor.h"

namespace headscope::attention {

// Names under which programs save attention arrays. For weights see layer_names.h, for masks mask_names.h.

enum class TensorRole { attention, queries, keys, values };

/// Returns the role that a lower-case word of a name stands for. Attention after the softmax: attention,
/// attentions, attn, attns, each of attn and attention with _weight(s), _probs, _map(s) or _pattern,
/// attention_probabilities, attention_matrix, weights, pattern, array, arr, llama.cpp's kq_soft_max. Queries,
/// keys and values: q, query, queries; k, key, keys; v, value, values. Each may end in _states.
std::optional<TensorRole> tensorRoleOf(std::string_view word);
/// Splits a name at dots and slashes: "layers", "3" and "q" for "layers.3/q".
std::vector<std::string_view> splitName(std::string_view name);
/// Returns the number that a whole word is; nullopt if it isn't one.
std::optional<Index> numberInName(std::string_view word);
/// Orders names naturally: "layers.9" before "layers.10".
bool naturalLess(std::string_view a, std::string_view b);

}  // namespace headscope::attention
