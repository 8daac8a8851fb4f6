#include <fmt/core.h>

#include <cmath>

#include "attention/core/activations.h"
#include "attention/core/attention.h"
#include "attention/core/score_terms.h"

namespace headscope::attention {
namespace {

/// Minimum number of keys per task: half a MiB of a typical cache.
constexpr Index kKeys = 512;

/// The visible keys and score terms of each head, computed once for all tasks.
struct StepRules {
  StepRules(const AttentionConfig& config, const MaskInput& mask, Index keys) : runs(asSize(config.heads)) {
    for (Index head = 0; head < config.heads; ++head) {
      collectRuns(mask, head, 0, 1, keys, runs[asSize(head)]);
      terms.push_back(headTerms(config, mask, head, 1, keys));
    }
    for (std::size_t head = 0; head < runs.size(); ++head)
      rules.push_back(rulesOf(terms[head], 0, runs[head]));
  }

  std::vector<RowRuns> runs;
  std::vector<HeadTerms> terms;
  std::vector<kernels::ScoreRules> rules;  ///< [heads]; they point into the runs and terms
};

void requireCache(const AttentionConfig& config, const CacheView& cache, const Stack& q) {
  requireValid(config);
  require(q.count() == config.heads && q.rows() == 1 && q.cols() == config.headDim,
          fmt::format("q is [{}, {}, {}], expected [{}, 1, {}]", q.count(), q.rows(), q.cols(), config.heads,
                      config.headDim));
  require(cache.length >= 0 && (config.kvHeads == 1 || cache.headStride >= cache.length * config.headDim),
          fmt::format("kv heads of {} are {} numbers apart, expected no overlap",
                      shapeText(cache.length, config.headDim), cache.headStride));
}

/// Partial softmax results of all heads, to be merged per head.
class Parts {
 public:
  Parts(Index parts, Index heads, Index headDim)
      : max(Matrix::Constant(parts, heads, kMinusInfinity)),
        sum(Matrix::Zero(parts, heads)),
        output(parts * heads, headDim) {}

  /// Writes the output of `head` and returns its log-sum-exp.
  float merge(Index head, MutableMatrixView to) const {
    to.setZero();
    const float top = max.rows() ? max.col(head).maxCoeff() : kMinusInfinity;
    if (top == kMinusInfinity) return sum.col(head).array().isNaN().any() ? std::nanf("") : top;
    float total = 0;
    for (Index p = 0; p < max.rows(); ++p) {
      // A part without visible keys adds nothing. NaN, which leaves the maximum at −inf, must propagate.
      if (max(p, head) == kMinusInfinity && !std::isnan(sum(p, head))) continue;
      const float factor = std::exp(max(p, head) - top);
      total += factor * sum(p, head);
      to.row(0) += factor * output.row(p * max.cols() + head);
    }
    to /= total;
    return top + std::log(total);
  }

  Matrix max, sum;  ///< [parts, heads]
  Matrix output;    ///< [parts · heads, headDim]
};

}  // namespace

Index cacheTypeBytes(CacheType type) {
  return type == CacheType::f32 ? 4 : 2;
}

bool decodeHeads(const AttentionConfig& config, const MaskInput& mask, const CacheView& cache, Keep keep,
                 AttentionResult& result, const std::stop_token& stop) {
  requireCache(config, cache, result.q);
  const Index m = cache.length, headDim = config.headDim, group = config.groupSize();
  requireMaskShape(config, mask, 1, m);
  result.headOutput = Stack::uninitialized(config.heads, 1, headDim);
  result.lse.resize(config.heads, 1);
  result.weights = keep == Keep::output ? Stack() : Stack::uninitialized(config.heads, 1, m);
  result.scores = keep == Keep::scores ? Stack::uninitialized(config.heads, 1, m) : Stack();
  // If only the weights are kept, scores are converted in place.
  float* const scores = keep == Keep::scores ? result.scores.data() : result.weights.data();

  const StepRules all(config, mask, m);
  kernels::Pool& pool = kernels::sharedPool();
  // So many tasks that the last one takes a small share of a thread's time, each long enough to be worth
  // starting. With 8 per thread, 8 threads were 5.3 times as fast as one; with 32, 6.9 times.
  const Index wanted = std::max<Index>(1, 32 * pool.threads() / config.kvHeads);
  const Index step = std::max(kKeys, ((m + wanted - 1) / wanted + kKeys - 1) / kKeys * kKeys);
  const Index parts = (m + step - 1) / step;
  Parts partial(parts, config.heads, headDim);
  const Index bytes = cacheTypeBytes(cache.type);
  const bool done = pool.run(asSize(parts * config.kvHeads), stop, [&](std::size_t i) {
    const Index g = static_cast<Index>(i) / parts, p = static_cast<Index>(i) % parts, head = g * group;
    kernels::DecodePart part;
    part.type = cache.type;
    part.keys = static_cast<const char*>(cache.keys) + g * cache.headStride * bytes;
    part.values = static_cast<const char*>(cache.values) + g * cache.headStride * bytes;
    part.headDim = asSize(headDim);
    part.keyBegin = asSize(p * step);
    part.keyEnd = asSize(std::min((p + 1) * step, m));
    part.heads = asSize(group);
    part.q = result.q.data() + head * headDim;
    part.rules = all.rules.data() + head;
    part.scores = scores ? scores + head * m : nullptr;
    part.scoresRow = asSize(m);
    part.max = &partial.max(p, head);
    part.sum = &partial.sum(p, head);
    part.output = partial.output.row(p * config.heads + head).data();
    kernels::decode(part);
  });
  if (!done) return false;
  for (Index head = 0; head < config.heads; ++head) {
    float& lse = result.lse(head, 0) = partial.merge(head, result.headOutput[head]);
    if (const auto sink = config.sinkOf(head); sink && lse != kMinusInfinity) {
      result.headOutput[head] *= shareLeftBySink(*sink, lse);
      lse = lseWithSink(*sink, lse);
    }
    if (keep != Keep::output)
      kernels::weigh(scores + head * m, asSize(m), result.lse(head, 0), result.weights[head].data());
  }
  const bool finite =
      std::all_of(result.headOutput.data(), result.headOutput.data() + result.headOutput.size(),
                  [](float value) { return std::isfinite(value); });
  const auto known = [](float lse) { return std::isfinite(lse) || lse == kMinusInfinity; };
  return finite && std::all_of(result.lse.data(), result.lse.data() + result.lse.size(), known);
}

}  // namespace headscope::attention
