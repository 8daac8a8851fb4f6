#include <fmt/core.h>

#include <cmath>

#include "attention/models/gguf/gguf_source.h"
#include "attention/text/ascii.h"

namespace headscope::attention {

// The architectures of GGUF files, as llama.cpp writes and reads them.

namespace {

constexpr std::string_view kLayerNorm = "layer_norm_eps=attention.layer_norm_epsilon",
                           kLayerNormSpelled = "layer_norm_epsilon=attention.layer_norm_epsilon";
constexpr std::string_view kTwoExperts =
    "num_local_experts=expert_count num_experts_per_tok=expert_used_count";
constexpr std::string_view kExperts = "num_experts=expert_count num_experts_per_tok=expert_used_count";
constexpr std::string_view kQwenExperts =
    "num_experts=expert_count num_experts_per_tok=expert_used_count "
    "moe_intermediate_size=expert_feed_forward_length "
    "shared_expert_intermediate_size=expert_shared_feed_forward_length?";

// Files with latents also give the sizes of what is cached, in two forms, so the KV head count and the key
// length aren't read.
constexpr std::string_view kLatentSizes =
    "hidden_size=embedding_length intermediate_size=feed_forward_length num_hidden_layers=block_count "
    "num_attention_heads=attention.head_count max_position_embeddings=context_length "
    "rope_theta=rope.freq_base? q_lora_rank=attention.q_lora_rank? kv_lora_rank=attention.kv_lora_rank "
    "qk_rope_head_dim=rope.dimension_count";
constexpr std::string_view kDeepSeekExperts =
    "n_routed_experts=expert_count num_experts_per_tok=expert_used_count "
    "moe_intermediate_size=expert_feed_forward_length n_shared_experts=expert_shared_count "
    "routed_scaling_factor=expert_weights_scale? first_k_dense_replace=leading_dense_block_count "
    "n_group=expert_group_count? topk_group=expert_group_used_count?";

// Hybrids give some sizes for each layer; ggufHybrid() reads them.
constexpr std::string_view kHybridSizes =
    "hidden_size=embedding_length intermediate_size=feed_forward_length? "
    "num_attention_heads=attention.head_count max_position_embeddings=context_length "
    "rope_theta=rope.freq_base?";
constexpr std::string_view kGraniteFactors =
    "rms_norm_eps=attention.layer_norm_rms_epsilon embedding_multiplier=embedding_scale? "
    "residual_multiplier=residual_scale? logits_scaling=logit_scale? attention_multiplier=attention.scale?";

constexpr GgufFamily kGgufFamilies[] = {
    {.architecture = "llama", .model = "llama", .paired = true},
    {.architecture = "llama", .model = "mixtral", .paired = true, .experts = kTwoExperts},
    {.architecture = "mistral3", .model = "ministral3", .paired = true},
    {.architecture = "qwen2moe", .model = "qwen2_moe", .experts = kQwenExperts},
    {.architecture = "qwen3moe", .model = "qwen3_moe", .experts = kQwenExperts},
    {.architecture = "olmoe", .model = "olmoe", .experts = kExperts},
    {.architecture = "gpt-oss",
     .model = "gpt_oss",
     .more = "rms_norm_eps=attention.layer_norm_rms_epsilon sliding_window=attention.sliding_window",
     .experts = kTwoExperts},
    {.architecture = "deepseek2", .model = "deepseek_v2", .sizes = kLatentSizes, .experts = kDeepSeekExperts},
    {.architecture = "qwen2", .model = "qwen2"},
    {.architecture = "qwen3", .model = "qwen3"},
    {.architecture = "gemma", .model = "gemma"},
    {.architecture = "gemma2", .model = "gemma2"},
    {.architecture = "gemma3",
     .model = "gemma3_text",
     .more = "rms_norm_eps=attention.layer_norm_rms_epsilon?"},
    {.architecture = "gemma-embedding", .model = "gemma3_text", .causal = false},
    {.architecture = "phi3", .model = "phi3"},
    {.architecture = "olmo2", .model = "olmo2"},
    {.architecture = "smollm3", .model = "smollm3", .paired = true},
    {.architecture = "chatglm", .model = "glm"},
    {.architecture = "glm4", .model = "glm4"},
    {.architecture = "granite", .model = "granite", .more = kGraniteFactors, .paired = true},
    {.architecture = "qwen3next",
     .model = "qwen3_next",
     .sizes = kHybridSizes,
     .experts = kQwenExperts,
     .hybrid = true},
    {.architecture = "qwen35", .model = "qwen3_5_text", .sizes = kHybridSizes, .hybrid = true},
    {.architecture = "qwen35moe",
     .model = "qwen3_5_moe_text",
     .sizes = kHybridSizes,
     .experts = kQwenExperts,
     .hybrid = true},
    {.architecture = "lfm2", .model = "lfm2", .sizes = kHybridSizes, .hybrid = true},
    {.architecture = "lfm2moe",
     .model = "lfm2_moe",
     .sizes = kHybridSizes,
     .experts = "num_experts=expert_count num_experts_per_tok=expert_used_count "
                "moe_intermediate_size=expert_feed_forward_length",
     .hybrid = true},
    {.architecture = "granitehybrid",
     .model = "granitemoehybrid",
     .sizes = kHybridSizes,
     .more = kGraniteFactors,
     .paired = true,
     .hybrid = true},
    {.architecture = "granitehybrid",
     .model = "granitemoehybrid",
     .sizes = kHybridSizes,
     .more = kGraniteFactors,
     .paired = true,
     .experts = kTwoExperts,
     .hybrid = true},
    {.architecture = "jamba", .model = "jamba", .sizes = kHybridSizes, .rotates = false, .hybrid = true},
    {.architecture = "jamba",
     .model = "jamba",
     .sizes = kHybridSizes,
     .rotates = false,
     .experts = kExperts,
     .hybrid = true},
    {.architecture = "falcon-h1", .model = "falcon_h1", .sizes = kHybridSizes, .hybrid = true},
    {.architecture = "phi2", .model = "phi", .more = kLayerNorm},
    {.architecture = "stablelm", .model = "stablelm", .more = kLayerNorm},
    {.architecture = "starcoder2",
     .model = "starcoder2",
     .more = "norm_epsilon=attention.layer_norm_epsilon"},
    {.architecture = "command-r",
     .model = "cohere",
     .more = "layer_norm_eps=attention.layer_norm_epsilon logit_scale=logit_scale"},
    {.architecture = "cohere2",
     .model = "cohere2",
     .more = "layer_norm_eps=attention.layer_norm_epsilon logit_scale=logit_scale "
             "sliding_window=attention.sliding_window"},
    {.architecture = "gpt2",
     .model = "gpt2",
     .sizes = "n_embd=embedding_length n_inner=feed_forward_length n_layer=block_count "
              "n_head=attention.head_count n_positions=context_length",
     .more = kLayerNormSpelled,
     .rotates = false},
    {.architecture = "gptneox",
     .model = "gpt_neox",
     .sizes = "hidden_size=embedding_length intermediate_size=feed_forward_length "
              "num_hidden_layers=block_count num_attention_heads=attention.head_count "
              "max_position_embeddings=context_length use_parallel_residual=use_parallel_residual? "
              "rotary_emb_base=rope.freq_base?",
     .more = kLayerNorm},
    {.architecture = "falcon",
     .model = "falcon",
     .sizes = "hidden_size=embedding_length ffn_hidden_size=feed_forward_length "
              "num_hidden_layers=block_count num_attention_heads=attention.head_count "
              "max_position_embeddings=context_length rope_theta=rope.freq_base?",
     .more = kLayerNormSpelled},
    {.architecture = "bloom",
     .model = "bloom",
     .sizes = "hidden_size=embedding_length n_inner=feed_forward_length n_layer=block_count "
              "n_head=attention.head_count seq_length=context_length",
     .more = kLayerNormSpelled,
     .rotates = false},
    {.architecture = "mpt",
     .model = "mpt",
     .sizes = "d_model=embedding_length n_layers=block_count n_heads=attention.head_count "
              "max_seq_len=context_length slopes=attention.max_alibi_bias",
     .more = kLayerNormSpelled,
     .rotates = false},
    {.architecture = "bert",
     .model = "bert",
     .sizes = "hidden_size=embedding_length intermediate_size=feed_forward_length "
              "num_hidden_layers=block_count num_attention_heads=attention.head_count",
     .more = kLayerNorm,
     .rotates = false,
     .causal = false},
};

}  // namespace

std::span<const GgufFamily> ggufFamilies() {
  return kGgufFamilies;
}

const GgufFamily* ggufFamily(std::string_view architecture, bool mixture) {
  const GgufFamily* found = nullptr;
  for (const GgufFamily& each : kGgufFamilies)
    if (each.architecture == architecture && (!found || each.experts.empty() != mixture)) found = &each;
  return found;
}

void fitToTensors(const GgufSource& source, ModelConfig& config) {
  const auto has = [&](const std::string& name) { return source.tensors.contains(name); };
  const std::string attention = fmt::format("blk.{}.attn_", config.layerNumber(0));
  config.normPlusOne = false;
  config.qkvBias = has(attention + "q.bias") || has(attention + "qkv.bias");
  config.outputBias = has(attention + "output.bias");
  // Their converter puts heads of the same place in their groups side by side.
  config.recurrence.tiled = config.family->name.starts_with("qwen3_5");
  config.mlpBias = has("blk.0.ffn_up.bias");
  config.normBias = has("blk.0.attn_norm.bias") || has("blk.0.attn_output_norm.bias");
  config.headBias = has("output.bias");
  if (!has("token_types.weight")) config.tokenTypes = 0;
  noteUnsaid(source, config);
}

TensorNaming ggufNaming(const Family& family, const GgufSource& source, bool paired) {
  static constexpr std::string_view kWithoutPrefix[] = {""};
  const TensorNames& own = family.names;
  const auto named = [](std::string_view here, std::string_view there) {
    return here.empty() ? std::string_view() : there;
  };
  const auto has = [&](const char* name) { return source.tensors.contains(name); };
  const bool expertsApart = has("blk.0.ffn_down.0.weight");
  const bool usual = !own.qkv.empty();
  const bool together = has("blk.0.attn_qkv.weight") || (usual && !has("blk.0.attn_q.weight"));
  const auto apart = [&](std::string_view here, std::string_view there) {
    return together ? "" : usual ? there : named(here, there);
  };
  // Only post-norm models (BERT) have separate names for the norms after each part.
  const bool after = own.embeddingNorm.size() > 0 && family.encoder;
  const bool two = own.attentionNorm == "ln_attn";  // Falcon 40B, whose files swap the two names
  TensorNames names{
      .embedding = "token_embd",
      .positions = named(own.positions, "position_embd"),
      .tokenTypes = named(own.tokenTypes, "token_types"),
      .embeddingNorm = named(own.embeddingNorm, "token_embd_norm"),
      .layer = "blk.N.",
      .q = apart(own.q, "attn_q"),
      .k = apart(own.k, "attn_k"),
      .v = apart(own.v, "attn_v"),
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
  if (!own.recurrent.empty()) nameHybrid(family, source, names);
  return {.names = names,
          .prefixes = kWithoutPrefix,
          .headPrefixes = kWithoutPrefix,
          .sizes = "its metadata",
          .paired = paired};
}

// Metadata that change the computation in a way no family supports, or contradict their family.

namespace {

void refuseSizes(const GgufFamily& family, GgufMetadata& metadata) {
  const auto experts = metadata.integer("expert_count").value_or(0);
  if (experts > 0 && family.experts.empty())
    metadata.fail(fmt::format("{} is {}: it is a mixture of experts, expected a model with one MLP per layer",
                              metadata.at("expert_count"), experts));
  const auto key = metadata.integer("attention.key_length"),
             value = metadata.integer("attention.value_length");
  if (key != value && !metadata.has("attention.kv_lora_rank"))
    metadata.fail(fmt::format("{} is {}, expected {}, as the keys'", metadata.at("attention.value_length"),
                              value.value_or(0), key.value_or(0)));
}

void refuseFactors(const GgufFamily& family, GgufMetadata& metadata) {
  const auto taken = [&](const std::string& name) {
    return (std::string(family.sizes) + " " + std::string(family.more)).find("=" + name) != std::string::npos;
  };
  constexpr std::pair<std::string_view, std::string_view> kElsewhere[] = {
      {"mpt", "attention.clamp_kqv"}, {"ministral3", "attention.temperature_scale"}};
  for (const char* name : {"attention.clamp_kqv", "attention.max_alibi_bias", "attention.scale",
                           "attention.temperature_scale", "logit_scale"})
    if (!taken(name) &&
        std::ranges::find(kElsewhere, std::pair(family.model, std::string_view(name))) ==
            std::end(kElsewhere) &&
        metadata.number(name).value_or(0) != 0)
      metadata.fail(metadata.at(name) + " is " + metadata.find(name)->described() + ", expected none");
}

void refuseFlag(GgufMetadata& metadata, const char* key, bool expected) {
  if (metadata.flag(key).value_or(expected) != expected)
    metadata.fail(fmt::format("{} is {}, expected {}", metadata.at(key), !expected, expected));
}

/// Files of families with one way to choose and weigh experts may name it.
void refuseMixtures(const GgufFamily& family, GgufMetadata& metadata) {
  if (family.experts.empty() || family.model == "deepseek_v2") return;
  refuseFlag(metadata, "expert_weights_norm", family.model != "qwen2_moe" && family.model != "olmoe");
  const double scale = metadata.number("expert_weights_scale").value_or(1);
  if (scale != 0 && scale != 1)
    metadata.fail(fmt::format("{} is {}, expected 1", metadata.at("expert_weights_scale"), scale));
  constexpr std::int64_t kSoftmax = 1, kSigmoid = 2, kSoftmaxOfChosen = 3;
  const std::int64_t expected = family.model == "gpt_oss"    ? kSoftmaxOfChosen
                                : family.model == "lfm2_moe" ? kSigmoid
                                                             : kSoftmax,
                     gate = metadata.integer("expert_gating_func").value_or(expected);
  if (gate != 0 && gate != expected)
    metadata.fail(fmt::format("{} is {}, expected {}", metadata.at("expert_gating_func"), gate, expected));
}

void refuseRotations(const GgufFamily& family, GgufMetadata& metadata) {
  // Granite's files use this to say whether positions are rotated; in others it only says how a model was
  // made.
  if (family.model == "granite") refuseFlag(metadata, "rope.scaling.finetuned", true);
  const auto base = metadata.number("rope.freq_base"), local = metadata.number("rope.freq_base_swa");
  constexpr double kStandard = 10000;
  const double expected = base.value_or(kStandard);
  if (local && family.model != "gemma3_text" && std::abs(*local - expected) > 1e-6 * std::abs(expected))
    metadata.fail(fmt::format("{} is {}, expected {}, as in the layers without a window",
                              metadata.at("rope.freq_base_swa"), *local, expected));
}

/// Whether the file's name for the model, or the shape of Mistral 7B 0.1, says that it is a Mistral.
bool isMistralByName(const GgufMetadata& metadata, const ModelConfig& config) {
  for (const char* key : {"general.name", "general.basename"})
    if (const GgufValue* const name = metadata.find(key))
      if (lowerCase(name->text().value_or("")).find("mistral") != std::string::npos) return true;
  return config.modelDim == 4096 && config.innerDim == 14336 && config.layerCount() == 32 &&
         config.maxPositions == 32768;
}

}  // namespace

void noteUnsaid(const GgufSource& source, ModelConfig& config) {
  GgufMetadata metadata(source);
  constexpr const char *kWindow = "attention.sliding_window", *kShares = "expert_weights_norm";
  constexpr double kTheta = 10000;  // later Mistrals, which have no window, turn more slowly
  const std::string& architecture = metadata.architecture();
  const bool isMistral = architecture == "llama" && config.mixture.experts == 0 &&
                         metadata.number("rope.freq_base").value_or(kTheta) == kTheta &&
                         isMistralByName(metadata, config);
  const bool windowless =
      std::ranges::none_of(config.layers, [](const LayerKind& layer) { return layer.window.has_value(); });
  if (windowless && (isMistral || architecture == "starcoder2" || architecture.starts_with("qwen")))
    config.notes.push_back(
        fmt::format("{}: every token sees all before it, as in llama.cpp.{}",
                    metadata.has(kWindow) ? metadata.at(kWindow) + " is not applied"
                                          : "The GGUF file can't say whether attention has a window",
                    isMistral                      ? " Mistral 7B 0.1 has one of 4,096."
                    : architecture == "starcoder2" ? " The published StarCoder2 models have one of 4,096."
                                                   : " The published models don't use theirs."));
  if (config.mixture.experts > 0 && !metadata.has(kShares) &&
      (architecture.starts_with("qwen") || architecture == "olmoe"))
    config.notes.push_back(
        fmt::format("The GGUF file doesn't say whether the shares of the chosen experts are made to sum to 1 "
                    "(norm_topk_prob): taken as {}, as in llama.cpp.",
                    config.mixture.sumsToOne));
}

void refuseUnsupported(const GgufFamily& family, GgufMetadata& metadata) {
  refuseSizes(family, metadata);
  refuseFactors(family, metadata);
  refuseFlag(metadata, "attention.causal", family.causal);
  refuseMixtures(family, metadata);
  refuseRotations(family, metadata);
}

}  // namespace headscope::attention
