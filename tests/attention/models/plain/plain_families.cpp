#include <cmath>

#include "tests/attention/models/plain/plain_skeleton.h"

namespace headscope::attention::test {
namespace {

PlainModel model(const std::string& name, const std::string& config, const PlainDecoder& m) {
  return {name, config, m.vocabulary,
          [m](MadeUpTensors& t, const std::vector<Index>& ids) { return run(m, t, ids); }};
}

/// A config with PlainDecoder's sizes, under Llama's names.
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
  PlainDecoder m{.kvHeads = 4, .turned = 4, .parallel = true, .interleaved = true, .tied = false};
  m.mlpBias = m.headBias = true;
  m.prefix = "transformer.", m.layer = "h.", m.embedding = "wte", m.finalNorm = "ln_f", m.before = "ln_1";
  m.q = "attn.q_proj", m.k = "attn.k_proj", m.v = "attn.v_proj", m.o = "attn.out_proj";
  m.up = "mlp.fc_in", m.down = "mlp.fc_out";
  return model("gptj", R"({"model_type": "gptj", "vocab_size": 31, "n_embd": 24, "n_head": 4, "n_layer": 3,
    "n_inner": 14, "n_positions": 64, "rotary_dim": 4})",
               m);
}

PlainModel phi(bool normed) {
  PlainDecoder m{.turned = 2, .parallel = true, .tied = false};
  m.headNorms = normed, m.headNorm = "layernorm";
  m.qkvBias = m.outputBias = m.mlpBias = m.headBias = true;
  m.o = "self_attn.dense", m.up = "mlp.fc1", m.down = "mlp.fc2", m.finalNorm = "final_layernorm";
  const std::string norms = normed ? "true" : "false";
  return model(normed ? "phi_normed" : "phi",
               sized("phi", R"("partial_rotary_factor": 0.4, "qk_layernorm": )" + norms), m);
}

PlainDecoder olmo2Names() {
  PlainDecoder m{.theta = 5e5, .layerNorm = false, .tied = false, .act = silu};
  m.before = m.beforeMlp = "", m.after = "post_attention_layernorm",
  m.afterMlp = "post_feedforward_layernorm";
  m.gate = "mlp.gate_proj", m.qNorm = "self_attn.q_norm", m.kNorm = "self_attn.k_norm";
  return m;
}

PlainModel olmo2() {
  return model("olmo2", sized("olmo2", R"("rope_theta": 500000)"), olmo2Names());
}

/// With one set of rotations, which older files have, or one per kind of layer.
PlainModel olmo3(bool nested) {
  PlainDecoder m = olmo2Names();
  m.window = [](Index layer) { return layer == 1 ? 0 : 4; };
  m.stretch = [](Index layer) { return layer == 1 ? 4 : 1; };
  return model(
      nested ? "olmo3" : "olmo3_older",
      sized("olmo3",
            std::string(R"("sliding_window": 4,
    "layer_types": ["sliding_attention", "full_attention", "sliding_attention"], )") +
                (nested ? R"("rope_parameters": {
    "full_attention": {"rope_type": "linear", "factor": 4.0, "rope_theta": 500000.0},
    "sliding_attention": {"rope_type": "default", "rope_theta": 500000.0}})"
                        : R"("rope_theta": 500000, "rope_scaling": {"rope_type": "linear", "factor": 4.0})")),
      m);
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

PlainModel stableLm(bool larger) {
  PlainDecoder m{.turned = 2, .parallel = larger, .tied = false, .qkvBias = true, .act = silu};
  m.gate = "mlp.gate_proj", m.headNorms = m.listOfNorms = larger, m.headNorm = "layernorm";
  const std::string more = larger ? R"(, "qk_layernorm": true, "use_parallel_residual": true)" : "";
  return model(larger ? "stablelm_12b" : "stablelm",
               sized("stablelm", R"("partial_rotary_factor": 0.4, "use_qkv_bias": true)" + more), m);
}

PlainModel cohere(bool plus) {
  PlainDecoder m{.theta = 5e5, .logits = 0.25, .normBias = false, .parallel = true, .interleaved = true, .act = silu};
  m.gate = "mlp.gate_proj", m.headNorms = m.tableOfNorms = plus;
  const std::string norms = plus ? "true" : "false";
  return model(plus ? "cohere_plus" : "cohere",
               sized("cohere", R"("logit_scale": 0.25, "rope_theta": 500000, "use_qk_norm": )" + norms), m);
}

