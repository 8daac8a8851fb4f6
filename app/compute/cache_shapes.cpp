#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "app/compute/cache_study_parts.h"
#include "app/compute/layer_inputs.h"
#include "app/compute/made_stack.h"
#include "attention/cache/cost.h"
#include "attention/cache/latent.h"
#include "attention/cache/merge.h"
#include "attention/core/positions.h"
#include "render/heatmap.h"

namespace headscope::app {

using attention::AttentionConfig;
using attention::AttentionResult;
using attention::Error;
using attention::Matrix;
using attention::Result;
using attention::Stack;

namespace {

/// The layer with a kv head for every head, from the same seeds; the layer itself where it has them, or where
/// its weights are not made here.
Result<std::shared_ptr<const Snapshot>> fullHeads(const ShapesQuestion& question, Resources& resources,
                                                  std::stop_token stop) {
  const Snapshot& shown = *question.snapshot;
  const bool made = !shown.setup.subject.opened && shown.setup.weights.source != WeightSource::file;
  if (!made || shown.config.kvHeads == shown.config.heads) return question.snapshot;
  Setup setup = shown.setup;
  setup.model.kvHeads = setup.model.heads;
  setup.mask.compare = false;
  auto full = std::make_shared<const Snapshot>(computeSnapshot(setup, resources, stop));
  if (full->error) return Error{full->error->message};
  return full;
}

/// Queries of both parts, the latent and the rotary key, keys and values made of the latent, and the output
/// (DeepSeek-AI 2024, DeepSeek-V2, section 2.1, without the latent of queries).
std::uint64_t latentParameters(const AttentionConfig& config, Index latent, Index rotary) {
  const Index d = config.modelDim, queries = config.heads * config.headDim;
  const Index keysAndValues = 2 * config.kvHeads * config.headDim;
  return static_cast<std::uint64_t>(2 * d * queries + d * config.heads * rotary + d * (latent + rotary) +
                                    latent * keysAndValues);
}

}  // namespace

Index mergedKvHeads(const Setup& setup, Index kvHeads, Index merged) {
  if (!setup.subject.opened && setup.weights.source != WeightSource::file) return kvHeads;
  if (merged > 0 && kvHeads % merged == 0) return merged;
  return kvHeads % 2 == 0 ? kvHeads / 2 : 1;
}

Result<ShapesStudy> studyShapes(const ShapesQuestion& question, Resources& resources, std::stop_token stop) {
  const auto full = fullHeads(question, resources, stop);
  if (!full) return full.error();
  if ((*full)->sequences.empty()) return Error{"There are no tokens."};
  const SequenceSnapshot& sequence = (*full)->sequences[static_cast<std::size_t>(question.sequence)];
  const AttentionConfig& config = (*full)->config;
  const auto memory = studyMemory(config, sequence, resources, stop);
  if (!memory) return memory.error();
  const AttentionResult& mha = sequence.attention;
  const AttentionResult exact = attendAgain(sequence, config, mha.k, mha.v, stop);
  if (stop.stop_requested()) return Error{"stopped"};
  const Index most = config.kvHeads,
              between = most % std::max<Index>(question.kvHeads, 1) == 0 ? question.kvHeads : 1;
  const Index head = std::clamp<Index>(question.head, 0, config.heads - 1);
  ShapesStudy study;
  const Index rows = pooledSide(exact.scores.rows()), cols = pooledSide(exact.scores.cols());
  study.weights = Stack(4, rows, cols);
  const auto name = [&](Index kvHeads) {
    return std::string(kvHeads == config.heads ? "MHA" : kvHeads == 1 ? "MQA" : "GQA");
  };
  const auto put = [&](std::size_t at, ShapeCase one, const AttentionResult& result) {
    if (stop.stop_requested()) return;
    one.output = outputError(exact.headOutput, result.headOutput);
    Matrix picture = result.weights[head];
    for (Index row = 0; row < picture.rows(); ++row)
      for (Index col = 0; col < picture.cols(); ++col)
        if (exact.scores.at(head, row, col) == -std::numeric_limits<float>::infinity())
          picture(row, col) = render::kMaskedCell;
    intoPicture(picture, study.weights, static_cast<Index>(at));
    study.cases[at] = std::move(one);
  };
  const Index kvHeads[] = {most, between, 1};
  for (std::size_t i = 0; i < 3 && !stop.stop_requested(); ++i) {
    AttentionConfig shape = config;
    shape.kvHeads = kvHeads[i];
    ShapeCase one;
    one.name = name(kvHeads[i]);
    one.kvHeads = kvHeads[i];
    one.numbersPerToken = 2 * kvHeads[i] * config.headDim;
    one.parameters = attention::parameterCount(shape, false);
    put(i, std::move(one),
        i == 0 ? exact
               : attendAgain(sequence, config, attention::mergedByMean(mha.k, kvHeads[i]),
                             attention::mergedByMean(mha.v, kvHeads[i]), stop));
  }
  ShapeCase mla;
  mla.name = "MLA";
  if (auto heads =
          attendLatent(*full, question.sequence, question.latent, question.rotary, resources, stop)) {
    mla.latent = heads->latent;
    mla.rotary = heads->rotary;
    mla.numbersPerToken = heads->latent + heads->rotary;
    mla.parameters = latentParameters(config, heads->latent, heads->rotary);
    put(3, std::move(mla), heads->result);
  } else {
    mla.missing = heads.error().message;
    study.cases[3] = std::move(mla);
    study.weights[3].setConstant(render::kMaskedCell);
  }
  study.memory = pictureMemory({&study.weights}, resources);
  return study;
}

}  // namespace headscope::app
