#pragma once

#include "attention/models/families/fields.h"

namespace headscope::attention::families {

/// Sizes as ViT's configuration and its descendants' spell them; those of the MLP are the caller's.
void readVitSizes(const ConfigReader& json, Index patch, double epsilon, ModelConfig& config);
extern const ConfigFields kVitFields;
/// The names of a classifier's classes, from id2label or else num_labels: "LABEL_0", …, two where neither
/// says more.
void readClasses(const ConfigReader& json, ModelConfig& config);

inline constexpr TensorNames kVitNames{.patches = "embeddings.patch_embeddings.projection",
                                       .leadingTokens = {"embeddings.cls_token"},
                                       .picturePositions = "embeddings.position_embeddings",
                                       .layer = "encoder.layer.N.",
                                       .q = "attention.attention.query",
                                       .k = "attention.attention.key",
                                       .v = "attention.attention.value",
                                       .o = "attention.output.dense",
                                       .up = "intermediate.dense",
                                       .down = "output.dense",
                                       .attentionNorm = "layernorm_before",
                                       .mlpNorm = "layernorm_after",
                                       .finalNorm = "layernorm",
                                       .classifier = "classifier"};

}  // namespace headscope::attention::families
