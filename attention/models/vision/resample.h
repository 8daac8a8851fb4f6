#pragma once

#include <vector>

#include "attention/core/tensor.h"
#include "attention/formats/pictures/picture.h"

namespace headscope::attention {

/// Resampling filters and the half-width of their support: triangle, 1; Keys' cubic with a = −1/2, 2 (Keys
/// 1981); sinc windowed by a sinc, 3 (Lanczos).
enum class ResampleFilter { bilinear, bicubic, lanczos };

/// One resampled value: Σ shares[i] · old[first + i], with shares that sum to 1.
struct ResampleSum {
  Index first = 0;
  std::vector<double> shares;
};

/// Returns the sums that resample a row of `from` values to `to`. If `to` is smaller, the filter is widened
/// by from / to to cover all of them (antialiasing), as in Pillow's resize() and torch's
/// interpolate(antialias=True).
std::vector<ResampleSum> resampleSums(Index from, Index to, ResampleFilter filter);
/// Returns sums of four values each, by the cubic with a = −3/4, which isn't widened; the end values are
/// repeated. Equals torch's interpolate(mode="bicubic", align_corners=False).
std::vector<ResampleSum> cubicSums(Index from, Index to);

/// Resizes a picture bit for bit like Pillow: along rows, then along columns, with shares rounded to 22
/// fractional bits and 8 bits per colour in between.
RgbImage resized(const RgbImage& picture, Index width, Index height, ResampleFilter filter);

/// Resamples the rows of a table, which form a grid [rows · cols, d], to a grid of another size.
Matrix resampledGrid(const Matrix& table, Index rows, Index cols, const std::vector<ResampleSum>& toRows,
                     const std::vector<ResampleSum>& toCols);

}  // namespace headscope::attention
