#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "attention/kernels/buffer.h"
#include "attention/kernels/map.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/kernels/summaries.cpp"
#include "hwy/foreach_target.h"
// Must follow foreach_target.h, which sets the target to compile for.
#include "attention/kernels/score-inl.h"
#include "hwy/cache_control.h"

HWY_BEFORE_NAMESPACE();
namespace headscope::attention::kernels::HWY_NAMESPACE {

/// Keys that a strip of rows processes at once. Their scores are a few vectors, so the processor starts the
/// next product while it finishes these exponentials. Keys and the queries of all strips stay in the L1
/// cache.
inline constexpr size_t kStep = kSummaryFactor;
/// Rows whose lanes are reduced together.
inline constexpr size_t kTogether = 4;
inline constexpr size_t kPaddedRows = (kRows + kTogether - 1) / kTogether * kTogether;
/// By how many powers of 2 a score's exponential may exceed the reference of its row. No sum overflows,
/// however many keys there are.
inline constexpr double kHeadroom = 100;
/// Added to score·log₂e, this leaves no bits for a fraction; 127 is the bias of a float's exponent.
inline constexpr double kRound = 12582912 + 127;
/// The product of a larger score with log₂e has no bits for a fraction.
inline constexpr float kLargeScore = 1 << 20;

/// kRows rows in their pass through the keys, with their sums for the current block.
struct Strip {
  ScoreRules rules;
  ScoreBlock scores;
  std::uint8_t active[kStep];
  const Run* next[kRows];
  float base[kRows];       ///< subtracted from scores; 0 except for large scores, whose differences are exact
  float shift[kRows];      ///< kRound − the exponent of 2 of the reference
  float lowest[kRows];     ///< exponentials of smaller score − base are 0
  float limit[kRows];      ///< a larger score changes base, shift and lowest
  size_t firstSum[kRows];  ///< sums of earlier blocks are 0
  float top[kPaddedRows * hn::MaxLanes(Lane())];
  float total[kPaddedRows * hn::MaxLanes(Lane())];

  /// Returns the reference; sums are Σ exp(score − reference).
  double reference(size_t r) const {
    return base[r] + (kRound - static_cast<double>(shift[r])) * std::numbers::ln2;
  }
  void setReference(size_t r, float score) {
    const bool large = std::abs(score) > kLargeScore;
    const double exponent = large ? 0 : std::rint(static_cast<double>(score) * std::numbers::log2e);
    base[r] = large ? score : 0;
    shift[r] = static_cast<float>(kRound - exponent);
    lowest[r] = static_cast<float>((exponent - 125.5) * std::numbers::ln2);
    limit[r] = large ? score : static_cast<float>((exponent + kHeadroom) * std::numbers::ln2);
  }
  void beginBlock() {
    std::fill_n(top, kPaddedRows * hn::MaxLanes(Lane()), kMinusInfinity);
    std::fill_n(total, kPaddedRows * hn::MaxLanes(Lane()), 0.0f);
  }
};

/// Returns exp(score)·2^(shift − kRound), 0 below `lowest`; NaN for NaN and +inf. The relative error is below
/// 1.5e-7 plus 1.4e-8 times the score, less than the score's own rounding. Works like expNonPositive(), with
/// the polynomial of degree 5 closest to 2ʳ for |r| ≤ ½ (Remez), within 7.5e-8.
HWY_INLINE Lanes expScaled(Lanes score, Lanes shift, Lanes lowest) {
  const Lane d;
  const hn::RebindToSigned<Lane> di;
  const Lanes kLog2E = hn::Set(d, std::numbers::log2e_v<float>);
  const Lanes shifted = hn::MulAdd(score, kLog2E, shift);
  const Lanes r = hn::MulSub(score, kLog2E, hn::Sub(shifted, shift));
  Lanes series = hn::Set(d, 1.3276472e-3f);
  series = hn::MulAdd(series, r, hn::Set(d, 9.67554133e-3f));
  series = hn::MulAdd(series, r, hn::Set(d, 5.55071327e-2f));
  series = hn::MulAdd(series, r, hn::Set(d, 2.40221197e-1f));
  series = hn::MulAdd(series, r, hn::Set(d, 6.93146967e-1f));
  series = hn::MulAdd(series, r, hn::Set(d, 1.0f));
  const Lanes power = hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(di, shifted)));
  return hn::IfThenZeroElse(hn::Lt(score, lowest), hn::Mul(series, power));
}

