#include "app/snapshot.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <unordered_map>

#include "app/layer_inputs.h"
#include "app/number_text.h"
#include "attention/cache/kv_cache.h"

namespace headscope::app {

using attention::AttentionConfig;
using attention::Projections;
using attention::Token;

Limits defaultLimits() {
  const std::uint64_t machine =
      static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return {std::min<std::uint64_t>(machine / 2, std::uint64_t{6} << 30)};
}

AttentionConfig configOf(const Setup& setup) {
  const ModelSetup& model = setup.model;
  AttentionConfig config;
  config.modelDim = model.modelDim;
  config.heads = model.heads;
  config.kvHeads = model.kvHeads;
  config.headDim = model.headDim;
  const float base = model.scaled ? 1 / std::sqrt(static_cast<float>(model.headDim)) : 1.0f;
  config.scale = base * model.sharpness;
  // Causality and windows compare positions in one sequence; another text's keys have none.
  if (!setup.input.cross) {
    config.causal = setup.mask.causal;
    if (setup.mask.window) config.window = setup.mask.windowSize;
    if (setup.mask.window && setup.mask.sinks) config.sinks = setup.mask.sinkCount;
  }
  if (model.position == PositionKind::rope) config.ropeTheta = model.ropeTheta;
  config.alibi = model.position == PositionKind::alibi;
  if (model.softcap > 0) config.softcap = model.softcap;
  config.dropout = {model.dropout, setup.weights.seed};
  return config;
}

namespace {

/// A number per distinct token, shared between queries and keys.
class Identities {
 public:
  explicit Identities(bool ignoreCase) : ignoreCase_(ignoreCase) {}
  std::vector<Index> of(const std::vector<Token>& tokens) {
    std::vector<Index> ids;
    for (const Token& token : tokens)
      ids.push_back(
          known_.try_emplace(attention::tokenIdentity(token, ignoreCase_), static_cast<Index>(known_.size()))
              .first->second);
    return ids;
  }

