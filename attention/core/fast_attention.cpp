#include <cmath>

#include "attention/core/activations.h"
#include "attention/core/attention.h"
#include "attention/core/score_terms.h"
#include "attention/kernels/attend.h"

namespace headscope::attention {
namespace {

using kernels::Buffer;

/// Larger results bypass the processor's caches, where they would only evict data that is still needed.
constexpr std::size_t kStreamedFloats = std::size_t{6} << 20;

/// Keys and values of all kv heads, packed for the kernels. The memory is reused by the thread's next call.
struct PackedHeads {
  Buffer keys, values;
  std::size_t keyFloats = 0, valueFloats = 0;
};

/// The work of one call: blocks of rows of every head, with the keys each row sees.
class HeadsWork {
 public:
  HeadsWork(const AttentionConfig& config, const MaskInput& mask, std::span<const MatrixView> keys,
            const std::vector<ValueRows>& values, AttentionResult& result, std::stop_token stop)
      : config_(config),
        mask_(mask),
        keys_(keys),
        values_(values),
        result_(result),
        stop_(std::move(stop)),
        pool_(kernels::sharedPool()),
        n_(result.q.rows()),
        m_(keys[0].rows()),
        step_(static_cast<Index>(kernels::attendRows(asSize(m_), !result.weights.empty()))),
        blocks_((n_ + step_ - 1) / step_),
        classes_(maskClasses(config, mask)) {}

  void run(PackedHeads& packed) {
    if (!pack(packed) || !collect()) return;
    for (Index head = 0; head < config_.heads; ++head)
      terms_.push_back(headTerms(config_, mask_, head, n_, m_));
    const bool scored = !result_.scores.empty();
    stream_ = asSize(result_.weights.size() + result_.scores.size()) > kStreamedFloats && m_ >= 64;
    // Under a causal mask the last rows see the most keys. They run first, so that no thread ends alone with
    // a long task.
    pool_.run(asSize(blocks_ * config_.heads), stop_, [&](std::size_t i) {
      const auto task = static_cast<Index>(i);
      attend(packed, task % config_.heads, blocks_ - 1 - task / config_.heads, scored);
    });
  }

 private:
  bool pack(PackedHeads& packed) {
    const std::size_t m = asSize(m_), headDim = asSize(config_.headDim), heads = asSize(config_.kvHeads);
    packed.keyFloats = kernels::keyPanelFloats(m, headDim);
    packed.valueFloats = kernels::valuePanelFloats(m, headDim);
    packed.keys.atLeast(heads * packed.keyFloats);
    packed.values.atLeast(heads * packed.valueFloats);
    constexpr std::size_t kKeys = 512;  // a multiple of every panel's width; takes microseconds
    const std::size_t parts = (m + kKeys - 1) / kKeys;
    return pool_.run(parts * heads, stop_, [&](std::size_t i) {
      const std::size_t g = i / parts, first = i % parts * kKeys, some = std::min(kKeys, m - first);
      const MatrixView v = values_[g].finite();
      kernels::packKeys(keys_[g].data(), asSize(keys_[g].outerStride()), m, headDim, first, some,
                        packed.keys.data() + g * packed.keyFloats);
      kernels::packValues(v.data(), asSize(v.outerStride()), m, headDim, first, some,
                          packed.values.data() + g * packed.valueFloats);
    });
  }

  bool collect() {
    const Index classes = *std::max_element(classes_.begin(), classes_.end()) + 1;
    std::vector<Index> headOf(asSize(classes), -1);
    for (Index head = 0; head < config_.heads; ++head) headOf[asSize(classes_[asSize(head)])] = head;
    runs_.resize(asSize(classes * blocks_));
    return pool_.run(runs_.size(), stop_, [&](std::size_t i) {
      const Index block = static_cast<Index>(i) % blocks_, head = headOf[i / asSize(blocks_)];
      if (head >= 0) collectRuns(mask_, head, block * step_, rowsOf(block), m_, runs_[i]);
    });
  }

  Index rowsOf(Index block) const { return std::min(step_, n_ - block * step_); }

