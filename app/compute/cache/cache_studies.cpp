#include "app/compute/cache/cache_studies.h"

#include <fmt/core.h>

#include "app/compute/cost/cost_figures.h"
#include "app/scene/text/number_text.h"
#include "attention/core/extremes.h"
#include "render/heatmap.h"

namespace headscope::app {

using attention::AttentionConfig;
using attention::AttentionResult;
using attention::Error;
using attention::Matrix;
using attention::MatrixView;
using attention::NumberFormat;
using attention::Result;
using attention::Stack;

namespace {

const SequenceSnapshot& sequenceOf(const Snapshot& snapshot, Index sequence) {
  return snapshot.sequences[static_cast<std::size_t>(sequence)];
}

}  // namespace

Result<MemoryShare> studyMemory(const AttentionConfig& config, const SequenceSnapshot& sequence,
                                const Resources& resources, std::stop_token stop) {
  const Index n = sequence.attention.scores.rows(), m = sequence.attention.scores.cols();
  // The exact heads, those compared with them, and as much again for copies and one head's pictures.
  const std::uint64_t one = attention::attentionResultBytes(config, n, m);
  const std::uint64_t needed = attention::saturatingMultiply(one, 3);
  if (MemoryShare share = resources.memory.reserve(needed, stop)) return share;
  if (stop.stop_requested()) return Error{"stopped"};
  const auto count = [](Index value) { return countText(static_cast<std::uint64_t>(value)); };
  return Error{
      fmt::format("Recomputing {} heads of {} × {} weights needs {}; the budget is {}, and {} of it is in "
                  "use. Use fewer tokens or heads.",
                  config.heads, count(n), count(m), bytesText(static_cast<double>(needed)),
                  bytesText(static_cast<double>(resources.memory.total())),
                  bytesText(static_cast<double>(resources.memory.used())))};
}

MemoryShare pictureMemory(std::initializer_list<const Stack*> pictures, const Resources& resources) {
  std::uint64_t numbers = 0;
  for (const Stack* each : pictures) numbers += static_cast<std::uint64_t>(each->size());
  return resources.memory.count(numbers * sizeof(float));
}

Index studyFactor(Index size) {
  return std::max<Index>(1, attention::pooledSize(size, kStudyPixels));
}

Index pooledSide(Index size) {
  return attention::pooledSize(size, studyFactor(size));
}

void intoPicture(const Eigen::Ref<const Matrix>& values, Stack& pictures, Index at) {
  pictures[at] = strongestOf(values, studyFactor(values.rows()), studyFactor(values.cols()));
}

OutputError outputError(const Stack& full, const Stack& other) {
  OutputError error;
  double difference = 0, whole = 0;
  for (Index row = 0; row < full.rows(); ++row) {
    double rowDifference = 0, rowWhole = 0;
    for (Index h = 0; h < full.count(); ++h) {
      rowDifference += static_cast<double>((other[h].row(row) - full[h].row(row)).squaredNorm());
      rowWhole += static_cast<double>(full[h].row(row).squaredNorm());
    }
    error.perToken.push_back(rowWhole > 0 ? std::sqrt(rowDifference / rowWhole) : 0);
    difference += rowDifference;
    whole += rowWhole;
  }
  error.all = whole > 0 ? std::sqrt(difference / whole) : 0;
  return error;
}

namespace {

Stack topLeft(const Stack& whole, Index rows, Index cols) {
  if (whole.rows() == rows && whole.cols() == cols) return whole;
  Stack part = Stack::uninitialized(whole.count(), rows, cols);
  for (Index i = 0; i < whole.count(); ++i) part[i] = whole[i].topLeftCorner(rows, cols);
  return part;
}

}  // namespace

AttentionResult attendAgain(const SequenceSnapshot& sequence, AttentionConfig config, Stack k, Stack v,
                            std::stop_token stop) {
  AttentionResult result;
  result.q = sequence.attention.q;
  config.kvHeads = k.count();
  config.dropout = {};
  result.k = std::move(k);
  result.v = std::move(v);
  attention::attendHeads(config, sequence.mask, result, stop);
  const Index n = sequence.queryLength, m = sequence.keyLength;
  if (stop.stop_requested() || (n == result.scores.rows() && m == result.scores.cols())) return result;
  for (Stack* each : {&result.q, &result.headOutput}) *each = topLeft(*each, n, each->cols());
  for (Stack* each : {&result.k, &result.v}) *each = topLeft(*each, m, each->cols());
  for (Stack* each : {&result.scores, &result.weights}) *each = topLeft(*each, n, m);
  return result;
}

Result<PrecisionStudy> studyPrecision(const PrecisionQuestion& question, const Resources& resources,
                                      std::stop_token stop) {
  const Snapshot& snapshot = *question.snapshot;
  const SequenceSnapshot& sequence = sequenceOf(snapshot, question.sequence);
  const AttentionConfig& config = snapshot.config;
  const auto memory = studyMemory(config, sequence, resources, stop);
  if (!memory) return memory.error();
  const AttentionResult& given = sequence.attention;
  const AttentionResult full = attendAgain(sequence, config, given.k, given.v, stop);
  if (stop.stop_requested()) return Error{"stopped"};
  const Index head = std::clamp<Index>(question.head, 0, config.heads - 1), kvHead = config.kvHeadOf(head);
  const Index n = full.scores.rows(), m = full.scores.cols();
  PrecisionStudy study;
  const auto formats = static_cast<Index>(study.cases.size());
  study.keys = Stack(formats, pooledSide(config.headDim), pooledSide(m));
  study.differences = Stack(formats, pooledSide(n), pooledSide(m));
  const float largest = std::max(attention::largestFinite(full.k[kvHead]), 1e-30f);
  for (std::size_t i = 0; i < study.cases.size() && !stop.stop_requested(); ++i) {
    PrecisionCase& one = study.cases[i];
    one.format = static_cast<NumberFormat>(i);
    one.bytes = 2 * static_cast<std::uint64_t>(config.kvHeads) *
                attention::quantisedBytes(1, config.headDim, one.format);
    const AttentionResult again =
        !attention::rowOf(one.format).round
            ? full
            : attendAgain(sequence, config, attention::quantised(given.k, one.format),
                          attention::quantised(given.v, one.format), stop);
    if (stop.stop_requested()) break;
    for (Index h = 0; h < config.heads; ++h) {
      one.headErrors.push_back(
          static_cast<double>(attention::largestMagnitude(again.weights[h] - full.weights[h])));
      one.weightError = attention::larger(one.weightError, one.headErrors.back());
    }
    one.output = outputError(full.headOutput, again.headOutput);
    const auto at = static_cast<Index>(i);
    intoPicture(again.k[kvHead].transpose() / largest, study.keys, at);
    Matrix difference = (again.weights[head] - full.weights[head]).cwiseAbs();
    for (Index row = 0; row < n; ++row)
      for (Index col = 0; col < m; ++col)
        if (full.scores.at(head, row, col) == -std::numeric_limits<float>::infinity())
          difference(row, col) = render::kMaskedCell;
        else if (std::isfinite(difference(row, col)))
          study.mostDifference = std::max(study.mostDifference, difference(row, col));
    intoPicture(difference, study.differences, at);
  }
  study.memory = pictureMemory({&study.keys, &study.differences}, resources);
  return study;
}

ShapesQuestion shapesQuestion(const Scene& scene, std::shared_ptr<const Snapshot> snapshot, Index sequence,
                              Index head) {
  const CacheSetup& cache = scene.cost.cache;
  const Index merged = mergedKvHeads(scene.setup, snapshot->config, cache.merged);
  return {std::move(snapshot), sequence, head, merged, cache.latent, cache.rotary};
}

EvictionQuestion evictionQuestion(const Scene& scene, std::shared_ptr<const Snapshot> snapshot,
                                  Index sequence, Index head) {
  const CacheSetup& cache = scene.cost.cache;
  const auto rules = [&](EvictionPolicy policy) {
    return attention::EvictionRules{static_cast<attention::EvictionPolicy>(policy), cache.budget, 1};
  };
  return {std::move(snapshot), sequence, head, {rules(cache.first), rules(cache.second)}};
}

Result<EvictionStudy> studyEviction(const EvictionQuestion& question, const Resources& resources,
                                    std::stop_token stop) {
  const Snapshot& snapshot = *question.snapshot;
  const SequenceSnapshot& sequence = sequenceOf(snapshot, question.sequence);
  if (!snapshot.causal) return Error{"Eviction happens while decoding, which needs a causal mask."};
  const auto memory = studyMemory(snapshot.config, sequence, resources, stop);
  if (!memory) return memory.error();
  const AttentionResult full =
      attendAgain(sequence, snapshot.config, sequence.attention.k, sequence.attention.v, stop);
  if (stop.stop_requested()) return Error{"stopped"};
  const Index n = full.scores.rows(), heads = full.scores.count();
  const Index head = std::clamp<Index>(question.head, 0, heads - 1);
  EvictionStudy study;
  study.weights = Stack(2, pooledSide(n), pooledSide(n));
  for (std::size_t i = 0; i < 2 && !stop.stop_requested(); ++i) {
    EvictionCase& one = study.cases[i];
    one.rules = question.rules[i];
    const attention::EvictionRun run =
        attention::runEviction(full, snapshot.config.kvHeads, one.rules, stop, snapshot.config.sinks);
    if (stop.stop_requested()) break;
    for (Index query = 0; query < n; ++query) {
      one.massLost.push_back(static_cast<double>(run.massLost.col(query).mean()));
      one.entries.push_back(run.entries[static_cast<std::size_t>(query)]);
    }
    one.outputError = run.outputError;
    Matrix picture = run.weights[head];
    for (Index query = 0; query < n; ++query)
      for (Index key = 0; key < n; ++key) {
        if (full.scores.at(head, query, key) == -std::numeric_limits<float>::infinity())
          picture(query, key) = render::kMaskedCell;
        else if (!run.keeps(snapshot.config.kvHeadOf(head), query, key))
          picture(query, key) = render::kDeadCell;
      }
    intoPicture(picture, study.weights, static_cast<Index>(i));
  }
  study.memory = pictureMemory({&study.weights}, resources);
  return study;
}

namespace {

/// Returns an upper bound on the bytes of all steps: tables and owners of every block at every step.
std::uint64_t stepBytes(const std::vector<attention::PagedRequest>& requests, attention::Index block) {
  attention::Index last = 0, blocks = 0;
  for (const attention::PagedRequest& request : requests) {
    last = std::max(last, request.arrives + request.answer + 2);
    blocks += (request.prompt + request.answer) / block + 1;
  }
  const auto each = static_cast<std::uint64_t>(2 * blocks) * sizeof(attention::Index) +
                    sizeof(attention::PagedStep) +
                    requests.size() * (sizeof(std::vector<attention::Index>) + 2 * sizeof(attention::Index));
  return static_cast<std::uint64_t>(last) * each;
}

}  // namespace

attention::Result<PagingStudy> studyPaging(const PagingQuestion& question, const MemoryBudget& memory,
                                           std::stop_token stop) {
  auto requests = attention::parseSchedule(question.schedule);
  if (!requests) return requests.error();
  PagingStudy study;
  study.requests = *std::move(requests);
  const std::uint64_t needed = stepBytes(study.requests, question.block);
  study.memory = memory.reserve(needed, stop);
  if (!study.memory)
    return attention::Error{fmt::format(
        "The steps of {} requests need {}; the budget is {}, and {} of it is in use.", study.requests.size(),
        bytesText(static_cast<double>(needed)), bytesText(static_cast<double>(memory.total())),
        bytesText(static_cast<double>(memory.used())))};
  study.steps = attention::runSchedule(study.requests, question.block);
  for (const attention::PagedRequest& request : study.requests)
    study.longest = std::max(study.longest, request.prompt + request.answer);
  for (const attention::PagedStep& step : study.steps) {
    study.mostBlocks = std::max(study.mostBlocks, static_cast<attention::Index>(step.owners.size()));
    study.mostContiguous = std::max(study.mostContiguous, step.contiguousTokens);
  }
  return study;
}

namespace {

/// Returns the bytes of `rows` rows of `size` numbers in each layer; an empty row has no scale either.
std::uint64_t storedBytes(const CacheSetup& cache, Index rows, Index size) {
  if (size == 0) return 0;
  return attention::saturatingMultiply(attention::quantisedBytes(rows, size, cache.stored),
                                       static_cast<std::uint64_t>(std::max<Index>(cache.layers, 1)));
}

}  // namespace

std::uint64_t bytesPerToken(const Scene& scene, const ShapeCase& shape) {
  const CacheSetup& cache = scene.cost.cache;
  const Index rows = 2 * shape.kvHeads;
  if (rows > 0) return storedBytes(cache, rows, shape.numbersPerToken / rows);
  return storedBytes(cache, 1, shape.latent) + storedBytes(cache, 1, shape.rotary);
}

CacheBytes bytesPerToken(const Scene& scene, const attention::AttentionConfig& config) {
  const auto bytes = [&](Index rows, Index size) { return storedBytes(scene.cost.cache, rows, size); };
  const auto ofHeads = [&](Index heads) {
    return bytes(heads, config.headDim) + bytes(heads, config.valueSize());
  };
  const std::uint64_t latent = bytes(1, latentDimOf(config)) + bytes(1, rotaryDimOf(config));
  return {config.latentDim > 0 ? latent : ofHeads(config.kvHeads), ofHeads(config.heads), ofHeads(1), latent};
}

Index latentDimOf(const attention::AttentionConfig& config) {
  return config.latentDim > 0 ? config.latentDim : 4 * config.headDim;
}
Index rotaryDimOf(const attention::AttentionConfig& config) {
  return config.latentDim > 0 ? config.rotaryDim : config.headDim / 2;
}

std::string shareText(const attention::AttentionConfig& config, const CacheBytes& bytes) {
  if (config.latentDim > 0)
    return fmt::format("MLA (a latent of {} + {}) is {} of MHA.", config.latentDim, config.rotaryDim,
                       fractionText(bytes.own, bytes.mha));
  if (config.heads == 1) return "One head: nothing to share.";
  if (config.kvHeads == config.heads) return "MHA: one band per head.";
  return fmt::format("{} ({}) is {} of MHA.", kindName(config.heads, config.kvHeads),
                     countedText(config.kvHeads, "kv head"), fractionText(bytes.own, bytes.mha));
}

double cacheBytes(const Snapshot& snapshot, Index kvHeads, Index tokens, Index bytesPerValue) {
  if (snapshot.config.latentDim > 0 && kvHeads == snapshot.config.kvHeads)
    return latentCacheBytes(snapshot, tokens, bytesPerValue);
  return static_cast<double>(attention::kvCacheBytes(kvHeads, snapshot.config.headDim, tokens, bytesPerValue,
                                                     static_cast<Index>(snapshot.sequences.size())));
}

double latentCacheBytes(const Snapshot& snapshot, Index tokens, Index bytesPerValue) {
  const Index values = latentDimOf(snapshot.config) + rotaryDimOf(snapshot.config);
  return static_cast<double>(values) * static_cast<double>(tokens) * static_cast<double>(bytesPerValue) *
         static_cast<double>(snapshot.sequences.size());
}

std::string cacheFormula(const Snapshot& snapshot, Index tokens, Index bytesPerValue) {
  const attention::AttentionConfig& config = snapshot.config;
  const Index kvHeads = config.kvHeads;
  std::string factors =
      config.latentDim > 0
          ? fmt::format("(latent {} + rotated {}) · {} B", config.latentDim, config.rotaryDim, bytesPerValue)
          : fmt::format("2 · {} · {} · {} B", countedText(kvHeads, "kv head"), config.headDim, bytesPerValue);
  if (snapshot.sequences.size() > 1) factors += fmt::format(" · {} lines", snapshot.sequences.size());
  if (isCross(snapshot.setup))
    return fmt::format("{}, filled once = {} · {}",
                       bytesText(cacheBytes(snapshot, kvHeads, tokens, bytesPerValue)), factors,
                       tokenCountText(tokens));
  return "+" + bytesText(cacheBytes(snapshot, kvHeads, 1, bytesPerValue)) + " per token = " + factors;
}

}  // namespace headscope::app
