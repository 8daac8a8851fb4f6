#pragma once

#include "attention/models/families/fields.h"

namespace headscope::attention::families {

/// Reads the sizes under ViT's names, except for the MLP's, which the caller reads.
void readVitSizes(const ConfigReader& json, Index patch, double epsilon, ModelConfig& config);
extern const ConfigFields kVitFields;
/// Reads a classifier's class names from id2label, else from num_labels: "LABEL_0", …; two if neither is
/// given.
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
