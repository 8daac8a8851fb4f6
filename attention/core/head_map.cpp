#include "attention/core/head_map.h"

#include <fmt/core.h>

#include <bit>
#include <cmath>
#include <mutex>

#include "attention/core/activations.h"
#include "attention/core/score_terms.h"
#include "attention/core/tensor.h"
#include "attention/kernels/map.h"
#include "attention/kernels/pool.h"

namespace headscope::attention {
namespace {

/// Rows per task.
constexpr Index kSlice = 64;
/// Keys summarised together when only the log-sum-exp is needed.
constexpr Index kSumFactor = 128;

Index parts(Index size, Index unit) {
  return (size + unit - 1) / unit;
}

/// `rows` rows of a head: row, row + step …
struct Rows {
  Index row, rows, step = 1;
};

void requireFits(const HeadField& field) {
  const AttentionConfig& config = field.config;
  requireValid(config);
  require(field.head >= 0 && field.head < config.heads,
          fmt::format("head is {}, expected below {}", field.head, config.heads));
  require(
      field.q.cols() == config.headDim && field.k.cols() == config.headDim,
      fmt::format("q is {} and k {}, expected [n, {}] and [m, {}]", shapeText(field.q.rows(), field.q.cols()),
                  shapeText(field.k.rows(), field.k.cols()), config.headDim, config.headDim));
  requireMaskShape(config, field.mask, field.q.rows(), field.k.rows());
}

}  // namespace

struct HeadMap::State {
  HeadField field;
  HeadTerms terms;
  kernels::Buffer keys;    ///< panels
  std::vector<float> lse;  ///< [n]; NaN until known
  kernels::Pool& pool = kernels::sharedPool();
  std::mutex mutex;  ///< guards idleRuns
  std::vector<RowRuns> idleRuns;

  /// The keys that a slice's rows see, in memory reused from earlier slices: fresh memory costs more than
  /// filling it, and some masks have thousands of runs per row.
  class SliceRuns {
   public:
    explicit SliceRuns(State& state) : state_(state) {
      const std::lock_guard lock(state.mutex);
      if (state.idleRuns.empty()) return;
      runs_ = std::move(state.idleRuns.back());
      state.idleRuns.pop_back();
    }
    ~SliceRuns() {
      const std::lock_guard lock(state_.mutex);
      state_.idleRuns.push_back(std::move(runs_));
    }
    operator RowRuns&() { return runs_; }

   private:
    State& state_;
    RowRuns runs_;
  };

  explicit State(HeadField given) : field(std::move(given)) {
    requireFits(field);
    const std::size_t m = asSize(field.k.rows()), headDim = asSize(field.k.cols());
    terms = headTerms(field.config, field.mask, field.head, field.q.rows(), field.k.rows());
    lse.assign(asSize(field.q.rows()), std::numeric_limits<float>::quiet_NaN());
    keys.atLeast(kernels::keyPanelFloats(m, headDim));
    constexpr std::size_t kKeys = 4096;
    pool.run((m + kKeys - 1) / kKeys, {}, [&](std::size_t i) {
      kernels::packKeys(field.k.data(), headDim, m, headDim, i * kKeys, std::min(kKeys, m - i * kKeys),
                        keys.data());
    });
  }

  Index n() const { return field.q.rows(); }
  Index m() const { return field.k.rows(); }

  /// Returns the kernels' input for some rows and keys. Fills `runs`, which must outlive the result.
  kernels::MapRows partOf(const Rows& rows, Index key, Index keyCount, Index factor, RowRuns& runs,
                          const std::stop_token& stop) const {
    collectRuns(field.mask, field.head, rows.row, rows.rows, m(), runs, rows.step);
    kernels::MapRows part;
    part.q = field.q.row(rows.row).data();
    part.qRow = asSize(field.q.cols() * rows.step);
    part.rows = asSize(rows.rows);
    part.keys = {keys.data(), asSize(m()), asSize(field.k.cols())};
    part.rules = rulesOf(terms, rows.row, runs, rows.step);
    part.keyBegin = asSize(key);
    part.keyEnd = asSize(key + keyCount);
    part.factor = asSize(factor);
    part.stop = &stop;
    return part;
  }

