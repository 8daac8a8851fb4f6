#include "attention/models/recurrent.h"

#include <cmath>

#include "attention/core/parallel.h"
#include "attention/models/block.h"

namespace headscope::attention {
namespace {

float silu(float x) {
  return x / (1 + std::exp(-x));
}

float sigmoid(float x) {
  return 1 / (1 + std::exp(-x));
}

/// ln(1 + eˣ), without overflow.
float softplus(float x) {
  return x > 20 ? x : std::log1p(std::exp(x));
}

/// Each column convolved with its own kernel over the rows up to each one; the state gives those before.
Matrix convolved(const Matrix& x, const RecurrentWeights& weights, Matrix& inputs) {
  const Index n = x.rows(), kernel = weights.kernel.cols();
  if (inputs.size() == 0) inputs = Matrix::Zero(kernel - 1, x.cols());
  Matrix all(kernel - 1 + n, x.cols()), y(n, x.cols());
  all << inputs, x;
  inputs = all.bottomRows(kernel - 1);
  forEach(n, {}, [&](Index row) {
    y.row(row) = (all.middleRows(row, kernel).array() * weights.kernel.transpose().array()).colwise().sum();
    if (weights.kernelBias.size() > 0) y.row(row) += weights.kernelBias.transpose();
  });
  return y;
}

Matrix convolvedSilu(const Matrix& x, const RecurrentWeights& weights, Matrix& inputs) {
  Matrix y = convolved(x, weights, inputs);
  activate(y, Activation::silu);
  return y;
}

/// One token after another, heads side by side: step(head, row).
template <class Step>
void scan(Index heads, Index n, const std::stop_token& stop, const Step& step) {
  forEach(heads, stop, [&](Index head) {
    for (Index row = 0; row < n && !stop.stop_requested(); ++row) step(head, row);
  });
}

/// The RMS norm of `groups` equal parts of each row; the weights are for one of them or for all.
Matrix normParts(const Matrix& x, Index groups, const NormWeights& weights, double epsilon) {
  Matrix y = x;
  const Index size = x.cols() / groups;
  forEach(x.rows(), {}, [&](Index row) {
    for (Index group = 0; group < groups; ++group) {
      auto part = y.row(row).segment(group * size, size);
      const double mean = part.cast<double>().squaredNorm() / static_cast<double>(size);
      const Index at = weights.weight.size() > size ? group * size : 0;
      part = (part * static_cast<float>(1 / std::sqrt(mean + epsilon)))
                 .cwiseProduct(weights.weight.segment(at, size).transpose());
    }
  });
  return y;
}

Matrix shortConvolution(const RecurrentWeights& w, const Matrix& x, RecurrentState& state,
                        const std::stop_token& stop) {
  const Matrix all = w.in.apply(x, stop);
  const Index d = x.cols();
  const Matrix read = all.leftCols(d).cwiseProduct(all.rightCols(d));
  return w.out.apply(all.middleCols(d, d).cwiseProduct(convolved(read, w, state.inputs)), stop);
}

Matrix mamba(const RecurrentWeights& w, const Recurrence& how, const Matrix& x, RecurrentState& state,
             const std::stop_token& stop) {
  const Index n = x.rows(), inner = how.heads * how.headDim, s = how.state;
  const Matrix both = w.in.apply(x, stop);
  Matrix read = convolvedSilu(both.leftCols(inner), w, state.inputs);
  const Matrix selected = w.select.apply(read, stop);
  if (stop.stop_requested()) return {};
  const auto normed = [&](Index first, Index count, const NormWeights& norm) {
    return normRows(selected.middleCols(first, count), norm, NormKind::rms, how.epsilon);
  };
  const Matrix steps = w.step.apply(normed(0, how.rank, w.stepNorm), stop);
  const Matrix keys = normed(how.rank, s, w.keyNorm), queries = normed(how.rank + s, s, w.queryNorm);
  if (state.numbers.empty()) state.numbers = Stack(1, inner, s);
  scan(inner, n, stop, [&](Index channel, Index row) {
    auto numbers = state.numbers[0].row(channel);
    const float step = softplus(steps(row, channel) + w.stepBias[channel]), in = read(row, channel);
    numbers =
        numbers.array() * (step * w.decay.row(channel).array()).exp() + step * in * keys.row(row).array();
    read(row, channel) =
        (numbers.dot(queries.row(row)) + w.skip[channel] * in) * silu(both(row, inner + channel));
  });
  return w.out.apply(read, stop);
}

/// Multiplies z, x, k, q and Δ, as they come from the stream, by the factors.
void scaleParts(Matrix& all, const Recurrence& how) {
  const Index inner = how.heads * how.headDim, keys = how.groups * how.state;
  Index first = 0;
  std::size_t part = 0;
  for (const Index count : {inner, inner, keys, keys, how.heads}) {
    if (const float by = how.factors[part++]; by != 1) all.middleCols(first, count) *= by;
    first += count;
  }
}

/// Norms what Mamba-2's heads read and gates it, in the order that the model has.
Matrix gatedMamba2(const RecurrentWeights& w, const Recurrence& how, Matrix y, const Matrix& gates) {
  const auto norm = [&] {
    if (how.normed) y = normParts(y, how.groups, w.norm, how.epsilon);
  };
  if (how.normsFirst) norm();
  y = y.cwiseProduct(gates.unaryExpr(&silu));
  if (!how.normsFirst) norm();
  return y;
}

Matrix mamba2(const RecurrentWeights& w, const Recurrence& how, const Matrix& x, RecurrentState& state,
              const std::stop_token& stop) {
  const Index n = x.rows(), p = how.headDim, inner = how.heads * p, s = how.state;
  Matrix all = w.in.apply(x, stop);
  if (stop.stop_requested()) return {};
  scaleParts(all, how);
  const Matrix read = convolvedSilu(all.middleCols(inner, inner + 2 * how.groups * s), w, state.inputs);
  if (state.numbers.empty()) state.numbers = Stack(how.heads, p, s);
  Matrix y(n, inner);
  scan(how.heads, n, stop, [&](Index head, Index row) {
    const Index group = how.groupOf(head);
    const auto key = read.row(row).segment(inner + group * s, s);
    const auto query = read.row(row).segment(inner + (how.groups + group) * s, s);
    const auto in = read.row(row).segment(head * p, p);
    const float step =
        std::max(softplus(all(row, all.cols() - how.heads + head) + w.stepBias[head]), how.leastStep);
    auto numbers = state.numbers[head];
    numbers *= std::exp(step * w.decay(head, 0));
    numbers.noalias() += (step * in.transpose()) * key;
    y.row(row).segment(head * p, p) = (numbers * query.transpose()).transpose() + w.skip[head] * in;
  });
  if (stop.stop_requested()) return {};
  return w.out.apply(gatedMamba2(w, how, std::move(y), all.leftCols(inner)), stop);
}

/// Divides each part of `size` numbers by its length, and multiplies it by `factor`.
void toLength(Matrix& x, Index first, Index count, Index size, float factor) {
  forEach(x.rows(), {}, [&](Index row) {
    for (Index at = first; at < first + count; at += size) {
      auto part = x.row(row).segment(at, size);
      part *= factor / std::sqrt(part.squaredNorm() + 1e-6F);
    }
  });
}

/// What the delta rule makes of the stream before its convolution.
struct DeltaParts {
  Matrix read;                 ///< [n, keys + keys + values]: q, k and v
  Matrix gates, rates, steps;  ///< z, β before σ, and Δ before softplus
};

DeltaParts deltaParts(const RecurrentWeights& w, const Matrix& x, const std::stop_token& stop) {
  const Index n = x.rows();
  Matrix query(n, w.query.out), key(n, w.key.out), value(n, w.in.out);
  DeltaParts parts{{}, Matrix(n, w.gate.out), Matrix(n, w.rate.out), Matrix(n, w.step.out)};
  std::vector<LinearMap> maps;
  w.query.mapsInto(query, maps);
  w.key.mapsInto(key, maps);
  w.in.mapsInto(value, maps);
  w.rate.mapsInto(parts.rates, maps);
  const bool through = !w.stepDown.pieces.empty();
  if (!through) {
    w.gate.mapsInto(parts.gates, maps);
    w.step.mapsInto(parts.steps, maps);
  }
  if (!applyMaps(x, maps, stop)) return {};
  if (through) {
    parts.gates = w.gate.apply(w.gateDown.apply(x, stop), stop);
    parts.steps = w.step.apply(w.stepDown.apply(x, stop), stop);
  }
  parts.read.resize(n, query.cols() + key.cols() + value.cols());
  parts.read << query, key, value;
  return parts;
}

Matrix delta(const RecurrentWeights& w, const Recurrence& how, const Matrix& x, RecurrentState& state,
             const std::stop_token& stop) {
  const Index n = x.rows(), p = how.headDim, s = how.state, keys = how.groups * s, values = how.heads * p;
  const DeltaParts parts = deltaParts(w, x, stop);
  if (stop.stop_requested()) return {};
  Matrix read = convolvedSilu(parts.read, w, state.inputs);
  toLength(read, 0, keys, s, 1 / std::sqrt(static_cast<float>(s)));
  toLength(read, keys, keys, s, 1);
  if (state.numbers.empty()) state.numbers = Stack(how.heads, p, s);
  Matrix y(n, values);
  scan(how.heads, n, stop, [&](Index head, Index row) {
    const Index group = how.groupOf(head);
    const auto q = read.row(row).segment(group * s, s), k = read.row(row).segment(keys + group * s, s);
    const float rate = how.rateScale / (1 + std::exp(-parts.rates(row, head)));
    auto numbers = state.numbers[head];
    const auto kept = [&](Index i) {
      return std::exp(w.decay(head, 0) * softplus(parts.steps(row, i) + w.stepBias[i]));
    };
    if (how.perChannel)
      for (Index i = 0; i < s; ++i) numbers.col(i) *= kept(head * s + i);
    else
      numbers *= kept(head);
    const Vector changed =
        rate * (read.row(row).segment(2 * keys + head * p, p).transpose() - numbers * k.transpose());
    numbers.noalias() += changed * k;
    y.row(row).segment(head * p, p) = (numbers * q.transpose()).transpose();
  });
  if (stop.stop_requested()) return {};
  const Matrix gates =
      how.sigmoidGate ? Matrix(parts.gates.unaryExpr(&sigmoid)) : Matrix(parts.gates.unaryExpr(&silu));
  return w.out.apply(normParts(y, how.heads, w.norm, how.epsilon).cwiseProduct(gates), stop);
}

Matrix lightning(const RecurrentWeights& w, const Recurrence& how, const Matrix& x, RecurrentState& state,
                 const std::stop_token& stop) {
  const Index n = x.rows(), p = how.headDim, inner = how.heads * p;
  Matrix query(n, inner), key(n, inner), value(n, inner), gates(n, inner), y(n, inner);
  std::vector<LinearMap> maps;
  w.query.mapsInto(query, maps);
  w.key.mapsInto(key, maps);
  w.in.mapsInto(value, maps);
  w.gate.mapsInto(gates, maps);
  if (!applyMaps(x, maps, stop)) return {};
  for (Matrix* const each : {&query, &key, &value}) activate(*each, Activation::silu);
  if (state.numbers.empty()) state.numbers = Stack(how.heads, p, p);
  scan(how.heads, n, stop, [&](Index head, Index row) {
    const auto part = [&](const Matrix& of) { return of.row(row).segment(head * p, p); };
    auto numbers = state.numbers[head];
    numbers *= std::exp(w.decay(head, 0));
    numbers.noalias() += part(value).transpose() * part(key);
    y.row(row).segment(head * p, p) = (numbers * part(query).transpose()).transpose();
  });
  if (stop.stop_requested()) return {};
  return w.out.apply(normParts(y, 1, w.norm, how.epsilon).cwiseProduct(gates.unaryExpr(&sigmoid)), stop);
}

/// σ of a map of each block of x to the same block.
Matrix blockGate(const Matrix& x, const Matrix& weight, const Vector& bias) {
  const Index block = weight.cols();
  Matrix y(x.rows(), x.cols());
  forEach(x.cols() / block, {}, [&](Index i) {
    const Index first = i * block;
    y.middleCols(first, block) =
        ((x.middleCols(first, block) * weight.middleRows(first, block).transpose()).rowwise() +
         bias.segment(first, block).transpose())
            .unaryExpr(&sigmoid);
  });
  return y;
}

Matrix gatedLinear(const RecurrentWeights& w, const Recurrence& how, const Matrix& x, RecurrentState& state,
                   const std::stop_token& stop) {
  const Index n = x.rows(), inner = how.heads * how.headDim;
  Matrix in(n, inner), gates(n, inner);
  std::vector<LinearMap> maps;
  w.in.mapsInto(in, maps);
  w.gate.mapsInto(gates, maps);
  if (!applyMaps(x, maps, stop)) return {};
  activate(gates, Activation::geluTanh);
  const bool begins = state.numbers.empty();
  if (begins) state.numbers = Stack(1, inner, 1);
  const Matrix read = convolved(in, w, state.inputs), inputs = blockGate(read, w.inputGate, w.inputGateBias),
               decays = blockGate(read, w.decayGate, w.decayGateBias);
  scan(inner, n, stop, [&](Index channel, Index row) {
    const float log = -8 * decays(row, channel) * softplus(w.stepBias[channel]);
    float& number = state.numbers[0](channel, 0);
    // The first token is written whole.
    const float share = begins && row == 0 ? 1 : std::sqrt(-std::expm1(2 * log));
    number = std::exp(log) * number + share * inputs(row, channel) * read(row, channel);
    gates(row, channel) *= number;
  });
  return w.out.apply(gates, stop);
}

}  // namespace

Matrix recur(const RecurrentWeights& weights, const Recurrence& how, const Matrix& x, RecurrentState& state,
             const std::stop_token& stop) {
  const Index after = state.tokens + x.rows();
  state.tokens = -1;
  Matrix y;
  switch (how.kind) {
    case Recurrence::Kind::none:
      break;
    case Recurrence::Kind::convolution:
      y = shortConvolution(weights, x, state, stop);
      break;
    case Recurrence::Kind::mamba:
      y = mamba(weights, how, x, state, stop);
      break;
    case Recurrence::Kind::delta:
      y = delta(weights, how, x, state, stop);
      break;
    case Recurrence::Kind::mamba2:
      y = mamba2(weights, how, x, state, stop);
      break;
    case Recurrence::Kind::lightning:
      y = lightning(weights, how, x, state, stop);
      break;
    case Recurrence::Kind::gatedLinear:
      y = gatedLinear(weights, how, x, state, stop);
      break;
  }
  if (stop.stop_requested()) return Matrix::Zero(x.rows(), x.cols());
  state.tokens = after;
  return y;
}

Matrix Block::recurRuns(const RecurrentWeights& w, const Matrix& x, std::size_t at) const {
  const Index n = rows.count;
  Matrix y(x.rows(), config.modelDim);
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const Index first = static_cast<Index>(run) * n;
    y.middleRows(first, n) =
        attention::recur(w, config.recurrence, x.middleRows(first, n), states[run][at], stop);
  }
  return y;
}

