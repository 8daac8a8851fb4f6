#include <cmath>
#include <numbers>
#include <numeric>

#include "attention/core/activations.h"
#include "attention/core/parallel.h"
#include "attention/formats/quote.h"
#include "attention/models/block.h"
#include "attention/models/config/shape_parts.h"

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

namespace {

using KeyNames = std::initializer_list<const char*>;

/// Every key counts as read: a file that has several says the same with each.
Index sizeBy(const ConfigReader& json, KeyNames keys, std::optional<Index> standard = {}) {
  const char* found = *keys.begin();
  for (const char* key : keys)
    if (!json.has(found) && json.has(key)) found = key;
  return json.size(found, standard);
}

/// Numbers in a layer's state and in its matrices.
struct Recurrent {
  Index state;
  std::uint64_t parameters;
};

std::uint64_t sumOf(std::initializer_list<std::initializer_list<Index>> products) {
  std::uint64_t sum = 0;
  for (const auto& product : products) sum = saturatingSum({sum, saturatingProduct(product)});
  return sum;
}

/// Gu and Dao 2023, Mamba, section 3.4: inner · (state + kernel) numbers.
Recurrent mamba(const ConfigReader& json, Index d) {
  const Index inner = json.has("mamba_expand") ? json.size("mamba_expand") * d
                                               : json.size("intermediate_size", json.size("expand", 2) * d);
  const Index n = sizeBy(json, {"mamba_d_state", "state_size"}),
              k = sizeBy(json, {"mamba_d_conv", "conv_kernel"});
  const char* rankKey = json.has("mamba_dt_rank") ? "mamba_dt_rank" : "time_step_rank";
  const Index usual = (d + 15) / 16, rank = json.isText(rankKey) ? usual : json.size(rankKey, usual);
  return {inner * (n + k), sumOf({{d, 2 * inner},
                                  {inner, k + 1},
                                  {inner, rank + 2 * n},
                                  {rank + 1, inner},
                                  {inner, n + 1},
                                  {inner, d}})};
}

/// Dao and Gu 2024, Mamba-2, section 7: heads · headDim · state, plus the convolution's inputs.
Recurrent mamba2(const ConfigReader& json, Index d) {
  const Index heads = sizeBy(json, {"mamba_n_heads", "mamba_num_heads", "n_mamba_heads", "num_heads"});
  const Index expanded = d * sizeBy(json, {"mamba_expand", "expand"}, 2);
  const bool automatic = json.isText("mamba_d_head");
  const Index usual = std::max<Index>(1, sizeBy(json, {"mamba_d_ssm"}, expanded) / heads);
  const Index headDim =
      automatic ? usual
                : sizeBy(json, {"mamba_d_head", "mamba_head_dim", "mamba_headdim", "head_dim"}, usual);
  const Index n = sizeBy(json, {"mamba_d_state", "ssm_state_size", "state_size"});
  const Index groups = sizeBy(json, {"mamba_n_groups", "mamba_ngroups", "n_groups"}, 1);
  const Index k = sizeBy(json, {"mamba_d_conv", "conv_kernel"});
  const Index inner = heads * headDim, mixed = inner + 2 * groups * n;
  return {inner * n + mixed * k,
          sumOf({{d, inner + mixed + heads}, {mixed, k + 1}, {3, heads}, {inner}, {inner, d}})};
}

/// Yang et al. 2024, Gated Delta Networks, as in Qwen3-Next: value heads · key dim · value dim, plus the
/// convolution's inputs.
Recurrent gatedDelta(const ConfigReader& json, Index d) {
  const Index keyHeads = json.size("linear_num_key_heads"), valueHeads = json.size("linear_num_value_heads");
  const Index keyDim = json.size("linear_key_head_dim"), valueDim = json.size("linear_value_head_dim");
  const Index keys = keyHeads * keyDim, values = valueHeads * valueDim,
              k = json.size("linear_conv_kernel_dim", 4);
  return {valueHeads * keyDim * valueDim + (2 * keys + values) * k,
          sumOf({{d, 2 * keys + 2 * values + 2 * valueHeads},
                 {2 * keys + values, k},
                 {2, valueHeads},
                 {values, d}})};
}

/// De et al. 2024, Griffin, section 2.4: one number per channel of lru_width, plus the convolution's inputs.
Recurrent linearRecurrent(const ConfigReader& json, Index d) {
  const Index width = json.size("lru_width", d), k = json.size("conv1d_width", 4);
  const Index heads = json.size("num_attention_heads");
  const Index block = std::max<Index>(1, width / heads);
  return {width * k,
          sumOf({{2, d, width}, {width, d}, {width, k + 1}, {2, heads, block, block}, {5, width}})};
}

/// Qin et al. 2024, Lightning Attention, as in MiniMax-01: one matrix per head.
Recurrent lightning(const ConfigReader& json, Index d) {
  const Index heads = json.size("num_attention_heads");
  const Index dim = json.size("head_dim", std::max<Index>(1, d / heads));
  return {heads * dim * dim, sumOf({{d, 5, heads, dim}})};
}

/// A gated short convolution, as in LFM2.
Recurrent shortConvolution(const ConfigReader& json, Index d) {
  const Index k = json.size("conv_L_cache", 3);
  return {d * k, sumOf({{d, 3, d}, {d, k}, {d, d}})};
}

/// Peng et al. 2023, RWKV, section 3: 5 numbers per channel of modelDim. Channel mixing has a d × d gate
/// besides the two matrices that count as the feed-forward part.
Recurrent rwkv(const ConfigReader& json, Index d) {
  const Index width = json.size("attention_hidden_size", d);
  return {5 * d, sumOf({{3, d, width}, {width, d}, {d, d}})};
}

}  // namespace

LayerGroup recurrentLayer(const ConfigReader& json, const ModelType* type, Index modelDim) {
  static constexpr std::pair<std::string_view, Recurrent (*)(const ConfigReader&, Index)> kKinds[] = {
      {"mamba", mamba},
      {"falcon_mamba", mamba},
      {"jamba", mamba},
      {"mamba2", mamba2},
      {"bamba", mamba2},
      {"falcon_h1", mamba2},
      {"granitemoehybrid", mamba2},
      {"nemotron_h", mamba2},
      {"zamba2", mamba2},
      {"qwen3_next", gatedDelta},
      {"qwen3_5_text", gatedDelta},
      {"qwen3_5_moe_text", gatedDelta},
      {"recurrent_gemma", linearRecurrent},
      {"minimax", lightning},
      {"minimax_text_01", lightning},
      {"lfm2", shortConvolution},
      {"rwkv", rwkv}};
  LayerGroup group{.kind = CacheKind::recurrent, .layers = 1};
  for (const auto& [name, read] : kKinds) {
    if (!type || type->name != name) continue;
    const Recurrent found = read(json, modelDim);
    group.state = found.state;
    group.parameters = found.parameters;
    group.state32 = json.text("mamba_ssm_dtype", "") == "float32" || name == "rwkv";
    return group;
  }
  json.fail(json.at("layer_types") + " has recurrent layers, whose state in model_type " +
            quotedText(json.text("model_type", "")) + " is not known");
  return group;
}

}  // namespace headscope::attention
