"""The table of decoders: a row for each family and for what its published checkpoints vary."""

from dataclasses import dataclass, field

from library import TOLERANCE


@dataclass
class Case:
    name: str  # the family, and after a slash what this row varies
    config: dict = field(default_factory=dict)  # beside library.SIZES
    type: str = ""  # model_type, unless it is the name's first part
    attends: bool = True  # False: without attention, computed by transformers' default implementation
    tolerance: float = TOLERANCE
    part: str = ""  # the submodule that is compared; all of the model if empty
    renamed: tuple = ()  # a part of the tensors' names, and what published files have instead
    without: tuple = ()  # forms of config.json that the library itself can't read
    sinkless: bool = False  # the library returns weights from before the sinks take their share

    def __post_init__(self):
        self.type = self.type or self.name.split("/")[0]


def rope(kind, **fields):
    return {"rope_parameters": {"rope_type": kind, "rope_theta": 10000.0, **fields}}


LLAMA3 = rope("llama3", factor=4.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=32)
YARN = rope("yarn", factor=4.0, original_max_position_embeddings=32)
LONG = rope("longrope", short_factor=[1.0 + 0.1 * i for i in range(6)], long_factor=[1.5 + 0.5 * i for i in range(6)],
            original_max_position_embeddings=32, factor=4.0)
WINDOWS = ["sliding_attention", "full_attention"] * 2
EXPERTS = {"num_experts": 6, "num_experts_per_tok": 2, "moe_intermediate_size": 24}
LOCAL_EXPERTS = {"num_local_experts": 6, "num_experts_per_tok": 2}
LATENT = {"head_dim": 8, "kv_lora_rank": 20, "q_lora_rank": 28, "qk_rope_head_dim": 8, "qk_nope_head_dim": 12,
          "v_head_dim": 14, "n_routed_experts": 8, "num_experts_per_tok": 3, "moe_intermediate_size": 24,
          "n_group": 4, "topk_group": 2, "num_key_value_heads": 4, "first_k_dense_replace": 1}

# Those of its sizes that a model without experts has.
DIRECT = {name: size for name, size in LATENT.items() if name.endswith("_dim") or "kv_" in name
          or "key_value" in name}
ROUTED = {"n_routed_experts": 8, "num_experts_per_tok": 3, "moe_intermediate_size": 24}
ERNIE = {"moe_num_experts": 6, "moe_k": 2, "moe_intermediate_size": 24, "moe_layer_end_index": -1}

# Small picture parts, which no case runs.
PICTURE = {"hidden_size": 16, "intermediate_size": 20, "num_hidden_layers": 1, "num_attention_heads": 2,
           "image_size": 28, "patch_size": 14}
