#include "app/compute/decode_proof.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/compute/layer_inputs.h"
#include "app/compute/made_stack.h"
#include "app/compute/mask_inputs.h"
#include "attention/cache/kv_cache.h"

namespace headscope::app {

namespace {

using attention::AttentionResult;
using attention::Stack;

float longestRow(const Stack& stack) {
  float most = 0;
  for (Index i = 0; i < stack.count(); ++i)
    if (stack[i].size() > 0) most = std::max(most, stack[i].rowwise().norm().maxCoeff());
  return most;
}

/// What a layer made here attends with; nothing for a model's, whose queries, keys and values are there.
struct Made {
  std::shared_ptr<const attention::Projections> projections;
  attention::Matrix x;
};
std::optional<Made> madeLine(const Snapshot& snapshot, Index sequence, Resources& resources) {
  const Setup& setup = snapshot.setup;
  if (setup.subject.opened) return std::nullopt;
  const TokenBatch batch = tokenizeBatch(setup);
  if (batch.error || sequence >= std::ssize(batch.lines)) return std::nullopt;
  const auto longest = static_cast<Index>(batch.lines.front().queries.size());
  const auto projections = resources.inputs.projections(setup, longest);
  const auto inputs = shownInputs(setup, batch.lines, resources);
  if (!projections || !inputs) return std::nullopt;
  return Made{*projections, (**inputs)[static_cast<std::size_t>(sequence)].x};
}

/// The steps of the check again, head by head.
DecodeFault largestFault(const Snapshot& snapshot, Index line, Resources& resources, std::stop_token stop) {
  const SequenceSnapshot& sequence = snapshot.sequences[static_cast<std::size_t>(line)];
  const AttentionResult& full = sequence.attention;
  const std::optional<Made> made = madeLine(snapshot, line, resources);
  const Index prefill = sequence.decode.prefill, end = prefill + sequence.decode.steps;
  attention::KvCache cache(snapshot.config, end);
  DecodeFault fault;
  float most = -1;
  const auto step = [&](Index from, Index count) {
    const attention::MaskInput mask = maskPartOf(sequence.mask, from, count);
    const AttentionResult part =
        made ? cache.append(*made->projections, made->x.middleRows(from, count), mask, stop)
             : cache.appendHeads(snapshot.config, rowsOf(full.q, from, count), rowsOf(full.k, from, count),
                                 rowsOf(full.v, from, count), mask, stop);
    if (stop.stop_requested()) return;
    for (Index head = 0; head < snapshot.config.heads; ++head)
      for (Index row = 0; row < count; ++row)
        for (Index dim = 0; dim < snapshot.config.headDim; ++dim) {
          const float cached = part.headOutput.at(head, row, dim),
                      whole = full.headOutput.at(head, from + row, dim);
          const float apart = std::abs(cached - whole);
          // What is no number is further away than any.
          if (!(apart <= most) && !std::isnan(most)) {
            most = apart;
            fault = {head, from + row, cached, whole};
          }
        }
  };
  if (prefill > 0) step(0, prefill);
  for (Index row = prefill; row < end && !stop.stop_requested(); ++row) step(row, 1);
  return fault;
}

}  // namespace

float decodeTolerance(const attention::AttentionConfig& config, const SequenceSnapshot& sequence) {
  constexpr float kEpsilon = std::numeric_limits<float>::epsilon();
  const AttentionResult& result = sequence.attention;
  const auto roundingOf = [](Index terms) { return kEpsilon * std::sqrt(static_cast<float>(terms)); };
  const float scores = roundingOf(2 * config.modelDim + config.headDim) * longestRow(result.q) *
                       longestRow(result.k) * std::abs(config.effectiveScale() * config.gain);
  const float sums = roundingOf(sequence.keyLength + config.heads * config.headDim + config.modelDim);
  float largest = 0;
  if (result.output.size() > 0) largest = result.output.cwiseAbs().maxCoeff();
  for (Index head = 0; head < result.headOutput.count(); ++head)
    if (result.headOutput[head].size() > 0)
      largest = std::max(largest, result.headOutput[head].cwiseAbs().maxCoeff());
  return largest * (2 * scores + sums);
}

DecodeProof proveDecode(const Snapshot& snapshot, Index line, Resources& resources, std::stop_token stop) {
  const SequenceSnapshot& sequence = snapshot.sequences[static_cast<std::size_t>(line)];
  DecodeProof proof;
  if (!sequence.decode.applies) return proof;
  proof.tolerance = decodeTolerance(snapshot.config, sequence);
  if (!(sequence.decode.maxDifference <= proof.tolerance))
    proof.fault = largestFault(snapshot, line, resources, stop);
  return proof;
}

}  // namespace headscope::app
