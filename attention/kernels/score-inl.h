// Scores of a block of rows. Compiled once for each target, so the only include guard is Highway's.
#if defined(HEADSCOPE_KERNELS_SCORE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADSCOPE_KERNELS_SCORE_INL_H_
#undef HEADSCOPE_KERNELS_SCORE_INL_H_
#else
#define HEADSCOPE_KERNELS_SCORE_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <limits>

#include "attention/kernels/score_rules.h"
#include "attention/kernels/vector-inl.h"
#include "hwy/contrib/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headscope::attention::kernels::HWY_NAMESPACE {

/// Scores of some rows over some keys, in the caller's memory. Rows are processed in strips of kRows, keys in
/// panels. If no row of a strip sees a key of a panel, it is skipped and its memory is undefined.
struct ScoreBlock {
  size_t rows = 0, headDim = 0;
  const ScoreRules* rules = nullptr;
  const float* q = nullptr;         ///< strips of rows, each [headDim, kRows], scaled
  size_t keyBegin = 0, keyEnd = 0;  ///< keyBegin is the start of a panel
  float* scores = nullptr;          ///< [rows, stride], starting at keyBegin; the stride holds whole panels
  size_t stride = 0;
  std::uint8_t* active = nullptr;  ///< [strips, panels]
  const Run** next = nullptr;      ///< [rows] the row's first run that ends after keyBegin; see findRuns()
  size_t* runsPassed = nullptr;    ///< if not null, counts the runs visited
  size_t seenEnd = 0;              ///< set by markActive(): every row sees every key before this one

  size_t strips() const { return (rows + kRows - 1) / kRows; }
  size_t panels() const { return (keyEnd - keyBegin + panelColumns() - 1) / panelColumns(); }
  size_t rowsOf(size_t strip) const { return std::min(kRows, rows - strip * kRows); }
  float* row(size_t r) const { return scores + r * stride; }
  const std::uint8_t* activeOf(size_t strip) const { return active + strip * panels(); }
};

/// Panels begin … end−1 of a block.
struct PanelRange {
  size_t begin, end;
};

/// Returns the next range of active panels at or after `from`; empty at the end.
HWY_INLINE PanelRange nextActive(const std::uint8_t* active, size_t from, size_t panels) {
  while (from < panels && !active[from]) ++from;
  size_t end = from;
  while (end < panels && active[end]) ++end;
  return {from, end};
}

/// Packs rows of q [rows, headDim], scaled, into strips.
HWY_INLINE void packQueries(const float* q, size_t rowStride, size_t rows, size_t headDim, float scale,
                            float* strips) {
  for (size_t row = 0; row < rows; row += kRows)
    packPanel(q + row * rowStride, rowStride, std::min(kRows, rows - row), kRows, headDim,
              strips + row * headDim);
  const size_t count = roundedUp(rows, kRows) * headDim;
  for (size_t i = 0; i < count; ++i) strips[i] *= scale;
}

/// Finds each row's first run for the first of several blocks with ascending keys. Later blocks continue from
/// there, so even rows with many runs are traversed once.
HWY_INLINE void findRuns(const ScoreBlock& block) {
  const ScoreRules& rules = *block.rules;
  for (size_t r = 0; r < block.rows; ++r)
    block.next[r] = std::partition_point(rules.runs + rules.firstRun[r], rules.runs + rules.firstRun[r + 1],
                                         [&](const Run& run) { return run.end <= block.keyBegin; });
}

/// Sets up a block for up to `keys` keys at once, in memory of `scratch`.
HWY_INLINE ScoreBlock scoreBlock(const QueryRows& part, size_t keys, ScoreScratch& scratch) {
  const size_t panel = panelColumns(), padded = roundedUp(part.rows, kRows);
  ScoreBlock block{.rows = part.rows, .headDim = part.keys.headDim, .rules = &part.rules};
  // Extra panel: rows a whole number of pages apart would compete for a few cache lines.
  block.stride = roundedUp(keys, panel) + panel;
  block.scores = scratch.scores.atLeast(padded * block.stride);
  scratch.active.resize(block.strips() * (block.stride / panel));
  block.active = scratch.active.data();
  scratch.next.resize(part.rows);
  block.next = scratch.next.data();
  float* const q = scratch.q.atLeast(padded * block.headDim);
  packQueries(part.q, part.qRow, part.rows, block.headDim, part.rules.scale, q);
  block.q = q;
  return block;
}

HWY_INLINE void markActive(ScoreBlock& block) {
  const size_t panel = panelColumns(), panels = block.panels();
  std::fill_n(block.active, block.strips() * panels, std::uint8_t{0});
  block.seenEnd = std::numeric_limits<size_t>::max();
  for (size_t r = 0; r < block.rows; ++r) {
    std::uint8_t* const active = block.active + r / kRows * panels;
    const Run* const last = block.rules->runs + block.rules->firstRun[r + 1];
    const Run*& next = block.next[r];
    const Run *const from = next, *run = nullptr;
    while (next != last && next->end <= block.keyBegin) ++next;
    block.seenEnd = std::min(block.seenEnd, next != last && next->begin <= block.keyBegin ? next->end : 0);
    // Panels before this key are marked already. Saves divisions, which are expensive, if a panel has several
    // runs.
    size_t marked = block.keyBegin;
    for (run = next; run != last && run->begin < block.keyEnd; ++run) {
      const size_t begin = std::max(run->begin, marked), end = std::min(run->end, block.keyEnd);
      if (begin >= end) continue;
      const size_t past = (end - 1 - block.keyBegin) / panel + 1;
      std::fill(active + (begin - block.keyBegin) / panel, active + past, std::uint8_t{1});
      marked = block.keyBegin + past * panel;
    }
    if (block.runsPassed) *block.runsPassed += static_cast<size_t>(run - from);
  }
}

