#include "attention/models/gguf/gguf_config.h"

namespace headscope::attention {
namespace {

constexpr std::string_view kWithoutPrefix[] = {""};

}  // namespace

void fitToTensors(const GgufSource& source, ModelConfig& config) {
  const auto has = [&](const char* name) { return source.tensors.contains(name); };
  if (config.norm == NormKind::rmsPlusOne) config.norm = NormKind::rms;
  config.qkvBias = has("blk.0.attn_q.bias") || has("blk.0.attn_qkv.bias");
  config.outputBias = has("blk.0.attn_output.bias");
  config.mlpBias = has("blk.0.ffn_up.bias");
  config.normBias = has("blk.0.attn_norm.bias") || has("blk.0.attn_output_norm.bias");
  config.headBias = has("output.bias");
  if (!has("token_types.weight")) config.tokenTypes = 0;
  noteUnsaid(source, config);
}

TensorNaming ggufNaming(const Family& family, const GgufSource& source, bool paired) {
  const TensorNames& own = family.names;
  const auto named = [](std::string_view here, std::string_view there) {
    return here.empty() ? std::string_view() : there;
  };
  const auto has = [&](const char* name) { return source.tensors.contains(name); };
  const bool expertsApart = has("blk.0.ffn_down.0.weight");
  const bool usual = !own.qkv.empty();
  const bool together = has("blk.0.attn_qkv.weight") || (usual && !has("blk.0.attn_q.weight"));
  const bool split = usual && !together;
  // Only post-norm models (BERT) have separate names for the norms after each part.
  const bool after = own.embeddingNorm.size() > 0 && family.encoder;
  const bool two = own.attentionNorm == "ln_attn";  // Falcon 40B, whose files swap the two names
  TensorNames names{
      .embedding = "token_embd",
      .positions = named(own.positions, "position_embd"),
      .tokenTypes = named(own.tokenTypes, "token_types"),
      .embeddingNorm = named(own.embeddingNorm, "token_embd_norm"),
      .layer = "blk.N.",
      .q = together ? ""
           : split  ? "attn_q"
                    : named(own.q, "attn_q"),
      .k = together ? ""
           : split  ? "attn_k"
                    : named(own.k, "attn_k"),
      .v = together ? ""
           : split  ? "attn_v"
                    : named(own.v, "attn_v"),
      .qkv = together ? "attn_qkv" : "",
      .fused = FusedRows::thirds,  // regardless of the family
      .o = "attn_output",
      .sinks = named(own.sinks, "attn_sinks.weight"),
      .queryDown = named(own.queryDown, "attn_q_a"),
      .queryDownNorm = named(own.queryDownNorm, "attn_q_a_norm"),
      .queryUp = named(own.queryUp, "attn_q_b"),
      .latentDown = named(own.latentDown, "attn_kv_a_mqa"),
      .latentNorm = named(own.latentNorm, "attn_kv_a_norm"),
      .latentUp = named(own.latentUp, "attn_kv_b"),
      .latentKeyUp = named(own.latentUp, "attn_k_b"),
      .latentValueUp = named(own.latentUp, "attn_v_b"),
      .up = named(own.up, "ffn_up"),
      .down = named(own.down, "ffn_down"),
      .gate = named(own.gate, "ffn_gate"),
      .gateUp = named(own.gateUp, "ffn_up"),
      .router = named(own.router, "ffn_gate_inp"),
      .expertUp = named(own.router, expertsApart ? "ffn_up.E" : "ffn_up_exps"),
      .expertDown = named(own.router, expertsApart ? "ffn_down.E" : "ffn_down_exps"),
      .expertGate = named(own.router, expertsApart ? "ffn_gate.E" : "ffn_gate_exps"),
      .expertGateThenUp = named(own.router, "ffn_gate_up_exps"),
      .routerCorrection = named(own.routerCorrection, "exp_probs_b.bias"),
      .sharedUp = named(own.sharedUp, "ffn_up_shexp"),
      .sharedDown = named(own.sharedDown, "ffn_down_shexp"),
      .sharedGate = named(own.sharedGate, "ffn_gate_shexp"),
      .sharedRouter = named(own.sharedRouter, "ffn_gate_inp_shexp"),
      .attentionNorm = named(own.attentionNorm, after ? "attn_output_norm"
                                                : two ? "attn_norm_2"
                                                      : "attn_norm"),
      .mlpNorm = own.mlpNorm == own.attentionNorm || two
                     ? named(own.mlpNorm, "attn_norm")
                     : named(own.mlpNorm, after               ? "layer_output_norm"
                                          : own.sinks.empty() ? "ffn_norm"
                                                              : "post_attention_norm"),
      .afterAttentionNorm = named(own.afterAttentionNorm, "post_attention_norm"),
      .afterMlpNorm = named(own.afterMlpNorm, "post_ffw_norm"),
      .qNorm = named(own.qNorm, "attn_q_norm"),
      .kNorm = named(own.kNorm, "attn_k_norm"),
      .finalNorm = named(own.finalNorm, "output_norm"),
      .head = "output",
      // GGUF has no names for these: files leave such a head out.
      .headDense = own.headDense,
      .headNorm = own.headNorm,
      .headBias = own.headBias,
      .inFirst = false,
  };
  return {names, kWithoutPrefix, kWithoutPrefix, "its metadata", paired};
}

}  // namespace headscope::attention
