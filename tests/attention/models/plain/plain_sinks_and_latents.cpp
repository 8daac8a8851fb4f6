#include <algorithm>
#include <cmath>

#include "tests/attention/models/plain/plain_decoders.h"

// gpt-oss and DeepSeek V2 and V3, by their publications and published code.

namespace headscope::attention::test {
namespace {

const double kPi = std::acos(-1.0);

Wide pickRows(const Wide& table, const std::vector<Index>& rows) {
  Wide x(std::ssize(rows), table.cols());
  for (Index i = 0; i < x.rows(); ++i) x.row(i) = table.row(rows[static_cast<std::size_t>(i)]);
  return x;
}

Wide rmsOf(MadeUpTensors& t, const std::string& name, const Wide& x, double epsilon) {
  return rmsNorm(x, t.row(name + ".weight", x.cols(), 0.3, 1), epsilon);
}

Wide affine(MadeUpTensors& t, const std::string& name, const Wide& x, Index out, bool bias) {
  const Wide y = times(x, t.weight(name, out, x.cols()));
  return bias ? plus(y, t.row(name + ".bias", out, 0.3)) : y;
}

/// YaRN (Peng et al. 2023): the ramp between kept and slowed frequencies begins and ends at the dimensions
/// that turn `fast` and `slow` times over the original context.
std::vector<double> yarn(Index dims, double theta, double factor, double original, double fast, double slow,
                         bool whole) {
  const auto size = static_cast<double>(dims);
  double from = size * std::log(original / (fast * 2 * kPi)) / (2 * std::log(theta));
  double to = size * std::log(original / (slow * 2 * kPi)) / (2 * std::log(theta));
  if (whole) from = std::floor(from), to = std::ceil(to);
  from = std::max(from, 0.0), to = std::min(to, size - 1);
  std::vector<double> turns = frequencies(dims, theta);
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const double ramp = std::min(1.0, std::max(0.0, (static_cast<double>(i) - from) / (to - from)));
    turns[i] = turns[i] / factor * ramp + turns[i] * (1 - ramp);
  }
  return turns;
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

/// Attention with a sink: a score in addition to those of the keys, whose share of the softmax no key gets.
Wide attendWithSinks(const PlainAttention& how, const Wide& sinks, const Wide& q, const Wide& k,
                     const Wide& v, std::vector<Wide>& to) {
  const Index n = q.rows(), size = q.cols() / how.heads, share = how.heads / how.kvHeads;
  Wide output = Wide::Zero(n, q.cols());
  for (Index h = 0; h < how.heads; ++h) {
    Wide weights = Wide::Zero(n, n);
    const Wide queries = q.middleCols(h * size, size), keys = k.middleCols(h / share * size, size);
    for (Index i = 0; i < n; ++i) {
      double sum = std::exp(sinks(0, h));
      for (Index j = 0; j <= i; ++j)
        if (how.window == 0 || i - j < how.window)
          sum += weights(i, j) = std::exp(how.scale * queries.row(i).dot(keys.row(j)));
      weights.row(i) /= sum;
    }
    output.middleCols(h * size, size) = weights * v.middleCols(h / share * size, size);
    to.push_back(weights);
  }
  return output;
}

/// 2 of 5 experts; gate and up are interleaved, and maps are [in, out].
Wide gptOssExperts(MadeUpTensors& t, const std::string& at, const Wide& x) {
  const Index width = x.cols(), inner = 7, experts = 5;
  const Wide scores = affine(t, at + "mlp.router", x, experts, true);
  const auto stack = [&](const std::string& name, Index in, Index out) {
    return t.cube(at + "mlp.experts." + name, experts, in, out, 1 / std::sqrt(static_cast<double>(in)));
  };
  const Wide gateUp = stack("gate_up_proj", width, 2 * inner), down = stack("down_proj", inner, width);
  const Wide gateUpBias = t.matrix(at + "mlp.experts.gate_up_proj_bias", experts, 2 * inner, 2);
  const Wide downBias = t.matrix(at + "mlp.experts.down_proj_bias", experts, width, 0.3);
  Wide y = Wide::Zero(x.rows(), width);
  for (Index i = 0; i < x.rows(); ++i) {
    const std::vector<Index> chosen = bestOf(scores, i, 2);
    double sum = 0;
    for (const Index e : chosen) sum += std::exp(scores(i, e));
    for (const Index e : chosen) {
      const Wide both = x.row(i) * gateUp.middleRows(e * width, width) + gateUpBias.row(e);
      Wide middle(1, inner);
      for (Index f = 0; f < inner; ++f) {
        // The test's biases are large enough to reach the limits.
        const double gate = std::min(both(0, 2 * f), 7.0);
        const double up = std::max(-7.0, std::min(both(0, 2 * f + 1), 7.0));
        middle(0, f) = (up + 1) * gate / (1 + std::exp(-1.702 * gate));
      }
      y.row(i) +=
          std::exp(scores(i, e)) / sum * (middle * down.middleRows(e * inner, inner) + downBias.row(e));
    }
  }
  return y;
}

PlainOutcome runGptOss(MadeUpTensors& t, const std::vector<Index>& ids) {
  const Index heads = 4, kvHeads = 2, size = 6, width = 20;
  Wide x = pickRows(t.matrix("model.embed_tokens.weight", 31, width, 1), ids);
  PlainOutcome out{{x}, {}, {}};
  const std::vector<double> turns = yarn(size, 150, 8, 64, 32, 1, false);
  const double sharper = 0.1 * std::log(8.0) + 1;
  for (Index i = 0; i < 3; ++i) {
    const std::string at = "model.layers." + std::to_string(i) + ".", in = at + "self_attn.";
    const Wide read = rmsOf(t, at + "input_layernorm", x, 1e-5);
    const Wide q = rope(affine(t, in + "q_proj", read, heads * size, true), heads, turns, sharper);
    const Wide k = rope(affine(t, in + "k_proj", read, kvHeads * size, true), kvHeads, turns, sharper);
    const Wide v = affine(t, in + "v_proj", read, kvHeads * size, true);
    const Wide sinks = t.row(in + "sinks", heads, 1, 1);
    const PlainAttention how{heads, kvHeads, 1 / std::sqrt(6.0), true, i == 1 ? Index{0} : Index{4}};
    const Wide y = t.touched("heads", i, attendWithSinks(how, sinks, q, k, v, out.attention.emplace_back()));
    x += affine(t, in + "o_proj", y, width, true);
    x += t.touched("mlp", i, gptOssExperts(t, at, rmsOf(t, at + "post_attention_layernorm", x, 1e-5)));
    out.hidden.push_back(x);
  }
  out.logits = affine(t, "lm_head", rmsOf(t, "model.norm", x, 1e-5), 31, false);
  return out;
}

struct DeepSeek {
  Index queryRank = 0;
  bool third = false;    ///< V3: σ, corrected scores, groups by their best two
  bool grouped = false;  ///< 2 of 3 groups of 6 experts
  bool halves = false;   ///< rotated numbers are stored in halves
  double share = 1, sharper = 1;
  std::vector<double> turns = frequencies(4, 1e4);
};

/// The last 4 of each head's 7 numbers are rotated.
Wide turnedPart(const DeepSeek& m, const Wide& x) {
  Wide y = x;
  for (Index p = 0; p < x.rows(); ++p)
    for (Index at = 3; at < x.cols(); at += 7)
      for (Index t = 0; t < 2; ++t) {
        const double angle = static_cast<double>(p) * m.turns[static_cast<std::size_t>(t)];
        const Index a = m.halves ? at + t : at + 2 * t, b = m.halves ? a + 2 : a + 1;
        y(p, a) = x(p, a) * std::cos(angle) - x(p, b) * std::sin(angle);
        y(p, b) = x(p, a) * std::sin(angle) + x(p, b) * std::cos(angle);
      }
  return y;
}

/// Heads with keys of 7 numbers and values of 5.
Wide latentAttention(const DeepSeek& m, MadeUpTensors& t, const std::string& in, Index layer, const Wide& x,
                     std::vector<Wide>& to) {
  const Index heads = 3, rank = 8, n = x.rows();
  Wide q;
  if (m.queryRank > 0)
    q = affine(t, in + "q_b_proj",
               rmsOf(t, in + "q_a_layernorm", affine(t, in + "q_a_proj", x, m.queryRank, false), 1e-6),
               heads * 7, false);
  else
    q = affine(t, in + "q_proj", x, heads * 7, false);
  const Wide kept = affine(t, in + "kv_a_proj_with_mqa", x, rank + 4, false);
  const Wide both = affine(t, in + "kv_b_proj", rmsOf(t, in + "kv_a_layernorm", kept.leftCols(rank), 1e-6),
                           heads * 8, false);
  Wide k(n, heads * 7);
  for (Index h = 0; h < heads; ++h) {
    k.middleCols(7 * h, 3) = both.middleCols(8 * h, 3);
    k.middleCols(7 * h + 3, 4) = kept.rightCols(4);
  }
  q = turnedPart(m, q), k = turnedPart(m, k);
  Wide y = Wide::Zero(n, heads * 5);
  for (Index h = 0; h < heads; ++h) {
    Wide weights = Wide::Zero(n, n);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j <= i; ++j)
        weights(i, j) = std::exp(m.sharper * m.sharper / std::sqrt(7.0) *
                                 q.row(i).segment(7 * h, 7).dot(k.row(j).segment(7 * h, 7)));
      weights.row(i) /= weights.row(i).sum();
    }
    y.middleCols(5 * h, 5) = weights * both.middleCols(8 * h + 3, 5);
    to.push_back(weights);
  }
  return affine(t, in + "o_proj", t.touched("heads", layer, y), x.cols(), false);
}

