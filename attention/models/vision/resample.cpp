#include "attention/models/vision/resample.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace headscope::attention {
namespace {

double sinc(double x) {
  return x == 0 ? 1 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x);
}

/// Keys' cubic convolution kernel at distance x.
double keys(double x, double a) {
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

double filterAt(ResampleFilter filter, double x) {
  x = std::abs(x);
  if (filter == ResampleFilter::bilinear) return std::max(0.0, 1 - x);
  if (filter == ResampleFilter::bicubic) return keys(x, -0.5);
  return x < 3 ? sinc(x) * sinc(x / 3) : 0;
}

double supportOf(ResampleFilter filter) {
  return filter == ResampleFilter::bilinear ? 1 : filter == ResampleFilter::bicubic ? 2 : 3;
}

/// A ResampleSum in fixed point, with 22 fractional bits.
struct WholeSum {
  Index first;
  std::vector<std::int32_t> shares;
};
constexpr int kShareBits = 22;

std::vector<WholeSum> wholeSums(Index from, Index to, ResampleFilter filter) {
  std::vector<WholeSum> sums;
  for (const ResampleSum& sum : resampleSums(from, to, filter)) {
    WholeSum& whole = sums.emplace_back(WholeSum{sum.first, {}});
    for (const double share : sum.shares)
      whole.shares.push_back(static_cast<std::int32_t>(std::lround(share * (1 << kShareBits))));
  }
  return sums;
}

/// One colour value computed from those at `from`, `step` bytes apart.
std::uint8_t summed(const WholeSum& sum, const std::uint8_t* from, Index step) {
  std::int64_t value = std::int64_t{1} << (kShareBits - 1);
  for (const std::int32_t share : sum.shares) {
    value += std::int64_t{share} * *from;
    from += step;
  }
  return static_cast<std::uint8_t>(std::clamp<std::int64_t>(value >> kShareBits, 0, 255));
}

RgbImage alongRows(const RgbImage& picture, Index width, ResampleFilter filter) {
  if (width == picture.width) return picture;
  RgbImage to{width, picture.height, {}};
  to.rgb.reserve(static_cast<std::size_t>(3 * width * picture.height));
  const std::vector<WholeSum> sums = wholeSums(picture.width, width, filter);
  for (Index y = 0; y < picture.height; ++y)
    for (const WholeSum& sum : sums)
      for (Index c = 0; c < 3; ++c)
        to.rgb.push_back(summed(sum, picture.rgb.data() + 3 * (y * picture.width + sum.first) + c, 3));
  return to;
}

RgbImage alongColumns(const RgbImage& picture, Index height, ResampleFilter filter) {
  if (height == picture.height) return picture;
  RgbImage to{picture.width, height, {}};
  const Index row = 3 * picture.width;
  to.rgb.reserve(static_cast<std::size_t>(row * height));
  for (const WholeSum& sum : wholeSums(picture.height, height, filter))
    for (Index i = 0; i < row; ++i)
      to.rgb.push_back(summed(sum, picture.rgb.data() + sum.first * row + i, row));
  return to;
}

}  // namespace

std::vector<ResampleSum> resampleSums(Index from, Index to, ResampleFilter filter) {
  require(from > 0 && to > 0, "an empty row can't be resampled");
  const double scale = static_cast<double>(from) / static_cast<double>(to), wide = std::max(scale, 1.0);
  const double support = supportOf(filter) * wide;
  std::vector<ResampleSum> sums;
  for (Index i = 0; i < to; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * scale;
    const auto first = std::max<Index>(static_cast<Index>(center - support + 0.5), 0);
    const auto end = std::min<Index>(static_cast<Index>(center + support + 0.5), from);
    ResampleSum& sum = sums.emplace_back(ResampleSum{first, {}});
    double whole = 0;
    for (Index at = first; at < end; ++at) {
      sum.shares.push_back(filterAt(filter, (static_cast<double>(at) - center + 0.5) / wide));
      whole += sum.shares.back();
    }
    for (double& share : sum.shares) share /= whole;
  }
  return sums;
}

std::vector<ResampleSum> cubicSums(Index from, Index to) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  std::vector<ResampleSum> sums;
  for (Index i = 0; i < to; ++i) {
    const double at = (static_cast<double>(i) + 0.5) * scale - 0.5, floor = std::floor(at);
    const auto low = static_cast<Index>(floor) - 1;
    const auto inside = [&](Index place) { return std::clamp<Index>(place, 0, from - 1); };
    ResampleSum& sum = sums.emplace_back(ResampleSum{inside(low), {}});
    sum.shares.resize(static_cast<std::size_t>(inside(low + 3) - sum.first) + 1);
    for (Index tap = 0; tap < 4; ++tap)
      sum.shares[static_cast<std::size_t>(inside(low + tap) - sum.first)] +=
          keys(std::abs(at - floor + 1 - static_cast<double>(tap)), -0.75);
  }
  return sums;
}

RgbImage resized(const RgbImage& picture, Index width, Index height, ResampleFilter filter) {
  return alongColumns(alongRows(picture, width, filter), height, filter);
}

Matrix resampledGrid(const Matrix& table, Index rows, Index cols, const std::vector<ResampleSum>& toRows,
                     const std::vector<ResampleSum>& toCols) {
  require(table.rows() == rows * cols, "the table's rows don't fit its grid");
  Matrix to = Matrix::Zero(std::ssize(toRows) * std::ssize(toCols), table.cols());
  Index at = 0;
  for (const ResampleSum& row : toRows)
    for (const ResampleSum& col : toCols) {
      Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(table.cols());
      for (std::size_t r = 0; r < row.shares.size(); ++r)
        for (std::size_t c = 0; c < col.shares.size(); ++c)
          sum += row.shares[r] * col.shares[c] *
                 table.row((row.first + static_cast<Index>(r)) * cols + col.first + static_cast<Index>(c))
                     .cast<double>();
      to.row(at++) = sum.cast<float>();
    }
  return to;
}

}  // namespace headscope::attention
