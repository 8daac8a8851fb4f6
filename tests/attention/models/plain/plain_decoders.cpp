#include "tests/attention/models/plain/plain_decoders.h"

#include <cmath>

namespace headscope::attention::test {
namespace {

/// The family's norm, with a weight drawn around 0 or 1.
Wide normed(const LlamaLike& m, MadeUpTensors& t, const std::string& name, const Wide& x, Index size) {
  Wide weight = t.row(name + ".weight", size, 0.3, m.plusOne ? 0 : 1);
  if (m.plusOne) weight.array() += 1;
  // Adjacent heads are normed one by one.
  Wide y = x;
  for (Index first = 0; first < x.cols(); first += size)
    y.middleCols(first, size) = rmsNorm(x.middleCols(first, size), weight, m.epsilon);
  return y;
}

Wide linear(MadeUpTensors& t, const std::string& name, const Wide& x, Index out, bool bias) {
  const Wide y = times(x, t.weight(name, out, x.cols()));
  return bias ? plus(y, t.row(name + ".bias", out, 0.3)) : y;
}

Wide attention(const LlamaLike& m, MadeUpTensors& t, const std::string& at, Index layer, const Wide& x,
               std::vector<Wide>& weights) {
  const Index query = m.heads * m.headDim, key = m.kvHeads * m.headDim;
  Wide q, k, v;
  if (m.fused) {
    const Wide all = linear(t, at + "self_attn.qkv_proj", x, query + 2 * key, false);
    q = all.leftCols(query), k = all.middleCols(query, key), v = all.rightCols(key);
  } else {
    q = linear(t, at + "self_attn.q_proj", x, query, m.qkvBias);
    k = linear(t, at + "self_attn.k_proj", x, key, m.qkvBias);
    v = linear(t, at + "self_attn.v_proj", x, key, m.qkvBias);
  }
  if (m.headNorms) {
    q = normed(m, t, at + "self_attn.q_norm", q, m.headDim);
    k = normed(m, t, at + "self_attn.k_norm", k, m.headDim);
  }
  const std::vector<double> turns = m.turns ? m.turns(layer) : frequencies(m.headDim, 1e4);
  q = rope(q, m.heads, turns, m.amplitude);
  k = rope(k, m.kvHeads, turns, m.amplitude);
  for (Index i = 0; i < q.rows(); ++i) q.row(i) *= m.growth(i);
  const double scale = m.scale > 0 ? m.scale : 1 / std::sqrt(static_cast<double>(m.headDim));
  const Wide y =
      t.touched("heads", layer,
                attend({m.heads, m.kvHeads, scale, m.causal, m.window(layer), m.cap}, q, k, v, weights));
  return linear(t, at + "self_attn.o_proj", y, m.width, m.outputBias);
}

Wide mlp(const LlamaLike& m, MadeUpTensors& t, const std::string& at, const Wide& x) {
  Wide gate, up;
  if (m.fused) {
    const Wide both = linear(t, at + "mlp.gate_up_proj", x, 2 * m.inner, false);
    gate = both.leftCols(m.inner), up = both.rightCols(m.inner);
  } else {
    gate = linear(t, at + "mlp.gate_proj", x, m.inner, m.mlpBias);
    up = linear(t, at + "mlp.up_proj", x, m.inner, m.mlpBias);
  }
  const Wide product = gate.unaryExpr(m.act).cwiseProduct(up);
  return linear(t, at + "mlp.down_proj", product, m.width, m.mlpBias);
}

Wide logitsOf(const LlamaLike& m, MadeUpTensors& t, const Wide& x, const Wide& embedding) {
  const Wide y = normed(m, t, m.prefix + "norm", x, m.width);
  Wide logits = times(y, m.tied ? embedding : t.weight(m.headPrefix + "lm_head", m.vocabulary, m.width));
  if (m.finalCap > 0)
    logits = logits.unaryExpr([&](double value) { return m.finalCap * std::tanh(value / m.finalCap); });
  return logits;
}

}  // namespace

PlainOutcome runLlamaLike(const LlamaLike& m, MadeUpTensors& t, const std::vector<Index>& ids) {
  const Wide embedding = t.matrix(m.prefix + "embed_tokens.weight", m.vocabulary, m.width, 1);
  Wide x(std::ssize(ids), m.width);
  for (Index i = 0; i < x.rows(); ++i)
    x.row(i) = m.embedScale * embedding.row(ids[static_cast<std::size_t>(i)]);
  PlainOutcome out{{x}, {}, {}};
  for (Index layer = 0; layer < m.layers; ++layer) {
    const std::string at = m.prefix + "layers." + std::to_string(layer) + ".";
    std::vector<Wide>& weights = out.attention.emplace_back();
    Wide y = attention(m, t, at, layer, normed(m, t, at + "input_layernorm", x, m.width), weights);
    if (m.around) y = normed(m, t, at + "post_attention_layernorm", y, m.width);
    x += y;
    const char* const second = m.around ? "pre_feedforward_layernorm" : "post_attention_layernorm";
    y = mlp(m, t, at, normed(m, t, at + second, x, m.width));
    if (m.around) y = normed(m, t, at + "post_feedforward_layernorm", y, m.width);
    x += t.touched("mlp", layer, y);
    out.hidden.push_back(x);
  }
  const Wide logits = logitsOf(m, t, x, embedding);
  if (m.head) out.logits = logits;
  return out;
}

namespace {

PlainModel model(const std::string& name, const std::string& config, LlamaLike m) {
  return {name, config, m.vocabulary,
          [m](MadeUpTensors& t, const std::vector<Index>& ids) { return runLlamaLike(m, t, ids); }};
}

/// The common fields: width 20, 4 heads over 2 kv heads, 3 layers.
std::string llamaConfig(const std::string& type, const std::string& more) {
  return R"({"model_type": ")" + type +
         R"(", "vocab_size": 31, "hidden_size": 20, "intermediate_size": 17, "num_hidden_layers": 3,
             "num_attention_heads": 4, "num_key_value_heads": 2, )" +
         more + "}";
}