  /// Estimates from a few rows the share of the matrix that has to be computed; panels that no row sees are
  /// skipped. At least a half, because a row costs more than its scores.
  double seenShare() const {
    constexpr Index kSampled = 64;
    RowRuns runs;
    const Index step = std::max<Index>(n() / kSampled, 1), rows = std::min(n(), kSampled);
    collectRuns(field.mask, field.head, 0, rows, m(), runs, step);
    std::size_t seen = 0;
    for (const kernels::Run& run : runs.runs) seen += run.end - run.begin;
    return std::max(0.5, static_cast<double>(seen) / static_cast<double>(std::max<Index>(rows * m(), 1)));
  }

  /// Computes the missing log-sum-exps of these rows. Returns false once `stop` is requested.
  bool ensure(Index row, Index rows, const std::stop_token& stop) {
    return pool.run(asSize(parts(rows, kSlice)), stop, [&](std::size_t i) {
      const Index first = row + static_cast<Index>(i) * kSlice, some = std::min(kSlice, row + rows - first);
      const auto begin = lse.begin() + first;
      if (std::none_of(begin, begin + some, [](float value) { return std::isnan(value); })) return;
      sumUp({first, some}, stop);
    });
  }

  /// Returns the summaries of one slice's rows, valid until the thread's next call.
  kernels::Summaries summarize(const Rows& rows, Index key, Index keyCount, Index factor,
                               const std::stop_token& stop) {
    static thread_local kernels::Buffer max, sum;
    static thread_local std::vector<double> reference;
    SliceRuns runs(*this);
    const std::size_t stride = kernels::summaryStride(asSize(rows.rows));
    const std::size_t floats = stride * asSize(parts(keyCount, factor));
    reference.resize(asSize(rows.rows));
    const kernels::Summaries to{max.atLeast(floats), sum.atLeast(floats), stride, reference.data()};
    kernels::summarizeScores(partOf(rows, key, keyCount, factor, runs, stop), to);
    return to;
  }

  /// Writes the log-sum-exps of rows whose keys are all summarised, including the head's sink.
  void combine(const kernels::Summaries& summaries, Index rows, Index blocks, float* to) const {
    kernels::combineSummaries(summaries, asSize(rows), asSize(blocks), to);
    if (const auto sink = field.config.sinkOf(field.head))
      for (Index r = 0; r < rows; ++r) to[r] = lseWithSink(*sink, to[r]);
  }

  void sumUp(const Rows& rows, const std::stop_token& stop) {
    const kernels::Summaries summaries = summarize(rows, 0, m(), kSumFactor, stop);
    if (!stop.stop_requested()) combine(summaries, rows.rows, parts(m(), kSumFactor), lse.data() + rows.row);
  }

  /// Pools the rows of one slice into its pixels. Their log-sum-exps are known or follow from the summaries.
  void poolSlice(const Rows& rows, const MapPart& part, Index rowsOfPixel, float* max, float* sum,
                 const std::stop_token& stop) {
    static thread_local std::vector<float> rowLse;
    const Index blocks = parts(part.keys, part.factor);
    const kernels::Summaries all = summarize(rows, part.key, part.keys, part.factor, stop);
    if (stop.stop_requested()) return;
    rowLse.resize(asSize(rows.rows));
    const bool whole = part.key == 0 && part.keys == m();
    if (whole) combine(all, rows.rows, blocks, rowLse.data());
    for (Index r = 0; r < rows.rows; ++r) {
      float& known = lse[asSize(rows.row + r * rows.step)];
      float& own = rowLse[asSize(r)];
      if (!whole || !std::isnan(known))
        own = known;
      else
        known = own;
    }
    for (Index r = 0; r < rows.rows; r += rowsOfPixel, max += blocks, sum += blocks)
      kernels::foldSummaries({all.max + r, all.sum + r, all.stride, all.reference + r},
                             asSize(std::min(rowsOfPixel, rows.rows - r)), asSize(blocks), rowLse.data() + r,
                             max, sum);
  }

