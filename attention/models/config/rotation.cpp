#include "attention/models/config/rotation.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "attention/core/parallel.h"
#include "attention/core/result.h"

namespace headscope::attention {

bool Rotation::changes(Index before, Index after) const {
  if (dynamic.factor > 0) return std::max(before, longBeyond) != std::max(after, longBeyond);
  return !longFrequencies.empty() && (before > longBeyond) != (after > longBeyond);
}

std::vector<double> Rotation::frequenciesFor(Index tokens) const {
  if (tokens <= longBeyond) return frequencies;
  if (dynamic.factor <= 0) return longFrequencies.empty() ? frequencies : longFrequencies;
  const double stretch = dynamic.factor * static_cast<double>(tokens) / static_cast<double>(longBeyond) -
                         (dynamic.factor - 1);
  const auto turned = static_cast<double>(dims);
  return ropeFrequencies(dims, dynamic.theta * std::pow(stretch, turned / (turned - 2)));
}

std::vector<double> ropeFrequencies(Index dims, double theta) {
  std::vector<double> frequencies;
  for (Index t = 0; t < dims / 2; ++t)
    frequencies.push_back(std::pow(theta, -2.0 * static_cast<double>(t) / static_cast<double>(dims)));
  return frequencies;
}

std::vector<double> stretched(std::vector<double> frequencies, const Llama3Scaling& scaling) {
  for (double& frequency : frequencies) {
    const double turns = scaling.originalPositions * frequency / (2 * std::numbers::pi);
    const double kept =
        std::clamp((turns - scaling.lowFactor) / (scaling.highFactor - scaling.lowFactor), 0.0, 1.0);
    frequency *= (1 - kept) / scaling.factor + kept;
  }
  return frequencies;
}

std::vector<double> stretched(std::vector<double> frequencies, double theta, const YarnScaling& scaling) {
  const auto half = static_cast<double>(frequencies.size()), dims = 2 * half;
  const auto dimensionOf = [&](double turns) {
    return dims * std::log(scaling.originalPositions / (turns * 2 * std::numbers::pi)) /
           (2 * std::log(theta));
  };
  double low = dimensionOf(scaling.fast), high = dimensionOf(scaling.slow);
  if (scaling.truncates) low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0), high = std::min(high, dims - 1);
  if (low == high) high += 0.001;
  for (std::size_t t = 0; t < frequencies.size(); ++t) {
    const double slowed = std::clamp((static_cast<double>(t) - low) / (high - low), 0.0, 1.0);
    frequencies[t] *= slowed / scaling.factor + 1 - slowed;
  }
  return frequencies;
}

double yarnAttentionFactor(double factor, double m) {
  return factor <= 1 ? 1 : 0.1 * m * std::log(factor) + 1;
}

Matrix rotationTable(const Rotation& rotation, Index first, Index count, Index tokens) {
  const std::vector<double> frequencies = rotation.frequenciesFor(tokens);
  const Index half = rotation.dims / 2;
  Matrix table(count, rotation.dims);
  for (Index row = 0; row < count; ++row)
    for (Index t = 0; t < half; ++t) {
      const double angle = static_cast<double>(first + row) * frequencies[static_cast<std::size_t>(t)];
      table(row, t) = static_cast<float>(rotation.amplitude * std::cos(angle));
      table(row, half + t) = static_cast<float>(rotation.amplitude * std::sin(angle));
    }
  return table;
}

void rotateHeads(Stack& heads, const Matrix& table, bool interleaved, Index from) {
  require(heads.rows() == table.rows() && heads.cols() >= from + table.cols(),
          "a rotation's table is " + shapeText(table.rows(), table.cols()) + ", expected at most " +
              shapeText(heads.rows(), heads.cols()));
  const Index half = table.cols() / 2, step = interleaved ? 2 : 1, partner = interleaved ? 1 : half;
  forEach(heads.count(), {}, [&](Index head) {
    MutableMatrixView x = heads[head];
    for (Index row = 0; row < x.rows(); ++row)
      for (Index t = 0; t < half; ++t) {
        const float cosine = table(row, t), sine = table(row, half + t);
        float &first = x(row, from + step * t), &second = x(row, from + step * t + partner);
        const float a = first, b = second;
        first = a * cosine - b * sine;
        second = b * cosine + a * sine;
      }
  });
}

}  // namespace headscope::attention
