#include "app/compute/cache/decode_proof.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>

#include "app/compute/layer/layer_inputs.h"
#include "app/compute/layer/layer_stack.h"
#include "app/compute/layer/mask_inputs.h"
#include "attention/cache/kv_cache.h"
#include "attention/core/extremes.h"
#include "attention/core/score_terms.h"

namespace headscope::app {

namespace {

using attention::AttentionResult;
using attention::Stack;

float longestRow(const Stack& stack) {
  float most = 0;
  for (Index i = 0; i < stack.count(); ++i)
    most = attention::larger(most, attention::largestMagnitude(stack[i].rowwise().norm()));
  return most;
}

/// The projections and inputs of a synthetic layer. A model's layer has none; its q, k and v are in the
/// snapshot.
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

/// The most multiply-adds of a proof: one or two seconds.
constexpr double kMaxWork = 1e10;

/// Returns the multiply-adds of one step: its projections, and the keys and values it reads.
double workOfStep(const attention::AttentionConfig& config, Index tokens) {
  const double projections = static_cast<double>(2 * config.modelDim * config.headDim) *
                             static_cast<double>(config.heads + config.kvHeads);
  return projections + static_cast<double>(2 * config.heads * config.headDim) * static_cast<double>(tokens);
}

/// Compares rows from `from` on, computed with the cache, with those of the full pass.
void compareRows(const AttentionResult& part, const AttentionResult& full, Index from, DecodeProof& proof) {
  for (Index head = 0; head < part.headOutput.count(); ++head)
    for (Index row = 0; row < part.headOutput.rows(); ++row)
      for (Index dim = 0; dim < part.headOutput.cols(); ++dim) {
        const float cached = part.headOutput.at(head, row, dim),
                    whole = full.headOutput.at(head, from + row, dim);
        const float apart = std::abs(cached - whole);
        // NaN counts as the largest difference.
        if (apart <= proof.maxDifference || std::isnan(proof.maxDifference)) continue;
        proof.maxDifference = apart;
        std::tie(proof.head, proof.token, proof.cached, proof.full) =
            std::tuple(head, from + row, cached, whole);
      }
}

}  // namespace

float decodeTolerance(const attention::AttentionConfig& config, const SequenceSnapshot& sequence) {
  constexpr float kEpsilon = std::numeric_limits<float>::epsilon();
  const AttentionResult& result = sequence.attention;
  const auto roundingOf = [](Index terms) { return kEpsilon * std::sqrt(static_cast<float>(terms)); };
  const float scores = roundingOf(2 * config.modelDim + config.headDim) * longestRow(result.q) *
                       longestRow(result.k) * std::abs(attention::scoreFactor(config));
  const float sums = roundingOf(sequence.keyLength + config.heads * config.headDim + config.modelDim);
  float largest = attention::largestMagnitude(result.output);
  for (Index head = 0; head < result.headOutput.count(); ++head)
    largest = attention::larger(largest, attention::largestMagnitude(result.headOutput[head]));
  return largest * (2 * scores + sums);
}

DecodeProof proveDecode(const ProofQuestion& question, Resources& resources, std::stop_token stop) {
  const Snapshot& snapshot = *question.snapshot;
  const attention::AttentionConfig& config = snapshot.config;
  const SequenceSnapshot& sequence = snapshot.sequences[static_cast<std::size_t>(question.sequence)];
  const AttentionResult& full = sequence.attention;
  const Index n = sequence.queryLength;
  DecodeProof proof;
  if (!sequence.decode.applies || n == 0) return proof;
  const std::optional<Made> made = madeLine(snapshot, question.sequence, resources);
  attention::KvCache cache(config, n);
  const auto append = [&](Index from, Index count) {
    const attention::MaskInput mask = maskPartOf(sequence.mask, from, count);
    const AttentionResult part =
        made ? cache.append(*made->projections, made->x.middleRows(from, count), mask, stop)
             : cache.appendHeads(config, rowsOf(full.q, from, count), rowsOf(full.k, from, count),
                                 rowsOf(full.v, from, count), mask, stop);
    if (!stop.stop_requested()) compareRows(part, full, from, proof);
  };
  proof.tolerance = decodeTolerance(config, sequence);
  proof.prefill = std::min(snapshot.setup.prefill, n);
  const Index chunk = question.chunk > 0 ? question.chunk : proof.prefill;
  for (Index row = 0; row < proof.prefill && !stop.stop_requested(); row += chunk)
    append(row, std::min(chunk, proof.prefill - row));
  double work = 0;
  for (Index row = proof.prefill; row < n && work < kMaxWork && !stop.stop_requested(); ++row) {
    append(row, 1);
    ++proof.steps;
    work += workOfStep(config, row);
  }
  proof.left = n - proof.prefill - proof.steps;
  return proof;
}

}  // namespace headscope::app