/// Llama's sizes and names, with `experts` experts.
PlainDecoder mixed(Index experts) {
  PlainDecoder m{.epsilon = 1e-6, .layerNorm = false, .tied = false, .act = silu};
  m.gate = "mlp.gate_proj", m.experts = experts;
  return m;
}

PlainModel mixtral() {
  PlainDecoder m = mixed(5);
  m.epsilon = 1e-5, m.theta = 1e6, m.expertInner = 14, m.sumsToOne = true;
  m.router = "block_sparse_moe.gate", m.expertGate = "block_sparse_moe.experts.E.w1";
  m.expertDown = "block_sparse_moe.experts.E.w2", m.expertUp = "block_sparse_moe.experts.E.w3";
  return model("mixtral", sized("mixtral", R"("num_local_experts": 5, "num_experts_per_tok": 2)"), m);
}

PlainModel qwen2Moe() {
  PlainDecoder m = mixed(6);
  m.qkvBias = true, m.used = 3, m.shared = 11;
  m.mixes = [](Index layer) { return layer == 1; };
  return model("qwen2_moe", sized("qwen2_moe", R"("num_experts": 6, "num_experts_per_tok": 3,
    "moe_intermediate_size": 9, "shared_expert_intermediate_size": 11, "decoder_sparse_step": 2,
    "mlp_only_layers": [0])"),
               m);
}

PlainModel qwen3Moe(bool sumsToOne) {
  PlainDecoder m = mixed(6);
  m.headNorms = true, m.used = sumsToOne ? 3 : 1, m.sumsToOne = sumsToOne;
  m.mixes = [](Index layer) { return layer != 2; };
  return model(sumsToOne ? "qwen3_moe" : "qwen3_moe_one",
               sized("qwen3_moe", R"("num_experts": 6, "moe_intermediate_size": 9, "mlp_only_layers": [2],
    "num_experts_per_tok": )" + std::string(sumsToOne ? R"(3, "norm_topk_prob": true)" : "1")),
               m);
}

PlainModel olmoe(bool clipped) {
  PlainDecoder m = mixed(7);
  m.epsilon = 1e-5, m.expertInner = 14, m.used = 4, m.qNorm = "self_attn.q_norm",
  m.kNorm = "self_attn.k_norm";
  if (clipped) m.clip = 0.75;
  const std::string clip = clipped ? R"(, "clip_qkv": 0.75)" : "";
  return model(clipped ? "olmoe_clipped" : "olmoe",
               sized("olmoe", R"("num_experts": 7, "num_experts_per_tok": 4)" + clip), m);
}

PlainModel cohere2() {
  PlainDecoder m{.logits = 0.0625, .normBias = false, .parallel = true, .interleaved = true, .act = silu};
  m.gate = "mlp.gate_proj";
  m.window = [](Index layer) { return layer == 1 ? 0 : 4; };
  m.rotates = [](Index layer) { return layer != 1; };
  return model("cohere2", sized("cohere2", R"("sliding_window": 4, "sliding_window_pattern": 2)"), m);
}

PlainModel glm(bool normsBehind) {
  PlainDecoder m{.turned = 2, .epsilon = 1.5625e-7, .layerNorm = false, .interleaved = true, .tied = false};
  m.qkvBias = true, m.act = silu, m.gateUp = "mlp.gate_up_proj";
  if (normsBehind) m.after = "post_self_attn_layernorm", m.afterMlp = "post_mlp_layernorm";
  const std::string type = normsBehind ? "glm4" : "glm";
  return model(type, sized(type, R"("head_dim": 6, "partial_rotary_factor": 0.4)"),
               m);
}

PlainDecoder falconNames() {
  PlainDecoder m{.kvHeads = 1, .parallel = true, .act = gelu};
  m.prefix = "transformer.", m.layer = "h.", m.embedding = "word_embeddings", m.finalNorm = "ln_f";
  m.qkv = "self_attention.query_key_value", m.o = "self_attention.dense";
  m.up = "mlp.dense_h_to_4h", m.down = "mlp.dense_4h_to_h";
  return m;
}

PlainModel falcon(const std::string& name, const std::string& more, const PlainDecoder& m) {
  return model(name,
               R"({"model_type": "falcon", "vocab_size": 31, "hidden_size": 24,
    "num_attention_heads": 4, "num_hidden_layers": 3, "ffn_hidden_size": 14, )" +
                   more + "}",
               m);
}