Wide gatedPart(MadeUpTensors& t, const std::string& at, const Wide& x, Index inner) {
  const Wide gate = affine(t, at + "gate_proj", x, inner, false).unaryExpr(&silu);
  return affine(t, at + "down_proj", gate.cwiseProduct(affine(t, at + "up_proj", x, inner, false)), x.cols(),
                false);
}

/// 2 of 6 experts, and two more for every token.
Wide deepSeekExperts(const DeepSeek& m, MadeUpTensors& t, const std::string& at, const Wide& x) {
  Wide scores = affine(t, at + "mlp.gate", x, 6, false);
  for (Index i = 0; i < scores.rows(); ++i) {
    scores.row(i) = m.third ? Wide((1 + (-scores.row(i).array()).exp()).inverse().matrix())
                            : Wide(scores.row(i).array().exp().matrix());
    if (!m.third) scores.row(i) /= scores.row(i).sum();
  }
  Wide choice = scores;
  if (m.third) choice = plus(choice, t.row(at + "mlp.gate.e_score_correction_bias", 6, 0.5));
  if (m.grouped)
    for (Index i = 0; i < choice.rows(); ++i) {
      Wide groups(1, 3);
      for (Index g = 0; g < 3; ++g)
        groups(0, g) = m.third ? choice(i, 2 * g) + choice(i, 2 * g + 1)
                               : std::max(choice(i, 2 * g), choice(i, 2 * g + 1));
      const Index worst = bestOf(groups, 0, 3)[2];
      choice(i, 2 * worst) = choice(i, 2 * worst + 1) = -1e9;
    }
  Wide shares = Wide::Zero(x.rows(), 6);
  for (Index i = 0; i < x.rows(); ++i) {
    for (const Index e : bestOf(choice, i, 2)) shares(i, e) = scores(i, e);
    if (m.third) shares.row(i) /= shares.row(i).sum();
  }
  Wide y = gatedPart(t, at + "mlp.shared_experts.", x, 10);
  for (Index e = 0; e < 6; ++e)
    y += m.share * shares.col(e).asDiagonal() *
         gatedPart(t, at + "mlp.experts." + std::to_string(e) + ".", x, 5);
  return y;
}

