#pragma once

#include <map>
#include <string>
#include <vector>

#include "attention/core/config.h"
#include "attention/core/mask.h"
#include "attention/core/projections.h"
#include "attention/masks/plain_rules.h"

namespace headscope::attention {

/// An attention layer and its input, as read by `headscope attend`.
struct AttentionProblem {
  AttentionConfig config;
  PlainRules rules;  ///< causal, window and sinks; `masks` includes them
  Projections projections;
  std::vector<Matrix> x;           ///< per sequence [n, modelDim]
  std::vector<Matrix> context;     ///< per sequence [m, modelDim]; empty for self-attention
  std::vector<MaskInput> masks;    ///< per sequence
  bool batched = false;            ///< whether x has a batch axis; the output then has one
  std::vector<std::string> notes;  ///< how ambiguous masks and positions were interpreted
};

/// Options by name, as in a file's metadata (heads, kv_heads, head_dim, layer, causal, window, sinks,
/// cache_length, rope_theta, alibi, softcap, scale, dropout, dropout_seed), with Python's True, False and
/// None.
using AttentionOptions = std::map<std::string, std::string>;

}  // namespace headscope::attention
