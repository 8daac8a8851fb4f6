#include "tests/attention/models/plain/plain_decoder.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headscope::attention::test {
namespace {

double of(const PerLayer& values, Index layer) {
  return values.size() == 1 ? values[0] : values.at(static_cast<std::size_t>(layer));
}

Index headDimOf(const PlainDecoder& m) {
  return m.headDim > 0 ? m.headDim : m.width / m.heads;
}

Wide mapped(const PlainDecoder& m, MadeUpTensors& t, const std::string& name, const Wide& x, Index out,
            bool bias) {
  if (!m.transposed) return linear(t, name, x, out, bias);
  const Wide weight = t.matrix(name + ".weight", x.cols(), out, 1 / std::sqrt(static_cast<double>(x.cols())));
  return plus(times(x, weight.transpose()), t.row(name + ".bias", out, 0.3));
}

Wide normedBy(const PlainDecoder& m, const Wide& x, Wide weight, const Wide& bias) {
  if (m.plusOne) weight.array() += 1;
  return m.layerNorm ? layerNorm(x, weight, bias, m.epsilon) : rmsNorm(x, weight, m.epsilon);
}

/// Returns x unchanged if the norm has no name.
Wide normed(const PlainDecoder& m, MadeUpTensors& t, const std::string& at, const std::string& name,
            const Wide& x) {
  if (name.empty()) return x;
  const Index size = x.cols();
  if (!m.normed) return normedBy(m, x, Wide::Ones(1, size), Wide::Zero(1, size));
  const Wide weight = t.row(at + name + m.names.weight, size, 0.3, m.plusOne ? 0 : 1);
  const bool bias = m.layerNorm && m.normBias;
  return normedBy(m, x, weight,
                  bias ? t.row(at + name + m.names.bias, size, 0.3) : Wide(Wide::Zero(1, size)));
}

Wide headsNormed(const PlainDecoder& m, MadeUpTensors& t, const std::string& name, const Wide& x) {
  const Index size = headDimOf(m), heads = x.cols() / size;
  const bool own = m.tableOfNorms || m.listOfNorms;
  const double center = m.plusOne ? 0 : 1;
  Wide weights(heads, size);
  if (m.tableOfNorms) weights = t.matrix(name + ".weight", heads, size, 0.3, center);
  if (!own) weights = t.row(name + ".weight", size, 0.3, center).replicate(heads, 1);
  const Wide bias = !own && m.layerNorm ? t.row(name + ".bias", size, 0.3) : Wide(Wide::Zero(1, size));
  Wide y = x;
  for (Index h = 0; h < heads; ++h) {
    if (m.listOfNorms)
      weights.row(h) = t.row(name + ".norms." + std::to_string(h) + ".weight", size, 0.3, center);
    y.middleCols(h * size, size) = normedBy(m, x.middleCols(h * size, size), weights.row(h), bias);
  }
  return y;
}

/// By the formula of MPT: every second slope of the next power of two, then the others.
std::vector<double> slopesOf(const PlainDecoder& m) {
  Index power = 1;
  while (power < m.heads) power *= 2;
  std::vector<double> slopes;
  for (Index h = 1; h <= power; ++h)
    slopes.push_back(m.slopeFactor *
                     std::pow(2.0, -m.slopeMost * static_cast<double>(h) / static_cast<double>(power)));
  if (power == m.heads) return slopes;
  std::vector<double> mixed;
  for (const std::size_t first : {1, 0})
    for (std::size_t h = first; h < slopes.size(); h += 2) mixed.push_back(slopes[h]);
  mixed.resize(static_cast<std::size_t>(m.heads));
  return mixed;
}

/// YaRN's ramp between kept and slowed frequencies begins and ends at the dimensions that turn `fast` and
/// `slow` times over the original context.
void slowDown(const PlainYarn& yarn, double dims, double theta, std::vector<double>& turns) {
  const double pi = std::acos(-1.0);
  double from = dims * std::log(yarn.original / (yarn.fast * 2 * pi)) / (2 * std::log(theta));
  double to = dims * std::log(yarn.original / (yarn.slow * 2 * pi)) / (2 * std::log(theta));
  if (yarn.whole) from = std::floor(from), to = std::ceil(to);
  from = std::max(from, 0.0), to = std::min(to, dims - 1);
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const double ramp = std::min(1.0, std::max(0.0, (static_cast<double>(i) - from) / (to - from)));
    turns[i] = turns[i] / yarn.factor * ramp + turns[i] * (1 - ramp);
  }
}

