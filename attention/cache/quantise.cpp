#include "attention/cache/quantise.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/core/result.h"
#include "attention/core/saturating.h"

namespace headscope::attention {

namespace {

constexpr float kMaxE4m3 = 448;

/// Rounds to integers up to ±`most` times a scale that is stored in half precision.
void roundGroup(Eigen::Ref<Eigen::RowVectorXf> group, int most) {
  const float largest = group.size() == 0 ? 0 : group.cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
  if (!std::isfinite(largest)) {
    group.setConstant(std::numeric_limits<float>::quiet_NaN());
    return;
  }
  const float wanted = std::min(largest / static_cast<float>(most), 65504.0f);
  const auto scale = static_cast<float>(static_cast<Eigen::half>(wanted));
  if (scale == 0) {
    group.setZero();
    return;
  }
  for (float& value : group) {
    const float steps =
        std::clamp(std::nearbyint(value / scale), -static_cast<float>(most), static_cast<float>(most));
    value = steps * scale;
  }
}

/// Returns the numbers of a row that share a scale.
Index groupSize(const NumberFormatRow& format, Index headDim) {
  return format.group > 0 ? format.group : std::max<Index>(headDim, 1);
}

}  // namespace

float roundedToE4m3(float value) {
  if (std::isnan(value)) return value;
  const float size = std::min(std::abs(value), kMaxE4m3);
  // Numbers below 2⁻⁶ are 2⁻⁹ apart, larger ones an eighth of their power of two.
  const int exponent = size < 0x1p-6f ? -6 : std::ilogb(size);
  const float step = std::ldexp(1.0f, exponent - 3);
  return std::copysign(std::min(std::nearbyint(size / step) * step, kMaxE4m3), value);
}

void roundToHalf(Matrix& rows, const NumberFormatRow&) {
  rows = rows.cast<Eigen::half>().cast<float>();
}

void roundToBfloat(Matrix& rows, const NumberFormatRow&) {
  rows = rows.cast<Eigen::bfloat16>().cast<float>();
}

void roundToE4m3(Matrix& rows, const NumberFormatRow&) {
  rows = rows.unaryExpr(&roundedToE4m3);
}

void roundToSteps(Matrix& rows, const NumberFormatRow& format) {
  const Index size = groupSize(format, rows.cols());
  for (Index i = 0; i < rows.rows(); ++i)
    for (Index from = 0; from < rows.cols(); from += size)
      roundGroup(rows.row(i).segment(from, std::min(size, rows.cols() - from)), (1 << (format.bits - 1)) - 1);
}

Matrix quantised(const Eigen::Ref<const Matrix>& rows, NumberFormat format) {
  require(static_cast<std::size_t>(format) < kRoundedFormats,
          std::string("there is no rounding to ") + rowOf(format).name);
  Matrix out = rows;
  if (const NumberFormatRow& row = rowOf(format); row.round) row.round(out, row);
  return out;
}

Stack quantised(const Stack& rows, NumberFormat format) {
  Stack out = rows;
  for (Index i = 0; i < rows.count(); ++i) out[i] = quantised(rows[i], format);
  return out;
}

std::uint64_t quantisedBytes(Index rows, Index headDim, NumberFormat format) {
  const NumberFormatRow& row = rowOf(format);
  const std::uint64_t numbers = (saturatingProduct({headDim, row.bits}) + 7) / 8;
  const Index size = groupSize(row, headDim), scales = std::max<Index>((headDim + size - 1) / size, 1);
  return saturatingProduct({rows, static_cast<Index>(numbers) + scales * row.scaleBytes});
}

}  // namespace headscope::attention