HWY_INLINE bool transforms(const ScoreRules& rules) {
  return rules.bias || rules.added || rules.softcap != 0;
}

/// Applies bias, soft-cap and additive mask, and before them the scale if kScaled, to the scores of `count`
/// keys in whole vectors. `bias` and `added` begin at the first key, aren't read beyond the last, and may be
/// null.
template <bool kScaled>
HWY_INLINE void transformScores(const ScoreRules& rules, const float* bias, const float* added, size_t count,
                                float* scores) {
  const Lane d;
  const size_t n = hn::Lanes(d);
  const Lanes scale = hn::Set(d, rules.scale), cap = hn::Set(d, rules.softcap),
              part = hn::Set(d, rules.softcap != 0 ? 1 / rules.softcap : 0);
  for (size_t j = 0; j < count; j += n) {
    const size_t some = std::min(n, count - j);
    Lanes s = hn::LoadU(d, scores + j);
    if constexpr (kScaled) s = hn::Mul(s, scale);
    if (bias) s = hn::Add(s, some == n ? hn::LoadU(d, bias + j) : loadPart(bias + j, some));
    if (rules.softcap != 0) s = hn::Mul(hn::CallTanh(d, hn::Mul(s, part)), cap);
    if (added) s = hn::Add(s, some == n ? hn::LoadU(d, added + j) : loadPart(added + j, some));
    hn::StoreU(s, d, scores + j);
  }
}

/// The same for one row of a block in panels `range`.
HWY_INLINE void transformRow(const ScoreBlock& block, size_t r, PanelRange range) {
  const ScoreRules& rules = *block.rules;
  if (!transforms(rules)) return;
  const size_t first = range.begin * panelColumns(), key = block.keyBegin + first;
  const size_t end = std::min(range.end * panelColumns(), block.keyEnd - block.keyBegin);
  const float* const bias =
      rules.bias
          ? rules.bias + (static_cast<std::ptrdiff_t>(key) - static_cast<std::ptrdiff_t>(r * rules.rowStep))
          : nullptr;
  const float* const added = rules.added ? rules.added + r * rules.addedRow + key : nullptr;
  if (first < end) transformScores<false>(rules, bias, added, end - first, block.row(r) + first);
}

/// Writes −inf to the scores of keys begin … end−1 that aren't in runs run … last−1. `scores` is where the
/// score of key 0 would be. Returns the first run beyond.
HWY_INLINE const Run* hideScores(const Run* run, const Run* last, size_t begin, size_t end, float* scores) {
  size_t from = begin;
  for (; run != last && run->begin < end; ++run) {
    if (run->end <= from) continue;
    if (run->begin > from) std::fill(scores + from, scores + run->begin, kMinusInfinity);
    from = std::min(run->end, end);
  }
  std::fill(scores + from, scores + end, kMinusInfinity);
  return run;
}

/// The same for one row of a block in panels `range`.
HWY_INLINE void hideRow(const ScoreBlock& block, size_t r, PanelRange range) {
  const size_t panel = panelColumns();
  const Run* const last = block.rules->runs + block.rules->firstRun[r + 1];
  const Run* const run = hideScores(block.next[r], last, block.keyBegin + range.begin * panel,
                                    block.keyBegin + range.end * panel, block.row(r) - block.keyBegin);
  if (block.runsPassed) *block.runsPassed += static_cast<size_t>(run - block.next[r]);
}

/// Fills the active panels of the block with scores, −inf where masked. `keys` are the panels of all keys.
HWY_INLINE void computeScores(ScoreBlock& block, const float* keys) {
  const size_t panel = panelColumns(), panels = block.panels();
  markActive(block);
  for (size_t p = 0; p < panels; ++p) {
    const float* const b = keys + (block.keyBegin + p * panel) * block.headDim;
    for (size_t strip = 0; strip < block.strips(); ++strip)
      if (block.activeOf(strip)[p])
        productRows(block.rowsOf(strip), block.headDim, block.q + strip * kRows * block.headDim, 1, kRows, b,
                    panel, block.row(strip * kRows) + p * panel, block.stride, false);
  }
  for (size_t r = 0; r < block.rows; ++r) {
    const std::uint8_t* const active = block.activeOf(r / kRows);
    for (PanelRange range = nextActive(active, 0, panels); range.begin < panels;
         range = nextActive(active, range.end, panels)) {
      transformRow(block, r, range);
      hideRow(block, r, range);
    }
  }
}

}  // namespace headscope::attention::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