  Pooled coarse(const MapPart& part, Index step, const std::stop_token& stop) {
    const Index pixelRows = parts(part.rows, part.factor), blocks = parts(part.keys, part.factor);
    const Index sampled = std::max<Index>(part.factor / step, 1);  // rows per pixel row
    const Index perSlice = std::max<Index>(sampled / kSlice, 1);   // slices per pixel row
    const Index sliceRows = sampled / perSlice;
    Matrix max(pixelRows * perSlice, blocks), sum(pixelRows * perSlice, blocks);
    // Several small slices form one task.
    const Index group = std::max<Index>(kSlice / sliceRows, 1);
    const Index tasks = parts(max.rows(), group);
    // Under a causal mask the last rows see the most keys. They run first, so that no thread ends alone with
    // a long task.
    pool.run(asSize(tasks), stop, [&](std::size_t i) {
      const Index first = (tasks - 1 - static_cast<Index>(i)) * group,
                  last = std::min(first + group, max.rows());
      const Index row = part.row + first * sliceRows * step, end = part.row + last * sliceRows * step;
      const Index rows = parts(std::min(end, part.row + part.rows) - row, step);
      if (rows <= 0)
        max.middleRows(first, last - first).setConstant(kMinusInfinity),
            sum.middleRows(first, last - first).setConstant(kMinusInfinity);
      else
        poolSlice({row, rows, step}, part, sliceRows, max.row(first).data(), sum.row(first).data(), stop);
    });
    if (stop.stop_requested()) return {};
    return mean(part, step, merged(std::move(max), std::move(sum), perSlice));
  }

  /// Merges the slices of each pixel row, always in the same order.
  static Pooled merged(Matrix max, Matrix sum, Index perSlice) {
    if (perSlice == 1) return {std::move(max), std::move(sum)};
    Pooled out{Matrix::Constant(max.rows() / perSlice, max.cols(), kMinusInfinity), {}};
    out.mean = out.max;
    for (Index i = 0; i < max.rows(); ++i)
      for (Index b = 0; b < max.cols(); ++b) {
        if (max(i, b) == kMinusInfinity) continue;
        float& top = out.max(i / perSlice, b);
        float& total = out.mean(i / perSlice, b);
        top = std::isnan(top) || top > max(i, b) ? top : max(i, b);
        total = (total == kMinusInfinity ? 0 : total) + sum(i, b);
      }
    return out;
  }

  /// Divides sums by the number of sampled cells.
  static Pooled mean(const MapPart& part, Index step, Pooled pooled) {
    const Index f = part.factor;
    for (Index p = 0; p < pooled.mean.rows(); ++p)
      for (Index b = 0; b < pooled.mean.cols(); ++b) {
        const Index cells = parts(std::min(f, part.rows - p * f), step) * std::min(f, part.keys - b * f);
        pooled.mean(p, b) /= static_cast<float>(cells);
      }
    return pooled;
  }

  Pooled fine(const MapPart& part, bool wantsMax, bool wantsMean, const std::stop_token& stop) {
    const Index blocks = parts(part.keys, part.factor), pixelRows = parts(part.rows, part.factor);
    Pooled out{Matrix(wantsMax ? pixelRows : 0, blocks), Matrix(wantsMean ? pixelRows : 0, blocks)};
    const bool done = pool.run(asSize(parts(part.rows, kSlice)), stop, [&](std::size_t i) {
      const Index offset = static_cast<Index>(i) * kSlice, pixel = offset / part.factor;
      const Rows rows{part.row + offset, std::min(kSlice, part.rows - offset)};
      SliceRuns runs(*this);
      kernels::poolWeights(partOf(rows, part.key, part.keys, part.factor, runs, stop), lse.data() + rows.row,
                           wantsMax ? out.max.row(pixel).data() : nullptr,
                           wantsMean ? out.mean.row(pixel).data() : nullptr);
    });
    return done && wantsMean ? mean(part, 1, std::move(out)) : std::move(out);
  }

