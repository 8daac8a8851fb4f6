#include "attention/core/positions.h"

#include <fmt/core.h>

#include <bit>
#include <cmath>

#include "attention/core/random.h"
#include "attention/core/result.h"

namespace headscope::attention {
namespace {

/// Returns 2^(−most·(h+1)/H), h = 0 … H−1, for a power of two.
std::vector<float> geometricSlopes(Index heads, double most) {
  std::vector<float> slopes;
  for (Index h = 0; h < heads; ++h)
    slopes.push_back(
        static_cast<float>(std::exp2(-most * static_cast<double>(h + 1) / static_cast<double>(heads))));
  return slopes;
}

/// Returns one head's number for each bucket. Each head draws from a separate random stream.
Eigen::RowVectorXf t5HeadValues(const BucketBias& bias, Index head) {
  if (bias.table) return bias.table->col(head).transpose();
  Eigen::RowVectorXf values(bias.buckets);
  Random random(mixSeed(bias.seed, static_cast<std::uint64_t>(head)));
  for (float& value : values) value = bias.strength * static_cast<float>(random.gaussian());
  return values;
}

}  // namespace

Matrix sinusoidalPositions(Index first, Index count, Index dim) {
  require(count >= 0 && dim >= 1, "sinusoidal positions can't have the shape " + shapeText(count, dim));
  Matrix encoding(count, dim);
  for (Index d = 0; d < dim; ++d) {
    const Index pair = d - d % 2;
    const double frequency = std::pow(10000.0, -static_cast<double>(pair) / static_cast<double>(dim));
    for (Index p = 0; p < count; ++p) {
      const double angle = static_cast<double>(first + p) * frequency;
      encoding(p, d) = static_cast<float>(d % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
  return encoding;
}

Matrix ropeTable(Index first, Index count, Index headDim, double theta) {
  require(headDim >= 2 && headDim % 2 == 0,
          fmt::format("RoPE rotates pairs: head size is {}, expected an even number", headDim));
  const Index half = headDim / 2;
  Matrix table(count, headDim);
  for (Index t = 0; t < half; ++t) {
    const double frequency = std::pow(theta, -2.0 * static_cast<double>(t) / static_cast<double>(headDim));
    for (Index p = 0; p < count; ++p) {
      const double angle = static_cast<double>(first + p) * frequency;
      table(p, t) = static_cast<float>(std::cos(angle));
      table(p, half + t) = static_cast<float>(std::sin(angle));
    }
  }
  return table;
}

void applyRope(MutableMatrixView x, const Matrix& table) {
  require(x.rows() == table.rows() && x.cols() == table.cols(),
          "RoPE table is " + shapeText(table.rows(), table.cols()) + ", expected " +
              shapeText(x.rows(), x.cols()));
  const Index half = x.cols() / 2;
  for (Index row = 0; row < x.rows(); ++row) {
    for (Index t = 0; t < half; ++t) {
      const float cosine = table(row, t), sine = table(row, half + t);
      const float a = x(row, t), b = x(row, half + t);
      x(row, t) = a * cosine - b * sine;
      x(row, half + t) = b * cosine + a * sine;
    }
  }
}

void applyRope(MutableMatrixView x, Index first, double theta) {
  applyRope(x, ropeTable(first, x.rows(), x.cols(), theta));
}

std::vector<float> alibiSlopes(Index heads, double most) {
  require(heads >= 1, fmt::format("ALiBi slopes were requested for {} heads, expected at least 1", heads));
  const auto power = static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  std::vector<float> slopes = geometricSlopes(power, most);
  if (power == heads) return slopes;
  const std::vector<float> finer = geometricSlopes(2 * power, most);
  for (std::size_t h = 0; slopes.size() < static_cast<std::size_t>(heads); h += 2) slopes.push_back(finer[h]);
  return slopes;
}

Index t5Bucket(const BucketBias& bias, Index back) {
  Index buckets = bias.buckets, first = 0;
  if (bias.bidirectional) {
    buckets /= 2;
    if (back < 0) first = buckets;
    back = back < 0 ? -back : back;
  } else {
    back = std::max<Index>(back, 0);
  }
  const Index exact = buckets / 2;
  if (back < exact) return first + back;
  const double steps = std::log(static_cast<double>(back) / static_cast<double>(exact)) /
                       std::log(static_cast<double>(bias.maxDistance) / static_cast<double>(exact));
  const auto further = static_cast<Index>(steps * static_cast<double>(buckets - exact));
  return first + std::min(exact + further, buckets - 1);
}

Matrix t5Values(const BucketBias& bias, Index heads) {
  Matrix values(heads, bias.buckets);
  for (Index head = 0; head < heads; ++head) values.row(head) = t5HeadValues(bias, head);
  return values;
}

void alibiBiases(const AttentionConfig& config, Index head, Index back, std::span<float> to) {
  const auto at = static_cast<std::size_t>(head);
  const float slope = config.slopes.empty() ? alibiSlopes(config.heads)[at] : config.slopes[at];
  // 0 − x, so that the diagonal is 0 and not −0.
  for (float& value : to) value = 0 - slope * static_cast<float>(std::abs(back--));
}

void t5Biases(const BucketBias& bias, Index head, Index back, std::span<float> to) {
  const Eigen::RowVectorXf values = t5HeadValues(bias, head);
  for (float& value : to) value = values[t5Bucket(bias, back--)];
}

}  // namespace headscope::attention
