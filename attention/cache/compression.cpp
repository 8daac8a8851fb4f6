#include <fmt/core.h>

#include <cmath>
#include <complex>

#include "attention/cache/kv_cache.h"
#include "attention/core/decompositions.h"
#include "attention/core/extremes.h"

namespace headscope::attention {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXcd;
using Eigen::VectorXd;

/// The side of the largest matrix whose eigenvectors are all computed, in a few seconds.
constexpr Index kMostSide = 1536;
/// Up to this side, computing all eigenvectors is fast enough.
constexpr Index kSmallSide = 512;

/// A complex sum over the heads' pairs of one frequency.
struct Shared {
  Index pair = 0;
  VectorXcd heads;  ///< [kvHeads], length 1
  double gain = 0;  ///< how much scores would change without the rotation
};

/// Returns the squared norm of each output's weights and bias, a measure of the output's average size.
VectorXd energies(const Linear& map) {
  VectorXd energy = map.weight.cast<double>().rowwise().squaredNorm();
  if (map.bias.size()) energy += map.bias.cast<double>().cwiseAbs2();
  return energy;
}

/// Returns the mean of |1 − exp(iθ(j − k))|² over all pairs of positions, from their cosines and sines.
double meanTurn(const Eigen::Ref<const VectorXd>& cosines, const Eigen::Ref<const VectorXd>& sines) {
  const double amplitude = cosines.squaredNorm() + sines.squaredNorm();
  const double aligned = cosines.sum() * cosines.sum() + sines.sum() * sines.sum();
  const auto n = static_cast<double>(cosines.size());
  return amplitude > 0 ? std::max(0.0, 2 * (1 - aligned / (n * amplitude))) : 0;
}

/// Returns rows `at`, `at` + headDim, … of a map, with the bias as an extra input: [kvHeads, modelDim + 1].
MatrixXd rowsOfHeads(const Linear& keys, Index kvHeads, Index headDim, Index at) {
  const Index d = keys.weight.cols();
  MatrixXd rows = MatrixXd::Zero(kvHeads, d + 1);
  for (Index g = 0; g < kvHeads; ++g) {
    rows.row(g).head(d) = keys.weight.row(g * headDim + at).cast<double>();
    if (keys.bias.size()) rows(g, d) = static_cast<double>(keys.bias(g * headDim + at));
  }
  return rows;
}

std::vector<Shared> principalSums(const Linear& queries, const Linear& keys, Index kvHeads, Index headDim,
                                  const Matrix& positions) {
  const Index half = positions.cols() / 2, heads = queries.weight.rows() / headDim, group = heads / kvHeads;
  const VectorXd queryEnergy = energies(queries);
  const MatrixXd table = positions.cast<double>();
  std::vector<Shared> all;
  for (Index pair = 0; pair < half; ++pair) {
    VectorXd read = VectorXd::Zero(kvHeads);
    for (Index h = 0; h < heads; ++h)
      read(h / group) += queryEnergy(h * headDim + pair) + queryEnergy(h * headDim + pair + half);
    // (A + iB)(A + iB)ᴴ of the complex rows that each head's pair of rows forms.
    const MatrixXd a = rowsOfHeads(keys, kvHeads, headDim, pair),
                   b = rowsOfHeads(keys, kvHeads, headDim, pair + half),
                   mixed = productInDouble(b, a.transpose());
    const HermitianEigen solved =
        hermitianEigen(gramInDouble(a.transpose()) + gramInDouble(b.transpose()), mixed - mixed.transpose());
    const double turn = meanTurn(table.col(pair), table.col(half + pair));
    for (Index i = 0; i < kvHeads; ++i) {
      const VectorXcd sum = solved.vectors.col(i);
      all.push_back({pair, sum, std::max(0.0, solved.values(i)) * turn * read.dot(sum.cwiseAbs2())});
    }
  }
  return all;
}

/// Finds the directions in single precision with leadingEigen().
Matrix leadingDirections(const Linear& keys, const Linear& values, Index count, const std::stop_token& stop) {
  const Index d = keys.weight.cols(), outputs = keys.weight.rows() + values.weight.rows();
  Matrix both(outputs, d);
  both << keys.weight, values.weight;
  if (d <= outputs) both.transposeInPlace();  // [smaller side, larger]
  const auto found = leadingEigen(timesTransposed(both, both, stop), std::min(count, both.rows()), stop);
  if (!found) return Matrix(d, 0);
  if (d <= outputs) return found->rows.transpose();
  both.transposeInPlace();
  Matrix directions = timesTransposed(both, found->rows, stop);
  if (stop.stop_requested()) return Matrix(d, 0);
  directions.colwise().normalize();
  return directions;
}

}  // namespace

Index mostLatent(Index modelDim, Index outputs) {
  if (std::min(modelDim, outputs) <= kMostSide) return modelDim;
  return kMostSide * 8 / 9;  // leaves space for the extra vectors of leadingBlock()
}

