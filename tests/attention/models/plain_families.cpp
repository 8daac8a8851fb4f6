#include <cmath>

#include "tests/attention/models/plain_decoders.h"

// Families that share a skeleton: embeddings, positions, layers of attention and MLP, a head.

namespace headscope::attention::test {
namespace {

struct PlainDecoder {
  Index width = 24, heads = 4, kvHeads = 2, inner = 14, vocabulary = 31, layers = 3, turned = 6;
  double epsilon = 1e-5, theta = 1e4, scale = 0, residual = 1, embed = 1, logits = 1;
  bool layerNorm = true, normBias = true, parallel = false, neighbours = false, tied = true;
  bool qkvBias = false, outputBias = false, mlpBias = false, headBias = false;
  std::function<double(double)> act = geluTanh;
  std::function<Index(Index)> window = [](Index) { return 0; };
  std::function<bool(Index)> rotates = [](Index) { return true; };
  /// Names: before all of the body, of a layer, and of what is in one.
  std::string prefix = "model.", layer = "layers.", embedding = "embed_tokens", positions = {},
              finalNorm = "norm";
  std::string q = "self_attn.q_proj", k = "self_attn.k_proj", v = "self_attn.v_proj", o = "self_attn.o_proj";
  std::string gate = {}, up = "mlp.up_proj", down = "mlp.down_proj", qNorm = {}, kNorm = {};
  std::string before = "input_layernorm", beforeMlp = "post_attention_layernorm", after = {}, afterMlp = {};

  Index headDim() const { return width / heads; }
};

Wide mapped(MadeUpTensors& t, const std::string& name, const Wide& x, Index out, bool bias) {
  const Wide y = times(x, t.weight(name, out, x.cols()));
  return bias ? plus(y, t.row(name + ".bias", out, 0.3)) : y;
}

/// As it is where the norm has no name.
Wide normed(const PlainDecoder& m, MadeUpTensors& t, const std::string& at, const std::string& name,
            const Wide& x) {
  if (name.empty()) return x;
  const Wide weight = t.row(at + name + ".weight", x.cols(), 0.3, 1);
  if (!m.layerNorm) return rmsNorm(x, weight, m.epsilon);
  const Wide bias = m.normBias ? t.row(at + name + ".bias", x.cols(), 0.3) : Wide(Wide::Zero(1, x.cols()));
  return layerNorm(x, weight, bias, m.epsilon);
}

/// Dimensions 2t and 2t + 1 of each head turned together.
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

Wide attention(const PlainDecoder& m, MadeUpTensors& t, const std::string& at, Index layer, const Wide& x,
               std::vector<Wide>& weights) {
  const Index key = m.kvHeads * m.headDim();
  Wide q = normed(m, t, at, m.qNorm, mapped(t, at + m.q, x, m.width, m.qkvBias));
  Wide k = normed(m, t, at, m.kNorm, mapped(t, at + m.k, x, key, m.qkvBias));
  const Wide v = mapped(t, at + m.v, x, key, m.qkvBias);
  if (m.rotates(layer)) {
    const auto turns = frequencies(m.turned, m.theta);
    q = m.neighbours ? turnNeighbours(q, m.heads, turns) : rope(q, m.heads, turns);
    k = m.neighbours ? turnNeighbours(k, m.kvHeads, turns) : rope(k, m.kvHeads, turns);
  }
  const double scale = m.scale > 0 ? m.scale : 1 / std::sqrt(static_cast<double>(m.headDim()));
  const Wide y = t.touched("heads", layer,
                           attend({m.heads, m.kvHeads, scale, true, m.window(layer), 0}, q, k, v, weights));
  return mapped(t, at + m.o, y, m.width, m.outputBias);
}

Wide mlp(const PlainDecoder& m, MadeUpTensors& t, const std::string& at, const Wide& x) {
  Wide inner = mapped(t, at + m.up, x, m.inner, m.mlpBias);
  if (m.gate.empty())
    inner = inner.unaryExpr(m.act);
  else
    inner = mapped(t, at + m.gate, x, m.inner, m.mlpBias).unaryExpr(m.act).cwiseProduct(inner);
  return mapped(t, at + m.down, inner, m.width, m.mlpBias);
}

PlainOutcome run(const PlainDecoder& m, MadeUpTensors& t, const std::vector<Index>& ids) {
  const Wide table = t.matrix(m.prefix + m.embedding + ".weight", m.vocabulary, m.width, 1);
  Wide x(std::ssize(ids), m.width);
  for (Index i = 0; i < x.rows(); ++i) x.row(i) = m.embed * table.row(ids[static_cast<std::size_t>(i)]);
  if (!m.positions.empty())
    x += t.matrix(m.prefix + m.positions + ".weight", 19, m.width, 0.5).topRows(x.rows());
  PlainOutcome out{{x}, {}, {}};
  for (Index i = 0; i < m.layers; ++i) {
    const std::string at = m.prefix + m.layer + std::to_string(i) + ".";
    const Wide read = normed(m, t, at, m.before, x);
    const Wide attended = attention(m, t, at, i, read, out.attention.emplace_back());
    if (m.parallel) {
      x += attended + t.touched("mlp", i, mlp(m, t, at, read));
    } else {
      x += m.residual * normed(m, t, at, m.after, attended);
      const Wide said = normed(m, t, at, m.afterMlp, mlp(m, t, at, normed(m, t, at, m.beforeMlp, x)));
      x += t.touched("mlp", i, m.residual * said);
    }
    out.hidden.push_back(x);
  }
  const Wide y = normed(m, t, m.prefix, m.finalNorm, x);
  out.logits = m.tied ? times(y, table) : mapped(t, "lm_head", y, m.vocabulary, m.headBias);
  out.logits *= m.logits;
  return out;
}

PlainModel model(const std::string& name, const std::string& config, const PlainDecoder& m) {
  return {name, config, m.vocabulary,
          [m](MadeUpTensors& t, const std::vector<Index>& ids) { return run(m, t, ids); }};
}

/// Of the sizes that PlainDecoder has, by Llama's names.
std::string sized(const std::string& type, const std::string& more) {
  return R"({"model_type": ")" + type +
         R"(", "vocab_size": 31, "hidden_size": 24, "intermediate_size": 14, "num_hidden_layers": 3,
             "num_attention_heads": 4, "num_key_value_heads": 2, )" +
         more + "}";
}

