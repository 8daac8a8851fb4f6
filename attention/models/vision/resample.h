#pragma once

#include <vector>

#include "attention/core/tensor.h"
#include "attention/formats/pictures/picture.h"

namespace headscope::attention {

/// Filters of a picture's size, by the half-width of their support: a triangle of 1, Keys' cubic with
/// a = −1/2 of 2 (Keys 1981), a sinc within a sinc of 3 (Lanczos).
enum class ResampleFilter { bilinear, bicubic, lanczos };

/// What one of the new places is made of: Σ shares[i] · old[first + i], with shares that sum to 1.
struct ResampleSum {
  Index first = 0;
  std::vector<double> shares;
};

/// The sums of a row of `from` places made into one of `to`. Where that is fewer, the filter is widened by
/// from / to and so takes in all of them (antialiasing), as in Pillow's resize() and torch's
/// interpolate(antialias=True).
std::vector<ResampleSum> resampleSums(Index from, Index to, ResampleFilter filter);
/// Four places each, by the cubic with a = −3/4, which isn't widened; the ends are repeated: torch's
/// interpolate(mode="bicubic", align_corners=False).
std::vector<ResampleSum> cubicSums(Index from, Index to);

/// A picture of another size, to the bit as Pillow makes it: along rows, then along columns, with shares
/// rounded to 22 bits behind the point and 8 bits a colour between.
RgbPicture resized(const RgbPicture& picture, Index width, Index height, ResampleFilter filter);

/// Rows of a table that lie on a grid [rows · cols, d], on one of another size.
Matrix resampledGrid(const Matrix& table, Index rows, Index cols, const std::vector<ResampleSum>& toRows,
                     const std::vector<ResampleSum>& toCols);

}  // namespace headscope::attention
