#include "attention/models/config/model_types.h"

#include <algorithm>

namespace headscope::attention {

namespace {

// Defaults are those of each type's configuration class in Hugging Face's transformers, for fields that files
// in circulation leave out.
constexpr ModelType kTypes[] = {
    // Decoders with full attention
    {"llama"},
    {"qwen2"},
    {"qwen2_vl"},
    {"qwen2_vl_text"},
    {"qwen2_5_vl"},
    {"qwen2_5_vl_text"},
    {"qwen3", "", R"({"head_dim": 128})"},
    {"qwen3_vl_text", "", R"({"head_dim": 128})"},
    {"qwen", "", R"({"no_bias": true})"},
    {"mistral", "", R"({"num_key_value_heads": 8, "sliding_window": 4096})"},
    {"mistral3"},
    {"ministral"},
    {"ministral3"},
    {"pixtral"},
    {"phi", "plain biases"},
    {"phi3"},
    {"gemma", "tied", R"({"head_dim": 256})"},
    {"gpt2", "plain tied positions biases 4d"},
    {"openai-gpt", "plain tied positions biases 4d"},
    {"gpt_neox", "plain biases"},
    {"gptj", "plain biases 4d"},
    {"codegen", "plain biases 4d"},
    {"gpt_bigcode", "plain tied positions biases 4d", R"({"multi_query": true})"},
    {"bloom", "plain tied biases 4d"},
    {"opt", "plain tied positions biases"},
    {"falcon", "plain tied 4d", R"({"multi_query": true})"},
    {"RefinedWeb", "plain tied 4d"},
    {"RefinedWebModel", "plain tied 4d", R"({"multi_query": true})"},
    {"mpt", "plain tied 4d"},
    {"persimmon", "plain biases"},
    {"stablelm"},
    {"stablelm_epoch"},
    {"olmo"},
    {"olmo2"},
    {"granite"},
    {"cohere", "tied"},
    {"glm", "", R"({"head_dim": 128})"},
    {"glm4", "", R"({"head_dim": 128})"},
    {"chatglm"},
    {"internlm"},
    {"internlm2"},
    {"baichuan"},
    {"minicpm"},
    {"smollm3", "tied"},
    {"seed_oss", "", R"({"head_dim": 128})"},
    {"nemotron", "plain"},
    {"arcee", "plain"},
    {"exaone"},
    {"ernie4_5", "tied", R"({"head_dim": 128})"},
    {"mllama_text_model"},
    // Sliding windows
    {"gpt_neo", "plain tied positions 4d", R"({"window_size": 256})"},
    {"gemma2", "tied", R"({"head_dim": 256, "sliding_window": 4096, "sliding_window_pattern": 2})"},
    {"gemma3_text", "tied", R"({"num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256,
        "vocab_size": 262208, "sliding_window": 4096, "sliding_window_pattern": 6,
        "max_position_embeddings": 131072})"},
    {"gemma3", "tied", R"({"num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256,
        "vocab_size": 262208, "sliding_window": 4096, "sliding_window_pattern": 6,
        "max_position_embeddings": 131072})"},
    {"gemma3n_text", "tied", R"({"vocab_size": 262400, "vocab_size_per_layer_input": 262144,
        "hidden_size_per_layer_input": 256, "laurel_rank": 64, "altup_num_inputs": 4, "head_dim": 256,
        "num_kv_shared_layers": 15, "sliding_window": 512, "sliding_window_pattern": 5})"},
    {"cohere2", "tied", R"({"sliding_window": 4096, "sliding_window_pattern": 4})"},
    {"starcoder2", "plain tied biases"},
    {"olmo3", "", R"({"sliding_window": 4096, "sliding_window_pattern": 4})"},
    {"exaone4", "", R"({"sliding_window_pattern": 4})"},
    {"llama4_text", "", R"({"attention_chunk_size": 8192, "no_rope_layer_interval": 4,
        "interleave_moe_layer_step": 1, "num_local_experts": 16, "num_experts_per_tok": 1,
        "n_shared_experts": 1, "head_dim": 128})"},
    // Mixtures of experts
    {"mixtral", "", R"({"num_local_experts": 8, "num_experts_per_tok": 2, "num_key_value_heads": 8})"},
    {"qwen2_moe", "", R"({"num_experts_per_tok": 4})"},
    {"qwen3_moe", "", R"({"head_dim": 128})"},
    {"phimoe", "", R"({"num_local_experts": 16, "num_experts_per_tok": 2})"},
    {"olmoe", "", R"({"num_experts": 64, "num_experts_per_tok": 8})"},
    {"granitemoe", "", R"({"num_local_experts": 8, "num_experts_per_tok": 2})"},
    {"dbrx"},
    {"ernie4_5_moe", "tied", R"({"moe_k": 6, "moe_layer_start_index": 1, "moe_num_shared_experts": 2})"},
    {"gpt_oss", "", R"({"head_dim": 64, "sliding_window": 128, "sliding_window_pattern": 2,
        "num_local_experts": 128, "num_experts_per_tok": 4})"},
    {"glm4_moe", "", R"({"head_dim": 128, "first_k_dense_replace": 1})"},
    {"grok-1", "", R"({"num_experts_per_tok": 2})"},
    // Latent attention
    {"deepseek_v2", "",
     R"({"kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128})"},
    {"deepseek_v3", "",
     R"({"kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128,
        "first_k_dense_replace": 3})"},
    {"deepseek_v32", "",
     R"({"kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128,
        "first_k_dense_replace": 3, "index_head_dim": 128, "index_n_heads": 64})"},
    {"glm_moe_dsa", "",
     R"({"kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 192, "v_head_dim": 256,
        "first_k_dense_replace": 3, "index_head_dim": 128, "index_n_heads": 32})"},
    {"kimi_k2", "",
     R"({"kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128})"},
    {"minicpm3", "",
     R"({"kv_lora_rank": 256, "qk_rope_head_dim": 32, "qk_nope_head_dim": 64, "v_head_dim": 64})"},
    // Constant-size state
    {"mamba", "tied", R"({"state_size": 16, "conv_kernel": 4, "expand": 2})"},
    {"falcon_mamba", "tied", R"({"state_size": 16, "conv_kernel": 4, "expand": 2})"},
    {"mamba2", "", R"({"state_size": 128, "conv_kernel": 4, "expand": 2, "n_groups": 8, "num_heads": 128,
        "head_dim": 64})"},
    {"rwkv"},
    {"jamba", "", R"({"attn_layer_period": 8, "attn_layer_offset": 4, "expert_layer_period": 2,
        "expert_layer_offset": 1, "num_experts": 16, "num_experts_per_tok": 2, "mamba_d_state": 16,
        "mamba_d_conv": 4, "mamba_expand": 2, "num_key_value_heads": 8})"},
    {"bamba", "", R"({"mamba_d_state": 256, "mamba_d_conv": 4, "mamba_expand": 2, "mamba_n_groups": 1,
        "mamba_n_heads": 128, "mamba_d_head": 64})"},
    {"falcon_h1", "parallel", R"({"mamba_d_state": 256, "mamba_d_conv": 4, "mamba_n_groups": 1})"},
    {"granitemoehybrid", "tied", R"({"mamba_d_state": 256, "mamba_d_conv": 4, "mamba_expand": 2,
        "mamba_n_groups": 1, "mamba_n_heads": 128})"},
    {"nemotron_h", "plain",
     R"({"conv_kernel": 4, "n_groups": 8, "ssm_state_size": 128, "mamba_head_dim": 64})"},
    {"qwen3_next", "", R"({"full_attention_interval": 4, "head_dim": 256, "linear_conv_kernel_dim": 4,
        "linear_key_head_dim": 128, "linear_value_head_dim": 128, "linear_num_key_heads": 16,
        "linear_num_value_heads": 32, "num_experts": 512, "num_experts_per_tok": 10,
        "shared_expert_intermediate_size": 512, "moe_intermediate_size": 512, "attn_output_gate": true})"},
    {"qwen3_5_text", "",
     R"({"full_attention_interval": 4, "head_dim": 256, "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_value_head_dim": 128,
        "linear_num_key_heads": 16, "linear_num_value_heads": 32, "attn_output_gate": true})"},
    {"qwen3_5_moe_text", "",
     R"({"full_attention_interval": 4, "head_dim": 256, "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_value_head_dim": 128,
        "linear_num_key_heads": 16, "linear_num_value_heads": 32, "attn_output_gate": true,
        "num_experts": 256, "num_experts_per_tok": 8, "shared_expert_intermediate_size": 512,
        "moe_intermediate_size": 512})"},
    {"recurrent_gemma", "tied", R"({"attention_window_size": 2048, "conv1d_width": 4, "head_dim": 256,
        "num_key_value_heads": 1})"},
    {"minimax_m2", "", R"({"head_dim": 128})"},
    {"minimax", "", R"({"head_dim": 128, "num_local_experts": 32, "num_experts_per_tok": 2})"},
    {"minimax_text_01", "", R"({"head_dim": 128, "num_local_experts": 32, "num_experts_per_tok": 2})"},
    {"lfm2", "tied", R"({"conv_L_cache": 3})"},
    // Encoders
    {"bert", "plain tied positions encoder pooler biases"},
    {"roberta", "plain tied positions encoder pooler biases"},
    {"xlm-roberta", "plain tied positions encoder pooler biases"},
    {"camembert", "plain tied positions encoder pooler biases"},
    {"electra", "plain tied positions encoder biases"},
    {"distilbert", "plain tied positions encoder biases"},
    {"mpnet", "plain tied positions encoder pooler biases"},
    {"modernbert", "tied encoder"},
    {"deberta-v2", "plain tied positions encoder biases"},
    {"vit", "plain encoder pooler biases"},
    {"dinov2", "plain encoder biases"},
    // Encoder–decoders
    {"t5", "plain tied", R"({"vocab_size": 32128, "d_kv": 64})"},
    {"mt5", "", R"({"vocab_size": 250112, "d_kv": 64})"},
    {"umt5", "", R"({"vocab_size": 250112, "d_kv": 64})"},
    {"bart", "plain tied positions biases"},
    {"mbart", "plain tied positions biases"},
    {"pegasus", "plain tied biases"},
    {"marian", "plain tied biases"},
    {"m2m_100", "plain tied biases"},
    {"blenderbot", "plain tied positions biases"},
    {"whisper", "plain tied positions biases", R"({"max_source_positions": 1500, "num_mel_bins": 80})"},
};

}  // namespace

const ModelType* findModelType(std::string_view name) {
  const auto found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                  [&](const ModelType& type) { return type.name == name; });
  return found == std::end(kTypes) ? nullptr : found;
}

bool hasTrait(const ModelType* type, std::string_view trait) {
  if (!type) return false;
  std::string_view traits = type->traits;
  while (!traits.empty()) {
    const auto end = std::min(traits.find(' '), traits.size());
    if (traits.substr(0, end) == trait) return true;
    traits.remove_prefix(std::min(end + 1, traits.size()));
  }
  return false;
}

}  // namespace headscope::attention