  void attend(const PackedHeads& packed, Index head, Index block, bool scored) const {
    const Index row = block * step_, kvHead = config_.kvHeadOf(head);
    const RowRuns& runs = runs_[asSize(classes_[asSize(head)] * blocks_ + block)];
    const MatrixView q = std::as_const(result_.q)[head];
    kernels::AttendBlock part;
    part.q = q.row(row).data();
    part.qRow = asSize(q.outerStride());
    part.rows = asSize(rowsOf(block));
    part.keys = {packed.keys.data() + asSize(kvHead) * packed.keyFloats, asSize(m_), asSize(config_.headDim)};
    part.k = keys_[asSize(kvHead)].data();
    part.kRow = asSize(keys_[asSize(kvHead)].outerStride());
    part.values = packed.values.data() + asSize(kvHead) * packed.valueFloats;
    part.rules = rulesOf(terms_[asSize(head)], row, runs);
    if (!result_.weights.empty()) part.weights = result_.weights[head].row(row).data();
    if (scored) part.scores = result_.scores[head].row(row).data();
    part.weightsRow = asSize(m_);
    part.lse = &result_.lse(head, row);
    part.output = result_.headOutput[head].row(row).data();
    part.outputRow = asSize(config_.headDim);
    part.stop = &stop_;
    part.stream = stream_;
    kernels::attend(part);
  }

  const AttentionConfig& config_;
  const MaskInput& mask_;
  std::span<const MatrixView> keys_;
  const std::vector<ValueRows>& values_;
  AttentionResult& result_;
  const std::stop_token stop_;
  kernels::Pool& pool_;
  const Index n_, m_, step_, blocks_;
  const std::vector<Index> classes_;  ///< [heads]
  std::vector<RowRuns> runs_;         ///< [classes, blocks]
  std::vector<HeadTerms> terms_;      ///< [heads]
  bool stream_ = false;
};

/// Adds each head's sink to weights, outputs and log-sum-exps that were computed without it.
void leaveToSinks(const AttentionConfig& config, AttentionResult& result, const std::stop_token& stop) {
  kernels::sharedPool().run(asSize(config.heads), stop, [&](std::size_t i) {
    const auto head = static_cast<Index>(i);
    for (Index row = 0; row < result.lse.cols(); ++row) {
      float& lse = result.lse(head, row);
      // A row without visible keys has nothing to scale; a NaN row stays as it is.
      if (lse == kMinusInfinity || std::isnan(lse)) continue;
      const float share = shareLeftBySink(config.sinks[i], lse);
      if (!result.weights.empty()) result.weights[head].row(row) *= share;
      result.headOutput[head].row(row) *= share;
      lse = lseWithSink(config.sinks[i], lse);
    }
  });
}

/// Applies dropout to the weights of every head and recomputes the outputs from them.
void dropAndSum(const AttentionConfig& config, const std::vector<ValueRows>& values, AttentionResult& result,
                const std::stop_token& stop) {
  kernels::sharedPool().run(asSize(config.heads), stop, [&](std::size_t i) {
    const auto head = static_cast<Index>(i);
    dropWeights(config.dropout, head, config.cacheLength, result.weights[head]);
    const ValueRows& rows = values[asSize(config.kvHeadOf(head))];
    const MatrixView weights = std::as_const(result.weights)[head];
    const MatrixView scores = result.scores.empty() ? weights : std::as_const(result.scores)[head];
    rows.weightedSum(weights, scores, result.headOutput[head]);
  });
}

}  // namespace

void attendHeadsFast(const AttentionConfig& config, const MaskInput& mask, std::span<const MatrixView> keys,
                     std::span<const MatrixView> values, Keep keep, AttentionResult& result,
                     std::stop_token stop) {
  const Index n = result.q.rows(), m = keys[0].rows();
  std::vector<ValueRows> rows;
  bool finite = true;
  for (const MatrixView& view : values) finite = rows.emplace_back(view).allFinite() && finite;
  // Non-finite values are added according to the scores; dropout changes the weights before they are used.
  const bool dropped = config.dropout.probability > 0;
  const Keep made = !finite ? Keep::scores : dropped ? std::max(keep, Keep::weights) : keep;
  const auto stack = [&](bool wanted, Index cols) {
    return wanted ? Stack::uninitialized(config.heads, n, cols) : Stack();
  };
  result.scores = stack(made == Keep::scores, m);
  result.weights = stack(made != Keep::output, m);
  result.headOutput = stack(true, config.headDim);
  result.lse.resize(config.heads, n);
  if (n > 0) {
    static thread_local PackedHeads kept;
    PackedHeads packed = std::move(kept);
    HeadsWork(config, mask, keys, rows, result, stop).run(packed);
    kept = std::move(packed);
  }
  if (!config.sinks.empty()) leaveToSinks(config, result, stop);
  if (stop.stop_requested()) return;
  if (dropped)
    dropAndSum(config, rows, result, stop);
  else if (!finite)
    for (Index head = 0; head < config.heads; ++head)
      rows[asSize(config.kvHeadOf(head))].addExceptions(
          std::as_const(result.weights)[head], std::as_const(result.scores)[head], result.headOutput[head]);
  if (keep != Keep::scores) result.scores = {};
  if (keep == Keep::output) result.weights = {};
}

}  // namespace headscope::attention
