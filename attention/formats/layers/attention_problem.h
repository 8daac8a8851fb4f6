#pragma once

#include <map>
#include <string>
#include <vector>

#include "attention/core/config.h"
#include "attention/core/mask.h"
#include "attention/core/projections.h"
#include "attention/masks/plain_rules.h"

namespace headscope::attention {

/// An attention layer and its input as `headscope attend` reads them.
struct AttentionProblem {
  AttentionConfig config;
  PlainRules rules;  ///< causal, window and sinks; they are in `masks` too
  Projections projections;
  std::vector<Matrix> x;           ///< per sequence [n, modelDim]
  std::vector<Matrix> context;     ///< per sequence [m, modelDim]; empty for self-attention
  std::vector<MaskInput> masks;    ///< per sequence
  bool batched = false;            ///< x had a batch axis, so the output has one
  std::vector<std::string> notes;  ///< how masks and positions were read, where one could take it otherwise
};

/// Options by name as in the file's metadata (heads, kv_heads, head_dim, layer, causal, window, sinks,
/// cache_length, rope_theta, alibi, softcap, scale, dropout, dropout_seed). Python's True/False/None.
using AttentionOptions = std::map<std::string, std::string>;

}  // namespace headscope::attention