Matrix latentDirections(const Linear& keys, const Linear& values, Index latentDim,
                        const std::stop_token& stop) {
  const Index d = keys.weight.cols(), outputs = keys.weight.rows() + values.weight.rows();
  require(values.weight.cols() == d,
          fmt::format("keys are computed from {} dimensions and values from {}, expected the same number", d,
                      values.weight.cols()));
  require(latentDim >= 1 && latentDim <= d,
          fmt::format("the latent has {} dimensions, expected 1 to {}", latentDim, d));
  const Index side = std::min(d, outputs);
  if (side > kMostSide || (side > kSmallSide && leadingBlock(latentDim, side) <= side / 2))
    return leadingDirections(keys, values, latentDim, stop);
  MatrixXd both(outputs, d);
  both << keys.weight.cast<double>(), values.weight.cast<double>();
  // Right singular vectors of W are eigenvectors of WᵀW, or Wᵀ times those of WWᵀ; use the smaller product.
  // Eigenvalues ascend.
  if (d <= outputs) {
    const SymmetricEigen solved = symmetricEigen(gramInDouble(both));
    return solved.vectors.rightCols(latentDim).rowwise().reverse().cast<float>();
  }
  const SymmetricEigen solved = symmetricEigen(gramInDouble(both.transpose()));
  const VectorXd& squares = solved.values;
  const double least = squares(outputs - 1) * 1e-12;
  Index rank = 0;
  while (rank < std::min(latentDim, outputs) && squares(outputs - 1 - rank) > least) ++rank;
  MatrixXd directions = productInDouble(both.transpose(), solved.vectors.rightCols(rank).rowwise().reverse());
  directions.colwise().normalize();
  return directions.cast<float>();
}

Matrix rotaryDirections(const Linear& queries, const Linear& keys, Index kvHeads, Index headDim,
                        const Matrix& positions, Index rotaryDim) {
  const Index half = positions.cols() / 2, outputs = kvHeads * headDim;
  require(
      keys.weight.rows() == outputs && queries.weight.rows() % outputs == 0 && 2 * half <= headDim,
      fmt::format("{} key rows and {} query rows don't fit {} kv heads of {} dimensions, {} of them rotated",
                  keys.weight.rows(), queries.weight.rows(), kvHeads, headDim, 2 * half));
  require(rotaryDim >= 0 && rotaryDim % 2 == 0 && rotaryDim <= 2 * half * kvHeads,
          fmt::format("the rotary key has {} dimensions, expected an even number up to {}", rotaryDim,
                      2 * half * kvHeads));
  Matrix directions = Matrix::Zero(outputs, rotaryDim);
  if (rotaryDim == 0) return directions;
  std::vector<Shared> all = principalSums(queries, keys, kvHeads, headDim, positions);
  std::stable_sort(all.begin(), all.end(),
                   [](const Shared& a, const Shared& b) { return descends(a.gain, b.gain); });
  // The real and imaginary part of the sum over heads of conj(u)·k, as two real directions of all keys.
  for (Index i = 0; i < rotaryDim / 2; ++i) {
    const Shared& shared = all[asSize(i)];
    for (Index g = 0; g < kvHeads; ++g) {
      const auto re = static_cast<float>(shared.heads(g).real()),
                 im = static_cast<float>(shared.heads(g).imag());
      const Index a = g * headDim + shared.pair, b = a + half;
      directions(a, 2 * i) = re;
      directions(b, 2 * i) = im;
      directions(a, 2 * i + 1) = -im;
      directions(b, 2 * i + 1) = re;
    }
  }
  return directions;
}

LatentMaps latentMaps(const Projections& layer, Index kvHeads, Index headDim, const Matrix& positions,
                      Index latentDim, Index rotaryDim, const std::stop_token& stop) {
  LatentMaps maps;
  maps.rotary = rotaryDirections(layer.q, layer.k, kvHeads, headDim, positions, rotaryDim);
  Linear rest{layer.k.weight, {}};
  if (rotaryDim > 0) rest.weight -= product(maps.rotary, product(maps.rotary.transpose(), layer.k.weight));
  maps.latent = latentDirections(rest, layer.v, latentDim, stop);
  return maps;
}

LatentRead readLatent(const LatentMaps& maps, const Projections& layer, const Matrix& x) {
  const Matrix again = timesTransposed(product(x, maps.latent), maps.latent);
  LatentRead read{layer.k.apply(again), {}, layer.v.apply(again)};
  const Matrix& u = maps.rotary;
  if (u.cols() > 0) read.plainKeys -= timesTransposed(product(read.plainKeys, u), u);
  read.rotaryKeys = timesTransposed(product(layer.k.apply(x), u), u);
  return read;
}

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

namespace {

/// Returns how many kv heads become one.
Index mergedInEach(Index heads, Index groups) {
  require(groups >= 1 && heads % groups == 0,
          fmt::format("{} kv heads can't be merged into {}", heads, groups));
  return heads / groups;
}

}  // namespace

Stack mergedByMean(const Stack& heads, Index groups) {
  const Index each = mergedInEach(heads.count(), groups);
  Stack merged(groups, heads.rows(), heads.cols());
  for (Index h = 0; h < heads.count(); ++h) merged[h / each] += heads[h];
  for (Index g = 0; g < groups; ++g) merged[g] /= static_cast<float>(each);
  return merged;
}

Linear mergedByMean(const Linear& map, Index heads, Index groups) {
  const Index each = mergedInEach(heads, groups), size = map.weight.rows() / heads;
  Linear merged{Matrix::Zero(groups * size, map.weight.cols()), Vector::Zero(map.bias.size() / each)};
  for (Index h = 0; h < heads; ++h) {
    merged.weight.middleRows(h / each * size, size) += map.weight.middleRows(h * size, size);
    if (map.bias.size() > 0) merged.bias.segment(h / each * size, size) += map.bias.segment(h * size, size);
  }
  merged.weight /= static_cast<float>(each);
  merged.bias /= static_cast<float>(each);
  return merged;
}

}  // namespace headscope::attention
