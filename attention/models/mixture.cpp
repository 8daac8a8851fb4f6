#include <cmath>
#include <numbers>
#include <numeric>

#include "attention/core/activations.h"
#include "attention/core/parallel.h"
#include "attention/models/block.h"

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

/// Chooses by SparseMixer, with softmax over the scores within reach of the best that remains.
void mixSparsely(const Mixture& mixture, Eigen::RowVectorXf scores, Routing& routing, Index row) {
  const Eigen::RowVectorXf sizes = scores.cwiseAbs();
  for (Index i = 0; i < mixture.used; ++i) {
    const int best = largest(scores, 1)[0];
    const float most = scores[best];
    double sum = 0;
    for (Index e = 0; e < scores.size(); ++e)
      if (!((most - scores[e]) / std::max(sizes[e], most) > 2 * *mixture.jitter))
        sum += std::exp(double{scores[e]} - double{most});
    routing.experts(row, i) = best;
    routing.shares(row, i) = static_cast<float>(1 / sum);
    scores[best] = -std::numeric_limits<float>::infinity();
  }
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
  if (gated && config.gateFactor != 1) gate *= config.gateFactor;
  if (gated)
    activateGated(gate, up, config.activation, config.gateLimit);
  else
    activate(up, config.activation, weights.curve);
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
    if (mixture.jitter) {
      mixSparsely(mixture, scores.row(row), routing, row);
      continue;
    }
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

namespace {

/// Adds up what the chosen experts make of each row.
Matrix expertsOf(const MixtureWeights& weights, const ModelConfig& config, const Routing& routing,
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
    Matrix read = x(rows, Eigen::all);
    for (std::size_t i = 0; i < rows.size() && mixture.sharesInput; ++i)
      read.row(static_cast<Index>(i)) *= load.shares[std::min(i, load.shares.size() - 1)];
    const Matrix added = mlpOf(weights.experts[e], read, config, stop);
    for (std::size_t i = 0; i < load.rows.size(); ++i)
      y.row(load.rows[i]) += (mixture.sharesInput ? 1 : load.shares[i]) * added.row(static_cast<Index>(i));
  }
  return y;
}

/// Adds the MLP that every token passes.
Matrix withShared(const MixtureWeights& weights, const ModelConfig& config, Matrix y, const Matrix& x,
                  const std::stop_token& stop) {
  if (config.mixture.sharedDim == 0 || stop.stop_requested()) return y;
  const Matrix shared = mlpOf(weights.shared, x, config, stop);
  if (weights.sharedRouter.pieces.empty()) return y + shared;
  const Matrix gates = weights.sharedRouter.apply(x, stop);
  for (Index row = 0; row < y.rows(); ++row) y.row(row) += shared.row(row) / (1 + std::exp(-gates(row, 0)));
  return y;
}

}  // namespace

Matrix mixtureOf(const MixtureWeights& weights, const ModelConfig& config, const Routing& routing,
                 const Matrix& x, const std::stop_token& stop) {
  const bool latent = config.mixture.latentDim > 0;
  Matrix y = expertsOf(weights, config, routing, latent ? weights.in.apply(x, stop) : x, stop);
  if (latent) y = weights.out.apply(y, stop);
  if (stop.stop_requested()) return Matrix::Zero(x.rows(), x.cols());
  return normRows(withShared(weights, config, std::move(y), x, stop), weights.after, config.norm,
                  config.epsilon);
}

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

void bend(Values x, const XieluWeights& curve) {
  const auto softplus = [](float value) { return std::log1p(std::exp(value)); };
  const float right = softplus(curve.positive), left = curve.beta + softplus(curve.negative);
  x = x.unaryExpr([=](float value) {
    const float bent =
        value > 0 ? right * value * value : (std::expm1(std::min(value, curve.limit)) - value) * left;
    return bent + curve.beta * value;
  });
}

void activateValues(Values x, Activation activation, const XieluWeights& curve) {
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
    case Activation::reluSquared:
      x = x.max(0).square();
      return;
    case Activation::tanh:
      x = x.tanh();
      return;
    case Activation::mish:
      x = x.unaryExpr([](float value) { return value * std::tanh(std::log1p(std::exp(value))); });
      return;
    case Activation::xielu:
      return bend(x, curve);
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

void activate(Matrix& x, Activation activation, const XieluWeights& curve) {
  forRows(x.rows(), x.cols(), [&](Index first, Index count) {
    activateValues(Values(x.row(first).data(), count * x.cols()), activation, curve);
  });
}

void activateGated(Matrix& gate, Matrix& up, Activation activation, std::optional<float> limit) {
  forRows(up.rows(), up.cols(), [&](Index first, Index count) {
    Values factors(gate.row(first).data(), count * gate.cols()), to(up.row(first).data(), count * up.cols());
    if (limit) {
      factors = factors.min(*limit);
      to = to.max(-*limit).min(*limit) + 1;
    }
    activateValues(factors, activation, {});
    to *= factors;
  });
}

}  // namespace headscope::attention
