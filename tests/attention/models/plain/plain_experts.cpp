#include <algorithm>
#include <cmath>

#include "tests/attention/models/plain/plain_decoder.h"

// The mixture of experts of a PlainDecoder.

namespace headscope::attention::test {

Wide gated(const PlainDecoder& m, MadeUpTensors& t, const std::string& gate, const std::string& up,
           const std::string& down, Index inner, const Wide& x) {
  const Wide gates = linear(t, gate, x, inner, m.mlpBias).unaryExpr(activation(m.act));
  return linear(t, down, gates.cwiseProduct(linear(t, up, x, inner, m.mlpBias)), m.width, m.mlpBias);
}

namespace {

/// The indices of the `count` largest values in a row.
std::vector<Index> bestOf(const Wide& values, Index row, Index count) {
  std::vector<Index> order;
  for (Index i = 0; i < values.cols(); ++i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return values(row, a) > values(row, b); });
  order.resize(static_cast<std::size_t>(count));
  return order;
}

/// SparseMixer (Liu et al. 2023) for two experts.
Wide mixedSparsely(const PlainExperts& e, const Wide& scores) {
  Wide shares = Wide::Zero(scores.rows(), scores.cols());
  for (Index i = 0; i < scores.rows(); ++i) {
    std::vector<bool> taken(static_cast<std::size_t>(scores.cols()));
    for (int choice = 0; choice < 2; ++choice) {
      Index best = -1;
      for (Index j = 0; j < scores.cols(); ++j)
        if (!taken[static_cast<std::size_t>(j)] && (best < 0 || scores(i, j) > scores(i, best))) best = j;
      double sum = 0;
      for (Index j = 0; j < scores.cols(); ++j) {
        const double behind = scores(i, best) - scores(i, j);
        const bool near = behind <= 2 * e.jitter * std::max(std::abs(scores(i, j)), scores(i, best));
        if (!taken[static_cast<std::size_t>(j)] && near) sum += std::exp(-behind);
      }
      shares(i, best) = 1 / sum;
      taken[static_cast<std::size_t>(best)] = true;
    }
  }
  return shares;
}

/// The share of each expert in each token, [n, experts]: 0 for all but the best.
Wide sharesOf(const PlainExperts& e, MadeUpTensors& t, const std::string& at, const Wide& x, bool bias) {
  const Wide scores = linear(t, at + e.router, x, e.count, bias);
  if (e.jitter > 0) return mixedSparsely(e, scores);
  Wide all = scores.array().exp();
  const bool sigmoid = e.corrected && !e.softmax;
  if (sigmoid) all = (1 + (-scores.array()).exp()).inverse();
  if (!sigmoid) all = all.array().colwise() / all.array().rowwise().sum().eval();
  Wide choice = all;
  const std::string correction =
      at + (e.correction.empty() ? e.router + ".e_score_correction_bias" : e.correction);
  if (e.corrected) choice = plus(choice, t.row(correction, e.count, 0.5));
  Wide shares = Wide::Zero(x.rows(), e.count);
  for (Index i = 0; i < x.rows(); ++i) {
    if (e.grouped) {
      Wide groups(1, 3);
      for (Index g = 0; g < 3; ++g)
        groups(0, g) = e.corrected ? choice(i, 2 * g) + choice(i, 2 * g + 1)
                                   : std::max(choice(i, 2 * g), choice(i, 2 * g + 1));
      const Index worst = bestOf(groups, 0, 3)[2];
      choice(i, 2 * worst) = choice(i, 2 * worst + 1) = -1e9;
    }
    for (const Index best : bestOf(choice, i, e.used)) shares(i, best) = all(i, best);
    if (e.sumsToOne) shares.row(i) /= shares.row(i).sum();
  }
  return e.factor * shares;
}

/// gpt-oss: biases are large enough here to reach the limits of 7.
Wide interleavedExperts(const PlainDecoder& m, MadeUpTensors& t, const std::string& at, const Wide& x) {
  const Index width = x.cols(), inner = m.experts.inner, count = m.experts.count;
  const Wide shares = sharesOf(m.experts, t, at, x, true);
  const auto stack = [&](const std::string& name, Index in, Index out) {
    return t.cube(at + "mlp.experts." + name, count, in, out, 1 / std::sqrt(static_cast<double>(in)));
  };
  const Wide gateUp = stack("gate_up_proj", width, 2 * inner), down = stack("down_proj", inner, width);
  const Wide gateUpBias = t.matrix(at + "mlp.experts.gate_up_proj_bias", count, 2 * inner, 2);
  const Wide downBias = t.matrix(at + "mlp.experts.down_proj_bias", count, width, 0.3);
  Wide y = Wide::Zero(x.rows(), width);
  for (Index i = 0; i < x.rows(); ++i)
    for (Index e = 0; e < count; ++e) {
      const Wide both = x.row(i) * gateUp.middleRows(e * width, width) + gateUpBias.row(e);
      Wide middle(1, inner);
      for (Index f = 0; f < inner; ++f) {
        const double gate = std::min(both(0, 2 * f), 7.0);
        const double up = std::max(-7.0, std::min(both(0, 2 * f + 1), 7.0));
        middle(0, f) = (up + 1) * gate / (1 + std::exp(-1.702 * gate));
      }
      y.row(i) += shares(i, e) * (middle * down.middleRows(e * inner, inner) + downBias.row(e));
    }
  return y;
}

/// Granite: each tensor has all experts, a gate before its up.
Wide stackedExperts(const PlainDecoder& m, MadeUpTensors& t, const std::string& at, const Wide& x) {
  const PlainExperts& e = m.experts;
  const Index width = x.cols(), inner = e.inner;
  const Wide shares = sharesOf(e, t, at, x, false);
  const auto gatedBy = [&](const Wide& both, Index half) {
    return Wide(both.leftCols(half).unaryExpr(activation(m.act)).cwiseProduct(both.rightCols(half)));
  };
  const Wide up = t.cube(at + "block_sparse_moe.input_linear.weight", e.count, 2 * inner, width, 0.3);
  const Wide down = t.cube(at + "block_sparse_moe.output_linear.weight", e.count, width, inner, 0.3);
  Wide y = Wide::Zero(x.rows(), width);
  for (Index i = 0; i < e.count; ++i) {
    const Wide middle = gatedBy(times(x, up.middleRows(2 * i * inner, 2 * inner)), inner);
    y += shares.col(i).asDiagonal() * times(middle, down.middleRows(i * width, width));
  }
  if (e.shared == 0) return y;
  const Wide both = linear(t, at + "shared_mlp.input_linear", x, 2 * e.shared, false);
  return y + linear(t, at + "shared_mlp.output_linear", gatedBy(both, e.shared), width, false);
}

}  // namespace

Wide mixture(const PlainDecoder& m, MadeUpTensors& t, const std::string& at, const Wide& x) {
  const PlainExperts& e = m.experts;
  if (e.interleaved) return interleavedExperts(m, t, at, x);
  if (e.stacked) return stackedExperts(m, t, at, x);
  const Wide shares = sharesOf(e, t, at, x, false);
  Wide y = Wide::Zero(x.rows(), m.width);
  for (Index expert = 0; expert < e.count; ++expert) {
    const auto name = [&](std::string pattern) {
      return at + pattern.replace(pattern.find('E'), 1, std::to_string(expert));
    };
    y += shares.col(expert).asDiagonal() * gated(m, t, name(e.gate), name(e.up), name(e.down), e.inner, x);
  }
  if (e.shared == 0) return y;
  const std::string shared = at + e.sharedName;
  const Wide common =
      gated(m, t, shared + "gate_proj", shared + "up_proj", shared + "down_proj", e.shared, x);
  if (!e.gatesShared) return y + common;
  const Wide scores = linear(t, at + "mlp.shared_expert_gate", x, 1, false);
  const Wide gates = (1 + (-scores.array()).exp()).inverse();
  return y + gates.col(0).asDiagonal() * common;
}

}  // namespace headscope::attention::test
