#include "attention/models/mixture.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "attention/models/layer_math.h"

namespace headscope::attention {
namespace {

/// The rows routed to one expert, and their shares.
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

/// Applies softmax or σ in place, in double precision.
void toShares(Eigen::Ref<Eigen::RowVectorXf> scores, bool sigmoid) {
  if (sigmoid) {
    for (float& score : scores) score = static_cast<float>(1 / (1 + std::exp(-double{score})));
    return;
  }
  const double most = double{scores.maxCoeff()};
  double sum = 0;
  for (const float score : scores) sum += std::exp(double{score} - most);
  for (float& score : scores) score = static_cast<float>(std::exp(double{score} - most) / sum);
}

/// The indices of the `count` largest values, in descending order. Ties go to the lower index; NaN ranks
/// last.
std::vector<int> largest(const Eigen::RowVectorXf& values, Index count) {
  std::vector<int> order(asSize(values.size()));
  std::iota(order.begin(), order.end(), 0);
  const auto worth = [&](int i) {
    return std::isnan(values[i]) ? -std::numeric_limits<float>::infinity() : values[i];
  };
  std::partial_sort(order.begin(), order.begin() + count, order.end(), [&](int a, int b) {
    const float left = worth(a), right = worth(b);
    return left != right ? left > right : a < b;
  });
  order.resize(asSize(count));
  return order;
}

/// Sets the scores of all experts outside the best groups to −inf.
void leaveGroups(const Mixture& mixture, Eigen::RowVectorXf& choice) {
  const Index size = mixture.experts / mixture.groups;
  Eigen::RowVectorXf worth = Eigen::RowVectorXf::Zero(mixture.groups);
  for (Index group = 0; group < mixture.groups; ++group) {
    const Eigen::RowVectorXf own = choice.segment(group * size, size);
    for (const int i : largest(own, mixture.groupBest)) worth[group] += own[i];
  }
  std::vector<bool> stays(asSize(mixture.groups));
  for (const int group : largest(worth, mixture.groupsUsed)) stays[static_cast<std::size_t>(group)] = true;
  for (Index group = 0; group < mixture.groups; ++group)
    if (!stays[asSize(group)])
      choice.segment(group * size, size).setConstant(-std::numeric_limits<float>::infinity());
}

/// Splits outputs in which gate and up alternate.
void partGateAndUp(const Matrix& both, Matrix& gate, Matrix& up) {
  using Every = Eigen::Map<const Matrix, 0, Eigen::Stride<Eigen::Dynamic, 2>>;
  const Eigen::Stride<Eigen::Dynamic, 2> stride(both.cols(), 2);
  gate = Every(both.data(), both.rows(), both.cols() / 2, stride);
  up = Every(both.data() + 1, both.rows(), both.cols() / 2, stride);
}

}  // namespace

Matrix mlpOf(const MlpWeights& weights, const Matrix& x, const ModelConfig& config,
             const std::stop_token& stop) {
  Matrix up(x.rows(), weights.up.out), gate;
  std::vector<LinearMap> maps;
  const bool together = !weights.gateUp.pieces.empty(), gated = together || !weights.gate.pieces.empty();
  if (together) {
    partGateAndUp(weights.gateUp.apply(x, stop), gate, up);
  } else {
    weights.up.mapsInto(up, maps);
    if (gated) {
      gate.resize(x.rows(), weights.gate.out);
      weights.gate.mapsInto(gate, maps);
    }
    applyMaps(x, maps, stop);
  }
  if (stop.stop_requested()) return Matrix::Zero(x.rows(), weights.down.out);
  if (gated)
    activateGated(gate, up, config.activation, config.gateLimit);
  else
    activate(up, config.activation);
  return weights.down.apply(up, stop);
}

Routing routingOf(const MixtureWeights& weights, const Mixture& mixture, const Matrix& x,
                  const std::stop_token& stop) {
  Matrix scores = weights.router.apply(x, stop);
  Routing routing;
  routing.experts.setZero(x.rows(), mixture.used);
  routing.shares = Matrix::Zero(x.rows(), mixture.used);
  if (stop.stop_requested()) return routing;
  for (Index row = 0; row < x.rows(); ++row) {
    toShares(scores.row(row), mixture.sigmoid);
    Eigen::RowVectorXf choice = scores.row(row);
    if (mixture.corrected) choice += weights.correction.transpose();
    if (mixture.groups > 1) leaveGroups(mixture, choice);
    const std::vector<int> best = largest(choice, mixture.used);
    for (Index i = 0; i < mixture.used; ++i) {
      routing.experts(row, i) = best[asSize(i)];
      routing.shares(row, i) = scores(row, best[asSize(i)]);
    }
    if (mixture.sumsToOne) routing.shares.row(row) /= routing.shares.row(row).sum();
    routing.shares.row(row) *= mixture.shareScale;
  }
  return routing;
}

Matrix mixtureOf(const MixtureWeights& weights, const ModelConfig& config, const Routing& routing,
                 const Matrix& x, const std::stop_token& stop) {
  const Mixture& mixture = config.mixture;
  Matrix y = Matrix::Zero(x.rows(), x.cols());
  const std::vector<Load> loads = loadsOf(routing, mixture.experts);
  for (std::size_t e = 0; e < loads.size() && !stop.stop_requested(); ++e) {
    const Load& load = loads[e];
    if (load.rows.empty()) continue;
    // A single row may be multiplied in whole numbers, which round differently from the floats used for
    // several rows (kernels/digits.h). In a pass over several rows it is therefore duplicated, so that every
    // row equals what unpacked weights give.
    std::vector<Index> rows = load.rows;
    if (rows.size() == 1 && x.rows() > 1) rows.push_back(rows[0]);
    const Matrix added = mlpOf(weights.experts[e], x(rows, Eigen::all), config, stop);
    for (std::size_t i = 0; i < load.rows.size(); ++i)
      y.row(load.rows[i]) += load.shares[i] * added.row(static_cast<Index>(i));
  }
  if (mixture.sharedDim == 0 || stop.stop_requested()) return y;
  const Matrix shared = mlpOf(weights.shared, x, config, stop);
  if (weights.sharedRouter.pieces.empty()) return y + shared;
  const Matrix gates = weights.sharedRouter.apply(x, stop);
  for (Index row = 0; row < y.rows(); ++row) y.row(row) += shared.row(row) / (1 + std::exp(-gates(row, 0)));
  return y;
}

}  // namespace headscope::attention
