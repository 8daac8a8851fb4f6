#include "attention/models/layer_math.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "attention/core/activation.h"
#include "attention/core/norm.h"
#include "attention/core/parallel.h"

namespace headscope::attention {
namespace {

/// Numbers per task: tens of microseconds of work.
constexpr Index kTaskNumbers = 1 << 14;

/// Calls task(first row, rows) for parts of x, in parallel.
template <typename Task>
void forRows(Index rows, Index cols, const Task& task) {
  const Index step = std::max<Index>(1, kTaskNumbers / std::max<Index>(cols, 1));
  forEach((rows + step - 1) / step, {},
          [&](Index part) { task(part * step, std::min(step, rows - part * step)); });
}

/// Uses the weights from `first` on. `to` may be x's data.
void normRow(std::span<const float> x, const NormWeights& weights, Index first, NormKind kind, double epsilon,
             float* to) {
  const std::span y(to, x.size());
  const auto of = [&](const Vector& all) { return std::span(all.data() + first, x.size()); };
  if (kind == NormKind::layer) return layerNorm(x, of(weights.weight), of(weights.bias), epsilon, y);
  rmsNorm(x, of(weights.weight), epsilon, y);
}

using Values = Eigen::Map<Eigen::ArrayXf>;

void activateValues(Values x, Activation activation) {
  switch (activation) {
    case Activation::gelu:
      x = x.unaryExpr([](float value) {
        return 0.5f * value * (1 + std::erf(value * std::numbers::sqrt2_v<float> / 2));
      });
      return;
    case Activation::geluTanh:
      return geluByTanh({x.data(), static_cast<std::size_t>(x.size())});
    case Activation::silu:
      return silu({x.data(), static_cast<std::size_t>(x.size())});
    case Activation::quickGelu:
      x = x.unaryExpr([](float value) { return value / (1 + std::exp(-1.702f * value)); });
      return;
    case Activation::relu:
      x = x.max(0);
      return;
  }
}

}  // namespace

Matrix normRows(const Matrix& x, const NormWeights& weights, NormKind kind, double epsilon) {
  if (weights.weight.size() == 0) return x;
  Matrix y(x.rows(), x.cols());
  forRows(x.rows(), x.cols(), [&](Index first, Index count) {
    for (Index row = first; row < first + count; ++row)
      normRow({x.row(row).data(), static_cast<std::size_t>(x.cols())}, weights, 0, kind, epsilon,
              y.row(row).data());
  });
  return y;
}

void normHeads(Stack& heads, const NormWeights& weights, NormKind kind, double epsilon) {
  forRows(heads.count() * heads.rows(), heads.cols(), [&](Index first, Index count) {
    for (Index row = first; row < first + count; ++row) {
      float* const values = heads.data() + row * heads.cols();
      const Index at = weights.weight.size() > heads.cols() ? row / heads.rows() * heads.cols() : 0;
      normRow({values, static_cast<std::size_t>(heads.cols())}, weights, at, kind, epsilon, values);
    }
  });
}

void limit(Stack& heads, float most) {
  forRows(heads.count() * heads.rows(), heads.cols(), [&](Index first, Index count) {
    Values values(heads.data() + first * heads.cols(), count * heads.cols());
    values = values.max(-most).min(most);
  });
}

void activate(Matrix& x, Activation activation) {
  forRows(x.rows(), x.cols(), [&](Index first, Index count) {
    activateValues(Values(x.row(first).data(), count * x.cols()), activation);
  });
}

void activateGated(Matrix& gate, Matrix& up, Activation activation, std::optional<float> limit) {
  forRows(up.rows(), up.cols(), [&](Index first, Index count) {
    Values factors(gate.row(first).data(), count * gate.cols()), to(up.row(first).data(), count * up.cols());
    if (limit) {
      factors = factors.min(*limit);
      to = to.max(-*limit).min(*limit) + 1;
    }
    activateValues(factors, activation);
    to *= factors;
  });
}

}  // namespace headscope::attention
