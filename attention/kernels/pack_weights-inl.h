// Packs weights into panels. Compiled once for each target, so the only include guard is Highway's.
#if defined(HEADSCOPE_KERNELS_PACK_WEIGHTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADSCOPE_KERNELS_PACK_WEIGHTS_INL_H_
#undef HEADSCOPE_KERNELS_PACK_WEIGHTS_INL_H_
#else
#define HEADSCOPE_KERNELS_PACK_WEIGHTS_INL_H_
#endif

#include <algorithm>

#include "attention/kernels/buffer.h"
#include "attention/kernels/linear_map.h"
#include "attention/kernels/numbers-inl.h"
#include "attention/kernels/weight_blocks-inl.h"
#include "hwy/cache_control.h"

HWY_BEFORE_NAMESPACE();
namespace headscope::attention::kernels::HWY_NAMESPACE {

/// Calls `use` with a null pointer to numbers of a plain type.
template <typename Use>
HWY_INLINE void withNumbers(WeightType type, const Use& use) {
  switch (type) {
    case WeightType::f16:
      return use(static_cast<const hwy::float16_t*>(nullptr));
    case WeightType::bf16:
      return use(static_cast<const hwy::bfloat16_t*>(nullptr));
    case WeightType::f64:
      return use(static_cast<const double*>(nullptr));
    default:
      return use(static_cast<const float*>(nullptr));
  }
}

/// Bytes per prefetch, and rows between prefetching and reading.
inline constexpr size_t kLine = 64, kAhead = 8;

/// Packs `depth` steps of a transposed weight, starting at `step`, into panels. Reads row by row, since each
/// row may be on a different page.
template <typename Number>
void packTransposed(const WeightColumns& weight, const Number*, size_t columns, size_t step, size_t depth,
                    float* panels) {
  const auto* const numbers = reinterpret_cast<const Number*>(weight.input(step));
  const size_t wide = panelColumns();
  for (size_t k = 0; k < depth; ++k) {
    if (k + kAhead < depth)
      for (size_t column = 0; column < columns; column += kLine / sizeof(Number))
        hwy::Prefetch(numbers + (k + kAhead) * weight.row + column);
    for (size_t column = 0; column < columns; column += wide) {
      const size_t count = std::min(wide, columns - column);
      float* const to = panels + column * depth + k * wide;
      copyNumbers(numbers + k * weight.row + column, count, to);
      std::fill(to + count, to + wide, 0.0f);
    }
  }
}

void unpack(WeightType type, const void* from, size_t count, float* to, const void* scales) {
  if (!isPlain(type)) {
    readBlocks<UnpackedNumbers>(type, static_cast<const Byte*>(from), static_cast<const Byte*>(scales),
                                count / weightBlock(type).numbers, to);
    return;
  }
  withNumbers(type, [&](const auto* number)
                        HWY_ATTR { copyNumbers(static_cast<decltype(number)>(from), count, to); });
}

/// Packs `depth` steps of the weights, starting at `step`, into panels. `rows` has space for one more panel.
void packWeights(const WeightColumns& weight, size_t columns, size_t step, size_t depth, float* rows,
                 float* panels) {
  if (weight.transposed)
    return withNumbers(weight.type, [&](const auto* number) HWY_ATTR {
      packTransposed(weight, number, columns, step, depth, panels);
    });
  const size_t wide = panelColumns();
  for (size_t column = 0; column < columns; column += wide) {
    const size_t count = std::min(wide, columns - column);
    const auto* const first = reinterpret_cast<const float*>(weight.output(column)) + step;
    if (weight.type == WeightType::f32 && weight.paired == 0 &&
        reinterpret_cast<std::uintptr_t>(first) % alignof(float) == 0) {
      packPanel(first, weight.row, count, wide, depth, panels + column * depth);
      continue;
    }
    for (size_t c = 0; c < count; ++c)
      unpack(weight.type, weight.output(column + c) + weightBytes(weight.type, step), depth, rows + c * depth,
             weight.scale(column + c, step));
    packPanel(rows, depth, count, wide, depth, panels + column * depth);
  }
}

}  // namespace headscope::attention::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