/// Adds a row's scores of one step to its lanes.
HWY_INLINE void takeRow(const float* HWY_RESTRICT scores, const Strip& strip, size_t r, Lanes& top,
                        Lanes& total) {
  const Lane d;
  const Lanes base = hn::Set(d, strip.base[r]), shift = hn::Set(d, strip.shift[r]),
              lowest = hn::Set(d, strip.lowest[r]);
  HWY_UNROLL(4)
  for (size_t j = 0; j < kStep; j += hn::Lanes(d)) {
    const Lanes score = hn::LoadU(d, scores + j);
    top = hn::Max(score, top);
    total = hn::Add(total, expScaled(hn::Sub(score, base), shift, lowest));
  }
}

/// Handles a row whose scores exceed its limit or that sees its first key: rescales its sums so far, those of
/// the `blocks` earlier blocks in `sums` and the lanes of the current one, to its largest score.
HWY_NOINLINE void raiseReference(Strip& strip, size_t r, Lanes top, float* sums, size_t stride,
                                 size_t blocks) {
  const Lane d;
  const float largest = hn::GetLane(hn::MaxOfLanes(d, top));
  if (largest == std::numeric_limits<float>::infinity()) {
    strip.limit[r] = largest;  // the row's sum is NaN
    return;
  }
  const double before = strip.reference(r);
  strip.setReference(r, largest);
  // Without an earlier key there is nothing to scale.
  const auto factor = std::exp(std::min(static_cast<float>(before - strip.reference(r)), 0.0f));
  size_t& from = strip.firstSum[r];
  for (size_t b = from; b < blocks; ++b) sums[b * stride] *= factor;
  // If scores keep rising, as with ALiBi, all but a few sums have become 0.
  while (from < blocks && sums[from * stride] == 0) ++from;
  for (size_t i = 0; i < hn::Lanes(d); ++i) strip.total[r * hn::Lanes(d) + i] *= factor;
}

/// Adds the scores of one step. `sums` [blocks, stride] are those of the blocks before this one.
HWY_INLINE void takeScores(Strip& strip, float* sums, size_t stride, size_t blocks) {
  const Lane d;
  const size_t n = hn::Lanes(d);
  for (size_t r = 0; r < strip.scores.rows; ++r) {
    Lanes top = hn::LoadU(d, strip.top + r * n), total = hn::LoadU(d, strip.total + r * n);
    takeRow(strip.scores.row(r), strip, r, top, total);
    if (HWY_UNLIKELY(!hn::AllFalse(d, hn::Gt(top, hn::Set(d, strip.limit[r]))))) {
      raiseReference(strip, r, top, sums + r, stride, blocks);
      total = hn::LoadU(d, strip.total + r * n);
      takeRow(strip.scores.row(r), strip, r, top, total);
    }
    hn::StoreU(top, d, strip.top + r * n);
    hn::StoreU(total, d, strip.total + r * n);
  }
}

