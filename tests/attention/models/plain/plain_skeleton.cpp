#include "tests/attention/models/plain/plain_skeleton.h"

#include <algorithm>
#include <cmath>

namespace headscope::attention::test {
namespace {

Wide mapped(MadeUpTensors& t, const std::string& name, const Wide& x, Index out, bool bias) {
  const Wide y = times(x, t.weight(name, out, x.cols()));
  return bias ? plus(y, t.row(name + ".bias", out, 0.3)) : y;
}

/// Returns x unchanged if the norm has no name.
Wide normed(const PlainDecoder& m, MadeUpTensors& t, const std::string& at, const std::string& name,
            const Wide& x) {
  if (name.empty()) return x;
  const Wide weight = t.row(at + name + ".weight", x.cols(), 0.3, 1);
  if (!m.layerNorm) return rmsNorm(x, weight, m.epsilon);
  const Wide bias = m.normBias ? t.row(at + name + ".bias", x.cols(), 0.3) : Wide(Wide::Zero(1, x.cols()));
  return layerNorm(x, weight, bias, m.epsilon);
}

/// Rotates dimensions 2t and 2t + 1 of each head together.
Wide turnNeighbours(const Wide& x, Index heads, const std::vector<double>& frequencies) {
  Wide y = x;
  const Index size = x.cols() / heads;
  for (Index p = 0; p < x.rows(); ++p)
    for (Index h = 0; h < heads; ++h)
      for (std::size_t t = 0; t < frequencies.size(); ++t) {
        const double angle = static_cast<double>(p) * frequencies[t];
        const Index a = h * size + 2 * static_cast<Index>(t), b = a + 1;
        y(p, a) = x(p, a) * std::cos(angle) - x(p, b) * std::sin(angle);
        y(p, b) = x(p, b) * std::cos(angle) + x(p, a) * std::sin(angle);
      }
  return y;
}

Wide headsNormed(const PlainDecoder& m, MadeUpTensors& t, const std::string& name, const Wide& x) {
  const Index size = m.headDim(), heads = x.cols() / size;
  const bool own = m.tableOfNorms || m.listOfNorms;
  Wide y = x, weights;
  if (!m.listOfNorms) weights = t.matrix(name + ".weight", heads, size, 0.3, 1);
  if (!own) weights = t.row(name + ".weight", size, 0.3, 1).replicate(heads, 1);
  Wide bias = Wide::Zero(1, size);
  if (!own && m.layerNorm) bias = t.row(name + ".bias", size, 0.3);
  for (Index h = 0; h < heads; ++h) {
    const Wide head = x.middleCols(h * size, size);
    const Wide weight = m.listOfNorms ? t.row(name + ".norms." + std::to_string(h) + ".weight", size, 0.3, 1)
                                      : Wide(weights.row(h));
    y.middleCols(h * size, size) =
        m.layerNorm ? layerNorm(head, weight, bias, m.epsilon) : rmsNorm(head, weight, m.epsilon);
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

struct Projected {
  Wide q, k, v;
};

/// Splits the output of a fused map.
Projected split(const PlainDecoder& m, const Wide& all) {
  const Index size = m.headDim(), key = m.kvHeads * size;
  if (!m.headByHead)
    return {all.leftCols(m.width), all.middleCols(m.width, key), all.middleCols(m.width + key, key)};
  const Index n = all.rows(), share = m.heads / m.kvHeads;
  Projected parts{Wide(n, m.width), Wide(n, key), Wide(n, key)};
  for (Index g = 0; g < m.kvHeads; ++g) {
    const Wide group = all.middleCols(g * (share + 2) * size, (share + 2) * size);
    parts.q.middleCols(g * share * size, share * size) = group.leftCols(share * size);
    parts.k.middleCols(g * size, size) = group.middleCols(share * size, size);
    parts.v.middleCols(g * size, size) = group.rightCols(size);
  }
  return parts;
}

Projected queriesKeysValues(const PlainDecoder& m, MadeUpTensors& t, const std::string& at, const Wide& x) {
  const Index key = m.kvHeads * m.headDim();
  if (!m.qkv.empty()) return split(m, mapped(t, at + m.qkv, x, m.width + 2 * key, m.qkvBias));
  return {normed(m, t, at, m.qNorm, mapped(t, at + m.q, x, m.width, m.qkvBias)),
          normed(m, t, at, m.kNorm, mapped(t, at + m.k, x, key, m.qkvBias)),
          mapped(t, at + m.v, x, key, m.qkvBias)};
}

Wide attention(const PlainDecoder& m, MadeUpTensors& t, const std::string& at, Index layer, const Wide& x,
               std::vector<Wide>& weights) {
  auto [q, k, v] = queriesKeysValues(m, t, at, x);
  if (m.headNorms) {
    q = headsNormed(m, t, at + "self_attn.q_" + m.headNorm, q);
    k = headsNormed(m, t, at + "self_attn.k_" + m.headNorm, k);
  }
  if (m.clip > 0)
    for (Wide* const each : {&q, &k, &v}) *each = each->cwiseMax(-m.clip).cwiseMin(m.clip);
  if (m.rotates(layer)) {
    auto turns = frequencies(m.turned, m.theta);
    for (double& each : turns) each /= m.stretch(layer);
    q = m.interleaved ? turnNeighbours(q, m.heads, turns) : rope(q, m.heads, turns);
    k = m.interleaved ? turnNeighbours(k, m.kvHeads, turns) : rope(k, m.kvHeads, turns);
  }
  const double scale = m.scale > 0 ? m.scale : 1 / std::sqrt(static_cast<double>(m.headDim()));
  PlainAttention how{m.heads, m.kvHeads, scale, true, m.window(layer), 0};
  if (m.alibi) how.slopes = slopesOf(m);
  const Wide y = t.touched("heads", layer, attend(how, q, k, v, weights));
  return mapped(t, at + m.o, y, m.width, m.outputBias);
}

Wide mlp(const PlainDecoder& m, MadeUpTensors& t, const std::string& at, const Wide& x) {
  if (!m.gateUp.empty()) {
    const Wide both = mapped(t, at + m.gateUp, x, 2 * m.inner, m.mlpBias);
    const Wide inner = both.leftCols(m.inner).unaryExpr(m.act).cwiseProduct(both.rightCols(m.inner));
    return mapped(t, at + m.down, inner, m.width, m.mlpBias);
  }
  Wide inner = mapped(t, at + m.up, x, m.inner, m.mlpBias);
  if (m.gate.empty())
    inner = inner.unaryExpr(m.act);
  else
    inner = mapped(t, at + m.gate, x, m.inner, m.mlpBias).unaryExpr(m.act).cwiseProduct(inner);
  return mapped(t, at + m.down, inner, m.width, m.mlpBias);
}

Wide gatedMlp(const PlainDecoder& m, MadeUpTensors& t, const std::string& gate, const std::string& up,
              const std::string& down, Index inner, const Wide& x) {
  const Wide gates = mapped(t, gate, x, inner, false).unaryExpr(m.act);
  return mapped(t, down, gates.cwiseProduct(mapped(t, up, x, inner, false)), m.width, false);
}

/// Runs every expert on every token, with a share of 0 for all but the best.
Wide mixture(const PlainDecoder& m, MadeUpTensors& t, const std::string& at, const Wide& x) {
  Wide shares = mapped(t, at + m.router, x, m.experts, false).array().exp();
  for (Index i = 0; i < shares.rows(); ++i) {
    shares.row(i) /= shares.row(i).sum();
    std::vector<double> sorted(shares.row(i).begin(), shares.row(i).end());
    std::sort(sorted.rbegin(), sorted.rend());
    const double least = sorted[static_cast<std::size_t>(m.used) - 1];
    for (double& share : shares.row(i)) share = share < least ? 0 : share;
    if (m.sumsToOne) shares.row(i) /= shares.row(i).sum();
  }
  Wide y = Wide::Zero(x.rows(), m.width);
  for (Index e = 0; e < m.experts; ++e) {
    const auto name = [&](std::string pattern) {
      return at + pattern.replace(pattern.find('E'), 1, std::to_string(e));
    };
    const Wide said =
        gatedMlp(m, t, name(m.expertGate), name(m.expertUp), name(m.expertDown), m.expertInner, x);
    y += shares.col(e).asDiagonal() * said;
  }
  if (m.shared == 0) return y;
  const std::string shared = at + "mlp.shared_expert.";
  const Wide gates = (1 + (-mapped(t, at + "mlp.shared_expert_gate", x, 1, false).array()).exp()).inverse();
  return y + gates.col(0).asDiagonal() *
                 gatedMlp(m, t, shared + "gate_proj", shared + "up_proj", shared + "down_proj", m.shared, x);
}

}  // namespace

PlainOutcome run(const PlainDecoder& m, MadeUpTensors& t, const std::vector<Index>& ids) {
  const Wide table = t.matrix(m.prefix + m.embedding + ".weight", m.vocabulary, m.width, 1);
  Wide x(std::ssize(ids), m.width);
  for (Index i = 0; i < x.rows(); ++i) x.row(i) = m.embed * table.row(ids[static_cast<std::size_t>(i)]);
  if (!m.positions.empty())
    x += t.matrix(m.prefix + m.positions + ".weight", 19, m.width, 0.5).topRows(x.rows());
  x = normed(m, t, m.prefix, m.embeddingNorm, x);
  PlainOutcome out{{x}, {}, {}};
  for (Index i = 0; i < m.layers; ++i) {
    const std::string at = m.prefix + m.layer + std::to_string(i) + ".";
    const Wide read = normed(m, t, at, m.before, x);
    const Wide attended = attention(m, t, at, i, read, out.attention.emplace_back());
    if (m.parallel) {
      const Wide in = m.ownMlpNorm ? normed(m, t, at, m.beforeMlp, x) : read;
      x += attended + t.touched("mlp", i, mlp(m, t, at, in));
    } else {
      if (m.normedStream) x = read;
      x += m.residual * normed(m, t, at, m.after, attended);
      const Wide in = normed(m, t, at, m.beforeMlp, x);
      if (m.normedStream) x = in;
      const bool mixes = m.experts > 0 && m.mixes(i);
      const Wide said = normed(m, t, at, m.afterMlp, mixes ? mixture(m, t, at, in) : mlp(m, t, at, in));
      x += t.touched("mlp", i, m.residual * said);
    }
    out.hidden.push_back(x);
  }
  const Wide y = normed(m, t, m.prefix, m.finalNorm, x);
  out.logits = m.tied ? times(y, table) : mapped(t, "lm_head", y, m.vocabulary, m.headBias);
  out.logits *= m.logits;
  return out;
}

}  // namespace headscope::attention::test
