#include "app/compute/layer/layer_fault.h"

#include <fmt/core.h>

#include <algorithm>

#include "app/compute/layer/layer_config.h"
#include "app/compute/layer/layer_stack.h"
#include "app/compute/layer/mask_inputs.h"

namespace headscope::app {

using attention::Matrix;
using attention::Result;

namespace {

std::string sizeText(Index rows, Index cols) {
  return fmt::format("{}×{}", rows, cols);
}

/// Reports a typed table whose width differs from the model's. There are no tokens yet, so its rows are
/// used as tokens.
void clashOfTable(const Setup& setup, LayerFault& fault) {
  const Matrix& table = setup.input.table->values;
  if (setup.input.source != EmbeddingSource::table || table.cols() == setup.model.modelDim) return;
  fault.found = sizeText(table.rows(), table.cols());
  fault.expected = sizeText(table.rows(), setup.model.modelDim);
  for (const std::string& name : setup.input.table->names) fault.queries.push_back({name, false});
  fault.keys = fault.queries;
}

/// Reports the first map of a file's layer whose shape differs from the scene's sizes.
void clashOfFile(const Setup& setup, Resources& resources, LayerFault& fault) {
  if (setup.weights.source != WeightSource::file) return;
  const Result<LayerWeights> layer = readLayerWeights(setup, resources.memory.total());
  if (!layer) return;
  const attention::AttentionConfig wanted = configOf(setup);
  const auto clash = [&](const char* name, const attention::Linear& map, Index out) {
    if (!fault.found.empty() || (map.weight.rows() == out && map.weight.cols() == wanted.modelDim)) return;
    fault.found = fmt::format("{} {}", name, sizeText(map.weight.rows(), map.weight.cols()));
    fault.expected = sizeText(out, wanted.modelDim);
  };
  clash("W_Q", layer->projections.q, wanted.heads * wanted.headDim);
  clash("W_K", layer->projections.k, wanted.kvHeads * wanted.headDim);
}

bool addsWrongSize(const Setup& setup, Index queries, Index keys) {
  const Matrix& added = setup.mask.additive->values;
  return !added.isZero(0) && (added.rows() != queries || added.cols() != keys);
}

/// Returns the step at which a readable text fails, as far as the error's place tells.
PipelineStep brokenStep(const Snapshot& snapshot, LayerFault& fault, Resources& resources) {
  const Setup& setup = snapshot.setup;
  const Index n = std::ssize(fault.queries), m = std::ssize(fault.keys);
  switch (snapshot.error->place) {
    case Place::input:
    case Place::context:
      return PipelineStep::input;
    case Place::model:
      return attention::validate(snapshot.config) ? PipelineStep::dot : PipelineStep::split;
    case Place::weights:
      clashOfFile(setup, resources, fault);
      return PipelineStep::project;
    case Place::mask:
      if (!addsWrongSize(setup, n, m)) return PipelineStep::mask;
      fault.found = sizeText(setup.mask.additive->values.rows(), setup.mask.additive->values.cols());
      fault.expected = sizeText(n, m);
      return PipelineStep::bias;
    case Place::memory:
      return checkStack(setup, resources.memory) ? PipelineStep::dot : PipelineStep::project;
  }
  return PipelineStep::input;
}

/// Draws the steps before the scores, which don't depend on the mask, from the same layer without one.
void drawWithoutMask(LayerFault& fault, Resources& resources, std::stop_token stop) {
  Setup setup = fault.question.snapshot->setup;
  setup.mask.layers = {};
  setup.mask.compare = false;
  if (fault.step == PipelineStep::bias) setup.mask.additive.edit().values = Matrix();
  const auto snapshot = std::make_shared<const Snapshot>(computeSnapshot(setup, resources, stop));
  if (snapshot->error || stop.stop_requested()) return;
  const auto layer = layerParts({snapshot, fault.question.sequence}, resources, stop);
  if (!layer) return;
  const auto head = headParts({*layer, fault.question.head, 0}, resources, stop);
  if (!head) return;
  for (const Stage stage : {Stage::x, Stage::context, Stage::q, Stage::k, Stage::v, Stage::dots})
    fault.pictures[static_cast<std::size_t>(stage)] = (*head)->picture(stage);
  if (fault.step == PipelineStep::mask)
    fault.pictures[static_cast<std::size_t>(Stage::biased)] = (*head)->picture(Stage::biased);
}

/// Draws X, and also Q, K and V if the fault comes after them. If values overflow fp32, the fault is at the
/// first step where they do.
void drawUntilScores(const std::vector<LineTokens>& lines, LayerFault& fault, Resources& resources,
                     std::stop_token stop) {
  const Setup& setup = fault.question.snapshot->setup;
  if (setup.subject.opened) {  // the pass up to this layer is what fails
    fault.step = PipelineStep::input;
    return;
  }
  const PipelineStep broken = std::exchange(fault.step, PipelineStep::input);
  const auto inputs = shownInputs(setup, lines, resources, stop);
  if (!inputs) return;
  const LineInput& line = (**inputs)[static_cast<std::size_t>(fault.question.sequence)];
  const Matrix& source = line.context.size() ? line.context : line.x;
  const auto draw = [&](Stage stage, const Matrix& values) {
    fault.pictures[static_cast<std::size_t>(stage)] = stagePicture(stage, values);
    return values.allFinite();
  };
  if (!draw(Stage::x, line.x) || !draw(Stage::context, source)) return;
  fault.step = PipelineStep::project;
  if (broken == PipelineStep::project) return;
  const auto maps = resources.inputs.projections(setup, std::max(line.x.rows(), source.rows()));
  if (!maps) return;
  const bool finite = draw(Stage::q, (*maps)->q.apply(line.x, stop)) &&
                      draw(Stage::k, (*maps)->k.apply(source, stop)) &&
                      draw(Stage::v, (*maps)->v.apply(source, stop));
  if (finite) fault.step = broken;
}

}  // namespace

Result<std::shared_ptr<const LayerFault>> layerFault(const FaultQuestion& question, Resources& resources,
                                                     std::stop_token stop) {
  auto fault = std::make_shared<LayerFault>();
  fault->question = question;
  const Snapshot& snapshot = *question.snapshot;
  TokenBatch batch = tokenizeBatch(snapshot.setup);
  if (batch.error || batch.lines.empty()) {
    clashOfTable(snapshot.setup, *fault);
    return std::shared_ptr<const LayerFault>(std::move(fault));
  }
  fault->question.sequence = std::clamp<Index>(question.sequence, 0, std::ssize(batch.lines) - 1);
  const LineTokens& line = batch.lines[static_cast<std::size_t>(fault->question.sequence)];
  fault->queries = line.queries;
  fault->keys = line.keys;
  fault->step = brokenStep(snapshot, *fault, resources);
  if (fault->step == PipelineStep::mask || fault->step == PipelineStep::bias)
    drawWithoutMask(*fault, resources, stop);
  else
    drawUntilScores(batch.lines, *fault, resources, stop);
  return std::shared_ptr<const LayerFault>(std::move(fault));
}

}  // namespace headscope::app