 private:
  bool ignoreCase_;
  std::unordered_map<std::string, Index> known_;
};

void profileHeads(const Setup& setup, SequenceSnapshot& sequence, std::stop_token stop) {
  Identities identities(setup.input.ignoreCase);
  const std::vector<Index> queryIds = identities.of(sequence.queries);
  const std::vector<Index> keyIds = setup.input.cross ? identities.of(sequence.keys) : queryIds;
  std::vector<std::uint8_t> separators;
  for (const Token& token : sequence.keys) separators.push_back(token.separator);
  // Only rows of real tokens say what a head does.
  const Index rows = sequence.queryLength;
  const attention::AttentionResult& result = sequence.attention;
  for (Index head = 0; head < result.weights.count() && !stop.stop_requested(); ++head) {
    const attention::MatrixView weights(result.weights[head].data(), rows, result.weights.cols());
    const attention::MatrixView scores(result.scores[head].data(), rows, result.scores.cols());
    sequence.profiles.push_back(
        attention::profileHead(weights, scores, std::span(queryIds).first(static_cast<std::size_t>(rows)),
                               keyIds, separators, 0, 2, setup.input.cross));
    sequence.labels.push_back(attention::labelHead(sequence.profiles.back()));
  }
}

/// Runs the sequence through a KV cache and compares with the full pass. Stepping costs a pass over all
/// weights per token, so large models check fewer steps; the count is reported.
DecodeCheck checkDecode(const Setup& setup, const AttentionConfig& config, const Projections& projections,
                        const LineInput& line, const attention::AttentionResult& full, std::stop_token stop) {
  DecodeCheck check;
  check.applies = config.causal && config.dropout.probability == 0;
  if (!check.applies || line.queryLength == 0) return check;
  const Index n = line.queryLength;
  const double weightsPerStep = static_cast<double>(projections.q.weight.size()) * 2 +
                                static_cast<double>(projections.k.weight.size()) * 2;
  const auto affordable = static_cast<Index>(std::clamp(1e8 / weightsPerStep, 1.0, 256.0));
  check.prefill = std::min(setup.prefill, n);
  const Index end = std::min(n, check.prefill + affordable);
  attention::KvCache cache(config, end);
  const auto step = [&](Index from, Index count) {
    const attention::AttentionResult part =
        cache.append(projections, line.x.middleRows(from, count), {}, stop);
    if (stop.stop_requested()) return;
    const float difference = (part.output - full.output.middleRows(from, count)).cwiseAbs().maxCoeff();
    check.maxDifference = std::max(check.maxDifference, difference);
  };
  step(0, check.prefill);
  for (Index row = check.prefill; row < end && !stop.stop_requested(); ++row, ++check.steps) step(row, 1);
  return check;
}

std::uint64_t resultBytes(const attention::AttentionResult& result) {
  const Index floats = result.q.size() + result.k.size() + result.v.size() + result.scores.size() +
                       result.weights.size() + result.lse.size() + result.headOutput.size() +
                       result.output.size();
  return static_cast<std::uint64_t>(floats) * sizeof(float);
}

SequenceSnapshot computeSequence(const Setup& setup, const AttentionConfig& config,
                                 const Projections& projections, LineInput line, std::stop_token stop) {
  SequenceSnapshot sequence;
  sequence.queryLength = line.queryLength;
  sequence.keyLength = line.keyLength;
  if (setup.mask.padding && line.keyLength < static_cast<Index>(line.keys.size()))
    sequence.mask.keyLength = line.keyLength;
  sequence.attention = attention::attend(config, projections, line.x,
                                         setup.input.cross ? line.context : line.x, sequence.mask, stop);
  if (!stop.stop_requested())
    sequence.decode = checkDecode(setup, config, projections, line, sequence.attention, stop);
  sequence.queries = std::move(line.queries);
  sequence.keys = std::move(line.keys);
  if (!stop.stop_requested()) profileHeads(setup, sequence, stop);
  if (!stop.stop_requested()) sequence.pictures = drawPictures(sequence.attention, stop);
  return sequence;
}

/// What the computation will hold at once, against the limit, before anything large is allocated.
std::optional<PlacedError> checkMemory(const Setup& setup, const AttentionConfig& config, Index sequences,
                                       Index queries, Index keys, const Limits& limits) {
  const Index inputs = (queries + (setup.input.cross ? keys : 0)) * config.modelDim;
  const double each = static_cast<double>(attention::attentionResultBytes(config, queries, keys)) +
                      static_cast<double>(inputs) * sizeof(float);
  const double total = each * static_cast<double>(sequences);
  if (total <= static_cast<double>(limits.memoryBytes)) return std::nullopt;
  return PlacedError{Place::memory,
                     std::to_string(sequences) + (sequences == 1 ? " sequence of " : " sequences of ") +
                         std::to_string(queries) + " tokens on " + std::to_string(setup.model.heads) +
                         " heads would need " + bytesText(total) + "; the budget is " +
                         bytesText(static_cast<double>(limits.memoryBytes)) +
                         ". Use fewer tokens, heads or lines."};
}

void fill(Snapshot& snapshot, const Setup& setup, const Limits& limits, std::stop_token stop) {
  const auto config = attention::validate(snapshot.config);
  if (!config) {
    snapshot.error = PlacedError{Place::model, config.error().message};
    return;
  }
  BatchResult batch = buildBatch(setup, [&](Index lines, Index queries, Index keys) {
    return checkMemory(setup, snapshot.config, lines, queries, keys, limits);
  });
  snapshot.error = batch.error;
  if (batch.error || batch.batch.lines.empty()) return;
  snapshot.empty = false;
  const auto queries = static_cast<Index>(batch.batch.lines.front().queries.size());
  const auto keys = static_cast<Index>(batch.batch.lines.front().keys.size());
  if (stop.stop_requested()) return;
  const attention::Result<Projections> projections = buildProjections(setup, std::max(queries, keys));
  if (!projections) {
    snapshot.error = PlacedError{Place::weights, projections.error().message};
    return;
  }
  for (LineInput& line : batch.batch.lines) {
    if (stop.stop_requested()) return;
    snapshot.sequences.push_back(
        computeSequence(setup, snapshot.config, *projections, std::move(line), stop));
    const SequenceSnapshot& done = snapshot.sequences.back();
    snapshot.bytes += resultBytes(done.attention);
    for (const PictureLevel& level : done.pictures.levels)
      snapshot.bytes +=
          static_cast<std::uint64_t>(level.weights.size() + level.scores.size()) * sizeof(float);
  }
}

}  // namespace

Snapshot computeSnapshot(const Setup& setup, const Limits& limits, std::stop_token stop) {
  const auto start = std::chrono::steady_clock::now();
  Snapshot snapshot;
  snapshot.setup = setup;
  snapshot.config = configOf(setup);
  try {
    fill(snapshot, setup, limits, stop);
  } catch (const std::bad_alloc&) {
    snapshot.error = PlacedError{Place::memory,
                                 "This machine has not enough free memory for these sizes. "
                                 "Use fewer tokens, heads or lines."};
  } catch (const std::exception& broken) {
    snapshot.error = PlacedError{Place::model, std::string("This can't be computed: ") + broken.what()};
  }
  if (snapshot.error) snapshot.sequences.clear();
  snapshot.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return snapshot;
}

}  // namespace headscope::app
