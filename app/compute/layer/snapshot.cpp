#include "app/compute/layer/snapshot.h"

#include <fmt/core.h>

#include "app/compute/layer/layer_inputs.h"
#include "app/compute/layer/layer_parts.h"
#include "app/compute/layer/layer_stack.h"
#include "app/compute/layer/line_tokens.h"
#include "app/compute/layer/mask_inputs.h"
#include "app/scene/text/number_text.h"
#include "attention/core/extremes.h"
#include "attention/core/parallel.h"

namespace headscope::app {

using attention::AttentionConfig;
using attention::Matrix;
using attention::Projections;
using attention::Stack;

namespace {

using attention::Error;
using attention::Result;

void profileHeads(const Setup& setup, Index line, SequenceSnapshot& sequence, std::stop_token stop) {
  const attention::HeadText text = judgedText(setup, sequence, line);
  const Index rows = text.queries();
  const attention::AttentionResult& result = sequence.attention;
  const auto heads = static_cast<std::size_t>(result.weights.count());
  sequence.profiles.resize(heads);
  const bool finished = attention::forEach(result.weights.count(), stop, [&](Index head) {
    const attention::MatrixView weights(sequence.probabilities()[head].data(), rows, result.weights.cols());
    const attention::MatrixView scores(result.scores[head].data(), rows, result.scores.cols());
    const auto at = static_cast<std::size_t>(head);
    sequence.profiles[at] = attention::profileHead({weights, scores, text});
  });
  if (!finished) sequence.profiles.clear();
}

/// The inputs of a synthetic layer's attention, for one line.
struct MadeLine {
  const Projections& projections;
  const LineInput& input;
  const attention::HeadSwitch& heads;                     ///< those switched off
  const attention::AttentionResult* projected = nullptr;  ///< q, k and v if they are cached
};
/// A line's attention inputs: projections and embeddings, or the queries, keys and values of a model's layer.
using LineSource = std::variant<MadeLine, std::shared_ptr<const attention::LayerResult>>;

/// Appends rows of the sequence to the cache. Returns the largest difference of the result from the full
/// pass.
float decodeRows(attention::KvCache& cache, const AttentionConfig& config, const LineSource& source,
                 const SequenceSnapshot& sequence, Index from, Index count, std::stop_token stop) {
  const attention::AttentionResult& full = sequence.attention;
  const attention::MaskInput mask = maskPartOf(sequence.mask, from, count);
  const auto* made = std::get_if<MadeLine>(&source);
  if (made && made->heads.empty()) {
    const attention::AttentionResult part =
        cache.append(made->projections, made->input.x.middleRows(from, count), mask, stop);
    if (stop.stop_requested()) return 0;
    return attention::largestMagnitude(part.output - full.output.middleRows(from, count));
  }
  const attention::AttentionResult part =
      cache.appendHeads(config, rowsOf(full.q, from, count), rowsOf(full.k, from, count),
                        rowsOf(full.v, from, count), mask, stop);
  float most = 0;
  for (Index head = 0; head < config.heads && !stop.stop_requested(); ++head)
    most = attention::larger(
        most,
        attention::largestMagnitude(part.headOutput[head] - full.headOutput[head].middleRows(from, count)));
  return most;
}

/// Runs the sequence through a KV cache and compares it with the full pass. Each step reads all weights of
/// the layer, and a dragged slider waits for all steps, so only a few are run, fewer in large models. Their
/// number is reported.
DecodeCheck checkDecode(const Snapshot& snapshot, const LineSource& source, const SequenceSnapshot& sequence,
                        std::stop_token stop) {
  const AttentionConfig& config = snapshot.config;
  DecodeCheck check;
  check.applies = snapshot.causal && config.dropout.probability == 0;
  const Index n = sequence.queryLength;
  if (!check.applies || n == 0) return check;
  const double weightsPerStep = 2.0 * static_cast<double>(config.modelDim * config.headDim) *
                                static_cast<double>(config.heads + config.kvHeads);
  const auto affordable = static_cast<Index>(std::clamp(2.5e6 / weightsPerStep, 1.0, 16.0));
  check.prefill = std::min(snapshot.setup.prefill, n);
  const Index end = std::min(n, check.prefill + affordable);
  attention::KvCache cache(config, end);
  const auto step = [&](Index from, Index count) {
    check.maxDifference = attention::larger(check.maxDifference,
                                            decodeRows(cache, config, source, sequence, from, count, stop));
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

std::uint64_t pictureBytes(const HeadPictures& pictures) {
  Index floats = 0;
  for (const PictureLevel& level : pictures.levels)
    floats += level.weights.size() + level.scores.size() + level.dropped.size();
  return static_cast<std::uint64_t>(floats) * sizeof(float);
}

std::uint64_t sequenceBytes(const SequenceSnapshot& sequence) {
  const auto bytesOf = [](const attention::AttentionResult& result, const HeadPictures& pictures,
                          const Stack& undropped) {
    return resultBytes(result) + pictureBytes(pictures) +
           static_cast<std::uint64_t>(undropped.size()) * sizeof(float);
  };
  const std::uint64_t bytes = bytesOf(sequence.attention, sequence.pictures, sequence.undropped);
  const std::optional<OtherMask>& other = sequence.other;
  return other ? bytes + bytesOf(other->attention, other->pictures, other->undropped) : bytes;
}

/// Applies the second mask to the inputs of the first.
OtherMask computeOther(const AttentionConfig& config, const SequenceSnapshot& sequence,
                       std::shared_ptr<const attention::MaskFormula> formula, std::stop_token stop) {
  OtherMask other;
  other.attention.q = sequence.attention.q;
  const attention::MaskInput mask{formula, sequence.mask.additive};
  other.formula = std::move(formula);
  std::vector<attention::MatrixView> keys, values;
  for (Index g = 0; g < config.kvHeads; ++g) {
    keys.push_back(sequence.attention.k[g]);
    values.push_back(sequence.attention.v[g]);
  }
  attention::attendHeads(config, mask, keys, values, other.attention, stop);
  if (stop.stop_requested()) return other;
  if (config.dropout.probability > 0)
    other.undropped = attention::undroppedWeights(config, other.attention, stop);
  other.pictures = drawPictures(other.attention, other.probabilities(), stop);
  other.comparison = attention::compareMasks({sequence.probabilities(), sequence.attention.headOutput},
                                             {other.probabilities(), other.attention.headOutput});
  return other;
}

/// Computes the heads of a model's layer from its queries, keys and values.
attention::AttentionResult attendModel(const AttentionConfig& config, const attention::LayerResult& layer,
                                       const Setup& setup, const attention::MaskInput& mask,
                                       std::stop_token stop) {
  attention::AttentionResult result;
  result.q = layer.q;
  result.k = layer.k;
  result.v = layer.v;
  attention::attendHeads(config, mask, result, stop);
  if (stop.stop_requested()) return result;
  const attention::LayerWeights& weights =
      setup.subject.opened->model->weights().layers[static_cast<std::size_t>(layer.layer)];
  result.output = weights.o.apply(attention::mergeHeads(layer.headOutput), stop);
  return result;
}

/// Computes a synthetic layer. Switched-off heads are replaced in the output, as in a model, but their own
/// results stay.
attention::AttentionResult attendMade(const AttentionConfig& config, const MadeLine& made,
                                      const SequenceSnapshot& sequence, std::stop_token stop) {
  attention::AttentionResult result;
  if (made.projected) {
    Stack* const to[] = {&result.q, &result.k, &result.v};
    const Stack* const from[] = {&made.projected->q, &made.projected->k, &made.projected->v};
    if (!attention::forEach(std::ssize(to), stop, [&](Index i) { *to[i] = *from[i]; })) return result;
    attention::attendProjected(config, made.projections, sequence.mask, result, stop);
  } else {
    const Matrix& context = made.input.context.size() ? made.input.context : made.input.x;
    result = attention::attend(config, made.projections, made.input.x, context, sequence.mask, stop);
  }
  if (made.heads.empty() || stop.stop_requested()) return result;
  Stack heads = result.headOutput;
  attention::switchHeads(heads, made.heads, sequence.queryLength);
  result.output = made.projections.o.apply(attention::mergeHeads(heads), stop);
  return result;
}

SequenceSnapshot computeSequence(const Snapshot& snapshot, LineTokens line, const LineSource& source,
                                 LineMasks masks, std::stop_token stop) {
  const Setup& setup = snapshot.setup;
  AttentionConfig config = snapshot.config;
  config.dropout.sequence = snapshot.sequences.size();
  SequenceSnapshot sequence;
  sequence.queryLength = line.queryLength;
  sequence.keyLength = line.keyLength;
  sequence.mask.formula = masks.mask;
  sequence.mask.additive = std::move(masks.additive);
  if (const auto* made = std::get_if<MadeLine>(&source))
    sequence.attention = attendMade(config, *made, sequence, stop);
  else
    sequence.attention = attendModel(config, *std::get<std::shared_ptr<const attention::LayerResult>>(source),
                                     setup, sequence.mask, stop);
  if (!stop.stop_requested() && config.dropout.probability > 0)
    sequence.undropped = attention::undroppedWeights(config, sequence.attention, stop);
  if (!stop.stop_requested()) sequence.decode = checkDecode(snapshot, source, sequence, stop);
  if (!stop.stop_requested() && masks.other)
    sequence.other = computeOther(config, sequence, masks.other, stop);
  sequence.queries = std::move(line.queries);
  sequence.keys = std::move(line.keys);
  sequence.ids = std::move(line.ids);
  if (!stop.stop_requested()) profileHeads(setup, std::ssize(snapshot.sequences), sequence, stop);
  if (!stop.stop_requested())
    sequence.pictures = drawPictures(sequence.attention, sequence.probabilities(), stop);
  return sequence;
}

/// Returns the bytes that the computation holds at once.
double bytesNeeded(const Setup& setup, const AttentionConfig& config, const TokenBatch& batch) {
  const auto queries = static_cast<Index>(batch.lines.front().queries.size());
  const auto keys = static_cast<Index>(batch.lines.front().keys.size());
  const Index inputs = (queries + (isCross(setup) ? keys : 0)) * config.modelDim;
  const double weights =
      static_cast<double>(config.heads * queries) * static_cast<double>(keys) * sizeof(float);
  const double results = static_cast<double>(attention::attentionResultBytes(config, queries, keys)) +
                         (config.dropout.probability > 0 ? weights : 0);
  const double each = results * (setup.mask.compare ? 2 : 1) + static_cast<double>(inputs) * sizeof(float);
  const double drift = mergesKvHeads(setup) ? results : 0;  // of one line at a time
  return each * static_cast<double>(batch.lines.size()) + drift;
}

/// Reserves the needed memory before anything large is allocated. It must fit twice, because what is shown
/// stays until its successor is ready: a scene that can be shown can also be changed.
void reserveMemory(Snapshot& snapshot, const TokenBatch& batch, const MemoryBudget& memory,
                   std::stop_token stop) {
  const double needed = bytesNeeded(snapshot.setup, snapshot.config, batch);
  const auto total = static_cast<double>(memory.total());
  const bool fitsTwice = 2 * needed <= total;
  if (fitsTwice) snapshot.memory = memory.reserve(static_cast<std::uint64_t>(needed), stop);
  if (snapshot.memory || stop.stop_requested()) return;
  const std::size_t lines = batch.lines.size();
  const std::string why =
      fitsTwice ? fmt::format(", and {} of it is in use", bytesText(static_cast<double>(memory.used())))
                : " for the picture that is shown and the next";
  snapshot.error = PlacedError{
      Place::memory,
      fmt::format("{} of {} on {} would need {}; the budget is {}{}. Use fewer "
                  "tokens, heads or lines.",
                  countedText(lines, "sequence"), tokenCountText(std::ssize(batch.lines.front().queries)),
                  countedText(snapshot.config.heads, "head"), bytesText(needed), bytesText(total), why)};
}

void fillOfModel(Snapshot& snapshot, TokenBatch batch, std::vector<LineMasks> masks, Resources& resources,
                 std::stop_token stop) {
  const Setup& setup = snapshot.setup;
  LineTokens& line = batch.lines.front();
  const std::vector<Index> ids = line.ids;
  const auto layer = runLayer(setup, {ids, line.queries, {}, 0}, resources.inputs, stop);
  if (stop.stop_requested()) return;
  if (!layer) {
    snapshot.error = PlacedError{Place::model, layer.error().message};
    return;
  }
  snapshot.sequences.push_back(
      computeSequence(snapshot, std::move(line), LineSource{*layer}, std::move(masks.front()), stop));
  // Every key is seen by some query, so non-finite values reach the output.
  if (!snapshot.sequences.back().attention.output.allFinite())
    snapshot.notFinite = modelFault(*setup.subject.opened, ids, {.layers = setup.subject.layer + 1}, stop);
  snapshot.bytes += sequenceBytes(snapshot.sequences.back());
  snapshot.memory = resources.memory.count(snapshot.bytes);
}

/// The layer before its kv heads were merged; both null if they weren't.
struct UnmergedLayer {
  std::shared_ptr<const Projections> projections;
  std::shared_ptr<const std::vector<LineInput>> inputs;
};

UnmergedLayer unmergedLayer(const Setup& setup, const std::vector<LineTokens>& lines, Resources& resources,
                            std::stop_token stop) {
  if (!mergesKvHeads(setup)) return {};
  const Setup before = beforeMerge(setup);
  const LineTokens& first = lines.front();
  const auto projections = resources.inputs.projections(
      before, static_cast<Index>(std::max(first.queries.size(), first.keys.size())));
  const auto inputs = shownInputs(before, lines, resources, std::move(stop));
  return projections && inputs ? UnmergedLayer{*projections, *inputs} : UnmergedLayer{};
}

void fill(Snapshot& snapshot, const Setup& setup, Resources& resources, std::stop_token stop) {
  const auto config = attention::validate(snapshot.config);
  if (!config) {
    snapshot.error = PlacedError{Place::model, config.error().message};
    return;
  }
  TokenBatch batch = tokenizeBatch(setup);
  snapshot.error = batch.error;
  if (batch.error || batch.lines.empty()) return;
  const auto queries = static_cast<Index>(batch.lines.front().queries.size());
  const auto keys = static_cast<Index>(batch.lines.front().keys.size());
  reserveMemory(snapshot, batch, resources.memory, stop);
  if (snapshot.error || stop.stop_requested()) return;
  snapshot.empty = false;
  Result<std::vector<LineMasks>> masks = compileMasks(setup, batch.lines, resources.inputs);
  if (!masks) {
    snapshot.error = PlacedError{Place::mask, masks.error().message};
    return;
  }
  snapshot.causal = !isCross(setup) && std::none_of(masks->begin(), masks->end(),
                                                    [](const LineMasks& m) { return seesFuture(*m.mask); });
  if (snapshot.causal) snapshot.hidesFuture = futureHiders(setup, batch.lines.front(), resources.inputs);
  if (snapshot.config.t5 && !snapshot.config.t5->table) snapshot.config.t5->bidirectional = !snapshot.causal;
  if (stop.stop_requested()) return;
  if (setup.subject.opened)
    return fillOfModel(snapshot, std::move(batch), *std::move(masks), resources, stop);
  if (const auto fits = checkStack(setup, resources.memory); !fits) {
    const bool ofFile = setup.weights.source == WeightSource::file;
    snapshot.error = PlacedError{ofFile ? Place::weights : Place::memory, fits.error().message};
    return;
  }
  const auto projections = resources.inputs.projections(setup, std::max(queries, keys));
  if (!projections) return void(snapshot.error = PlacedError{Place::weights, projections.error().message});
  if (stop.stop_requested()) return;
  const auto inputs = shownInputs(setup, batch.lines, resources, stop);
  if (stop.stop_requested()) return;
  if (!inputs) return void(snapshot.error = PlacedError{Place::model, inputs.error().message});
  // A stack layer's inputs are made anew each time, so its projections aren't cached.
  std::shared_ptr<const std::vector<attention::AttentionResult>> projected;
  if (!isStack(setup)) {
    auto kept = resources.inputs.projected(snapshot.config, *projections, *inputs, stop);
    if (stop.stop_requested()) return;
    if (kept) projected = *std::move(kept);
  }
  const UnmergedLayer unmerged = unmergedLayer(setup, batch.lines, resources, stop);
  const attention::HeadSwitch heads = headSwitch(setup.subject, shownLayer(setup), snapshot.config.heads);
  for (std::size_t i = 0; i < batch.lines.size() && !stop.stop_requested(); ++i) {
    snapshot.sequences.push_back(
        computeSequence(snapshot, std::move(batch.lines[i]),
                        MadeLine{**projections, (**inputs)[i], heads, projected ? &(*projected)[i] : nullptr},
                        std::move((*masks)[i]), stop));
    SequenceSnapshot& line = snapshot.sequences.back();
    if (!stop.stop_requested() && !staysInRange(line.attention, line.queryLength)) {
      snapshot.error = PlacedError{Place::model, outgrownText(setup)};
      return;
    }
    if (unmerged.inputs && !stop.stop_requested())
      line.drift = headDrift(snapshot.config, *unmerged.projections, (*unmerged.inputs)[i], line, stop);
    snapshot.bytes += sequenceBytes(snapshot.sequences.back());
  }
  snapshot.memory = resources.memory.count(snapshot.bytes);
}

}  // namespace

Snapshot computeSnapshot(const Setup& setup, const Limits& limits, std::stop_token stop) {
  Resources own(limits);
  return computeSnapshot(setup, own, stop);
}

Snapshot computeSnapshot(const Setup& setup, Resources& resources, std::stop_token stop) {
  const auto start = std::chrono::steady_clock::now();
  Snapshot snapshot;
  snapshot.setup = setup;
  snapshot.config = configOf(setup);
  try {
    fill(snapshot, setup, resources, stop);
  } catch (const std::bad_alloc&) {
    snapshot.error = PlacedError{Place::memory,
                                 "Not enough free memory for these sizes. Use fewer tokens, heads or lines."};
  } catch (const std::exception& broken) {
    snapshot.error = PlacedError{Place::model, std::string("This can't be computed: ") + broken.what()};
  }
  if (snapshot.error) {
    snapshot.sequences.clear();
    snapshot.memory.reset();
  }
  snapshot.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return snapshot;
}

const PlacedError* errorAt(const Snapshot* snapshot, Place place) {
  return snapshot && snapshot->error && snapshot->error->place == place ? &*snapshot->error : nullptr;
}

const SequenceSnapshot* shownSequence(const Scene& scene, const Snapshot* snapshot) {
  if (!snapshot || snapshot->sequences.empty()) return nullptr;
  const auto last = static_cast<Index>(snapshot->sequences.size()) - 1;
  return &snapshot->sequences[static_cast<std::size_t>(std::clamp<Index>(scene.cursor.sequence, 0, last))];
}

}  // namespace headscope::app
