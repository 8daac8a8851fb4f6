#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/compute/cache/cache_study_parts.h"
#include "app/compute/layer/layer_parts.h"
#include "app/scene/models/open_model.h"
#include "app/scene/text/byte_text.h"
#include "attention/cache/latent.h"
#include "attention/core/positions.h"
#include "attention/models/checkpoint/weight_slices.h"

namespace headscope::app {

using attention::AttentionConfig;
using attention::AttentionResult;
using attention::Error;
using attention::Linear;
using attention::Matrix;
using attention::Projections;
using attention::Result;
using attention::Stack;

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
