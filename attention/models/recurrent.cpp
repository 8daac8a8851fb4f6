#include "attention/models/recurrent.h"

#include <cmath>

#include "attention/core/parallel.h"
#include "attention/models/block.h"

namespace headscope::attention {
namespace {

float silu(float x) {
  return x / (1 + std::exp(-x));
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

Matrix mamba2(const RecurrentWeights& w, const Recurrence& how, const Matrix& x, RecurrentState& state,
              const std::stop_token& stop) {
  const Index n = x.rows(), p = how.headDim, inner = how.heads * p, s = how.state;
  const Matrix all = w.in.apply(x, stop);
  if (stop.stop_requested()) return {};
  const Matrix read = convolvedSilu(all.middleCols(inner, inner + 2 * how.groups * s), w, state.inputs);
  if (state.numbers.empty()) state.numbers = Stack(how.heads, p, s);
  Matrix y(n, inner);
  scan(how.heads, n, stop, [&](Index head, Index row) {
    const Index group = head / (how.heads / how.groups);
    const auto key = read.row(row).segment(inner + group * s, s);
    const auto query = read.row(row).segment(inner + (how.groups + group) * s, s);
    const auto in = read.row(row).segment(head * p, p);
    const float step = softplus(all(row, all.cols() - how.heads + head) + w.stepBias[head]);
    auto numbers = state.numbers[head];
    numbers *= std::exp(step * w.decay(head, 0));
    numbers.noalias() += (step * in.transpose()) * key;
    y.row(row).segment(head * p, p) = ((numbers * query.transpose()).transpose() + w.skip[head] * in)
                                          .cwiseProduct(all.row(row).segment(head * p, p).unaryExpr(&silu));
  });
  return w.out.apply(normParts(y, how.groups, w.norm, how.epsilon), stop);
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

Matrix delta(const RecurrentWeights& w, const Recurrence& how, const Matrix& x, RecurrentState& state,
             const std::stop_token& stop) {
  const Index n = x.rows(), p = how.headDim, s = how.state, keys = how.groups * s, values = how.heads * p;
  Matrix query(n, keys), key(n, keys), value(n, values), gates(n, values), rates(n, how.heads),
      steps(n, how.heads);
  std::vector<LinearMap> maps;
  w.query.mapsInto(query, maps);
  w.key.mapsInto(key, maps);
  w.in.mapsInto(value, maps);
  w.gate.mapsInto(gates, maps);
  w.rate.mapsInto(rates, maps);
  w.step.mapsInto(steps, maps);
  if (!applyMaps(x, maps, stop)) return {};
  Matrix read(n, 2 * keys + values);
  read << query, key, value;
  read = convolvedSilu(read, w, state.inputs);
  toLength(read, 0, keys, s, 1 / std::sqrt(static_cast<float>(s)));
  toLength(read, keys, keys, s, 1);
  if (state.numbers.empty()) state.numbers = Stack(how.heads, p, s);
  Matrix y(n, values);
  scan(how.heads, n, stop, [&](Index head, Index row) {
    const Index group = head / (how.heads / how.groups);
    const auto q = read.row(row).segment(group * s, s), k = read.row(row).segment(keys + group * s, s);
    const float rate = 1 / (1 + std::exp(-rates(row, head)));
    auto numbers = state.numbers[head];
    numbers *= std::exp(w.decay(head, 0) * softplus(steps(row, head) + w.stepBias[head]));
    const Vector changed =
        rate * (read.row(row).segment(2 * keys + head * p, p).transpose() - numbers * k.transpose());
    numbers.noalias() += changed * k;
    y.row(row).segment(head * p, p) = (numbers * q.transpose()).transpose();
  });
  return w.out.apply(normParts(y, how.heads, w.norm, how.epsilon).cwiseProduct(gates.unaryExpr(&silu)), stop);
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
  }
  if (stop.stop_requested()) return Matrix::Zero(x.rows(), x.cols());
  state.tokens = after;
  return y;
}

void Block::recur(Matrix& x, std::span<const OtherLayerWeights> layers, std::size_t first) const {
  const Index n = rows.count;
  for (std::size_t i = 0; i < layers.size() && !stop.stop_requested(); ++i) {
    const OtherLayerWeights& w = layers[i];
    const Matrix in = norm(x, w.norm);
    for (std::size_t run = 0; run < runs.size(); ++run)
      x.middleRows(static_cast<Index>(run) * n, n) +=
          config.residualScale * attention::recur(w.recurrent, config.recurrence,
                                                  in.middleRows(static_cast<Index>(run) * n, n),
                                                  states[run][first + i], stop);
    const Matrix inner = norm(x, w.mlpNorm);
    x += config.residualScale *
         (w.mixture
              ? mixtureOf(*w.mixture, config, routingOf(*w.mixture, config.mixture, inner, stop), inner, stop)
              : mlpOf(w.mlp, inner, config, stop));
  }
}

}  // namespace headscope::attention