PlainModel gptNeo() {
  PlainDecoder m{.kvHeads = 4, .scale = 1, .outputBias = true, .mlpBias = true};
  m.window = [](Index layer) { return layer == 1 ? 4 : 0; };
  m.rotates = [](Index) { return false; };
  m.prefix = "transformer.", m.layer = "h.", m.embedding = "wte", m.positions = "wpe", m.finalNorm = "ln_f";
  m.q = "attn.attention.q_proj", m.k = "attn.attention.k_proj", m.v = "attn.attention.v_proj";
  m.o = "attn.attention.out_proj", m.up = "mlp.c_fc", m.down = "mlp.c_proj";
  m.before = "ln_1", m.beforeMlp = "ln_2";
  return model("gpt_neo", R"({"model_type": "gpt_neo", "vocab_size": 31, "hidden_size": 24, "num_heads": 4,
    "num_layers": 3, "intermediate_size": 14, "max_position_embeddings": 19, "window_size": 4,
    "attention_layers": ["global", "local", "global"], "attention_types": [[["global", "local"], 1]]})",
               m);
}

PlainModel gptJ() {
  PlainDecoder m{.kvHeads = 4, .turned = 4, .parallel = true, .neighbours = true, .tied = false};
  m.mlpBias = m.headBias = true;
  m.prefix = "transformer.", m.layer = "h.", m.embedding = "wte", m.finalNorm = "ln_f", m.before = "ln_1";
  m.q = "attn.q_proj", m.k = "attn.k_proj", m.v = "attn.v_proj", m.o = "attn.out_proj";
  m.up = "mlp.fc_in", m.down = "mlp.fc_out";
  return model("gptj", R"({"model_type": "gptj", "vocab_size": 31, "n_embd": 24, "n_head": 4, "n_layer": 3,
    "n_inner": 14, "n_positions": 64, "rotary_dim": 4})",
               m);
}

PlainModel phi() {
  PlainDecoder m{.turned = 2, .parallel = true, .tied = false};
  m.qkvBias = m.outputBias = m.mlpBias = m.headBias = true;
  m.o = "self_attn.dense", m.up = "mlp.fc1", m.down = "mlp.fc2", m.finalNorm = "final_layernorm";
  return model("phi", sized("phi", R"("partial_rotary_factor": 0.4)"), m);
}

PlainModel olmo2() {
  PlainDecoder m{.theta = 5e5, .layerNorm = false, .tied = false, .act = silu};
  m.before = m.beforeMlp = "", m.after = "post_attention_layernorm",
  m.afterMlp = "post_feedforward_layernorm";
  m.gate = "mlp.gate_proj", m.qNorm = "self_attn.q_norm", m.kNorm = "self_attn.k_norm";
  return model("olmo2", sized("olmo2", R"("rope_theta": 500000)"), m);
}

PlainModel starcoder2() {
  PlainDecoder m{.qkvBias = true, .outputBias = true, .mlpBias = true};
  m.window = [](Index) { return 5; };
  m.up = "mlp.c_fc", m.down = "mlp.c_proj";
  return model("starcoder2", sized("starcoder2", R"("sliding_window": 5)"), m);
}

PlainModel granite() {
  PlainDecoder m{.epsilon = 1e-6, .scale = 0.3, .residual = 0.22, .embed = 12, .logits = 0.125};
  m.layerNorm = false, m.act = silu, m.gate = "mlp.gate_proj";
  return model("granite", sized("granite", R"("embedding_multiplier": 12.0, "residual_multiplier": 0.22,
    "logits_scaling": 8.0, "attention_multiplier": 0.3, "tie_word_embeddings": true)"),
               m);
}

PlainModel smollm3(bool listed) {
  PlainDecoder m{.epsilon = 1e-6, .theta = 2e6, .layerNorm = false, .act = silu};
  m.gate = "mlp.gate_proj";
  m.rotates = [listed](Index layer) { return layer != (listed ? 0 : 1); };
  return model(listed ? "smollm3_listed" : "smollm3",
               sized("smollm3", listed ? R"("no_rope_layers": [0, 1, 1])" : R"("no_rope_layer_interval": 2)"),
               m);
}

PlainModel stableLm() {
  PlainDecoder m{.turned = 2, .tied = false, .qkvBias = true, .act = silu};
  m.gate = "mlp.gate_proj";
  return model("stablelm", sized("stablelm", R"("partial_rotary_factor": 0.4, "use_qkv_bias": true)"), m);
}

PlainModel cohere() {
  PlainDecoder m{.logits = 0.25, .normBias = false, .parallel = true, .neighbours = true, .act = silu};
  m.gate = "mlp.gate_proj";
  return model("cohere", sized("cohere", R"("logit_scale": 0.25)"), m);
}

}  // namespace

std::vector<PlainModel> plainFamilies() {
  return {gptNeo(),  gptJ(),         phi(),         olmo2(),    starcoder2(),
          granite(), smollm3(false), smollm3(true), stableLm(), cohere()};
}

}  // namespace headscope::attention::test
