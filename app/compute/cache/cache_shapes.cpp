#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "app/compute/cache/cache_study_parts.h"
#include "app/compute/layer/layer_inputs.h"
#include "app/compute/layer/layer_stack.h"
#include "app/scene/model_fit.h"
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

/// Returns the layer with one kv head per head, from the same seeds. Returns the layer itself if it already
/// has them or its weights come from a file or a model.
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

/// Counts the parameters of latent attention: queries (both parts), latent and rotary key, keys and values
/// from the latent, and output (DeepSeek-AI 2024, DeepSeek-V2, section 2.1, without the latent of queries).
std::uint64_t latentParameters(const AttentionConfig& config, Index latent, Index rotary) {
  const Index d = config.modelDim, queries = config.heads * config.headDim;
  if (config.latentDim > 0)  // headDim includes the rotary part
    return static_cast<std::uint64_t>(d * queries + d * config.heads * config.valueSize() +
                                      d * (latent + rotary) +
                                      latent * config.heads * (config.headDim - rotary + config.valueSize()));
  const Index keysAndValues = 2 * config.kvHeads * config.headDim;
  return static_cast<std::uint64_t>(2 * d * queries + d * config.heads * rotary + d * (latent + rotary) +
                                    latent * keysAndValues);
}

/// Returns `most`, `between` if it lies strictly between and divides `most`, and 1: descending, without
/// duplicates.
std::vector<Index> shapesOf(Index most, Index between) {
  std::vector<Index> shapes{most};
  if (between > 1 && between < most && most % between == 0) shapes.push_back(between);
  if (most > 1) shapes.push_back(1);
  return shapes;
}

}  // namespace

std::vector<Index> mergesBetween(Index most) {
  std::vector<Index> between = divisors(most);
  std::erase_if(between, [&](Index kvHeads) { return kvHeads == 1 || kvHeads == most; });
  return between;
}

Index mergedKvHeads(const Setup& setup, const AttentionConfig& config, Index merged) {
  const bool made = !setup.subject.opened && setup.weights.source != WeightSource::file;
  const std::vector<Index> between = mergesBetween(made ? config.heads : config.kvHeads);
  const Index wanted = made ? config.kvHeads : merged;
  if (std::find(between.begin(), between.end(), wanted) != between.end()) return wanted;
  return between.empty() ? 0 : between.back();
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
  const std::vector<Index> kvHeads = shapesOf(config.kvHeads, question.kvHeads);
  const Index head = std::clamp<Index>(question.head, 0, config.heads - 1);
  ShapesStudy study;
  const Index rows = pooledSide(exact.scores.rows()), cols = pooledSide(exact.scores.cols());
  study.weights = Stack(std::ssize(kvHeads) + 1, rows, cols);
  const auto name = [&](Index kvHeads) {
    return std::string(kvHeads == config.heads ? "MHA" : kvHeads == 1 ? "MQA" : "GQA");
  };
  const auto put = [&](ShapeCase one, const AttentionResult& result) {
    if (stop.stop_requested()) return;
    one.output = outputError(exact.headOutput, result.headOutput);
    Matrix picture = result.weights[head];
    for (Index row = 0; row < picture.rows(); ++row)
      for (Index col = 0; col < picture.cols(); ++col)
        if (exact.scores.at(head, row, col) == -std::numeric_limits<float>::infinity())
          picture(row, col) = render::kMaskedCell;
    intoPicture(picture, study.weights, std::ssize(study.cases));
    study.cases.push_back(std::move(one));
  };
  for (const Index count : kvHeads) {
    if (stop.stop_requested()) break;
    AttentionConfig shape = config;
    shape.kvHeads = count;
    ShapeCase one;
    one.name = name(count);
    one.kvHeads = count;
    one.numbersPerToken = count * (config.headDim + config.valueSize());
    one.parameters = attention::parameterCount(shape, false);
    put(std::move(one), count == config.kvHeads
                            ? exact
                            : attendAgain(sequence, config, attention::mergedByMean(mha.k, count),
                                          attention::mergedByMean(mha.v, count), stop));
  }
  ShapeCase mla;
  mla.name = "MLA";
  if (config.latentDim > 0) {  // the model's own
    mla.latent = config.latentDim;
    mla.rotary = config.rotaryDim;
    mla.numbersPerToken = mla.latent + mla.rotary;
    mla.parameters = latentParameters(config, mla.latent, mla.rotary);
    put(std::move(mla), exact);
  } else if (auto heads =
                 attendLatent(*full, question.sequence, question.latent, question.rotary, resources, stop)) {
    mla.latent = heads->latent;
    mla.rotary = heads->rotary;
    mla.numbersPerToken = heads->latent + heads->rotary;
    mla.parameters = latentParameters(config, heads->latent, heads->rotary);
    put(std::move(mla), heads->result);
  } else {
    mla.missing = heads.error().message;
    study.weights[std::ssize(study.cases)].setConstant(render::kMaskedCell);
    study.cases.push_back(std::move(mla));
  }
  if (stop.stop_requested()) return Error{"stopped"};
  study.memory = pictureMemory({&study.weights}, resources);
  return study;
}

}  // namespace headscope::app
