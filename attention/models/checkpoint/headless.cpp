#include "attention/models/checkpoint/headless.h"

#include <fmt/core.h>

namespace headscope::attention {
namespace {

/// Whether a transformers class has a head over the vocabulary: "LlamaForCausalLM", "GPT2LMHeadModel".
bool predictsTokens(std::string_view architecture) {
  for (const std::string_view end : {"ForCausalLM", "LMHeadModel", "DoubleHeadsModel", "ForMaskedLM",
                                     "ForPreTraining", "ForConditionalGeneration"})
    if (architecture.ends_with(end)) return true;
  return false;
}

}  // namespace

std::string whyHeadless(const TensorNames& names, const ModelConfig& config,
                        const std::function<bool(const std::string&)>& has) {
  if (config.picture)
    return names.classifier.empty()
               ? "No predictions: this vision tower outputs an embedding, not classes."
               : fmt::format("No predictions: the file has no {}.weight, the map to classes.",
                             names.classifier);
  const std::string dense(names.headDense), head(names.head), bias(names.headBias);
  if (config.group == HeadGroup::encoder)
    return "No predictions: this is the model's encoder, and its decoder predicts.";
  const bool own = has(head + ".weight");
  if (!dense.empty() && !has(dense + ".weight"))
    return fmt::format("No predictions: the file has no {}.weight, the language-model head.", dense);
  if (!bias.empty() && !has(bias) && !has(head + ".bias"))
    return fmt::format("No predictions: the file has no {}, the language-model head's bias.", bias);
  if (dense.empty() && !own && !config.architecture.empty() && !predictsTokens(config.architecture))
    return fmt::format("No predictions: the checkpoint is a {}, which has no language-model head.",
                       config.architecture);
  if (!own && !config.tied)
    return fmt::format(
        "No predictions: the file has no {}.weight, and config.json doesn't tie the head to the embedding.",
        head);
  if (config.isBidirectionalDecoder())
    return "No predictions: attention is bidirectional, so each token already sees the next one.";
  return "";
}

}  // namespace headscope::attention