LlamaLike windowed(LlamaLike m, std::function<Index(Index)> window) {
  m.window = std::move(window);
  return m;
}

PlainModel gemma3(bool nested) {
  LlamaLike m{.headDim = 6, .plusOne = true, .headNorms = true, .around = true};
  m.embedScale = std::sqrt(20.0);
  m.scale = 1 / std::sqrt(10.0);
  m.act = geluTanh;
  m.window = [](Index layer) { return layer == 1 ? 0 : 4; };
  m.turns = [](Index layer) {
    std::vector<double> turns = frequencies(6, layer == 1 ? 1e6 : 1e4);
    if (layer == 1)
      for (double& each : turns) each /= 8;
    return turns;
  };
  const std::string more = R"("head_dim": 6, "query_pre_attn_scalar": 10, "sliding_window": 4,
    "sliding_window_pattern": 2, "rope_scaling": {"rope_type": "linear", "factor": 8.0}, "rms_norm_eps": 1e-6)";
  if (!nested) return model("gemma3_text", llamaConfig("gemma3_text", more), m);
  m.prefix = "language_model.model.";
  const std::string newer = R"("head_dim": 6, "query_pre_attn_scalar": 10, "sliding_window": 4,
    "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
    "rope_parameters": {"full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1000000.0},
                        "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}})";
  return model("gemma3",
               R"({"model_type": "gemma3", "text_config": )" + llamaConfig("gemma3_text", newer) + "}", m);
}

/// Phi with long-context tables, for a text on either side of `original` tokens.
PlainModel phi3(Index original, bool isLong) {
  LlamaLike m{.headDim = 5 + 3, .epsilon = 1e-5, .tied = false, .fused = true};
  const std::vector<double> factors = isLong ? std::vector{2.0, 3.5, 5.0} : std::vector{1.0, 1.5, 2.0};
  m.turns = [factors](Index) {
    std::vector<double> turns = frequencies(6, 1e4);
    for (std::size_t i = 0; i < 3; ++i) turns[i] /= factors[i];
    return turns;
  };
  m.amplitude =
      std::sqrt(1 + std::log(64.0 / static_cast<double>(original)) / std::log(static_cast<double>(original)));
  return model(isLong ? "phi3_long" : "phi3_short",
               llamaConfig("phi3", R"("head_dim": 8, "partial_rotary_factor": 0.75,
                 "max_position_embeddings": 64, "original_max_position_embeddings": )" +
                                       std::to_string(original) + R"(, "rope_scaling": {"type": "su",
                 "short_factor": [1.0, 1.5, 2], "long_factor": [2.0, 3.5, 5.0]}, "sliding_window": null)"),
               m);
}

