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

constexpr Index kMaxLatentModelDim = 1024;

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

/// Keys and values as they come back out of a latent of that size.
struct LatentHeads {
  Stack k, v;
};
Result<LatentHeads> throughLatent(const Snapshot& full, Index line, Index latent, Resources& resources) {
  const Setup& setup = full.setup;
  if (setup.subject.opened) return Error{"Latent attention is computed for layers that are made here."};
  const AttentionConfig& config = full.config;
  if (config.modelDim > kMaxLatentModelDim)
    return Error{fmt::format("Latent attention is computed up to model dim {}.", kMaxLatentModelDim)};
  const TokenBatch batch = tokenizeBatch(setup);
  if (batch.error || batch.lines.empty()) return Error{"There are no tokens."};
  const auto longest =
      static_cast<Index>(std::max(batch.lines.front().queries.size(), batch.lines.front().keys.size()));
  const auto projections = resources.inputs.projections(setup, longest);
  if (!projections) return projections.error();
  const auto inputs = shownInputs(setup, batch.lines, resources);
  if (!inputs) return inputs.error();
  const LineInput& input = (**inputs)[static_cast<std::size_t>(line)];
  const Matrix& x = setup.input.cross ? input.context : input.x;
  const Matrix p =
      attention::latentDirections((*projections)->k, (*projections)->v, std::min(latent, config.modelDim));
  // The latent is x·P; keys and values are made of it when they are read, and rotated then.
  const Matrix again = (x * p) * p.transpose();
  LatentHeads heads{attention::splitHeads((*projections)->k.apply(again), config.kvHeads),
                    attention::splitHeads((*projections)->v.apply(again), config.kvHeads)};
  if (config.ropeTheta)
    for (Index g = 0; g < config.kvHeads; ++g) attention::applyRope(heads.k[g], 0, *config.ropeTheta);
  return heads;
}

std::uint64_t latentParameters(const AttentionConfig& config, Index latent) {
  const Index d = config.modelDim, whole = config.heads * config.headDim;
  return static_cast<std::uint64_t>(2 * d * whole + d * latent + latent * 2 * whole);
}

}  // namespace

Result<ShapesStudy> studyShapes(const ShapesQuestion& question, Resources& resources, std::stop_token stop) {
  const auto full = fullHeads(question, resources, stop);
  if (!full) return full.error();
  if ((*full)->sequences.empty()) return Error{"There are no tokens."};
  const SequenceSnapshot& sequence = (*full)->sequences[static_cast<std::size_t>(question.sequence)];
  const AttentionResult& mha = sequence.attention;
  if (const auto fits = fitsStudy(mha); !fits) return fits.error();
  AttentionConfig config = (*full)->config;
  config.dropout = {};
  const Index most = config.kvHeads,
              between = most % std::max<Index>(question.kvHeads, 1) == 0 ? question.kvHeads : 1;
  const Index head = std::clamp<Index>(question.head, 0, config.heads - 1);
  ShapesStudy study;
  const Index rows = pooledSide(mha.scores.rows()), cols = pooledSide(mha.scores.cols());
  study.weights = Stack(4, rows, cols);
  const AttentionResult exact = attendAgain(sequence, config, mha.k, mha.v, stop);
  const auto name = [&](Index kvHeads) {
    return std::string(kvHeads == config.heads ? "MHA" : kvHeads == 1 ? "MQA" : "GQA");
  };
  const auto put = [&](std::size_t at, ShapeCase one, const AttentionResult& result) {
    one.output = outputError(exact.headOutput, result.headOutput);
    Matrix picture = result.weights[head];
    for (Index row = 0; row < picture.rows(); ++row)
      for (Index col = 0; col < picture.cols(); ++col)
        if (mha.scores.at(head, row, col) == -std::numeric_limits<float>::infinity())
          picture(row, col) = render::kMaskedCell;
    intoPicture(picture, study.weights, static_cast<Index>(at));
    study.cases[at] = std::move(one);
  };
  const Index kvHeads[] = {most, between, 1};
  for (std::size_t i = 0; i < 3 && !stop.stop_requested(); ++i) {
    AttentionConfig shape = config;
    shape.kvHeads = kvHeads[i];
    ShapeCase one{name(kvHeads[i]),
                  "",
                  kvHeads[i],
                  2 * kvHeads[i] * config.headDim,
                  attention::parameterCount(shape, false),
                  {}};
    put(i, std::move(one),
        i == 0 ? exact
               : attendAgain(sequence, config, attention::mergedByMean(mha.k, kvHeads[i]),
                             attention::mergedByMean(mha.v, kvHeads[i]), stop));
  }
  const Index latent = std::min(question.latent, config.modelDim);
  ShapeCase mla{"MLA", "", 0, latent, latentParameters(config, latent), {}};
  auto heads = throughLatent(**full, question.sequence, latent, resources);
  if (!heads) {
    mla.missing = heads.error().message;
    study.cases[3] = std::move(mla);
    study.weights[3].setConstant(render::kMaskedCell);
  } else if (!stop.stop_requested()) {
    put(3, std::move(mla), attendAgain(sequence, config, std::move(heads->k), std::move(heads->v), stop));
  }
  return study;
}

}  // namespace headscope::app
