#include "attention/models/gguf/gguf_config.h"

// The architectures of GGUF files, as llama.cpp writes and reads them.

namespace headscope::attention {
namespace {

constexpr std::string_view kSizes =
    "hidden_size=embedding_length intermediate_size=feed_forward_length num_hidden_layers=block_count "
    "num_attention_heads=attention.head_count num_key_value_heads=attention.head_count_kv? "
    "head_dim=attention.key_length? max_position_embeddings=context_length rope_theta=rope.freq_base?";
constexpr std::string_view kRms = "rms_norm_eps=attention.layer_norm_rms_epsilon";
constexpr std::string_view kLayerNorm = "layer_norm_eps=attention.layer_norm_epsilon";
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

constexpr GgufFamily kGgufFamilies[] = {
    {.architecture = "llama", .model = "llama", .sizes = kSizes, .more = kRms, .paired = true},
    {.architecture = "llama",
     .model = "mixtral",
     .sizes = kSizes,
     .more = kRms,
     .paired = true,
     .experts = kTwoExperts},
    {.architecture = "mistral3", .model = "ministral3", .sizes = kSizes, .more = kRms, .paired = true},
    {.architecture = "qwen2moe",
     .model = "qwen2_moe",
     .sizes = kSizes,
     .more = kRms,
     .experts = kQwenExperts},
    {.architecture = "qwen3moe",
     .model = "qwen3_moe",
     .sizes = kSizes,
     .more = kRms,
     .experts = kQwenExperts},
    {.architecture = "olmoe", .model = "olmoe", .sizes = kSizes, .more = kRms, .experts = kExperts},
    {.architecture = "gpt-oss",
     .model = "gpt_oss",
     .sizes = kSizes,
     .more = "rms_norm_eps=attention.layer_norm_rms_epsilon sliding_window=attention.sliding_window",
     .experts = kTwoExperts},
    {.architecture = "deepseek2",
     .model = "deepseek_v2",
     .sizes = kLatentSizes,
     .more = kRms,
     .experts = kDeepSeekExperts},
    {.architecture = "qwen2", .model = "qwen2", .sizes = kSizes, .more = kRms},
    {.architecture = "qwen3", .model = "qwen3", .sizes = kSizes, .more = kRms},
    {.architecture = "gemma", .model = "gemma", .sizes = kSizes, .more = kRms},
    {.architecture = "gemma2", .model = "gemma2", .sizes = kSizes, .more = kRms},
    {.architecture = "gemma3",
     .model = "gemma3_text",
     .sizes = kSizes,
     .more = "rms_norm_eps=attention.layer_norm_rms_epsilon?"},
    {.architecture = "gemma-embedding",
     .model = "gemma3_text",
     .sizes = kSizes,
     .more = kRms,
     .causal = false},
    {.architecture = "phi3", .model = "phi3", .sizes = kSizes, .more = kRms},
    {.architecture = "olmo2", .model = "olmo2", .sizes = kSizes, .more = kRms},
    {.architecture = "smollm3", .model = "smollm3", .sizes = kSizes, .more = kRms, .paired = true},
    {.architecture = "chatglm", .model = "glm", .sizes = kSizes, .more = kRms},
    {.architecture = "glm4", .model = "glm4", .sizes = kSizes, .more = kRms},
    {.architecture = "granite",
     .model = "granite",
     .sizes = kSizes,
     .more = "rms_norm_eps=attention.layer_norm_rms_epsilon embedding_multiplier=embedding_scale? "
             "residual_multiplier=residual_scale? logits_scaling=logit_scale? "
             "attention_multiplier=attention.scale?",
     .paired = true},
    {.architecture = "phi2", .model = "phi", .sizes = kSizes, .more = kLayerNorm},
    {.architecture = "stablelm", .model = "stablelm", .sizes = kSizes, .more = kLayerNorm},
    {.architecture = "starcoder2",
     .model = "starcoder2",
     .sizes = kSizes,
     .more = "norm_epsilon=attention.layer_norm_epsilon"},
    {.architecture = "command-r",
     .model = "cohere",
     .sizes = kSizes,
     .more = "layer_norm_eps=attention.layer_norm_epsilon logit_scale=logit_scale"},
    {.architecture = "cohere2",
     .model = "cohere2",
     .sizes = kSizes,
     .more = "layer_norm_eps=attention.layer_norm_epsilon logit_scale=logit_scale "
             "sliding_window=attention.sliding_window"},
    {.architecture = "gpt2",
     .model = "gpt2",
     .sizes = "n_embd=embedding_length n_inner=feed_forward_length n_layer=block_count "
              "n_head=attention.head_count n_positions=context_length "
              "layer_norm_epsilon=attention.layer_norm_epsilon",
     .rotates = false},
    {.architecture = "gptneox",
     .model = "gpt_neox",
     .sizes = "hidden_size=embedding_length intermediate_size=feed_forward_length "
              "num_hidden_layers=block_count num_attention_heads=attention.head_count "
              "max_position_embeddings=context_length layer_norm_eps=attention.layer_norm_epsilon "
              "use_parallel_residual=use_parallel_residual? rotary_emb_base=rope.freq_base?"},
    {.architecture = "falcon",
     .model = "falcon",
     .sizes = "hidden_size=embedding_length ffn_hidden_size=feed_forward_length "
              "num_hidden_layers=block_count num_attention_heads=attention.head_count "
              "max_position_embeddings=context_length layer_norm_epsilon=attention.layer_norm_epsilon "
              "rope_theta=rope.freq_base?"},
    {.architecture = "bloom",
     .model = "bloom",
     .sizes = "hidden_size=embedding_length n_inner=feed_forward_length n_layer=block_count "
              "n_head=attention.head_count seq_length=context_length "
              "layer_norm_epsilon=attention.layer_norm_epsilon",
     .rotates = false},
    {.architecture = "mpt",
     .model = "mpt",
     .sizes = "d_model=embedding_length n_layers=block_count n_heads=attention.head_count "
              "max_seq_len=context_length layer_norm_epsilon=attention.layer_norm_epsilon "
              "slopes=attention.max_alibi_bias",
     .rotates = false},
    {.architecture = "bert",
     .model = "bert",
     .sizes = "hidden_size=embedding_length intermediate_size=feed_forward_length "
              "num_hidden_layers=block_count num_attention_heads=attention.head_count "
              "layer_norm_eps=attention.layer_norm_epsilon",
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

}  // namespace headscope::attention