/// Reduces the lanes of kTogether vectors to one number each, using `combine`.
template <typename Combine>
HWY_INLINE void reduceTogether(const float* vectors, float* out, [[maybe_unused]] Combine combine) {
#if HWY_TARGET == HWY_SCALAR
  std::copy_n(vectors, kTogether, out);
#else
  const Lane d;
  const size_t n = hn::Lanes(d);
  const hn::RepartitionToWide<Lane> wide;
  const Lanes v0 = hn::LoadU(d, vectors), v1 = hn::LoadU(d, vectors + n), v2 = hn::LoadU(d, vectors + 2 * n),
              v3 = hn::LoadU(d, vectors + 3 * n);
  const Lanes ab = combine(hn::InterleaveLower(d, v0, v1), hn::InterleaveUpper(d, v0, v1));
  const Lanes ce = combine(hn::InterleaveLower(d, v2, v3), hn::InterleaveUpper(d, v2, v3));
  const auto abWide = hn::BitCast(wide, ab), ceWide = hn::BitCast(wide, ce);
  // Each block of four lanes now has one lane per vector.
  const Lanes all = combine(hn::BitCast(d, hn::InterleaveLower(wide, abWide, ceWide)),
                            hn::BitCast(d, hn::InterleaveUpper(wide, abWide, ceWide)));
  HWY_ALIGN float lanes[hn::MaxLanes(d)];
  hn::Store(all, d, lanes);
  const hn::FixedTag<float, kTogether> four;
  auto result = hn::Load(four, lanes);
  for (size_t i = kTogether; i < n; i += kTogether) result = combine(result, hn::Load(four, lanes + i));
  hn::StoreU(result, four, out);
#endif
}

HWY_INLINE void reduceTops(const float* vectors, float* out) {
  reduceTogether(vectors, out, [](auto a, auto b) HWY_ATTR { return hn::Max(a, b); });
}
HWY_INLINE void reduceTotals(const float* vectors, float* out) {
  reduceTogether(vectors, out, [](auto a, auto b) HWY_ATTR { return hn::Add(a, b); });
}

/// Stores the lanes of a complete block, writing undefined values after the strip's rows.
HWY_INLINE void finishBlock(Strip& strip, float* max, float* sum) {
  const size_t n = hn::Lanes(Lane());
  for (size_t r = 0; r < kRows; r += kTogether) {
    reduceTops(strip.top + r * n, max + r);
    reduceTotals(strip.total + r * n, sum + r);
  }
  strip.beginBlock();
}

/// Computes the strip's scores of a step, −inf where a row doesn't see a key. Returns false if no row sees
/// one.
HWY_INLINE bool scoreStep(ScoreBlock& block, const float* keys) {
  const size_t panel = panelColumns(), panels = block.panels();
  // Nearly always the case in a causal head.
  if (block.keyBegin + kStep <= block.seenEnd) {
    const float* const b = keys + block.keyBegin * block.headDim;
    for (size_t j = 0; j < kStep; j += panel)
      productRows(block.rows, block.headDim, block.q, 1, kRows, b + j * block.headDim, panel,
                  block.scores + j, kStep, false);
    if (transforms(*block.rules))
      for (size_t r = 0; r < block.rows; ++r) transformRow(block, r, {0, panels});
    return true;
  }
  computeScores(block, keys);
  if (std::find(block.active, block.active + panels, 1) == block.active + panels) return false;
  for (size_t j = 0; j < kStep; j += panel)
    if (j >= panels * panel || !block.active[j / panel])
      for (size_t r = 0; r < block.rows; ++r) std::fill_n(block.row(r) + j, panel, kMinusInfinity);
  return true;
}

/// Divides the rows of a part into strips; `q` are their packed queries.
void makeStrips(const MapRows& part, const float* q, float* scores, std::vector<Strip>& strips) {
  strips.resize((part.rows + kRows - 1) / kRows);
  for (size_t s = 0; s < strips.size(); ++s) {
    Strip& strip = strips[s];
    const size_t row = s * kRows;
    strip.rules = part.rules;
    if (part.rules.bias) strip.rules.bias -= row * part.rules.rowStep;
    if (part.rules.added) strip.rules.added += row * part.rules.addedRow;
    strip.rules.firstRun += row;
    ScoreBlock& block = strip.scores;
    block = {.rows = std::min(kRows, part.rows - row), .headDim = part.keys.headDim, .rules = &strip.rules};
    block.q = q + row * block.headDim;
    block.keyBegin = part.keyBegin;
    block.scores = scores;
    block.stride = kStep;
    block.active = strip.active;
    block.next = strip.next;
    block.runsPassed = part.runsPassed;
    findRuns(block);
    strip.beginBlock();
    for (size_t r = 0; r < kRows; ++r) {
      strip.setReference(r, 0);
      strip.limit[r] = kMinusInfinity;
      strip.firstSum[r] = 0;
    }
  }
}