/// Gemma 3 in EmbeddingGemma's form: bidirectional, a window of 6 tokens being 3 on each side, saved without
/// an output head.
PlainModel embeddingGemma() {
  LlamaLike m{
      .headDim = 6, .plusOne = true, .headNorms = true, .around = true, .causal = false, .head = false};
  m.embedScale = std::sqrt(20.0);
  m.scale = 1 / std::sqrt(10.0);
  m.act = geluTanh;
  m.window = [](Index layer) { return layer == 1 ? 0 : 4; };
  m.turns = [](Index layer) { return frequencies(6, layer == 1 ? 1e6 : 1e4); };
  m.prefix = "";
  return model("gemma3_two_sided",
               llamaConfig("gemma3_text", R"("architectures": ["Gemma3TextModel"], "head_dim": 6,
                 "query_pre_attn_scalar": 10, "sliding_window": 6, "use_bidirectional_attention": true,
                 "layer_types": ["sliding_attention", "full_attention", "sliding_attention"])"),
               m);
}

/// LongRoPE with a factor and without an original length, which is then max_position_embeddings.
PlainModel longRope(Index positions, bool isLong) {
  LlamaLike m{.headDim = 6};
  const std::vector<double> factors = isLong ? std::vector{2.0, 3.5, 5.0} : std::vector{1.0, 1.5, 2.0};
  m.turns = [factors](Index) {
    std::vector<double> turns = frequencies(6, 1e4);
    for (std::size_t i = 0; i < 3; ++i) turns[i] /= factors[i];
    return turns;
  };
  m.amplitude = std::sqrt(1 + std::log(4.0) / std::log(static_cast<double>(positions)));
  return model(isLong ? "longrope_long" : "longrope_short",
               llamaConfig("llama", R"("head_dim": 6, "tie_word_embeddings": true,
                 "max_position_embeddings": )" +
                                        std::to_string(positions) +
                                        R"(, "rope_parameters": {"rope_type": "longrope", "factor": 4.0,
                 "short_factor": [1.0, 1.5, 2], "long_factor": [2.0, 3.5, 5.0]})"),
               m);
}

/// Phi-3 without its original length, which is then 4,096.
PlainModel phi3Unsaid() {
  LlamaLike m{.headDim = 5 + 1, .epsilon = 1e-5, .tied = false, .fused = true};
  m.turns = [](Index) {
    std::vector<double> turns = frequencies(6, 1e4);
    for (std::size_t i = 0; i < 3; ++i) turns[i] /= 1.5;
    return turns;
  };
  m.amplitude = std::sqrt(1 + std::log(32.0) / std::log(4096.0));
  return model("phi3_unsaid", llamaConfig("phi3", R"("head_dim": 6, "max_position_embeddings": 131072,
                 "rope_scaling": {"type": "longrope", "short_factor": [1.5, 1.5, 1.5],
                                  "long_factor": [2.0, 3.5, 5.0]})"),
               m);
}

/// Dynamic NTK, in a text that is longer than the trained 8 tokens or shorter than the trained 16.
PlainModel dynamicRope(Index positions) {
  LlamaLike m{.headDim = 6};
  m.turns = [positions](Index) {
    const double stretch = positions >= 11 ? 1 : 4.0 * 11 / static_cast<double>(positions) - 3;
    return frequencies(6, 1e4 * std::pow(stretch, 6.0 / 4));
  };
  return model(positions >= 11 ? "dynamic_short" : "dynamic_long",
               llamaConfig("llama", R"("head_dim": 6, "tie_word_embeddings": true,
                 "rope_scaling": {"type": "dynamic", "factor": 4.0}, "max_position_embeddings": )" +
                                        std::to_string(positions)),
               m);
}

/// Llama under other names, with what its class takes for missing fields.
std::vector<PlainModel> llamaCousins() {
  const std::string head = R"("head_dim": 6)";
  LlamaLike biased{.headDim = 6, .qkvBias = true, .tied = false};
  LlamaLike internLm{.headDim = 6, .epsilon = 1e-5, .mlpBias = true, .tied = false};
  LlamaLike grown{.headDim = 6, .epsilon = 1e-5, .tied = false};
  grown.growth = [](Index i) { return 1 + 0.5 * std::log(1 + std::floor(static_cast<double>(i) / 4)); };
  return {model("seed_oss", llamaConfig("seed_oss", head), biased),
          model("internlm3", llamaConfig("internlm3", head + R"(, "bias": true)"), internLm),
          model("iquestcoder", llamaConfig("iquestcoder", head),
                {.headDim = 6, .epsilon = 1e-5, .tied = false}),
          model("ministral3",
                llamaConfig("ministral3", head + R"(, "rope_parameters": {"rope_type": "default",
                  "rope_theta": 10000.0, "llama_4_scaling_beta": 0.5,
                  "original_max_position_embeddings": 4})"),
                grown)};
}

}  // namespace