std::vector<double> frequenciesOf(const PlainRope& r, Index headDim, Index layer) {
  const auto dims = static_cast<double>(r.dims > 0 ? r.dims : headDim);
  const double theta = of(r.theta, layer) * std::pow(r.ntk, dims / (dims - 2));
  std::vector<double> turns;
  for (double i = 0; 2 * i < dims; ++i)
    turns.push_back(1 / std::pow(theta, 2 * i / dims) / of(r.stretch, layer));
  for (std::size_t i = 0; i < r.factors.size(); ++i) turns[i] /= r.factors[i];
  if (r.yarn.factor > 1) slowDown(r.yarn, dims, theta, turns);
  return turns;
}

struct Projected {
  Wide q, k, v;
};

/// Splits the output of a fused map.
Projected split(const PlainDecoder& m, const Wide& all) {
  const Index size = headDimOf(m), query = m.heads * size, key = m.kvHeads * size;
  if (!m.headByHead) return {all.leftCols(query), all.middleCols(query, key), all.rightCols(key)};
  const Index n = all.rows(), share = m.heads / m.kvHeads;
  Projected parts{Wide(n, query), Wide(n, key), Wide(n, key)};
  for (Index g = 0; g < m.kvHeads; ++g) {
    const Wide group = all.middleCols(g * (share + 2) * size, (share + 2) * size);
    parts.q.middleCols(g * share * size, share * size) = group.leftCols(share * size);
    parts.k.middleCols(g * size, size) = group.middleCols(share * size, size);
    parts.v.middleCols(g * size, size) = group.rightCols(size);
  }
  return parts;
}

Projected queriesKeysValues(const PlainDecoder& m, MadeUpTensors& t, const std::string& at, Index layer,
                            const Wide& x) {
  const Index size = headDimOf(m), query = m.heads * size, key = m.kvHeads * size;
  const PlainNames& n = m.names;
  Projected p;
  if (!n.qkv.empty())
    p = split(m, mapped(m, t, at + n.qkv, x, query + 2 * key, m.qkvBias));
  else
    p = {normed(m, t, at, n.qNorm, mapped(m, t, at + n.q, x, query, m.qkvBias)),
         normed(m, t, at, n.kNorm, mapped(m, t, at + n.k, x, key, m.qkvBias)),
         mapped(m, t, at + n.v, x, key, m.qkvBias)};
  if (m.headNorms) {
    p.q = headsNormed(m, t, at + "self_attn.q_" + n.headNorm, p.q);
    p.k = headsNormed(m, t, at + "self_attn.k_" + n.headNorm, p.k);
  }
  if (m.clip > 0)
    for (Wide* const each : {&p.q, &p.k, &p.v}) *each = each->cwiseMax(-m.clip).cwiseMin(m.clip);
  if (of(m.rope.on, layer) > 0) {
    const auto turns = frequenciesOf(m.rope, size, layer);
    const double amplitude = std::sqrt(1 + std::log(m.rope.longer) / std::log(m.rope.original)) *
                             (1 + m.rope.yarn.growth * std::log(m.rope.yarn.factor));
    p.q = rope(p.q, m.heads, turns, amplitude, m.rope.neighbours);
    p.k = rope(p.k, m.kvHeads, turns, amplitude, m.rope.neighbours);
  }
  for (Index i = 0; i < x.rows(); ++i)
    p.q.row(i) *= 1 + m.growth * std::log(1 + std::floor(static_cast<double>(i) / m.grownFrom));
  return p;
}