PlainOutcome runDeepSeek(const DeepSeek& m, MadeUpTensors& t, const std::vector<Index>& ids) {
  Wide x = pickRows(t.matrix("model.embed_tokens.weight", 31, 18, 1), ids);
  PlainOutcome out{{x}, {}, {}};
  for (Index i = 0; i < 3; ++i) {
    const std::string at = "model.layers." + std::to_string(i) + ".";
    x += latentAttention(m, t, at + "self_attn.", i, rmsOf(t, at + "input_layernorm", x, 1e-6),
                         out.attention.emplace_back());
    const Wide read = rmsOf(t, at + "post_attention_layernorm", x, 1e-6);
    x += t.touched("mlp", i, i == 0 ? gatedPart(t, at + "mlp.", read, 14) : deepSeekExperts(m, t, at, read));
    out.hidden.push_back(x);
  }
  out.logits = affine(t, "lm_head", rmsOf(t, "model.norm", x, 1e-6), 31, false);
  return out;
}

PlainModel deepSeek(const std::string& name, const std::string& more, const DeepSeek& m) {
  return {name,
          R"({"model_type": ")" + std::string(m.third ? "deepseek_v3" : "deepseek_v2") + R"(",
    "vocab_size": 31, "hidden_size": 18, "intermediate_size": 14, "num_hidden_layers": 3,
    "num_attention_heads": 3, "num_key_value_heads": 3, "kv_lora_rank": 8, "qk_nope_head_dim": 3,
    "qk_rope_head_dim": 4, "v_head_dim": 5, "n_routed_experts": 6, "n_shared_experts": 2,
    "num_experts_per_tok": 2, "moe_intermediate_size": 5, "first_k_dense_replace": 1, "rms_norm_eps": 1e-6, )" +
              more + "}",
          31, [m](MadeUpTensors& t, const std::vector<Index>& ids) { return runDeepSeek(m, t, ids); }};
}

}  // namespace