  Pooled pooled(MapPart part, bool wantsMax, bool wantsMean, const std::stop_token& stop) {
    part = clipped(part);
    if (part.rows == 0 || part.keys == 0) return {};
    const bool whole = part.key == 0 && part.keys == m();
    const bool coarseEnough = part.factor >= static_cast<Index>(kernels::kSummaryFactor);
    // A coarse part over all keys yields its rows' log-sum-exps on the way.
    if (!(whole && coarseEnough) && !ensure(part.row, part.rows, stop)) return {};
    return coarseEnough ? coarse(part, 1, stop) : fine(part, wantsMax, wantsMean, stop);
  }

  MapPart clipped(const MapPart& part) const {
    require(part.factor > 0 && std::has_single_bit(asSize(part.factor)) && part.row >= 0 && part.key >= 0 &&
                part.rows >= 0 && part.keys >= 0 && part.row % part.factor == 0 &&
                part.key % part.factor == 0 && part.row <= n() && part.key <= m(),
            fmt::format("rows from {} and keys from {}, pooled by {}, aren't in the map of {}", part.row,
                        part.key, part.factor, shapeText(n(), m())));
    return {part.row, part.key, std::min(part.rows, n() - part.row), std::min(part.keys, m() - part.key),
            part.factor};
  }
};

HeadMap::HeadMap(HeadField field) : state_(std::make_unique<State>(std::move(field))) {}
HeadMap::~HeadMap() = default;
HeadMap::HeadMap(HeadMap&&) noexcept = default;
HeadMap& HeadMap::operator=(HeadMap&&) noexcept = default;

const HeadField& HeadMap::field() const {
  return state_->field;
}
Index HeadMap::queries() const {
  return state_->n();
}
Index HeadMap::keys() const {
  return state_->m();
}
std::uint64_t HeadMap::bytes() const {
  return headMapBytes(queries(), keys(), state_->field.q.cols());
}

Matrix HeadMap::weights(const MapPart& part, Pooling pooling, std::stop_token stop) {
  const bool max = pooling == Pooling::max;
  Pooled both = state_->pooled(part, max, !max, stop);
  return max ? std::move(both.max) : std::move(both.mean);
}

HeadMap::Pooled HeadMap::pooled(const MapPart& part, std::stop_token stop) {
  return state_->pooled(part, true, true, stop);
}

Index HeadMap::previewStep(Index factor, double work) const {
  const double all = static_cast<double>(queries()) * static_cast<double>(keys()) *
                     static_cast<double>(state_->field.q.cols()) * state_->seenShare();
  Index step = 1;
  while (step < factor && all / static_cast<double>(step) > work) step *= 2;
  return step;
}

Matrix HeadMap::preview(Index factor, Pooling pooling, double work, std::stop_token stop) {
  const MapPart whole = state_->clipped({0, 0, queries(), keys(), factor});
  if (factor < static_cast<Index>(kernels::kSummaryFactor)) return weights(whole, pooling, stop);
  Pooled sampled = state_->coarse(whole, previewStep(factor, work), stop);
  return pooling == Pooling::max ? std::move(sampled.max) : std::move(sampled.mean);
}

bool HeadMap::dead(Index row, Index rows) const {
  const auto begin = state_->lse.begin() + row;
  return std::all_of(begin, begin + std::min(rows, queries() - row),
                     [](float lse) { return lse == kMinusInfinity; });
}

std::uint64_t headMapBytes(Index queries, Index keys, Index headDim) {
  const Index bytes = sizeof(float);
  return saturatingSum({saturatingProduct({queries, headDim, bytes}),
                        saturatingProduct({2, keys, headDim, bytes}), saturatingProduct({queries, bytes})});
}

}  // namespace headscope::attention
