// Shared by all kernels. Compiled once for each target, so the only include guard is Highway's.
#if defined(HEADSCOPE_KERNELS_VECTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADSCOPE_KERNELS_VECTOR_INL_H_
#undef HEADSCOPE_KERNELS_VECTOR_INL_H_
#else
#define HEADSCOPE_KERNELS_VECTOR_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace headscope::attention::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lane = hn::ScalableTag<float>;
using Lanes = hn::Vec<Lane>;
using std::size_t;

inline constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

/// Rows and adjacent vectors of a product computed together: as many sums as registers hold, leaving some for
/// the operands.
#if HWY_TARGET <= HWY_AVX3
inline constexpr size_t kRows = 12;
#else
inline constexpr size_t kRows = 6;
#endif
inline constexpr size_t kVectors = 2;

/// The number of columns in a panel: keys or outputs stored next to each other for every step of the inner
/// sum.
HWY_INLINE size_t panelColumns() {
  return kVectors * hn::Lanes(Lane());
}

HWY_INLINE size_t roundedUp(size_t size, size_t unit) {
  return (size + unit - 1) / unit * unit;
}

/// How many steps ahead `a` is prefetched if it comes from beyond the L2 cache. A block of 768² then takes 8
/// % less time on Zen 4, whose L2 cache is half as large as the block.
inline constexpr size_t kFetchedAhead = 64;

/// Computes kCount rows of c = or += a·b over `depth` steps of the inner sum: a[row·aRow + step·aStep], and
/// b[step·bStep + column] and c[row·cRow + column] for one panel of columns. The order of each sum doesn't
/// depend on kCount. Set kFetch if `a` is stored in the order it is read and comes from beyond the L2 cache.
template <size_t kCount, bool kFetch>
HWY_INLINE void product(size_t depth, const float* HWY_RESTRICT a, size_t aRow, size_t aStep,
                        const float* HWY_RESTRICT b, size_t bStep, float* HWY_RESTRICT c, size_t cRow,
                        bool accumulate) {
  const Lane d;
  const size_t n = hn::Lanes(d);
  Lanes left[kCount], right[kCount];
  HWY_UNROLL(12)
  for (size_t r = 0; r < kCount; ++r) {
    left[r] = accumulate ? hn::LoadU(d, c + r * cRow) : hn::Zero(d);
    right[r] = accumulate ? hn::LoadU(d, c + r * cRow + n) : hn::Zero(d);
  }
  for (size_t step = 0; step < depth; ++step) {
    const Lanes b0 = hn::LoadU(d, b), b1 = hn::LoadU(d, b + n);
    b += bStep;
    if constexpr (kFetch) hwy::Prefetch(a + kFetchedAhead * aStep);
    HWY_UNROLL(12)
    for (size_t r = 0; r < kCount; ++r) {
      const Lanes factor = hn::Set(d, a[r * aRow]);
      left[r] = hn::MulAdd(factor, b0, left[r]);
      right[r] = hn::MulAdd(factor, b1, right[r]);
    }
    a += aStep;
  }
  HWY_UNROLL(12)
  for (size_t r = 0; r < kCount; ++r) {
    hn::StoreU(left[r], d, c + r * cRow);
    hn::StoreU(right[r], d, c + r * cRow + n);
  }
}

/// The same for up to kRows rows.
template <bool kFetch = false>
HWY_INLINE void productRows(size_t rows, size_t depth, const float* a, size_t aRow, size_t aStep,
                            const float* b, size_t bStep, float* c, size_t cRow, bool accumulate) {
  if (rows == kRows) return product<kRows, kFetch>(depth, a, aRow, aStep, b, bStep, c, cRow, accumulate);
  if constexpr (kRows > 8)
    if (rows >= 8) {
      product<8, kFetch>(depth, a, aRow, aStep, b, bStep, c, cRow, accumulate);
      a += 8 * aRow, c += 8 * cRow, rows -= 8;
    }
  for (; rows >= 4; rows -= 4, a += 4 * aRow, c += 4 * cRow)
    product<4, kFetch>(depth, a, aRow, aStep, b, bStep, c, cRow, accumulate);
  if (rows >= 2) {
    product<2, kFetch>(depth, a, aRow, aStep, b, bStep, c, cRow, accumulate);
    a += 2 * aRow, c += 2 * cRow, rows -= 2;
  }
  if (rows == 1) product<1, kFetch>(depth, a, aRow, aStep, b, bStep, c, cRow, accumulate);
}

#if HWY_TARGET != HWY_SCALAR
/// Loads numbers src[0 … 3] of every fourth row, each into a block of 128 bits.
template <class D>
HWY_INLINE hn::Vec<D> loadBlocks(D d, const float* src, size_t srcRow) {
  if constexpr (hn::MaxLanes(D()) <= 4) {
    return hn::LoadU(d, src);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, loadBlocks(half, src + hn::MaxLanes(half) * srcRow, srcRow),
                       loadBlocks(half, src, srcRow));
  }
}

