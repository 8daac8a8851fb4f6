#include "app/compute/recorded_study.h"

#include <fmt/core.h>

#include <chrono>
#include <cmath>

#include "app/compute/mask_inputs.h"
#include "app/scene/number_text.h"

namespace headscope::app {

using attention::Error;
using attention::Matrix;
using attention::RecordedAttention;
using attention::Result;
using attention::Stack;

namespace {

/// A mask that says what the file's weights show of one.
std::shared_ptr<const attention::MaskFormula> maskOf(const attention::ModelConfig& shape, Index tokens) {
  attention::MaskGeometry geometry;
  geometry.queries = geometry.keys = geometry.keyLength = tokens;
  geometry.heads = geometry.kvHeads = shape.heads;
  const std::string text = shape.causal ? "causal" : "full";
  return *attention::compileMask(attention::parseMask(text).layers, geometry);
}

/// One array of a layer, [heads, n, headDim]; empty where the file has none.
Result<Stack> arrayOf(const RecordedAttention& file, const std::optional<attention::RecordedArray>& array) {
  if (!array) return Stack{};
  Stack all(array->heads, array->rows, array->cols);
  for (Index head = 0; head < array->heads; ++head) {
    Result<Matrix> one = file.readArray(*array, head);
    if (!one) return one.error();
    all[head] = *one;
  }
  return all;
}

Result<std::shared_ptr<LayerSummary>> readLayer(const RecordedAttention& file, Index at,
                                                const std::shared_ptr<const attention::MaskFormula>& mask,
                                                const attention::HeadText& text, std::stop_token stop) {
  const attention::RecordedLayer& layer = file.layers()[static_cast<std::size_t>(at)];
  auto summary = std::make_shared<LayerSummary>();
  summary->mask = mask;
  summary->weights = Stack(layer.attention.heads, file.queries(), file.keys());
  for (Index head = 0; head < layer.attention.heads && !stop.stop_requested(); ++head) {
    Result<attention::RecordedWeights> weights = file.readWeights(at, head);
    if (!weights) return weights.error();
    summary->weights[head] = weights->weights;
  }
  Result<Stack> q = arrayOf(file, layer.q), k = arrayOf(file, layer.k);
  if (!q) return q.error();
  if (!k) return k.error();
  summary->q = *std::move(q);
  summary->k = *std::move(k);
  summariseHeads(*summary, text, stop);
  return summary;
}

}  // namespace

Result<ModelStudy> studyRecorded(const ModelQuestion& question, Resources& resources,
                                 const ModelRunner::OnLayer& onLayer, std::stop_token stop) {
  const auto start = std::chrono::steady_clock::now();
  const OpenModel& opened = *question.setup.subject.opened;
  const RecordedAttention& file = *opened.recorded;
  const Index n = file.keys();
  if (file.queries() != n)
    return Error{
        fmt::format("{} has {} queries and {} keys; attention of a text to itself is shown here, so "
                    "expected as many of both",
                    opened.name, file.queries(), n)};
  if (n > kMaxTokens)
    return Error{fmt::format("{} has {} tokens; at most {} are shown at once", opened.name, n, kMaxTokens)};
  ModelStudy study;
  study.question = question;
  study.text.ids.assign(static_cast<std::size_t>(n), -1);
  study.text.spans.resize(static_cast<std::size_t>(n));
  study.text.typed = n;
  for (const std::string& token : file.keyTokens()) study.text.tokens.push_back({token, false});
  const auto heads = static_cast<std::uint64_t>(opened.config().heads);
  const std::uint64_t needed = static_cast<std::uint64_t>(file.layers().size()) * heads *
                               static_cast<std::uint64_t>(n) * static_cast<std::uint64_t>(n) * sizeof(float);
  study.memory = resources.memory.reserve(needed, stop);
  if (stop.stop_requested()) return Error{"stopped"};
  if (!study.memory)
    return Error{fmt::format("All heads of {} need {}; the budget is {}", opened.name,
                             bytesText(static_cast<double>(needed)),
                             bytesText(static_cast<double>(resources.memory.total())))};
  const auto mask = maskOf(opened.config(), n);
  const attention::HeadText text(study.text.tokens, study.text.tokens, false);
  for (Index at = 0; at < std::ssize(file.layers()); ++at) {
    auto layer = readLayer(file, at, mask, text, stop);
    if (stop.stop_requested()) return Error{"stopped"};
    if (!layer) return layer.error();
    study.layers.push_back(*layer);
    if (onLayer) onLayer(at, *layer);
  }
  study.bytes = needed;
  study.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return study;
}

std::optional<float> recordedScore(const LayerSummary& layer, Index head, Index query, Index key) {
  if (layer.q.size() == 0 || layer.k.size() == 0) return std::nullopt;
  const Index kv = head * layer.k.count() / layer.q.count();
  const float dot = std::as_const(layer.q)[head].row(query).dot(std::as_const(layer.k)[kv].row(key));
  return dot / std::sqrt(static_cast<float>(layer.q.cols()));
}

}  // namespace headscope::app