/// Returns the end of the last key that a row of the part sees.
HWY_INLINE size_t seenEnd(const MapRows& part) {
  const ScoreRules& rules = part.rules;
  size_t end = part.keyBegin;
  for (size_t r = 0; r < part.rows; ++r)
    if (rules.firstRun[r + 1] > rules.firstRun[r])
      end = std::max(end, rules.runs[rules.firstRun[r + 1] - 1].end);
  return std::min(end, part.keyEnd);
}

/// Prefetches part `i` of `count` of some floats, so that strips fetch the data of the next step while they
/// compute. Saves a seventh of the time if keys come from memory.
HWY_INLINE void fetchPart(const float* from, size_t floats, size_t i, size_t count) {
  constexpr size_t kLine = 64 / sizeof(float);
  const size_t each = roundedUp((floats + count - 1) / count, kLine);
  for (size_t at = i * each; at < std::min((i + 1) * each, floats); at += kLine) hwy::Prefetch(from + at);
}

void summarizeRows(const MapRows& part, const Summaries& to, Buffer& buffer) {
  const size_t headDim = part.keys.headDim, end = seenEnd(part);
  float* const q = buffer.atLeast(roundedUp(part.rows, kRows) * headDim);
  packQueries(part.q, part.qRow, part.rows, headDim, part.rules.scale, q);
  HWY_ALIGN float scores[kRows * kStep];
  std::vector<Strip> strips;
  makeStrips(part, q, scores, strips);
  size_t at = 0;
  for (size_t key = part.keyBegin; key < end; key += kStep) {
    if (part.stop && part.stop->stop_requested()) return;
    const bool last = (key + kStep - part.keyBegin) % part.factor == 0 || key + kStep >= end;
    for (size_t s = 0; s < strips.size(); ++s) {
      Strip& strip = strips[s];
      strip.scores.keyBegin = key;
      strip.scores.keyEnd = std::min(key + kStep, part.keyEnd);
      if (key + 2 * kStep <= end)
        fetchPart(part.keys.data + (key + kStep) * headDim, kStep * headDim, s, strips.size());
      if (scoreStep(strip.scores, part.keys.data)) takeScores(strip, to.sum + s * kRows, to.stride, at);
      const size_t place = at * to.stride + s * kRows;
      if (last) finishBlock(strip, to.max + place, to.sum + place);
    }
    at += last;
  }
  const size_t unseen = (mapBlocks(part) - at) * to.stride;
  std::fill_n(to.max + at * to.stride, unseen, kMinusInfinity);
  std::fill_n(to.sum + at * to.stride, unseen, 0.0f);
  for (size_t r = 0; r < part.rows; ++r) to.reference[r] = strips[r / kRows].reference(r % kRows);
}

void combineBlocks(const Summaries& rows, size_t count, size_t blocks, float* lse) {
  const Lane d;
  const size_t n = hn::Lanes(d);
  HWY_ALIGN float totals[hn::MaxLanes(d)];
  for (size_t row = 0; row < count; row += n) {
    Lanes total = hn::Zero(d);
    for (size_t b = 0; b < blocks; ++b)
      total = hn::Add(total, hn::LoadU(d, rows.sum + b * rows.stride + row));
    hn::Store(total, d, totals);
    for (size_t r = 0; r < std::min(n, count - row); ++r)
      lse[row + r] =
          totals[r] == 0
              ? kMinusInfinity
              : static_cast<float>(std::log(static_cast<double>(totals[r])) + rows.reference[row + r]);
  }
}