/// Transposes as many rows of src as D has lanes, over `depth` columns: dst[k·panel + row].
template <class D>
HWY_INLINE void packRows(D d, const float* HWY_RESTRICT src, size_t srcRow, size_t panel, size_t depth,
                         float* HWY_RESTRICT dst) {
  const hn::Repartition<std::uint64_t, D> pairs;
  const auto store = [&](auto low, auto high, float* to) HWY_ATTR {
    const auto a = hn::BitCast(pairs, low), b = hn::BitCast(pairs, high);
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, a, b)), d, to);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, a, b)), d, to + panel);
  };
  size_t k = 0;
  for (; k + 4 <= depth; k += 4, dst += 4 * panel) {
    const float* const from = src + k;
    const auto a = loadBlocks(d, from, srcRow), b = loadBlocks(d, from + srcRow, srcRow);
    const auto c = loadBlocks(d, from + 2 * srcRow, srcRow), e = loadBlocks(d, from + 3 * srcRow, srcRow);
    store(hn::InterleaveLower(d, a, b), hn::InterleaveLower(d, c, e), dst);
    store(hn::InterleaveUpper(d, a, b), hn::InterleaveUpper(d, c, e), dst + 2 * panel);
  }
  for (; k < depth; ++k, dst += panel)
    for (size_t row = 0; row < hn::MaxLanes(D()); ++row) dst[row] = src[row * srcRow + k];
}
#endif

/// Transposes `rows` rows of src over `depth` columns: dst[k·panel + row]. Rows from there up to `panel` are
/// zero.
HWY_INLINE void packPanel(const float* HWY_RESTRICT src, size_t srcRow, size_t rows, size_t panel,
                          size_t depth, float* HWY_RESTRICT dst) {
  size_t row = 0;
#if HWY_TARGET != HWY_SCALAR
#if !HWY_HAVE_SCALABLE  // whole vectors, if their size is known
  constexpr size_t kWide = hn::MaxLanes(Lane());
  for (; row + kWide <= rows; row += kWide)
    packRows(Lane(), src + row * srcRow, srcRow, panel, depth, dst + row);
#endif
  const hn::FixedTag<float, 4> four;
  for (; row + 4 <= rows; row += 4) packRows(four, src + row * srcRow, srcRow, panel, depth, dst + row);
#endif
  for (; row < panel; ++row)
    for (size_t k = 0; k < depth; ++k) dst[k * panel + row] = row < rows ? src[row * srcRow + k] : 0.0f;
}

/// Returns exp(x) for x ≤ 0 within two units in the last place; 0 below −87.33, where the result would be
/// subnormal; NaN for NaN. Computes 2ⁿ·2ʳ with n = round(x·log₂e) and the series of 2ʳ, |r| ≤ ½, up to r⁷;
/// the rest, (ln 2 / 2)⁸ / 8!, is below 6e-9.
HWY_INLINE Lanes expNonPositive(Lanes x) {
  const Lane d;
  const hn::RebindToSigned<Lane> di;
  // Adding 1.5·2²³ leaves no bits for a fraction, so the lowest bits of the sum are n, rounded. With 127
  // added, they are the exponent field of 2ⁿ.
  const Lanes kRound = hn::Set(d, 12582912.0f + 127.0f);
  const Lanes kLog2E = hn::Set(d, 1.44269504f), kLog2ERest = hn::Set(d, 1.92596299e-8f);
  const Lanes shifted = hn::MulAdd(x, kLog2E, kRound);
  const Lanes n = hn::Sub(shifted, kRound);
  const Lanes r = hn::MulAdd(x, kLog2ERest, hn::MulSub(x, kLog2E, n));
  Lanes series = hn::Set(d, 1.52527338e-5f);
  series = hn::MulAdd(series, r, hn::Set(d, 1.54035304e-4f));
  series = hn::MulAdd(series, r, hn::Set(d, 1.33335581e-3f));
  series = hn::MulAdd(series, r, hn::Set(d, 9.61812911e-3f));
  series = hn::MulAdd(series, r, hn::Set(d, 5.55041087e-2f));
  series = hn::MulAdd(series, r, hn::Set(d, 2.40226507e-1f));
  series = hn::MulAdd(series, r, hn::Set(d, 6.93147181e-1f));
  series = hn::MulAdd(series, r, hn::Set(d, 1.0f));
  const Lanes power = hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(di, shifted)));
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -87.3365f)), hn::Mul(series, power));
}

/// Returns the lesser of x and 0, and NaN for NaN, for which hn::Min depends on the target.
HWY_INLINE Lanes atMostZero(Lanes x) {
  const Lane d;
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
  return hn::Min(hn::Zero(d), x);  // x86 returns the second operand if either is NaN
#else
  return hn::IfThenZeroElse(hn::Gt(x, hn::Zero(d)), x);
#endif
}

/// Loads the first `count` lanes of p without reading further; the others are 0.
HWY_INLINE Lanes loadPart(const float* p, size_t count) {
  const Lane d;
  HWY_ALIGN float part[hn::MaxLanes(d)] = {};
  for (size_t i = 0; i < count; ++i) part[i] = p[i];
  return hn::Load(d, part);
}

/// Stores the first `count` lanes of v to p.
HWY_INLINE void storePart(Lanes v, size_t count, float* p) {
  const Lane d;
  HWY_ALIGN float part[hn::MaxLanes(d)];
  hn::Store(v, d, part);
  std::copy_n(part, count, p);
}

}  // namespace headscope::attention::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
