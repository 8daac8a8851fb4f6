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
  Wide weights = Wide::Ones(heads, size);
  if (m.tableOfNorms) weights = t.matrix(name + ".weight", heads, size, 0.3, center);
  if (!own && m.normed) weights = t.row(name + ".weight", size, 0.3, center).replicate(heads, 1);
  const Wide bias =
      !own && m.normed && m.layerNorm ? t.row(name + ".bias", size, 0.3) : Wide(Wide::Zero(1, size));
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
  if (m.quarters) {
    Projected parts{Wide(all.rows(), query), Wide(all.rows(), query), Wide(all.rows(), query)};
    const Index part = query / 4;
    for (Index i = 0; i < 4; ++i) {
      parts.q.middleCols(i * part, part) = all.middleCols(3 * i * part, part);
      parts.v.middleCols(i * part, part) = all.middleCols((3 * i + 1) * part, part);
      parts.k.middleCols(i * part, part) = all.middleCols((3 * i + 2) * part, part);
    }
    return parts;
  }
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
  const auto normHeads = [&] {
    const auto named = [&](std::string pattern, const char* which) {
      const std::size_t mark = pattern.find('*');
      return mark == pattern.npos ? at + "self_attn." + which[0] + std::string("_") + pattern
                                  : at + pattern.replace(mark, 1, which);
    };
    p.q = headsNormed(m, t, named(n.headNorm, "query"), p.q);
    p.k = headsNormed(m, t, named(n.headNorm, "key"), p.k);
  };
  if (m.headNorms && !m.rotatedFirst) normHeads();
  if (m.clip > 0)
    for (Wide* const each : {&p.q, &p.k, &p.v}) *each = each->cwiseMax(-m.clip).cwiseMin(m.clip);
  if (of(m.rope.on, layer) > 0) {
    const auto turns = frequenciesOf(m.rope, size, layer);
    const double amplitude = std::sqrt(1 + std::log(m.rope.longer) / std::log(m.rope.original)) *
                             (1 + m.rope.yarn.growth * std::log(m.rope.yarn.factor));
    p.q = rope(p.q, m.heads, turns, amplitude, m.rope.neighbours);
    p.k = rope(p.k, m.kvHeads, turns, amplitude, m.rope.neighbours);
  }
  if (m.headNorms && m.rotatedFirst) normHeads();
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

/// xIELU (Huang & Schlag 2024, equation 7).
std::function<double(double)> xielu(MadeUpTensors& t, const std::string& name) {
  const auto number = [&](const char* of, double center) { return t.row(name + of, 1, 0.3, center)(0, 0); };
  const auto softplus = [](double x) { return std::log(1 + std::exp(x)); };
  const double right = softplus(number(".alpha_p", 0.8)), negative = softplus(number(".alpha_n", 0.8)),
               beta = number(".beta", 0.5), limit = number(".eps", -0.1);
  return [=](double x) {
    return x > 0 ? right * x * x + beta * x
                 : (beta + negative) * (std::exp(std::min(x, limit)) - 1 - x) + beta * x;
  };
}

Wide mlp(const PlainDecoder& m, MadeUpTensors& t, const std::string& at, const Wide& x) {
  const PlainNames& n = m.names;
  if (!n.gate.empty()) return gated(m, t, at + n.gate, at + n.up, at + n.down, m.inner, x);
  Wide inner;
  if (n.gateUp.empty()) {
    inner = mapped(m, t, at + n.up, x, m.inner, m.mlpBias)
                .unaryExpr(n.curve.empty() ? activation(m.act) : xielu(t, at + n.curve));
  } else {
    const Wide both = mapped(m, t, at + n.gateUp, x, 2 * m.inner, m.mlpBias);
    inner = both.leftCols(m.inner).unaryExpr(activation(m.act)).cwiseProduct(both.rightCols(m.inner));
  }
  return mapped(m, t, at + n.down, inner, m.width, m.mlpBias);
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
  for (Index i = 0; m.sinusoids && i < x.rows(); ++i)
    for (Index c = 0; c < x.cols() / 2; ++c) {
      const double half = static_cast<double>(x.cols()) / 2, row = static_cast<double>(m.firstPosition + i);
      const double angle = row * std::exp(-std::log(10000.0) * static_cast<double>(c) / (half - 1));
      x(i, c) += std::sin(angle);
      x(i, c + x.cols() / 2) += std::cos(angle);
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
