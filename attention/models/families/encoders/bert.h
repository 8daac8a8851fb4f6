#pragma once

#include "attention/models/families/fields.h"

namespace headscope::attention::families {

/// Reads what BERT and RoBERTa share: no causal mask unless it is a decoder, LayerNorm after each part,
/// learned positions from row `firstPosition` on, and token types.
void readBertFields(const ConfigReader& json, Index firstPosition, ModelConfig& config);
extern const ConfigFields kBertFields;

inline constexpr TensorNames kBertNames{.embedding = "embeddings.word_embeddings",
                                        .positions = "embeddings.position_embeddings",
                                        .tokenTypes = "embeddings.token_type_embeddings",
                                        .embeddingNorm = "embeddings.LayerNorm",
                                        .layer = "encoder.layer.N.",
                                        .q = "attention.self.query",
                                        .k = "attention.self.key",
                                        .v = "attention.self.value",
                                        .o = "attention.output.dense",
                                        .up = "intermediate.dense",
                                        .down = "output.dense",
                                        .attentionNorm = "attention.output.LayerNorm",
                                        .mlpNorm = "output.LayerNorm",
                                        .head = "cls.predictions.decoder",
                                        .headDense = "cls.predictions.transform.dense",
                                        .headNorm = "cls.predictions.transform.LayerNorm",
                                        .headBias = "cls.predictions.bias"};

}  // namespace headscope::attention::families
