#include <fmt/core.h>

#include "app/compute/cache/cache_studies.h"
#include "app/compute/layer/layer_parts.h"
#include "app/compute/layer/layer_stack.h"
#include "app/scene/text/number_text.h"
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

using attention::Linear;
using attention::Projections;

namespace {

/// What is applied to keys after their projection.
struct KeyPath {
  Matrix positions;             ///< [tokens, dims] cosines and sines of the rotation; empty = no rotation
  attention::NormWeights norm;  ///< of a model that normalizes keys; otherwise empty
  bool wholeNorm = false;       ///< over all heads together
  bool centred = false;         ///< the norm is LayerNorm
  bool interleaved = false;     ///< the rotation pairs neighbouring dimensions, not the two halves
  double epsilon = 0;
};

Linear mapOf(const attention::MappedLinear& map) {
  return {attention::weightRows(map, 0, map.out), attention::biasRows(map, 0, map.out)};
}

/// Returns the layer's projections of queries, keys and values as floats.
Projections denseMaps(const LayerParts& parts) {
  if (parts.projections) return {parts.projections->q, parts.projections->k, parts.projections->v, {}};
  const SubjectSetup& subject = parts.question.snapshot->setup.subject;
  const auto& weights = subject.opened->model->weights().layers[static_cast<std::size_t>(subject.layer)];
  return {mapOf(weights.q), mapOf(weights.k), mapOf(weights.v), {}};
}

KeyPath keyPathOf(const LayerParts& parts) {
  const AttentionConfig& config = parts.config();
  const SubjectSetup& subject = parts.question.snapshot->setup.subject;
  const Index tokens = std::max(parts.x.rows(), parts.keySource().rows());
  KeyPath path;
  if (!subject.opened) {
    if (config.ropeTheta) path.positions = attention::ropeTable(0, tokens, config.headDim, *config.ropeTheta);
    return path;
  }
  const attention::ModelConfig& model = subject.opened->model->config();
  const auto layer = static_cast<std::size_t>(subject.layer);
  if (const auto rotation = model.layers[layer].rotation) {
    const attention::Rotation& turn = model.rotations[static_cast<std::size_t>(*rotation)];
    path.positions = attention::rotationTable(turn, 0, tokens, tokens);
    path.interleaved = turn.interleaved;
  }
  if (model.qkNorm != attention::QkNorm::none) {
    path.norm = subject.opened->model->weights().layers[layer].kNorm;
    path.wholeNorm = model.qkNorm == attention::QkNorm::whole;
    path.centred = model.norm == attention::NormKind::layer;
    path.epsilon = model.epsilon;
  }
  return path;
}

/// Normalizes each head's key (the sum of both parts), or all heads' keys together, as Block does before it
/// rotates keys.
void normKeys(const KeyPath& path, Stack& plain, Stack& rotary) {
  if (path.norm.weight.size() == 0) return;
  const Eigen::RowVectorXf weight = path.norm.weight.transpose();
  const Index together = path.wholeNorm ? plain.count() : 1, size = plain.cols();
  for (Index first = 0; first < plain.count(); first += together)
    for (Index row = 0; row < plain.rows(); ++row) {
      double square = 0;
      for (Index g = first; g < first + together; ++g)
        square += (plain[g].row(row) + rotary[g].row(row)).cast<double>().squaredNorm();
      const auto factor =
          static_cast<float>(1 / std::sqrt(square / static_cast<double>(together * size) + path.epsilon));
      for (Index g = first; g < first + together; ++g)
        for (Stack* part : {&plain, &rotary})
          (*part)[g].row(row).array() *= factor * weight.segment((g - first) * size, size).array();
    }
}

/// Returns the factor by which a rotation scales what it rotates.
float amplitudeOf(const Matrix& positions) {
  return std::hypot(positions(0, 0), positions(0, positions.cols() / 2));
}

/// Undoes the rotation of queries, but not its amplitude.
Stack turnedBack(Stack queries, const Matrix& positions) {
  Matrix back = positions.topRows(queries.rows()) / amplitudeOf(positions);
  back.rightCols(back.cols() / 2) *= -1;
  attention::rotateHeads(queries, back);
  return queries;
}

/// Concatenates [count, n, a] and [count, n, b] to [count, n, a + b].
Stack sideBySide(const Stack& left, const Stack& right) {
  Stack both = Stack::uninitialized(left.count(), left.rows(), left.cols() + right.cols());
  for (Index i = 0; i < left.count(); ++i) both[i] << left[i], right[i];
  return both;
}

/// Attends with queries and keys in two parts, q·k = q₀·k₀ + q₁·k₁, with values padded to the same width.
AttentionResult attendParts(const SequenceSnapshot& sequence, AttentionConfig config, const Matrix& positions,
                            Stack plain, Stack rotary, const Stack& values, std::stop_token stop) {
  config.scale = config.effectiveScale();
  config.ropeTheta.reset();
  if (positions.size() == 0) return attendAgain(sequence, config, std::move(plain), values, stop);
  attention::rotateHeads(rotary, positions.topRows(rotary.rows()));
  for (Index g = 0; g < plain.count(); ++g) plain[g].leftCols(positions.cols()) *= amplitudeOf(positions);
  const Index headDim = std::exchange(config.headDim, 2 * config.headDim);
  SequenceSnapshot wide;
  wide.mask = sequence.mask;
  wide.queryLength = sequence.queryLength;
  wide.keyLength = sequence.keyLength;
  const Stack& q = sequence.attention.q;
  wide.attention.q = sideBySide(turnedBack(q, positions), q);
  AttentionResult result =
      attendAgain(wide, config, sideBySide(plain, rotary),
                  sideBySide(values, Stack(values.count(), values.rows(), values.cols())), stop);
  Stack outputs = Stack::uninitialized(result.headOutput.count(), result.headOutput.rows(), headDim);
  for (Index h = 0; h < outputs.count(); ++h) outputs[h] = result.headOutput[h].leftCols(headDim);
  result.headOutput = std::move(outputs);
  return result;
}

/// Reserves the memory for factoring the projections. Returns an Error if it isn't free or the latent is too
/// wide.
Result<MemoryShare> mapMemory(const AttentionConfig& config, Index latent, const Resources& resources,
                              std::stop_token stop) {
  const Index d = config.modelDim, outputs = 2 * config.kvHeads * config.headDim, side = std::min(d, outputs);
  if (const Index most = attention::mostLatent(d, outputs); latent > most)
    return Error{
        fmt::format("Fitting a latent of {} dimensions takes too long for a model dim of {} with keys and "
                    "values of {}: expected up to {}.",
                    latent, d, outputs, most)};
  const auto floats =
      static_cast<std::uint64_t>(d * (config.heads * config.headDim + 4 * outputs) +
                                 (attention::mostLatent(d, outputs) < d ? 2 : 8) * side * side);
  MemoryShare share = resources.memory.reserve(floats * sizeof(float), stop);
  if (share) return share;
  return Error{
      fmt::format("Factoring this layer's projections needs {}, and {} of the budget of {} is in use.",
                  fourDigitBytes(floats * sizeof(float)), fourDigitBytes(resources.memory.used()),
                  fourDigitBytes(resources.memory.total()))};
}

}  // namespace