CLIP = {"model_type": "clip_vision_model", **PICTURE}
PIXTRAL = {"model_type": "pixtral", "head_dim": 8, **PICTURE}
SIGLIP = {"model_type": "siglip_vision_model", **PICTURE}
INTERN = {"model_type": "internvl_vision", **PICTURE, "image_size": [28, 28], "patch_size": [14, 14]}
QWEN = {"depth": 1, "embed_dim": 16, "hidden_size": 48, "num_heads": 2, "intermediate_size": 20, "patch_size": 14}
OPT = {"ffn_dim": 56, "word_embed_proj_dim": 48}
MAMBA2 = {"mamba_n_heads": 6, "mamba_d_state": 10, "mamba_d_conv": 4, "mamba_chunk_size": 16}
DELTA = {"linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 10, "linear_value_head_dim": 12}
MIXED = ["linear_attention", "full_attention", "linear_attention", "linear_attention"]
FALCON_H1 = {**MAMBA2, "mamba_d_ssm": 60, "mamba_n_groups": 2}
FACTORS = {"attention_in_multiplier": 0.8, "ssm_in_multiplier": 1.3, "attention_out_multiplier": 0.9, "key_multiplier": 0.4,
           "ssm_out_multiplier": 0.7, "mlp_multipliers": [0.6, 1.4], "ssm_multipliers": [0.5, 1.2, 0.9, 1.1, 0.8],
           "embedding_multiplier": 3.0, "lm_head_multiplier": 0.2}
NEMOTRON_H = {"mamba_num_heads": 6, "mamba_head_dim": 8, "n_groups": 2, "ssm_state_size": 10,
              "moe_intermediate_size": 20, "moe_shared_expert_intermediate_size": 24, "n_group": 2, "topk_group": 1}
KIMI = {"kv_lora_rank": 20, "qk_rope_head_dim": 8, "qk_nope_head_dim": 12, "v_head_dim": 14, "moe_intermediate_size": 24,
        "num_local_experts": 6, "num_experts_per_tok": 2, "num_key_value_heads": 4, "linear_head_dim": 10, "linear_num_heads": 3,
        "layer_types": MIXED}
LLAMA4 = {"attention_chunk_size": 16, "floor_scale": 20, "attn_scale": 0.4, "intermediate_size_mlp": 40,
          "num_local_experts": 4}
MROPE = rope("default", mrope_section=[2, 2, 2])


def multimodal(name, text, vision, sizes=None, **more):
    return Case(name, {"text_config": (text, sizes or {}), "vision_config": vision}, without=("old",), **more)


def heard(name, text, encoder):
    """A model that also reads sounds."""
    sizes = {"d_model": 16, "hidden_size": 16, "encoder_layers": 1, "num_hidden_layers": 1, "encoder_ffn_dim": 20,
             "intermediate_size": 20, "encoder_attention_heads": 2, "num_attention_heads": 2}
    return Case(name, {"text_config": (text, {}), "audio_config": {"model_type": encoder, **sizes}}, without=("old",))


CASES = [
    Case("gpt2"),
    Case("gpt2/unscaled", {"scale_attn_weights": False, "scale_attn_by_inverse_layer_idx": True, "n_inner": 40}),
    Case("gpt_neo", {"attention_types": [[["global", "local"], 2]], "window_size": 16}),
    Case("gptj", {"rotary_dim": 8}),
    Case("gpt_neox", {"hidden_size": 64, "intermediate_size": 70}),
    Case("gpt_neox/serial", {"hidden_size": 64, "use_parallel_residual": False, "attention_bias": False}),
    Case("opt", {"ffn_dim": 56, "word_embed_proj_dim": 48}),
    Case("opt/after", {"ffn_dim": 56, "word_embed_proj_dim": 20, "do_layer_norm_before": False}),
    Case("llama"),
    Case("llama/biases", {"attention_bias": True, "mlp_bias": True, "tie_word_embeddings": True}),
    Case("llama/linear", rope("linear", factor=3.0)),
    Case("llama/dynamic", {"max_position_embeddings": 32, **rope("dynamic", factor=2.0)}),
    Case("llama/llama3", LLAMA3),
    Case("llama/yarn", YARN),
    Case("seed_oss", {"attention_out_bias": True}),
    Case("cwm", {"layer_types": WINDOWS, "bos_token_id": 1, "eos_token_id": [96], **LLAMA3}),
    Case("ernie4_5", {"use_bias": True}),
    Case("helium", {"attention_bias": True, "head_dim": 12}),
    Case("mistral"),
    Case("mistral/unwindowed", {"sliding_window": None}),
    Case("ministral", {"layer_types": WINDOWS}),
    Case("ministral3", rope("yarn", factor=4.0, original_max_position_embeddings=16, llama_4_scaling_beta=0.1)),
    Case("qwen2"),
    Case("qwen2/windows", {"use_sliding_window": True, "max_window_layers": 2}),
    Case("qwen3"),
    Case("qwen3/windows", {"use_sliding_window": True, "max_window_layers": 1, "attention_bias": True}),
    Case("gemma"),
    Case("gemma2", {"query_pre_attn_scalar": 20}),
    Case("vaultgemma", {"query_pre_attn_scalar": 20}),
    Case("gemma3_text", {"query_pre_attn_scalar": 20, "layer_types": WINDOWS}),
    Case("gemma3_text/linear", {"layer_types": WINDOWS, "rope_parameters": {
        "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6},
        "sliding_attention": {"rope_type": "default", "rope_theta": 1e4}}}),
    Case("phi"),
    Case("phi/normed", {"qk_layernorm": True, "partial_rotary_factor": 2 / 3}),
    Case("phi3", {"original_max_position_embeddings": 64}),
    Case("phi3/long", {"original_max_position_embeddings": 32, **LONG}, without=("old",)),
    Case("olmo", {"clip_qkv": 0.8}),
    Case("olmo2"),
    Case("olmo3", {"layer_types": WINDOWS}),
    Case("exaone4", {"layer_types": WINDOWS}),
    Case("exaone4/unwindowed", {"sliding_window": None, "layer_types": ["full_attention"] * 4}),
    Case("starcoder2"),
    Case("granite", {"embedding_multiplier": 3.0, "residual_multiplier": 0.4, "logits_scaling": 5.0,
                     "attention_multiplier": 0.2}),
    Case("smollm3", {"no_rope_layers": [1, 0, 1, 1]}),
    Case("stablelm", {"hidden_size": 64}),
    Case("stablelm/parallel", {"hidden_size": 64, "use_parallel_residual": True, "qk_layernorm": True,
                               "use_qkv_bias": True}),
    Case("cohere"),
    Case("cohere/normed", {"use_qk_norm": True, "logit_scale": 0.3}),
    Case("cohere2", {"layer_types": WINDOWS}),
    Case("glm"),
    Case("glm4"),
    Case("falcon"),
    Case("falcon/grouped", {"new_decoder_architecture": True, "num_kv_heads": 2, "bias": True}),
    Case("falcon/serial", {"parallel_attn": False, "multi_query": False}),
    Case("falcon/alibi", {"alibi": True, "parallel_attn": False, "multi_query": False, "bias": True},
         attends=False),  # eager attention adds the slopes twice
    Case("bloom", {"n_head": 6}),
    Case("mpt", {"d_model": 48, "n_heads": 6, "n_layers": 4}),
    Case("mixtral", LOCAL_EXPERTS),
    Case("qwen2_moe", {**EXPERTS, "shared_expert_intermediate_size": 20}),
    Case("qwen2_moe/sparse", {**EXPERTS, "shared_expert_intermediate_size": 20, "decoder_sparse_step": 2,
                              "norm_topk_prob": True, "use_sliding_window": True, "max_window_layers": 3}),
    Case("qwen3_moe", EXPERTS),
    Case("qwen3_moe/sparse", {**EXPERTS, "norm_topk_prob": True, "mlp_only_layers": [1], "use_sliding_window": True}),
    Case("olmoe", {"num_experts": 6, "num_experts_per_tok": 2, "clip_qkv": 1.5}),
    Case("gpt_oss", {**LOCAL_EXPERTS, "layer_types": WINDOWS,
                     **rope("yarn", factor=4.0, truncate=False, original_max_position_embeddings=32)}),
    Case("deepseek_v2", {**LATENT, "topk_method": "group_limited_greedy", "n_shared_experts": 2}),
    Case("deepseek_v2/direct", {**LATENT, "q_lora_rank": None, "topk_method": "greedy", "routed_scaling_factor": 2.0}),
    Case("deepseek_v3", LATENT),
    Case("deepseek_v3/yarn", {**LATENT, "q_lora_rank": None, "rope_interleave": False, "norm_topk_prob": False,
                              **rope("yarn", factor=4.0, mscale=1.0, mscale_all_dim=0.7,
                                     original_max_position_embeddings=32)}),

    # Hybrids
    Case("lfm2", {"layer_types": ["conv", "full_attention", "conv", "conv"]}),
    Case("lfm2/whole", {"layer_types": ["full_attention", "conv", "conv", "full_attention"], "conv_bias": True,
                        "block_auto_adjust_ff_dim": False, "conv_L_cache": 4, "tie_word_embeddings": False}),
    Case("lfm2_moe", {**EXPERTS, "layer_types": ["conv", "conv", "full_attention", "conv"], "num_dense_layers": 1,
                      "routed_scaling_factor": 1.5}),
    Case("bamba", {"attn_layer_indices": [1, 3], **MAMBA2}),
    Case("bamba/groups", {"attn_layer_indices": [0], **MAMBA2, "mamba_n_groups": 2, "mamba_conv_bias": False,
                          "mamba_proj_bias": True, "mlp_bias": True}, tolerance=3e-4),  # summed in chunks there
    Case("granitemoehybrid", {**LOCAL_EXPERTS, **MAMBA2, "layer_types": MIXED, "shared_intermediate_size": 20,
                              "residual_multiplier": 0.6, "attention_multiplier": 0.3, "logits_scaling": 3.0}),
    Case("granitemoehybrid/dense", {"num_local_experts": 0, **MAMBA2, "layer_types": MIXED,
                                    "position_embedding_type": "rope", "shared_intermediate_size": 40}),
    Case("jamba", {"num_experts": 4, "attn_layer_period": 2, "attn_layer_offset": 1, "mamba_d_state": 6}),
    Case("jamba/dense", {"num_experts": 1, "attn_layer_period": 4, "attn_layer_offset": 0, "mamba_d_state": 6,
                         "mamba_dt_rank": 5, "mamba_proj_bias": True, "mamba_conv_bias": False}),

    Case("qwen3_next", {**EXPERTS, **DELTA, "layer_types": MIXED, "shared_expert_intermediate_size": 20}),
    Case("qwen3_next/dense", {**EXPERTS, **DELTA, "mlp_only_layers": [1, 2], "norm_topk_prob": False,
                              "num_hidden_layers": 5, "shared_expert_intermediate_size": 20}),
    Case("qwen3_5_text", {**DELTA, "layer_types": MIXED}),
    Case("qwen3_5_moe_text", {**EXPERTS, **DELTA, "layer_types": MIXED, "shared_expert_intermediate_size": 20}),

    Case("falcon_h1", FALCON_H1),
    Case("falcon_h1/normed", {**FALCON_H1, **FACTORS, "mamba_rms_norm": True, "attention_bias": True}),
    Case("falcon_h1/after", {**FALCON_H1, "mamba_rms_norm": True, "mamba_norm_before_gate": False,
                             "projectors_bias": True, "mlp_bias": True, "mamba_proj_bias": True},
         tolerance=3e-4),  # summed in chunks there
    Case("nemotron_h", NEMOTRON_H),
    Case("nemotron_h/latents", {**NEMOTRON_H, "moe_latent_size": 16, "use_bias": True, "routed_scaling_factor": 2.5,
                                "layers_block_type": ["full_attention", "linear_attention", "full_attention", "moe",
                                                      "linear_attention"]}),
    Case("olmo_hybrid", {"linear_value_head_dim": 9}),  # others are saved wrong there: convolutions in equal parts
    Case("olmo_hybrid/groups", {**DELTA, "linear_value_head_dim": 5, "linear_allow_neg_eigval": False,
                                "layer_types": MIXED, "rope_parameters": {"rope_type": "default", "rope_theta": None}},
         without=("old",)),
    Case("kimi_linear", {**KIMI, "mlp_layer_types": ["sparse"] * 4}),
    Case("kimi_linear/dense", {**KIMI, "q_lora_rank": 28, "layer_types": None,
                               "num_hidden_layers": 5, "mlp_layer_types": ["dense"] * 5},
         renamed=("block_sparse_moe.", "mlp.")),
    Case("minimax", {**LOCAL_EXPERTS, "sliding_window": None}),
    Case("minimax/factors", {**LOCAL_EXPERTS, "full_attn_alpha_factor": 1.5, "linear_attn_alpha_factor": 0.7,
                             "mlp_alpha_factor": 1.2, "linear_attn_beta_factor": 0.8, "mlp_beta_factor": 0.9}),
    Case("recurrent_gemma"),
    Case("recurrent_gemma/biases", {"block_types": ["attention", "recurrent"], "attention_bias": True,
                                  "head_dim": 12}),

    # Attention in chunks
    Case("llama4_text", {**LLAMA4, "interleave_moe_layer_step": 2}),
    Case("llama4_text/plain", {**LLAMA4, "use_qk_norm": False, "attn_temperature_tuning": False,
                               "attention_bias": True, "num_experts_per_tok": 2}),
    multimodal("llama4", "llama4_text", {"hidden_size": 16, "intermediate_size": 64, "num_hidden_layers": 1,
                                         "num_attention_heads": 2, "image_size": 28, "patch_size": 14,
                                         "vision_output_dim": 16, "projector_input_dim": 16,
                                         "projector_output_dim": 16}, LLAMA4),

    # MLPs without a gate
    Case("arcee", {"mlp_bias": True}),
    Case("jais2"),
    Case("nemotron"),
    Case("nemotron/biases", {"attention_bias": True, "mlp_bias": True}),
    Case("persimmon"),
    Case("persimmon/unnormed", {"qk_layernorm": False, "partial_rotary_factor": 1 / 3}),
    Case("nanochat"),
    Case("apertus"),
    Case("apertus/silu", {"hidden_act": "silu", **LLAMA3}),
    # Mixtures
    Case("glm4_moe", {**ROUTED, "use_qk_norm": True, "attention_bias": True}),
    Case("glm4_moe/grouped", {**ROUTED, "n_group": 4, "topk_group": 2, "routed_scaling_factor": 2.0,
                              "norm_topk_prob": False}),
    Case("dots1", {**ROUTED, "n_shared_experts": 1, "first_k_dense_replace": 1}),
    Case("dots1/windows", {**ROUTED, "n_shared_experts": 2, "max_window_layers": 2, "norm_topk_prob": True}),
    Case("solar_open", ROUTED),
    Case("sarvam_moe", ROUTED),
    Case("exaone_moe", {**EXPERTS, "layer_types": WINDOWS}),
    Case("hy_v3", EXPERTS),
    Case("glm4_moe_lite", {**LATENT, "mlp_layer_types": ["dense", "dense", "sparse", "sparse"]}, without=("old",)),
    Case("sarvam_mla", LATENT),
    Case("youtu", {**DIRECT, "q_lora_rank": 28}),
    Case("minicpm3", {**DIRECT, "q_lora_rank": 28, "num_key_value_heads": 4}),
    Case("minimax_m2", LOCAL_EXPERTS),
    Case("minimax_m2/partial", {**LOCAL_EXPERTS, **rope("default", partial_rotary_factor=0.5)}),
    Case("granitemoe", {**LOCAL_EXPERTS, "embedding_multiplier": 3.0, "residual_multiplier": 0.4,
                        "logits_scaling": 5.0, "attention_multiplier": 0.2}),
    Case("granitemoeshared", {**LOCAL_EXPERTS, "shared_intermediate_size": 20, "residual_multiplier": 0.4}),
    Case("phimoe", {**LOCAL_EXPERTS, "sliding_window": None, "router_jitter_noise": 0.2}),
    Case("phimoe/biases", {**LOCAL_EXPERTS, "attention_bias": True, "lm_head_bias": True}),
    Case("flex_olmo", {"num_experts": 6, "num_experts_per_tok": 3, "norm_topk_prob": True}),
    Case("ernie4_5_moe", {**ERNIE, "use_bias": False}),
    Case("ernie4_5_moe/interval", {**ERNIE, "moe_layer_interval": 2, "moe_num_shared_experts": 1}),
    Case("hunyuan_v1_dense"),
    Case("hunyuan_v1_dense/alpha", {"attention_bias": True, **rope("dynamic", factor=1.0, alpha=50.0)}),
    Case("hunyuan_v1_moe", {"num_experts": 6, "moe_topk": [2, 2, 2, 2]}),
    Case("granite_swa", {"embedding_multiplier": 3.0, "residual_multiplier": 0.4, "attention_multiplier": 0.2},
         sinkless=True),
    Case("granite_swa/bases", {"layer_rope_theta": [0, 10000.0, 500.0, 10000.0], "attention_multiplier": 0.2},
         sinkless=True),
    Case("granitemoe_swa", {**LOCAL_EXPERTS, "shared_intermediate_size": 20, "attention_multiplier": 0.2},
         sinkless=True),
    Case("mellum", {**EXPERTS, "layer_types": WINDOWS, "mlp_layer_types": ["dense", "sparse"] * 2}),
    Case("afmoe", {**EXPERTS, "num_shared_experts": 1, "route_scale": 1.5, "mup_enabled": True}),
    Case("axk1", LATENT),
    # Descendants of GPT and OPT
    Case("gpt_bigcode"),
    Case("gpt_bigcode/heads", {"multi_query": False, "n_inner": 40}),
    Case("openai-gpt"),
    Case("codegen", {"rotary_dim": 8}),
    Case("xglm", {"ffn_dim": 56}),
    Case("biogpt", {"scale_embedding": False}),
    # Llama under other names, and the text parts of multimodal models
    Case("exaone", {"mlp_bias": True}),
    Case("hyperclovax", {"residual_multiplier": 0.4, "attention_multiplier": 0.2}),
    Case("hyperclovax/one norm", {"use_post_norm": False, "logits_scaling": 3.0, "mlp_bias": True}),
    Case("internlm3", {"bias": True, "qkv_bias": True}),
    Case("iquestcoder", {"attention_bias": True}),
    multimodal("llava", "llama", CLIP),
    multimodal("llava_next", "llama", CLIP),
    multimodal("llava_next_video", "llama", CLIP),
    multimodal("llava_onevision", "qwen2", SIGLIP),
    multimodal("vipllava", "llama", CLIP),
    multimodal("video_llava", "llama", CLIP),
    multimodal("idefics2", "mistral", {**PICTURE, "model_type": "idefics2_vision"}),
    multimodal("idefics3", "llama", {**PICTURE, "model_type": "idefics3_vision"}),
    multimodal("smolvlm", "llama", {**PICTURE, "model_type": "smolvlm_vision"}),
    multimodal("mistral3", "mistral", PIXTRAL),
    multimodal("mistral3/ministral3", "ministral3", PIXTRAL),
    multimodal("internvl", "qwen2", INTERN),
    multimodal("got_ocr2", "qwen2", {**PICTURE, "model_type": "got_ocr2_vision"}),
    multimodal("lighton_ocr", "qwen3", PIXTRAL),
    multimodal("exaone4_5", "exaone4", {"model_type": "exaone4_5_vision", **QWEN}, {"layer_types": WINDOWS}),
    multimodal("qwen2_vl", "qwen2_vl_text", QWEN, MROPE),
    multimodal("qwen2_5_vl", "qwen2_5_vl_text", QWEN, MROPE),
    multimodal("qwen3_vl", "qwen3_vl_text", {**QWEN, "out_hidden_size": 48, "deepstack_visual_indexes": [0]}),
    multimodal("qwen3_5", "qwen3_5_text", {**QWEN, "out_hidden_size": 48}, {**DELTA, "layer_types": MIXED}),
    multimodal("qwen3_5_moe", "qwen3_5_moe_text", {**QWEN, "out_hidden_size": 48},
               {**EXPERTS, **DELTA, "layer_types": MIXED, "shared_expert_intermediate_size": 20}),
    multimodal("gemma3", "gemma3_text", SIGLIP),
    multimodal("aya_vision", "cohere2", SIGLIP, {"layer_types": WINDOWS}),
    multimodal("cohere2_vision", "cohere2", SIGLIP, {"layer_types": WINDOWS}),
    multimodal("deepseek_vl", "llama", SIGLIP),
    multimodal("deepseek_vl_hybrid", "llama", SIGLIP),
    multimodal("janus", "llama", {**PICTURE, "model_type": "janus_vision_model", "projection_dim": 48}),
    multimodal("kimi_k25", "deepseek_v3", {**PICTURE, "model_type": "kimi_k25_vision"}, LATENT,
               renamed=("language_model.model.blocks.", "language_model.model.layers.")),
    multimodal("ovis2", "qwen2", {**PICTURE, "model_type": "ovis2_vision", "vocab_size": 20}),
    multimodal("video_llama_3", "qwen2", {**PICTURE, "model_type": "video_llama_3_vision"}),
    multimodal("qianfan_ocr", "qwen3", {**PICTURE, "model_type": "qianfan_ocr_vision", "image_size": [28, 28],
                                        "patch_size": [14, 14]},
               renamed=("language_model.model.encoder.", "language_model.model.")),
    multimodal("hyperclovax_vision_v2", "hyperclovax", {**QWEN, "model_type": "qwen2_5_vl_vision",
                                                        "hidden_size": 16, "out_hidden_size": 48}),
    multimodal("fuyu", "persimmon", None),
    multimodal("blip-2", "opt", {**PICTURE, "model_type": "blip_2_vision_model"}, OPT, part="language_model"),
    multimodal("instructblip", "opt", {**PICTURE, "model_type": "instructblip_vision_model"}, OPT,
               part="language_model"),
    # Sounds
    heard("qwen2_audio", "qwen2", "qwen2_audio_encoder"),
    heard("audioflamingo3", "qwen2", "audioflamingo3_encoder"),
    heard("musicflamingo", "qwen2", "audioflamingo3_encoder"),
    heard("voxtral", "llama", "voxtral_encoder"),
    heard("glmasr", "llama", "glmasr_encoder"),
    Case("granite_speech", {"text_config": ("granite", {}), "encoder_config": {
        "model_type": "granite_speech_encoder", "hidden_dim": 16, "num_layers": 1, "num_heads": 2, "dim_head": 8,
        "output_dim": 8}, "has_lora_adapter": False}, without=("old",)),
]