Matrix Block::recurred(const Matrix& x) const {
  const Matrix y =
      config.factors.recurrence * recurRuns(weights.beside->weights, norm(x, weights.beside->norm),
                                            weights.before.size() + weights.after.size());
  if (wanted && wanted->hidden) kept.recurred = y;
  return y;
}

void Block::recur(Matrix& x, std::span<const OtherLayerWeights> layers, std::size_t first) const {
  const PartFactors& by = config.factors;
  // Adds `part` of the normed stream to the stream, normed or not.
  const auto add = [&](const NormWeights& weights, float beside, float factor, const auto& part) {
    const Matrix in = norm(x, weights);
    if (config.order == BlockOrder::normed) x = beside * in;
    x += factor * config.residualScale * part(in);
  };
  for (std::size_t i = 0; i < layers.size() && !stop.stop_requested(); ++i) {
    const OtherLayerWeights& w = layers[i];
    if (!w.recurrent.out.pieces.empty())
      add(w.norm, by.besideRecurrence, by.recurrence,
          [&](const Matrix& in) { return recurRuns(w.recurrent, in, first + i); });
    else
      for (std::vector<RecurrentState>& run : states) run[first + i].tokens += rows.count;
    if (w.mixture)
      add(w.mlpNorm, by.besideMlp, by.mlp, [&](const Matrix& in) {
        return mixtureOf(*w.mixture, config, routingOf(*w.mixture, config.mixture, in, stop), in, stop);
      });
    else if (!w.mlp.down.pieces.empty())
      add(w.mlpNorm, by.besideMlp, by.mlp, [&](const Matrix& in) { return mlpOf(w.mlp, in, config, stop); });
  }
}

}  // namespace headscope::attention
