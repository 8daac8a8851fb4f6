#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "attention/formats/tensor_names.h"

namespace headscope::attention {

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

}  // namespace headscope::attention
