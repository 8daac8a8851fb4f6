#include "app/compute/kept_inputs.h"

#include <optional>
#include <utility>

namespace headscope::app {

using attention::Projections;
using attention::Result;

namespace {

/// Embeddings of a larger batch are made anew: they would hold memory that the next batch may need.
constexpr std::size_t kMostKeptBytes = std::size_t{256} << 20;

/// Everything that random and planted weights are drawn from. Nothing that acts on scores is a part of it.
struct WeightsKey {
  Index modelDim = 0, heads = 0, kvHeads = 0, headDim = 0;
  WeightSetup weights;
  std::vector<attention::PlantedHead> planted;
  bool bias = false, plantedEmbedding = false;
  Index longest = 0;
  bool operator==(const WeightsKey&) const = default;
};

WeightsKey weightsKey(const Setup& setup, Index longest) {
  const ModelSetup& model = setup.model;
  WeightsKey key{model.modelDim,
                 model.heads,
                 model.kvHeads,
                 model.headDim,
                 setup.weights,
                 {},
                 model.bias,
                 usesPlantedEmbedding(setup),
                 0};
  if (setup.weights.source == WeightSource::planted) {
    key.planted = plantedHeads(setup);
    key.longest = longest;
  }
  return key;
}

/// Everything that embeddings are drawn from.
struct InputsKey {
  InputSetup input;
  Index modelDim = 0;
  bool sinusoidal = false, planted = false;
  bool operator==(const InputsKey&) const = default;
};

std::size_t bytesOf(const std::vector<LineInput>& inputs) {
  std::size_t floats = 0;
  for (const LineInput& input : inputs)
    floats += static_cast<std::size_t>(input.x.size() + input.context.size());
  return floats * sizeof(float);
}

/// One value and what it was made from.
template <typename Key, typename Value>
struct Kept {
  Key key;
  std::shared_ptr<const Value> value;
};

}  // namespace

Result<std::shared_ptr<const Projections>> keptProjections(const Setup& setup, Index longest) {
  thread_local std::optional<Kept<WeightsKey, Projections>> kept;
  const bool fromFile = setup.weights.source == WeightSource::file;  // which may change behind our back
  WeightsKey key = weightsKey(setup, longest);
  if (!fromFile && kept && kept->key == key) return kept->value;
  kept.reset();
  Result<Projections> built = buildProjections(setup, longest);
  if (!built) return built.error();
  auto value = std::make_shared<const Projections>(*std::move(built));
  if (!fromFile) kept = {std::move(key), value};
  return value;
}

Result<std::shared_ptr<const std::vector<LineInput>>> keptInputs(const Setup& setup,
                                                                 const std::vector<LineTokens>& lines) {
  thread_local std::optional<Kept<InputsKey, std::vector<LineInput>>> kept;
  InputsKey key{setup.input, setup.model.modelDim, setup.model.position == PositionKind::sinusoidal,
                usesPlantedEmbedding(setup)};
  if (kept && kept->key == key) return kept->value;
  kept.reset();
  std::vector<LineInput> inputs;
  for (const LineTokens& line : lines) {
    Result<LineInput> input = embedLine(setup, line);
    if (!input) return input.error();
    inputs.push_back(*std::move(input));
  }
  auto value = std::make_shared<const std::vector<LineInput>>(std::move(inputs));
  if (bytesOf(*value) <= kMostKeptBytes) kept = {std::move(key), value};
  return value;
}

}  // namespace headscope::app