/// DeepSeek's queries, keys and values from latent vectors. The last 4 of each head's 7 numbers are rotated.
Projected fromLatents(const PlainDecoder& m, MadeUpTensors& t, const std::string& in, Index layer,
                      const Wide& x) {
  const Index heads = m.heads, rank = 8;
  const auto smallNorm = [&](const std::string& name, const Wide& y) { return normed(m, t, in, name, y); };
  const Wide kept = linear(t, in + "kv_a_proj_with_mqa", x, rank + 4, false);
  const Wide both =
      linear(t, in + "kv_b_proj", smallNorm("kv_a_layernorm", kept.leftCols(rank)), heads * 8, false);
  Projected p{{}, Wide(x.rows(), heads * 7), Wide(x.rows(), heads * 5)};
  p.q = m.queryRank == 0
            ? linear(t, in + "q_proj", x, heads * 7, false)
            : linear(t, in + "q_b_proj",
                     smallNorm("q_a_layernorm", linear(t, in + "q_a_proj", x, m.queryRank, false)), heads * 7,
                     false);
  const auto turns = frequenciesOf(m.rope, 4, layer);
  for (Index h = 0; h < heads; ++h) {
    p.q.middleCols(7 * h + 3, 4) = rope(p.q.middleCols(7 * h + 3, 4), 1, turns, 1, m.rope.neighbours);
    p.k.middleCols(7 * h, 3) = both.middleCols(8 * h, 3);
    p.k.middleCols(7 * h + 3, 4) = rope(kept.rightCols(4), 1, turns, 1, m.rope.neighbours);
    p.v.middleCols(5 * h, 5) = both.middleCols(8 * h + 3, 5);
  }
  return p;
}

Wide attention(const PlainDecoder& m, MadeUpTensors& t, const std::string& at, Index layer, const Wide& x,
               std::vector<Wide>& weights) {
  const auto [q, k, v] =
      m.latent ? fromLatents(m, t, at + "self_attn.", layer, x) : queriesKeysValues(m, t, at, layer, x);
  const double scale = m.scale > 0 ? m.scale : 1 / std::sqrt(static_cast<double>(k.cols() / m.kvHeads));
  const double sharper = 1 + m.rope.yarn.sharpness * std::log(m.rope.yarn.factor);
  PlainAttention how{m.heads, m.kvHeads, scale * sharper * sharper / of(m.scaleDivisor, layer), m.causal,
                     static_cast<Index>(of(m.window, layer))};
  if (m.alibi)
    how.bias = [slopes = slopesOf(m)](Index h, Index i, Index j) {
      return -slopes[static_cast<std::size_t>(h)] * static_cast<double>(i - j);
    };
  if (m.sinks) {
    const Wide sinks = t.row(at + "self_attn.sinks", m.heads, 1, 1);
    how.sinks.assign(sinks.data(), sinks.data() + sinks.size());
  }
  const Wide y = t.touched("heads", layer, attend(how, q, k, v, weights));
  return mapped(m, t, at + m.names.o, y, m.width, m.outputBias);
}

Wide gated(const PlainDecoder& m, MadeUpTensors& t, const std::string& gate, const std::string& up,
           const std::string& down, Index inner, const Wide& x) {
  const Wide gates = linear(t, gate, x, inner, m.mlpBias).unaryExpr(activation(m.act));
  return linear(t, down, gates.cwiseProduct(linear(t, up, x, inner, m.mlpBias)), m.width, m.mlpBias);
}

Wide mlp(const PlainDecoder& m, MadeUpTensors& t, const std::string& at, const Wide& x) {
  const PlainNames& n = m.names;
  if (!n.gate.empty()) return gated(m, t, at + n.gate, at + n.up, at + n.down, m.inner, x);
  Wide inner;
  if (n.gateUp.empty()) {
    inner = mapped(m, t, at + n.up, x, m.inner, m.mlpBias).unaryExpr(activation(m.act));
  } else {
    const Wide both = mapped(m, t, at + n.gateUp, x, 2 * m.inner, m.mlpBias);
    inner = both.leftCols(m.inner).unaryExpr(activation(m.act)).cwiseProduct(both.rightCols(m.inner));
  }
  return mapped(m, t, at + n.down, inner, m.width, m.mlpBias);
}

/// The indices of the `count` largest values in a row.
std::vector<Index> bestOf(const Wide& values, Index row, Index count) {
  std::vector<Index> order;
  for (Index i = 0; i < values.cols(); ++i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return values(row, a) > values(row, b); });
  order.resize(static_cast<std::size_t>(count));
  return order;
}