/// 40B's form, or 11B's.
PlainModel falconGrouped(bool twoNorms) {
  PlainDecoder m = falconNames();
  m.kvHeads = 2, m.headByHead = true, m.ownMlpNorm = twoNorms;
  if (twoNorms) m.before = "ln_attn", m.beforeMlp = "ln_mlp";
  const std::string norms = twoNorms ? "" : R"(, "num_ln_in_parallel_attn": 1)";
  return falcon(twoNorms ? "falcon_40b" : "falcon_11b",
                R"("new_decoder_architecture": true, "num_kv_heads": 2)" + norms, m);
}

PlainModel falconRw() {
  PlainDecoder m = falconNames();
  m.kvHeads = 4, m.headByHead = m.alibi = true, m.parallel = false;
  m.slopeFactor = 1 / std::sqrt(6.0), m.rotates = [](Index) { return false; };
  m.qkvBias = m.outputBias = m.mlpBias = true;
  return falcon("falcon_rw", R"("multi_query": false, "parallel_attn": false, "bias": true, "alibi": true)",
                m);
}

PlainModel bloom(bool normedStream) {
  PlainDecoder m{.kvHeads = 4, .qkvBias = true, .outputBias = true, .mlpBias = true};
  m.alibi = m.headByHead = true, m.rotates = [](Index) { return false; };
  m.prefix = "transformer.", m.layer = "h.", m.embedding = "word_embeddings", m.finalNorm = "ln_f";
  m.embeddingNorm = "word_embeddings_layernorm", m.qkv = "self_attention.query_key_value";
  m.o = "self_attention.dense", m.up = "mlp.dense_h_to_4h", m.down = "mlp.dense_4h_to_h";
  m.normedStream = normedStream;
  return model(normedStream ? "bloom_normed" : "bloom",
               R"({"model_type": "bloom", "vocab_size": 31, "hidden_size": 24, "n_head": 4,
    "n_layer": 3, "n_inner": 14, "apply_residual_connection_post_layernorm": )" +
                   std::string(normedStream ? "true}" : "false}"),
               m);
}

/// 7B, or StoryWriter, with an unusual number of heads.
PlainModel mpt(bool writer) {
  PlainDecoder m{.kvHeads = 4, .inner = 48, .normBias = false, .act = gelu};
  m.alibi = true, m.rotates = [](Index) { return false; };
  m.prefix = "transformer.", m.layer = "blocks.", m.embedding = "wte", m.finalNorm = "norm_f";
  m.qkv = "attn.Wqkv", m.o = "attn.out_proj", m.up = "ffn.up_proj", m.down = "ffn.down_proj";
  m.before = "norm_1", m.beforeMlp = "norm_2";
  if (writer) m.heads = m.kvHeads = 6, m.slopeMost = 16, m.clip = 1.5;
  return model(
      writer ? "mpt_storywriter" : "mpt",
      R"({"model_type": "mpt", "vocab_size": 31, "d_model": 24, "n_layers": 3, "expansion_ratio": 2, )" +
          std::string(writer ? R"("n_heads": 6,
    "attn_config": {"alibi": true, "softmax_scale": null, "alibi_bias_max": 16, "clip_qkv": 1.5}})"
                             : R"("n_heads": 4, "attn_config": {"alibi": true, "softmax_scale": null}})"),
      m);
}

}  // namespace

std::vector<PlainModel> plainFamilies() {
  return {cohere2(),
          glm(false),
          glm(true),
          falcon("falcon", R"("num_kv_heads": 4)", falconNames()),
          falconGrouped(true),
          falconGrouped(false),
          falconRw(),
          bloom(false),
          bloom(true),
          mpt(false),
          mpt(true),
          mixtral(),
          qwen2Moe(),
          qwen3Moe(true),
          qwen3Moe(false),
          olmoe(false),
          olmoe(true),
          gptNeo(),
          gptJ(),
          phi(false),
          phi(true),
          olmo2(),
          olmo3(true),
          olmo3(false),
          starcoder2(),
          granite(),
          smollm3(false),
          smollm3(true),
          stableLm(false),
          stableLm(true),
          cohere(false),
          cohere(true)};
}

}  // namespace headscope::attention::test