std::vector<PlainModel> plainDecoders() {
  std::vector<PlainModel> models = llamaCousins();
  models.push_back(dynamicRope(8));
  models.push_back(dynamicRope(16));
  LlamaLike llama{.headDim = 6, .qkvBias = true, .outputBias = true, .mlpBias = true};
  llama.turns = [](Index) {
    std::vector<double> turns = frequencies(6, 5000);
    for (double& each : turns) each /= 4;
    return turns;
  };
  models.push_back(model("llama", llamaConfig("llama", R"("head_dim": 6, "attention_bias": true,
    "mlp_bias": true, "rope_theta": 5000, "tie_word_embeddings": true, "rope_scaling": {"type": "linear", "factor": 4.0})"),
                         llama));
  models.push_back(model(
      "mistral", llamaConfig("mistral", R"("head_dim": 6, "sliding_window": 3, "tie_word_embeddings": true,
    "rms_norm_eps": 1e-5)"),
      windowed({.headDim = 6, .epsilon = 1e-5}, [](Index) { return 3; })));
  models.push_back(model(
      "qwen2", llamaConfig("qwen2", R"("head_dim": 6, "tie_word_embeddings": true, "use_sliding_window": true,
    "sliding_window": 4, "max_window_layers": 1)"),
      windowed({.headDim = 6, .qkvBias = true}, [](Index layer) { return layer >= 1 ? 4 : 0; })));
  models.push_back(model(
      "qwen3",
      llamaConfig(
          "qwen3",
          R"("head_dim": 10, "tie_word_embeddings": true, "use_sliding_window": true, "sliding_window": 5,
        "layer_types": ["sliding_attention", "full_attention", "sliding_attention"])"),
      windowed({.headDim = 10, .headNorms = true}, [](Index layer) { return layer == 1 ? 0 : 5; })));
  LlamaLike gemma{.headDim = 6, .plusOne = true, .embedScale = std::sqrt(20.0)};
  gemma.act = gelu;
  models.push_back(model("gemma", llamaConfig("gemma", R"("head_dim": 6, "hidden_act": "gelu",
    "hidden_activation": null)"),
                         gemma));
  LlamaLike gemma2 = gemma;
  gemma2.act = geluTanh;
  gemma2.around = true;
  gemma2.scale = 0.25;
  gemma2.finalCap = 3;
  gemma2.window = [](Index layer) { return layer == 2 ? 3 : 0; };
  models.push_back(model("gemma2", llamaConfig("gemma2", R"("head_dim": 6, "query_pre_attn_scalar": 16,
    "attn_logit_softcapping": null, "final_logit_softcapping": 3.0, "sliding_window": 3,
    "layer_types": ["full_attention", "full_attention", "sliding_attention"])"),
                         gemma2));
  models.push_back(gemma3(false));
  models.push_back(gemma3(true));
  models.push_back(phi3(48, false));
  models.push_back(phi3(8, true));
  // Gemma 2's window keeps its width on each side; with is_causal: false, it includes the distance of the
  // width itself.
  LlamaLike twoSided = gemma2;
  twoSided.causal = twoSided.head = false;
  models.push_back(model("gemma2_two_sided", llamaConfig("gemma2", R"("head_dim": 6, "sliding_window": 3,
    "query_pre_attn_scalar": 16, "attn_logit_softcapping": null, "use_bidirectional_attention": true,
    "layer_types": ["full_attention", "full_attention", "sliding_attention"])"),
                         twoSided));
  models.push_back(model("mistral_not_causal", llamaConfig("mistral", R"("head_dim": 6, "sliding_window": 3,
    "tie_word_embeddings": true, "is_causal": false)"),
                         windowed({.headDim = 6, .causal = false, .head = false}, [](Index) { return 4; })));
  models.push_back(embeddingGemma());
  models.push_back(longRope(64, false));
  models.push_back(longRope(8, true));
  models.push_back(phi3Unsaid());
  return models;
}

}  // namespace headscope::attention::test