Result<LatentHeads> attendLatent(const std::shared_ptr<const Snapshot>& snapshot, Index line, Index latent,
                                 Index rotary, Resources& resources, std::stop_token stop) {
  const AttentionConfig& config = snapshot->config;
  const auto memory = mapMemory(config, std::min(latent, config.modelDim), resources, stop);
  if (!memory) return memory.error();
  const auto parts = layerParts({snapshot, line}, resources, stop);
  if (!parts) return parts.error();
  const Projections maps = denseMaps(**parts);
  const KeyPath path = keyPathOf(**parts);
  if (path.interleaved)
    return Error{
        "This model rotates neighbouring dimensions. MLA can be fitted only if rotations pair the two halves "
        "of a head."};
  if (path.centred)
    return Error{
        "This model normalizes keys by LayerNorm. MLA can be fitted only if keys have RMSNorm or no norm."};
  const Index turned = config.kvHeads * path.positions.cols();
  const attention::LatentMaps through =
      attention::latentMaps(maps, config.kvHeads, config.headDim, path.positions,
                            std::min(latent, config.modelDim), std::min(rotary, turned) / 2 * 2, stop);
  if (stop.stop_requested()) return Error{"stopped"};
  const attention::LatentRead read = attention::readLatent(through, maps, (*parts)->keySource());
  Stack plain = attention::splitHeads(read.plainKeys, config.kvHeads);
  Stack rotaryKeys = attention::splitHeads(read.rotaryKeys, config.kvHeads);
  normKeys(path, plain, rotaryKeys);
  LatentHeads heads;
  heads.latent = through.latent.cols();
  heads.rotary = through.rotary.cols();
  heads.result = attendParts((*parts)->sequence(), config, path.positions, std::move(plain),
                             std::move(rotaryKeys), attention::splitHeads(read.values, config.kvHeads), stop);
  return heads;
}

}  // namespace headscope::app
