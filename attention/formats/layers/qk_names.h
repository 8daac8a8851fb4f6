#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "attention/formats/tensor_names.h"

namespace headscope::attention {

/// What a tensor's name says: which of the two it is, and of which layer.
struct QkName {
  TensorRole role;    ///< queries or keys
  std::string layer;  ///< the name without its role, "model.layers.3.self_attn"; empty where nothing is left
};

/// Reads names by which queries and keys, or a cache of keys, are saved, in any case:
/// q, query, queries, query_states, q_states; k, key, keys, key_states, k_states, key_cache, k_cache.
/// The layer stands in front ("layers.3.q", "past_key_values.3.key", "layer3/k", "layer_3_q") or is a number
/// behind ("key_cache.3", "k_3"). Names of weights ("q_proj.weight", "W_q") are neither.
std::optional<QkName> qkNameOf(std::string_view tensor);

}  // namespace headscope::attention