/// The share of each expert in each token, [n, experts]: 0 for all but the best.
Wide sharesOf(const PlainExperts& e, MadeUpTensors& t, const std::string& at, const Wide& x, bool bias) {
  const Wide scores = linear(t, at + e.router, x, e.count, bias);
  Wide all = scores.array().exp();
  if (e.corrected) all = (1 + (-scores.array()).exp()).inverse();
  if (!e.corrected) all = all.array().colwise() / all.array().rowwise().sum().eval();
  Wide choice = all;
  if (e.corrected) choice = plus(choice, t.row(at + e.router + ".e_score_correction_bias", e.count, 0.5));
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

Wide mixture(const PlainDecoder& m, MadeUpTensors& t, const std::string& at, const Wide& x) {
  const PlainExperts& e = m.experts;
  if (e.interleaved) return interleavedExperts(m, t, at, x);
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

Wide embeddedTokens(const PlainDecoder& m, MadeUpTensors& t, const Wide& table,
                    const std::vector<Index>& ids) {
  const PlainNames& n = m.names;
  Wide x = m.embed * pick(table, ids);
  if (!n.mapBefore.empty()) x = linear(t, n.prefix + n.mapBefore, x, m.width, false);
  if (!n.positions.empty()) {
    std::vector<Index> rows;  // padding has its own row and doesn't use up a position
    Index next = m.firstPosition;
    for (const Index id : ids) rows.push_back(id == m.pad ? m.firstPosition - 1 : next++);
    x += pick(t.matrix(n.prefix + n.positions + ".weight", m.positionRows, x.cols(), 0.5), rows);
  }
  if (m.types > 0) x = plus(x, t.matrix(n.prefix + n.types + ".weight", m.types, x.cols(), 0.5).topRows(1));
  x = normed(m, t, n.prefix, n.embeddingNorm, x);
  return n.mapAfter.empty() ? x : linear(t, n.prefix + n.mapAfter, x, m.width);
}

Wide logitsOf(const PlainDecoder& m, MadeUpTensors& t, const Wide& table, Wide y) {
  const PlainNames& n = m.names;
  if (!n.mapOut.empty()) y = linear(t, n.prefix + n.mapOut, y, table.cols(), false);
  if (!n.headDense.empty())
    y = normed(m, t, "", n.headDenseNorm,
               linear(t, n.headDense, y, table.cols(), m.mlpBias).unaryExpr(activation("gelu")));
  Wide logits = m.tied ? times(y, table) : linear(t, n.head, y, m.vocabulary, m.headBias);
  if (!n.headDenseBias.empty()) logits = plus(logits, t.row(n.headDenseBias, m.vocabulary, 0.3));
  if (m.cap > 0) logits = logits.unaryExpr([&](double value) { return m.cap * std::tanh(value / m.cap); });
  return m.logits * logits;
}

}  // namespace

PlainOutcome run(const PlainDecoder& m, MadeUpTensors& t, const std::vector<Index>& ids) {
  const PlainNames& n = m.names;
  const Wide table =
      t.matrix(n.prefix + n.embedding + ".weight", m.vocabulary, m.embedded > 0 ? m.embedded : m.width, 1);
  Wide x = embeddedTokens(m, t, table, ids);
  PlainOutcome out{{x}, {}, {}};
  for (Index i = 0; i < m.layers; ++i) {
    const std::string at = n.prefix + n.layer + std::to_string(i) + ".";
    const Wide read = i > 0 || m.firstNorm ? normed(m, t, at, n.before, x) : x;
    const Wide attended =
        normed(m, t, at, n.after, attention(m, t, at, i, read, out.attention.emplace_back()));
    if (m.parallel) {
      const Wide in = m.ownMlpNorm ? normed(m, t, at, n.beforeMlp, x) : read;
      x += attended + t.touched("mlp", i, mlp(m, t, at, in));
    } else {
      if (m.normedStream) x = read;
      x = normed(m, t, at, n.joined, x + m.residual * attended);
      const Wide in = normed(m, t, at, n.beforeMlp, x);
      if (m.normedStream) x = in;
      const bool mixes = m.experts.count > 0 && of(m.experts.on, i) > 0;
      const Wide said = normed(m, t, at, n.afterMlp, mixes ? mixture(m, t, at, in) : mlp(m, t, at, in));
      x = normed(m, t, at, n.joinedMlp, x + t.touched("mlp", i, m.residual * said));
    }
    out.hidden.push_back(x);
  }
  const Wide y = normed(m, t, n.prefix, n.finalNorm, x);
  if (m.predicts) out.logits = logitsOf(m, t, table, y);
  return out;
}

}  // namespace headscope::attention::test
