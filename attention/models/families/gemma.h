#pragma once

#include "attention/models/families/fields.h"

namespace headscope::attention::families {

/// Reads what Gemma 1, 2 and 3 share: Llama's sizes, a separate head size, norms with 1 + w, embeddings times
/// √d. Bidirectional if use_bidirectional_attention is true.
void readGemmaSizes(const ConfigReader& json, ModelConfig& config, const LlamaDefaults& defaults);
extern const ConfigFields kGemmaFields;

/// Gemma 2 and 3: a norm before and after each part.
constexpr TensorNames kGemmaNames = [] {
  TensorNames names = kLlamaNames;
  names.afterAttentionNorm = "post_attention_layernorm";
  names.mlpNorm = "pre_feedforward_layernorm";
  names.afterMlpNorm = "post_feedforward_layernorm";
  return names;
}();

}  // namespace headscope::attention::families