/// For some rows in one block, stores the largest score − lse and the sum of weights, by lane. `shift` holds
/// the rows' lse; multiplying their sums by `scale` twice yields weights.
HWY_INLINE void foldBlock(const float* max, const float* sum, size_t count, const float* shift,
                          const float* scale, float* largest, float* total) {
  const Lane d;
  const size_t n = hn::Lanes(d);
  const Lanes none = hn::Set(d, kMinusInfinity);
  Lanes top = none, mass = hn::Zero(d);
  for (size_t r = 0; r < count; r += n) {
    const Lanes most = hn::LoadU(d, max + r), some = hn::LoadU(d, sum + r), factor = hn::LoadU(d, scale + r);
    const auto seen = hn::And(hn::FirstN(d, count - r), hn::Or(hn::Ne(most, none), hn::IsNaN(some)));
    top = hn::Max(hn::IfThenElse(seen, hn::Sub(most, hn::LoadU(d, shift + r)), none), top);
    mass = hn::Add(mass, hn::IfThenElseZero(seen, hn::Mul(hn::Mul(some, factor), factor)));
  }
  hn::StoreU(top, d, largest);
  hn::StoreU(mass, d, total);
}

/// Turns the largest score − lse into weights.
HWY_INLINE void finishPixels(size_t blocks, float* largest, float* total) {
  const Lane d;
  const size_t n = hn::Lanes(d);
  const Lanes none = hn::Set(d, kMinusInfinity);
  for (size_t b = 0; b < blocks; b += n) {
    const size_t count = std::min(n, blocks - b);
    const Lanes top = loadPart(largest + b, count), mass = loadPart(total + b, count);
    // A maximum may lose NaN, a sum doesn't.
    const auto broken = hn::IsNaN(mass);
    const auto hidden = hn::AndNot(broken, hn::Eq(top, none));
    // Rounding must not lift a weight above 1.
    const Lanes weight = hn::IfThenElse(broken, mass, expNonPositive(atMostZero(top)));
    storePart(hn::IfThenElse(hidden, none, weight), count, largest + b);
    storePart(hn::IfThenElse(hidden, none, mass), count, total + b);
  }
}

void foldRows(const Summaries& rows, size_t count, size_t blocks, const float* lse, float* largest,
              float* total, Buffer& buffer) {
  const size_t n = hn::Lanes(Lane()), padded = roundedUp(count, n);
  float *const shift = buffer.atLeast(2 * padded), *const scale = shift + padded;
  for (size_t r = 0; r < count; ++r) {
    shift[r] = lse[r];
    // The square root: the full factor might exceed a float if other keys dominate the row's sum.
    scale[r] = static_cast<float>(std::exp((rows.reference[r] - lse[r]) / 2));
  }
  HWY_ALIGN float tops[kTogether * hn::MaxLanes(Lane())], totals[kTogether * hn::MaxLanes(Lane())];
  for (size_t b = 0; b < blocks; b += kTogether) {
    const size_t some = std::min(kTogether, blocks - b);
    for (size_t i = 0; i < some; ++i)
      foldBlock(rows.max + (b + i) * rows.stride, rows.sum + (b + i) * rows.stride, count, shift, scale,
                tops + i * n, totals + i * n);
    float top[kTogether], mass[kTogether];
    reduceTops(tops, top);
    reduceTotals(totals, mass);
    std::copy_n(top, some, largest + b);
    std::copy_n(mass, some, total + b);
  }
  finishPixels(blocks, largest, total);
}

}  // namespace headscope::attention::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headscope::attention::kernels {
namespace {

HWY_EXPORT(summarizeRows);
HWY_EXPORT(combineBlocks);
HWY_EXPORT(foldRows);

}  // namespace

std::size_t summaryStride(std::size_t rows) {
  // Whole vectors are read, and whole strips written.
  constexpr std::size_t kMax = 16;
  return (rows + 2 * kMax - 1) / kMax * kMax;
}

void summarizeScores(const MapRows& part, const Summaries& to) {
  static thread_local Buffer queries;
  HWY_DYNAMIC_DISPATCH(summarizeRows)(part, to, queries);
}

void combineSummaries(const Summaries& rows, std::size_t count, std::size_t blocks, float* lse) {
  HWY_DYNAMIC_DISPATCH(combineBlocks)(rows, count, blocks, lse);
}

void foldSummaries(const Summaries& rows, std::size_t count, std::size_t blocks, const float* lse,
                   float* largest, float* total) {
  static thread_local Buffer scales;
  HWY_DYNAMIC_DISPATCH(foldRows)(rows, count, blocks, lse, largest, total, scales);
}

}  // namespace headscope::attention::kernels
#endif
