#include "app/compute/layer/layer_parts.h"

#include <fmt/core.h>

#include "app/compute/layer/layer_inputs.h"
#include "app/compute/layer/layer_stack.h"
#include "app/compute/layer/line_tokens.h"
#include "app/compute/layer/mask_inputs.h"
#include "app/scene/text/number_text.h"

namespace headscope::app {

using attention::AttentionConfig;
using attention::Error;
using attention::Matrix;
using attention::Result;
using attention::Vector;

namespace {

/// Takes the inputs of a model's attention: the residual stream at the layer, normed as the model does, and
/// for cross heads the encoder's output.
attention::Status takeModelInputs(const Setup& setup, const LineTokens& line, Resources& resources,
                                  const std::stop_token& stop, LayerParts& parts) {
  auto request = layerRequest(setup, line.queries, resources.inputs);
  if (!request) return request.error();
  request->input = true;
  attention::ModelSession session(setup.subject.opened->model);
  auto pass = session.append(line.ids, *request, stop);
  if (!pass) return pass.error();
  parts.x = pass->layers.front()->input;
  if (setup.subject.opened->config().cross()) parts.context = *request->memory;
  return attention::success();
}

std::uint64_t bytesOf(std::initializer_list<Index> floats) {
  std::uint64_t bytes = 0;
  for (const Index count : floats) bytes += static_cast<std::uint64_t>(count) * sizeof(float);
  return bytes;
}

MapRows mapRowsOf(const attention::Linear& map, Index first, Index count) {
  MapRows rows{map.weight.middleRows(first, count), Vector::Zero(count)};
  if (map.bias.size()) rows.bias = map.bias.segment(first, count);
  return rows;
}

MapRows mapRowsOf(const attention::MappedLinear& map, Index first, Index count) {
  return {attention::weightRows(map, first, count), attention::biasRows(map, first, count)};
}

/// Takes one head's rows of four maps; Weights holds Linear or MappedLinear maps.
template <class Weights>
void takeMaps(const Weights& weights, const AttentionConfig& config, HeadParts& parts) {
  const Index head = parts.question.head, kv = config.kvHeadOf(head), dim = config.headDim;
  parts.q = mapRowsOf(weights.q, head * dim, dim);
  parts.k = mapRowsOf(weights.k, kv * dim, dim);
  parts.v = mapRowsOf(weights.v, kv * dim, dim);
  const Index first = parts.question.firstColumn;
  MapRows rows = mapRowsOf(weights.o, first, std::min(kOutputRows, config.modelDim - first));
  parts.outputRows = std::move(rows.weight);
  parts.outputBias = std::move(rows.bias);
}

Matrix columnsOf(const attention::Linear& map, Index first, Index count) {
  return map.weight.middleCols(first, count);
}
Matrix columnsOf(const attention::MappedLinear& map, Index first, Index count) {
  return attention::weightColumns(map, first, count);
}

/// Whether its columns are keys.
bool ofCells(Stage stage) {
  return stage == Stage::dots || stage == Stage::biased || stage == Stage::scores || stage == Stage::weights;
}

}  // namespace

StagePicture stagePicture(Stage stage, const Eigen::Ref<const Matrix>& values) {
  constexpr Index kRows = 144, kColumns = 48;
  StagePicture picture;
  picture.values = attention::poolByMagnitude(values, kRows, ofCells(stage) ? kRows : kColumns);
  bool any = false;
  for (Index i = 0; i < values.rows(); ++i)
    for (Index j = 0; j < values.cols(); ++j) {
      const float value = values(i, j);
      if (!std::isfinite(value)) continue;
      picture.low = any ? std::min(picture.low, value) : value;
      picture.high = any ? std::max(picture.high, value) : value;
      any = true;
    }
  return picture;
}

Result<std::shared_ptr<const LayerParts>> layerParts(const PartsQuestion& question, Resources& resources,
                                                     std::stop_token stop) {
  auto parts = std::make_shared<LayerParts>();
  parts->question = question;
  const Setup& setup = question.snapshot->setup;
  TokenBatch batch = tokenizeBatch(setup);
  if (batch.error) return Error{batch.error->message};
  const auto at = static_cast<std::size_t>(question.sequence);
  if (at >= batch.lines.size()) return Error{"line " + std::to_string(at) + " is not in the text"};
  if (setup.subject.opened) {
    const attention::Status maps = setup.subject.opened->config().checkHeadMaps();
    if (!maps) return maps.error();
    if (const auto taken = takeModelInputs(setup, batch.lines[at], resources, stop, *parts); !taken)
      return taken.error();
  } else {
    const auto& first = batch.lines.front();
    const auto longest = static_cast<Index>(std::max(first.queries.size(), first.keys.size()));
    const auto projections = resources.inputs.projections(setup, longest);
    if (!projections) return projections.error();
    const auto inputs = shownInputs(setup, batch.lines, resources, stop);
    if (!inputs) return inputs.error();
    parts->projections = *projections;
    parts->x = (**inputs)[at].x;
    parts->context = (**inputs)[at].context;
  }
  parts->memory = resources.memory.count(bytesOf({parts->x.size(), parts->context.size()}));
  return std::shared_ptr<const LayerParts>(std::move(parts));
}

namespace {

template <class Weights>
attention::HeadMaps mapsOf(const Weights& weights, const AttentionConfig& config, Index head) {
  const Index dim = config.headDim;
  return {mapRowsOf(weights.v, config.kvHeadOf(head) * dim, dim).weight.transpose(),
          columnsOf(weights.o, head * dim, dim)};
}

}  // namespace

attention::HeadMaps headMaps(const LayerParts& layer, Index head) {
  if (layer.projections) return mapsOf(*layer.projections, layer.config(), head);
  const SubjectSetup& subject = layer.question.snapshot->setup.subject;
  return mapsOf(subject.opened->model->weights().layers[static_cast<std::size_t>(subject.layer)],
                layer.config(), head);
}

Result<std::shared_ptr<const HeadParts>> headParts(const HeadPartsQuestion& question, Resources& resources,
                                                   std::stop_token) {
  auto made = std::make_shared<HeadParts>();
  HeadParts& parts = *made;
  parts.question = question;
  const LayerParts& layer = *question.layer;
  const AttentionConfig& config = layer.config();
  if (layer.projections) {
    takeMaps(*layer.projections, config, parts);
    parts.wo = columnsOf(layer.projections->o, question.head * config.headDim, config.headDim);
  } else {
    const SubjectSetup& subject = layer.question.snapshot->setup.subject;
    const auto& weights = subject.opened->model->weights().layers[static_cast<std::size_t>(subject.layer)];
    takeMaps(weights, config, parts);
    parts.wo = columnsOf(weights.o, question.head * config.headDim, config.headDim);
  }
  parts.memory = resources.memory.count(bytesOf({4 * parts.wo.size(), parts.outputRows.size()}));
  return std::shared_ptr<const HeadParts>(std::move(made));
}

using attention::Stack;

OutputMap outputMapOf(const LayerParts& layer) {
  const Index dim = layer.config().valueSize();
  OutputMap map;
  if (const attention::Projections* made = layer.projections.get()) {
    map.columns = [made, dim](Index head) -> Matrix { return made->o.weight.middleCols(head * dim, dim); };
    map.bias = made->o.bias;
    map.apply = [made](const Stack& heads, std::stop_token stop) {
      return made->o.apply(attention::mergeHeads(heads), std::move(stop));
    };
    return map;
  }
  const SubjectSetup& subject = layer.question.snapshot->setup.subject;
  const attention::MappedLinear& o =
      subject.opened->model->weights().layers[static_cast<std::size_t>(subject.layer)].o;
  map.columns = [&o, dim](Index head) { return attention::weightColumns(o, head * dim, dim); };
  map.bias = o.bias;
  map.apply = [&o](const Stack& heads, std::stop_token stop) {
    return o.apply(attention::mergeHeads(heads), stop);
  };
  return map;
}

namespace {

std::string sizeText(Index rows, Index cols) {
  return fmt::format("{}×{}", rows, cols);
}

/// Reports a typed table whose width differs from the model's.
void clashOfTable(const Setup& setup, LayerFault& fault) {
  const Matrix& table = setup.input.table->values;
  if (setup.input.source != EmbeddingSource::table || table.cols() == setup.model.modelDim) return;
  fault.found = sizeText(table.rows(), table.cols());
  fault.expected = sizeText(table.rows(), setup.model.modelDim);
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
PipelineStep brokenStep(const Snapshot& snapshot, const LineTokens& line, LayerFault& fault,
                        Resources& resources) {
  const Setup& setup = snapshot.setup;
  const Index n = std::ssize(line.queries), m = std::ssize(line.keys);
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

/// Returns the step at which values overflow fp32, at the latest `broken`.
PipelineStep firstOverflow(const Setup& setup, const std::vector<LineTokens>& lines, std::size_t at,
                           PipelineStep broken, Resources& resources, const std::stop_token& stop) {
  if (setup.subject.opened) return PipelineStep::input;  // the pass up to this layer is what fails
  const auto inputs = shownInputs(setup, lines, resources, stop);
  if (!inputs) return PipelineStep::input;
  const Matrix& x = (**inputs)[at].x;
  const Matrix& source = (**inputs)[at].context.size() ? (**inputs)[at].context : x;
  if (!x.allFinite() || !source.allFinite()) return PipelineStep::input;
  if (broken == PipelineStep::project) return broken;
  const auto maps = resources.inputs.projections(setup, std::max(x.rows(), source.rows()));
  const bool finite = maps && (*maps)->q.apply(x, stop).allFinite() &&
                      (*maps)->k.apply(source, stop).allFinite() &&
                      (*maps)->v.apply(source, stop).allFinite();
  return finite ? broken : PipelineStep::project;
}

}  // namespace

LayerFault layerFault(const PartsQuestion& question, Resources& resources, std::stop_token stop) {
  LayerFault fault;
  const Setup& setup = question.snapshot->setup;
  const TokenBatch batch = tokenizeBatch(setup);
  if (batch.error || batch.lines.empty()) {
    clashOfTable(setup, fault);
    return fault;
  }
  const auto at =
      static_cast<std::size_t>(std::clamp<Index>(question.sequence, 0, std::ssize(batch.lines) - 1));
  fault.step = brokenStep(*question.snapshot, batch.lines[at], fault, resources);
  if (fault.step != PipelineStep::mask && fault.step != PipelineStep::bias)
    fault.step = firstOverflow(setup, batch.lines, at, fault.step, resources, stop);
  return fault;
}

using attention::Index;

std::string stepText(const attention::ScoreStep& step) {
  if (step.term->kind == attention::TermKind::visibility) return step.value == 0 ? "visible" : "masked";
  return numberText(step.term->adds() ? step.value : step.score);
}

std::string addedText(const attention::AttentionConfig& config, const attention::MaskInput& mask, Index head,
                      Index query, Index key) {
  std::string text;
  for (const attention::ScoreStep& step : attention::scoreSteps(config, mask, head, query, key, 0))
    if (step.term->adds())
      text += (text.empty() ? "" : "\n") + step.term->label(config) + "  " + stepText(step);
  return text;
}

attention::HeadText judgedText(const Setup& setup, const SequenceSnapshot& sequence, Index line) {
  // Only rows of real tokens show what a head does.
  const auto queries = std::span(sequence.queries).first(static_cast<std::size_t>(sequence.queryLength));
  const auto keys = std::span(sequence.keys).first(static_cast<std::size_t>(sequence.keyLength));
  attention::HeadText text(queries, sequence.keys, setup.input.ignoreCase, 0, isCross(setup));
  // As headTextOf() does: for a model's tokenizer, "The" and "the" are different tokens.
  if (!sequence.ids.empty() && setup.subject.opened->tokenizer && !isCross(setup))
    text.compareIds(sequence.ids, sequence.ids);
  const auto at = static_cast<std::size_t>(line);
  if (at < setup.mask.marks->size())
    text.divide(attention::structureOf(queries, isCross(setup) ? keys : queries, (*setup.mask.marks)[at]));
  return text;
}

}  // namespace headscope::app