std::vector<PlainModel> plainSinksAndLatents() {
  const std::string gptOss = R"({"model_type": "gpt_oss", "vocab_size": 31, "hidden_size": 20, "head_dim": 6,
    "intermediate_size": 7, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2,
    "num_local_experts": 5, "num_experts_per_tok": 2, "sliding_window": 4, "max_position_embeddings": 512,
    "rope_theta": 150, "swiglu_limit": 7.0, "rope_scaling": {"rope_type": "yarn", "factor": 8.0,
    "original_max_position_embeddings": 64, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": false}})";
  DeepSeek lite, grouped{.grouped = true, .share = 16}, third{.queryRank = 6, .third = true, .grouped = true};
  third.share = 2.5;
  DeepSeek stretched = third;
  stretched.halves = true, stretched.sharper = 0.1 * 0.8 * std::log(40.0) + 1;
  stretched.turns = yarn(4, 1e4, 40, 4096, 32, 1, true);
  grouped.queryRank = 6;
  return {{"gpt_oss", gptOss, 31, runGptOss},
          deepSeek("deepseek_v2_lite", R"("q_lora_rank": null, "topk_method": "greedy")", lite),
          deepSeek("deepseek_v2", R"("q_lora_rank": 6, "topk_method": "group_limited_greedy", "n_group": 3,
    "topk_group": 2, "routed_scaling_factor": 16.0)",
                   grouped),
          deepSeek("deepseek_v3", R"("q_lora_rank": 6, "n_group": 3, "topk_group": 2,
    "routed_scaling_factor": 2.5, "norm_topk_prob": true, "topk_method": "noaux_tc")",
                   third),
          deepSeek("deepseek_v3_stretched", R"("q_lora_rank": 6, "n_group": 3, "topk_group": 2,
    "routed_scaling_factor": 2.5, "rope_interleave": false, "max_position_embeddings": 163840,
    "rope_scaling": {"type": "yarn", "factor": 40, "original_max_position_embeddings": 4096, "beta_fast": 32,
    "beta_slow": 1, "mscale": 0.8, "mscale_all_dim": 0.8})",
                   stretched)};
}

}  // namespace headscope::attention::test
