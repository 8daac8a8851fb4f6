#include "attention/models/mixture.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attention/models/layer_math.h"

namespace headscope::attention {
namespace {

/// The rows that go to one expert, and their shares.
struct Load {
  std::vector<Index> rows;
  std::vector<float> shares;
};

std::vector<Load> loadsOf(const Routing& routing, Index experts) {
  std::vector<Load> loads(asSize(experts));
  for (Index row = 0; row < routing.shares.rows(); ++row)
    for (Index i = 0; i < routing.shares.cols(); ++i) {
      Load& load = loads[static_cast<std::size_t>(routing.experts(row, i))];
      load.rows.push_back(row);
      load.shares.push_back(routing.shares(row, i));
    }
  return loads;
}

/// softmax in place, in double precision.
void toShares(Eigen::Ref<Eigen::RowVectorXf> scores) {
  const double most = double{scores.maxCoeff()};
  double sum = 0;
  for (const float score : scores) sum += std::exp(double{score} - most);
  for (float& score : scores) score = static_cast<float>(std::exp(double{score} - most) / sum);
}

}  // namespace

Matrix mlpOf(const MlpWeights& weights, const Matrix& x, Activation activation, const std::stop_token& stop) {
  Matrix up(x.rows(), weights.up.out), gate;
  std::vector<LinearMap> maps;
  weights.up.mapsInto(up, maps);
  const bool gated = !weights.gate.pieces.empty();
  if (gated) {
    gate.resize(x.rows(), weights.gate.out);
    weights.gate.mapsInto(gate, maps);
  }
  if (!applyMaps(x, maps, stop)) return Matrix::Zero(x.rows(), weights.down.out);
  if (gated)
    activateGated(gate, up, activation);
  else
    activate(up, activation);
  return weights.down.apply(up, stop);
}

Routing routingOf(const MixtureWeights& weights, const Mixture& mixture, const Matrix& x,
                  const std::stop_token& stop) {
  Matrix scores = weights.router.apply(x, stop);
  Routing routing;
  routing.experts.setZero(x.rows(), mixture.used);
  routing.shares = Matrix::Zero(x.rows(), mixture.used);
  if (stop.stop_requested()) return routing;
  std::vector<int> order(asSize(mixture.experts));
  for (Index row = 0; row < x.rows(); ++row) {
    toShares(scores.row(row));
    std::iota(order.begin(), order.end(), 0);
    const auto worth = [&](int expert) {
      const float share = scores(row, expert);
      return std::isnan(share) ? -1.0f : share;
    };
    std::partial_sort(order.begin(), order.begin() + mixture.used, order.end(), [&](int a, int b) {
      const float left = worth(a), right = worth(b);
      return left != right ? left > right : a < b;
    });
    for (Index i = 0; i < mixture.used; ++i) {
      routing.experts(row, i) = order[asSize(i)];
      routing.shares(row, i) = scores(row, order[asSize(i)]);
    }
    if (mixture.sumsToOne) routing.shares.row(row) /= routing.shares.row(row).sum();
  }
  return routing;
}

Matrix mixtureOf(const MixtureWeights& weights, const Mixture& mixture, const Routing& routing,
                 const Matrix& x, Activation activation, const std::stop_token& stop) {
  Matrix y = Matrix::Zero(x.rows(), x.cols());
  const std::vector<Load> loads = loadsOf(routing, mixture.experts);
  for (std::size_t e = 0; e < loads.size() && !stop.stop_requested(); ++e) {
    const Load& load = loads[e];
    if (load.rows.empty()) continue;
    const Matrix added = mlpOf(weights.experts[e], x(load.rows, Eigen::all), activation, stop);
    for (std::size_t i = 0; i < load.rows.size(); ++i)
      y.row(load.rows[i]) += load.shares[i] * added.row(static_cast<Index>(i));
  }
  if (mixture.sharedDim == 0 || stop.stop_requested()) return y;
  const Matrix shared = mlpOf(weights.shared, x, activation, stop);
  const Matrix gates = weights.sharedRouter.apply(x, stop);
  for (Index row = 0; row < y.rows(); ++row) y.row(row) += shared.row(row) / (1 + std::exp(-gates(row, 0)));
  return y;
}

}  // namespace headscope::attention
