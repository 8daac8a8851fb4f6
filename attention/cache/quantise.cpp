#include "attention/cache/quantise.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/core/saturating.h"

namespace headscope::attention {

namespace {

constexpr float kMostE4m3 = 448;

/// Whole multiples of a scale that is kept as a half.
void quantiseRow(Eigen::Ref<Eigen::RowVectorXf> row, int most) {
  const float largest = row.size() == 0 ? 0 : row.cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
  if (!std::isfinite(largest)) {
    row.setConstant(std::numeric_limits<float>::quiet_NaN());
    return;
  }
  const float wanted = std::min(largest / static_cast<float>(most), 65504.0f);
  const auto scale = static_cast<float>(static_cast<Eigen::half>(wanted));
  if (scale == 0) {
    row.setZero();
    return;
  }
  for (float& value : row) {
    const float steps =
        std::clamp(std::nearbyint(value / scale), -static_cast<float>(most), static_cast<float>(most));
    value = steps * scale;
  }
}

}  // namespace

float roundedToE4m3(float value) {
  if (std::isnan(value)) return value;
  const float size = std::min(std::abs(value), kMostE4m3);
  // Below 2⁻⁶ numbers lie 2⁻⁹ apart; above, an eighth of their power of two.
  const int exponent = size < 0x1p-6f ? -6 : std::ilogb(size);
  const float step = std::ldexp(1.0f, exponent - 3);
  return std::copysign(std::min(std::nearbyint(size / step) * step, kMostE4m3), value);
}

Matrix quantised(const Eigen::Ref<const Matrix>& rows, NumberFormat format) {
  Matrix out = rows;
  switch (format) {
    case NumberFormat::fp32:
      break;
    case NumberFormat::fp16:
      out = rows.cast<Eigen::half>().cast<float>();
      break;
    case NumberFormat::bf16:
      out = rows.cast<Eigen::bfloat16>().cast<float>();
      break;
    case NumberFormat::fp8:
      out = rows.unaryExpr(&roundedToE4m3);
      break;
    case NumberFormat::int8:
    case NumberFormat::int4:
      for (Index i = 0; i < out.rows(); ++i) quantiseRow(out.row(i), format == NumberFormat::int8 ? 127 : 7);
  }
  return out;
}

Stack quantised(const Stack& rows, NumberFormat format) {
  Stack out = rows;
  if (format != NumberFormat::fp32)
    for (Index i = 0; i < rows.count(); ++i) out[i] = quantised(rows[i], format);
  return out;
}

std::uint64_t quantisedBytes(Index rows, Index headDim, NumberFormat format) {
  const std::uint64_t row = (saturatingProduct({headDim, bitsOf(format)}) + 7) / 8;
  const bool scaled = format == NumberFormat::int8 || format == NumberFormat::int4;
  return saturatingProduct({rows, static_cast<Index>(row + (scaled ? 2 : 0))});
}

}  // namespace headscope::attention
