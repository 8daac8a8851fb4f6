#include "app/compute/layer/layer_weights.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "app/compute/jobs/memory_budget.h"
#include "app/compute/layer/layer_config.h"
#include "app/compute/layer/layer_file.h"
#include "app/compute/layer/layer_inputs.h"
#include "attention/core/noun.h"
#include "attention/core/random.h"
#include "attention/core/weight_init.h"
#include "attention/formats/files/regular_file.h"

namespace headscope::app {

using attention::Error;
using attention::Projections;
using attention::Result;

Index layerOfFile(const Setup& setup) {
  if (!isStack(setup)) return setup.weights.layer;
  return std::max<Index>(setup.weights.layer, 0) + shownLayer(setup);
}

std::uint64_t layerSeed(const Setup& setup) {
  const Index layer = shownLayer(setup);
  return layer == 0 ? setup.weights.seed
                    : attention::mixSeed(setup.weights.seed, static_cast<std::uint64_t>(layer));
}

static bool looksBack(const Setup& setup) {
  const auto heads = plantedHeads(setup);
  return std::ranges::find(heads, attention::PlantedHead{attention::Behaviour::offset, 1}) != heads.end();
}

bool carriedBelow(const Setup& setup) {
  for (Index below = 0; below < shownLayer(setup); ++below)
    if (looksBack(withLayer(setup, below))) return true;
  return false;
}

bool carriesPrevious(const Setup& setup) {
  return isStack(setup) && looksBack(setup) && !carriedBelow(setup);
}

Result<LayerWeights> readLayerWeights(const Setup& setup, std::uint64_t budget) {
  if (setup.weights.file.empty())
    return Error{"No weights file is chosen: open a safetensors file, or use random weights."};
  Result<attention::AttentionProblem> layer =
      readLayerFile(setup.weights.file, layerOfFile(setup), setup.model.heads, budget);
  if (!layer) return layer.error();
  return LayerWeights{layer->config, std::move(layer->projections)};
}

attention::Status checkLayer(const Setup& setup, const attention::AttentionConfig& found) {
  const ModelSetup& model = setup.model;
  if (found.modelDim == model.modelDim && found.heads * found.headDim == model.heads * model.headDim &&
      found.kvHeads * found.headDim == model.kvHeads * model.headDim)
    return attention::success();
  return Error{
      fmt::format("{} holds model dim {}, {} over {} of size {}, but the scene has model dim {}, {} over {} "
                  "of size {}. Load the file in the window to set them.",
                  attention::shownPath(std::filesystem::path(setup.weights.file).filename()), found.modelDim,
                  attention::counted(found.heads, "head"), found.kvHeads, found.headDim, model.modelDim,
                  attention::counted(model.heads, "head"), model.kvHeads, model.headDim)};
}

std::string plantedMisfit(const Setup& setup) {
  if (!usesPlantedEmbedding(setup)) return "";
  const Result<attention::EmbeddingLayout> layout = plantedLayoutOf(setup);
  if (!layout) return layout.error().message;
  for (Index layer = 0; layer < layerCount(setup); ++layer) {
    const attention::Status can =
        attention::canPlant(configOf(setup), *layout, plantedHeads(withLayer(setup, layer)));
    if (!can) return (isStack(setup) ? fmt::format("layer {}: ", layer) : "") + can.error().message;
  }
  return "";
}

Index narrowInduction(const Setup& setup) {
  if (!usesPlantedEmbedding(setup)) return 0;
  const Result<attention::EmbeddingLayout> layout = plantedLayoutOf(setup);
  if (!layout) return 0;
  const Index compared = attention::comparedByInduction(configOf(setup), *layout, plantedHeads(setup));
  return compared < attention::kEnoughCompared ? compared : 0;
}

Suits plantingSuits(const Setup& setup) {
  if (!usesPlantedEmbedding(setup)) return {};
  return [trial = setup](const ModelSetup& model) mutable {
    trial.model = model;
    return plantedMisfit(trial).empty();
  };
}

Index plantedReach(Index longest) {
  return std::max<Index>(longest, 64);
}

Result<Projections> buildProjections(const Setup& setup, Index longest) {
  const attention::AttentionConfig config = configOf(setup);
  if (setup.weights.source == WeightSource::file) {
    Result<LayerWeights> layer = readLayerWeights(setup, defaultLimits().memoryBytes);
    if (!layer) return layer.error();
    if (const attention::Status fits = checkLayer(setup, layer->config); !fits) return fits.error();
    return std::move(layer->projections);
  }
  if (setup.weights.source == WeightSource::planted) {
    Result<attention::EmbeddingLayout> layout = plantedLayoutOf(setup);
    if (!layout) return layout.error();
    return attention::plantHeads(config, *layout, plantedHeads(setup), setup.model.bias,
                                 plantedReach(longest), layerSeed(setup), carriesPrevious(setup));
  }
  const auto draw =
      setup.weights.init == WeightInit::normal ? attention::normalProjections : attention::scaledXavier;
  return draw(config, setup.model.bias, layerSeed(setup), setup.weights.gain);
}

}  // namespace headscope::app
