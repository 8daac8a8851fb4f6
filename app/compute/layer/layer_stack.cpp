#include "app/compute/layer/layer_stack.h"

#include <fmt/core.h>

#include "app/compute/layer/layer_inputs.h"
#include "app/compute/layer/mask_inputs.h"
#include "app/scene/text/number_text.h"

namespace headscope::app {

using attention::Error;
using attention::Matrix;
using attention::ModelConfig;
using attention::Result;

namespace {

/// Owns the memory that a stack's weights and embeddings refer to.
struct StackParts {
  std::vector<std::shared_ptr<const attention::Projections>> layers;
  std::shared_ptr<const Matrix> x;
};

ModelConfig stackConfig(const Setup& setup, Index depth) {
  const attention::AttentionConfig layer = configOf(setup);
  ModelConfig config;
  config.modelDim = layer.modelDim;
  config.heads = layer.heads;
  config.kvHeads = layer.kvHeads;
  config.headDim = layer.headDim;
  config.norm = attention::NormKind::rms;
  config.causal = false;  // the scene's masks decide
  attention::LayerKind kind;
  kind.scale = *layer.scale;
  if (layer.ropeTheta) {
    attention::Rotation& rotation = config.rotations.emplace_back();
    rotation.dims = layer.headDim;
    rotation.frequencies = attention::ropeFrequencies(layer.headDim, *layer.ropeTheta);
    kind.rotation = 0;
  }
  config.layers.assign(static_cast<std::size_t>(depth), kind);
  return config;
}

/// Returns the norm of the shown layer, with one gain for all dimensions. Planted heads expect unnormed
/// embeddings, so their gain undoes the norm's division: it counts the parts of an embedding, and the carried
/// token.
attention::NormWeights normOf(const Setup& setup) {
  if (!setup.model.norm) return {};
  float gain = 1;
  if (const auto layout = plantedLayoutOf(setup); layout && usesPlantedEmbedding(setup)) {
    const bool sinusoids = setup.model.position == PositionKind::sinusoidal;
    const Index squares = 1 + (sinusoids ? layout->positions / 2 : 0) + layout->identity +
                          (carriedBelow(setup) ? layout->previous : 0);
    gain = std::sqrt(static_cast<float>(squares) / static_cast<float>(layout->modelDim));
  }
  return {attention::Vector::Constant(setup.model.modelDim, gain), {}};
}

attention::ModelWeights weightsOf(const Setup& setup, const StackParts& parts) {
  attention::ModelWeights weights;
  weights.embedding = attention::MappedRows::of(*parts.x);
  for (const auto& layer : parts.layers) {
    const Index at = std::ssize(weights.layers);
    attention::LayerWeights& mapped = weights.layers.emplace_back();
    mapped.q = attention::MappedLinear::of(layer->q);
    mapped.k = attention::MappedLinear::of(layer->k);
    mapped.v = attention::MappedLinear::of(layer->v);
    mapped.o = attention::MappedLinear::of(layer->o);
    mapped.attentionNorm = normOf(withLayer(setup, at));
  }
  return weights;
}

/// Returns the embedding of one line of the batch, shared with the cache.
Result<std::shared_ptr<const Matrix>> embedded(const Setup& setup, const std::vector<LineTokens>& lines,
                                               std::size_t at, Resources& resources) {
  const auto inputs = resources.inputs.inputs(setup, lines);
  if (!inputs) return inputs.error();
  return std::shared_ptr<const Matrix>(*inputs, &(**inputs)[at].x);
}

/// Returns `x` after the layers below the shown one.
Result<Matrix> streamBefore(const Setup& setup, const LineTokens& line, Index sequence,
                            std::shared_ptr<const Matrix> x, Resources& resources, std::stop_token stop) {
  const Index below = shownLayer(setup);
  if (below == 0) return Matrix(*x);
  auto run = prepareStack(setup, below, line, sequence, std::move(x), resources);
  if (!run) return run.error();
  attention::PassRequest& request = run->request;
  request.layers = std::vector<Index>();
  request.weights = false;
  request.logits = attention::LogitRows::none;
  const std::uint64_t needed =
      attention::passBytes(run->opened->config(), std::ssize(run->text.ids), request);
  const MemoryShare share = resources.memory.reserve(needed, stop);
  if (!share && !stop.stop_requested())
    return Error{
        fmt::format("The layers below layer {} need {} for {} tokens; the budget is {}, and {} of it is in "
                    "use. Use a shorter text or fewer heads.",
                    below, bytesText(static_cast<double>(needed)), run->text.ids.size(),
                    bytesText(static_cast<double>(resources.memory.total())),
                    bytesText(static_cast<double>(resources.memory.used())))};
  attention::ModelSession session(run->opened->model);
  auto pass = session.append(run->text.ids, request, stop);
  if (!pass) return pass.error();
  return std::move(pass->stream);
}

}  // namespace

attention::Status checkStack(const Setup& setup, const MemoryBudget& memory) {
  if (!isStack(setup)) return attention::success();
  if (setup.weights.source == WeightSource::file && !setup.weights.file.empty())
    if (auto has = checkFileLayers(setup.weights.file, layerOfFile(withLayer(setup, 0)), setup.model.layers);
        !has)
      return has;
  const ModelSetup& model = setup.model;
  const std::uint64_t bytes = attention::saturatingProduct(
      {2 * model.layers, model.heads + model.kvHeads, model.headDim, model.modelDim, sizeof(float)});
  if (bytes <= memory.total() / 2) return attention::success();
  return Error{fmt::format(
      "The weights of {} layers, each of {} over {} of size {} on model dim {}, would need {}; they can use "
      "half of the budget of {}. Use fewer layers, heads or dimensions.",
      model.layers, countedText(model.heads, "head"), model.kvHeads, model.headDim, model.modelDim,
      bytesText(static_cast<double>(bytes)), bytesText(static_cast<double>(memory.total())))};
}

Result<ModelRun> prepareStack(const Setup& setup, Index depth, const LineTokens& line, Index sequence,
                              std::shared_ptr<const Matrix> x, Resources& resources) {
  if (const auto fits = checkStack(setup, resources.memory); !fits) return fits.error();
  auto parts = std::make_shared<StackParts>();
  parts->x = std::move(x);
  for (Index layer = 0; layer < depth; ++layer) {
    auto projections = resources.inputs.projections(withLayer(setup, layer), std::ssize(line.queries));
    if (!projections) return Error{fmt::format("Layer {}: {}", layer, projections.error().message)};
    parts->layers.push_back(*std::move(projections));
  }
  ModelRun run;
  const attention::ModelWeights weights = weightsOf(setup, *parts);
  run.opened = std::make_shared<const OpenModel>(
      OpenModel{fmt::format("{} synthetic layers", setup.model.layers),
                std::make_shared<const attention::Model>(
                    attention::Model::made(stackConfig(setup, depth), weights, parts))});
  for (Index i = 0; i < parts->x->rows(); ++i) run.text.ids.push_back(i);
  run.text.tokens = line.queries;
  run.text.spans.resize(run.text.ids.size());
  run.text.typed = line.queryLength;
  auto request = stackRequest(setup, line, sequence, resources.inputs);
  if (!request) return request.error();
  run.request = *std::move(request);
  // Heads switched off in layers that aren't run have no effect.
  std::erase_if(run.request.patches, [&](const attention::Patch& patch) { return patch.layer >= depth; });
  return run;
}

Result<ModelRun> prepareRun(const Setup& setup, Index sequence, Resources& resources, std::stop_token stop) {
  if (!isStack(setup)) {
    if (!setup.subject.opened) return Error{setup.subject.problem};
    ModelRun run{setup.subject.opened, {}, {}};
    auto text = readModelText(setup, stop);
    if (!text) return text.error();
    run.text = *std::move(text);
    auto request = passRequest(setup, run.text.tokens, resources.inputs);
    if (!request) return request.error();
    run.request = *std::move(request);
    return run;
  }
  const TokenBatch batch = tokenizeBatch(setup);
  if (batch.error) return Error{batch.error->message};
  if (batch.lines.empty()) return ModelRun{};
  const auto at = static_cast<std::size_t>(std::clamp<Index>(sequence, 0, std::ssize(batch.lines) - 1));
  const LineTokens& line = batch.lines[at];
  auto x = embedded(setup, batch.lines, at, resources);
  if (!x) return x.error();
  return prepareStack(setup, setup.model.layers, line, static_cast<Index>(at), *std::move(x), resources);
}

Result<Matrix> shownInput(const Setup& setup, const LineTokens& line, Index sequence, Matrix x,
                          Resources& resources, std::stop_token stop) {
  if (!isStack(setup)) return x;
  auto stream =
      streamBefore(setup, line, sequence, std::make_shared<const Matrix>(std::move(x)), resources, stop);
  if (!stream) return stream.error();
  const ModelConfig config = stackConfig(setup, 1);
  return attention::normRows(*stream, normOf(setup), config.norm, config.epsilon);
}

Result<std::shared_ptr<const std::vector<LineInput>>> shownInputs(const Setup& setup,
                                                                  const std::vector<LineTokens>& lines,
                                                                  Resources& resources,
                                                                  std::stop_token stop) {
  auto inputs = resources.inputs.inputs(setup, lines);
  if (!inputs || !isStack(setup) || (shownLayer(setup) == 0 && !setup.model.norm)) return inputs;
  auto all = std::make_shared<std::vector<LineInput>>();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    auto x = shownInput(setup, lines[i], static_cast<Index>(i), (**inputs)[i].x, resources, stop);
    if (!x) return x.error();
    all->push_back({*std::move(x), {}});
  }
  return std::shared_ptr<const std::vector<LineInput>>(std::move(all));
}

bool staysInRange(const attention::AttentionResult& result, Index queries) {
  const auto sums = result.lse.leftCols(queries).array();
  return !(sums.isNaN() || sums == std::numeric_limits<float>::infinity()).any() &&
         result.output.topRows(queries).allFinite();
}

std::string outgrownText(const Setup& setup) {
  return (isStack(setup) ? fmt::format("Layer {}'s", shownLayer(setup)) : "The layer's") +
         " values exceed 3.4·10³⁸, the fp32 maximum. Use smaller weights (gain), a norm between layers, or "
         "scores ÷ √d.";
}

}  // namespace headscope::app
