#pragma once

#include <map>
#include <string>

namespace headscope::attention::test {

/// The arguments of the families' configuration classes, and what else their modelling code reads, in
/// transformers 4.54, 4.57.3 and 5.5, except those that all models have.
inline const std::map<std::string, std::string> kPublished = {
    {"gpt2",
     "vocab_size n_positions n_embd n_layer n_head n_inner activation_function resid_pdrop embd_pdrop "
     "attn_pdrop "
     "layer_norm_epsilon initializer_range summary_type summary_use_proj summary_activation "
     "summary_proj_to_labels summary_first_dropout summary_last_dropout scale_attn_weights use_cache "
     "bos_token_id eos_token_id "
     "pad_token_id scale_attn_by_inverse_layer_idx reorder_and_upcast_attn add_cross_attention "
     "tie_word_embeddings"},
    {"llama",
     "vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads num_key_value_heads "
     "hidden_act max_position_embeddings initializer_range rms_norm_eps use_cache pad_token_id bos_token_id "
     "eos_token_id pretraining_tp tie_word_embeddings rope_theta rope_scaling rope_parameters attention_bias "
     "attention_dropout mlp_bias head_dim"},
    {"internlm3",
     "vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads num_key_value_heads "
     "hidden_act max_position_embeddings initializer_range rms_norm_eps use_cache pad_token_id bos_token_id "
     "eos_token_id tie_word_embeddings rope_parameters attention_bias attention_dropout mlp_bias head_dim "
     "qkv_bias bias"},
    {"iquestcoder",
     "vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads num_key_value_heads "
     "hidden_act max_position_embeddings initializer_range rms_norm_eps use_cache pad_token_id bos_token_id "
     "eos_token_id tie_word_embeddings rope_parameters attention_bias attention_dropout mlp_bias head_dim "
     "clip_qkv"},
    {"seed_oss",
     "vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads num_key_value_heads "
     "hidden_act max_position_embeddings initializer_range rms_norm_eps use_cache pad_token_id bos_token_id "
     "eos_token_id pretraining_tp tie_word_embeddings rope_parameters attention_bias attention_out_bias "
     "attention_dropout residual_dropout mlp_bias head_dim"},
    {"ministral3",
     "vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads num_key_value_heads "
     "head_dim hidden_act max_position_embeddings initializer_range rms_norm_eps use_cache pad_token_id "
     "bos_token_id eos_token_id tie_word_embeddings rope_parameters sliding_window attention_dropout"},
    {"mistral",
     "vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads num_key_value_heads "
     "head_dim "
     "hidden_act max_position_embeddings initializer_range rms_norm_eps use_cache pad_token_id bos_token_id "
     "eos_token_id tie_word_embeddings rope_theta rope_parameters sliding_window attention_dropout"},
    {"qwen2",
     "vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads num_key_value_heads "
     "hidden_act max_position_embeddings initializer_range rms_norm_eps use_cache tie_word_embeddings "
     "rope_theta "
     "rope_scaling rope_parameters use_sliding_window sliding_window max_window_layers layer_types "
     "attention_dropout pad_token_id bos_token_id eos_token_id"},
    {"qwen3",
     "vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads num_key_value_heads "
     "head_dim "
     "hidden_act max_position_embeddings initializer_range rms_norm_eps use_cache tie_word_embeddings "
     "rope_theta "
     "rope_scaling rope_parameters attention_bias use_sliding_window sliding_window max_window_layers "
     "layer_types "
     "attention_dropout pad_token_id bos_token_id eos_token_id"},
    {"gemma",
     "vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads num_key_value_heads "
     "head_dim "
     "hidden_act hidden_activation max_position_embeddings initializer_range rms_norm_eps use_cache "
     "pad_token_id "
     "eos_token_id bos_token_id tie_word_embeddings rope_theta rope_parameters attention_bias "
     "attention_dropout "
     "use_bidirectional_attention"},
    {"gemma2",
     "vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads num_key_value_heads "
     "head_dim "
     "hidden_activation max_position_embeddings initializer_range rms_norm_eps use_cache pad_token_id "
     "eos_token_id bos_token_id tie_word_embeddings rope_theta rope_parameters attention_bias "
     "attention_dropout "
     "query_pre_attn_scalar sliding_window layer_types final_logit_softcapping attn_logit_softcapping "
     "use_bidirectional_attention cache_implementation"},
    {"gemma3_text",
     "vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads num_key_value_heads "
     "head_dim "
     "hidden_activation max_position_embeddings initializer_range rms_norm_eps use_cache pad_token_id "
     "eos_token_id bos_token_id tie_word_embeddings rope_theta rope_parameters attention_bias "
     "attention_dropout "
     "query_pre_attn_scalar sliding_window layer_types final_logit_softcapping attn_logit_softcapping "
     "rope_scaling rope_local_base_freq sliding_window_pattern _sliding_window_pattern "
     "use_bidirectional_attention cache_implementation"},
    {"gemma3",
     "text_config vision_config mm_tokens_per_image boi_token_index eoi_token_index image_token_index "
     "initializer_range tie_word_embeddings"},
    {"phi3",
     "vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads num_key_value_heads "
     "resid_pdrop embd_pdrop attention_dropout hidden_act max_position_embeddings "
     "original_max_position_embeddings initializer_range rms_norm_eps use_cache tie_word_embeddings "
     "rope_theta "
     "rope_scaling rope_parameters partial_rotary_factor bos_token_id eos_token_id pad_token_id "
     "sliding_window"},
    {"gpt_neox",
     "vocab_size hidden_size num_hidden_layers num_attention_heads intermediate_size hidden_act rotary_pct "
     "rotary_emb_base attention_dropout hidden_dropout classifier_dropout max_position_embeddings "
     "initializer_range layer_norm_eps use_cache bos_token_id eos_token_id pad_token_id tie_word_embeddings "
     "use_parallel_residual rope_scaling rope_parameters attention_bias is_decoder head_dim"},
    {"opt",
     "vocab_size hidden_size num_hidden_layers ffn_dim max_position_embeddings do_layer_norm_before "
     "_remove_final_layer_norm word_embed_proj_dim dropout attention_dropout num_attention_heads "
     "activation_function layerdrop init_std use_cache pad_token_id bos_token_id eos_token_id enable_bias "
     "layer_norm_elementwise_affine tie_word_embeddings"},
    {"gpt_neo",
     "vocab_size max_position_embeddings hidden_size num_layers attention_types num_heads intermediate_size "
     "window_size activation_function resid_dropout embed_dropout attention_dropout classifier_dropout "
     "layer_norm_epsilon initializer_range use_cache bos_token_id eos_token_id attention_layers "
     "tie_word_embeddings"},
    {"gptj",
     "vocab_size n_positions n_embd n_layer n_head rotary_dim n_inner activation_function resid_pdrop "
     "embd_pdrop attn_pdrop layer_norm_epsilon initializer_range use_cache bos_token_id eos_token_id "
     "tie_word_embeddings"},
    {"phi",
     "vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads num_key_value_heads "
     "hidden_act max_position_embeddings initializer_range use_cache pad_token_id bos_token_id eos_token_id "
     "tie_word_embeddings rope_theta rope_scaling rope_parameters attention_dropout resid_pdrop embd_pdrop "
     "layer_norm_eps partial_rotary_factor qk_layernorm"},
    {"olmo2",
     "vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads num_key_value_heads "
     "hidden_act max_position_embeddings initializer_range use_cache pad_token_id bos_token_id eos_token_id "
     "tie_word_embeddings rope_theta rope_scaling rope_parameters attention_dropout attention_bias "
     "rms_norm_eps"},
    {"olmo3",
     "vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads num_key_value_heads "
     "hidden_act max_position_embeddings initializer_range use_cache pad_token_id bos_token_id eos_token_id "
     "tie_word_embeddings rope_theta rope_scaling rope_parameters attention_dropout attention_bias "
     "rms_norm_eps sliding_window layer_types"},
    {"starcoder2",
     "vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads num_key_value_heads "
     "hidden_act max_position_embeddings initializer_range use_cache pad_token_id bos_token_id eos_token_id "
     "tie_word_embeddings rope_theta rope_scaling rope_parameters attention_dropout norm_epsilon "
     "sliding_window residual_dropout embedding_dropout use_bias"},
    {"granite",
     "vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads num_key_value_heads "
     "hidden_act max_position_embeddings initializer_range use_cache pad_token_id bos_token_id eos_token_id "
     "tie_word_embeddings rope_theta rope_scaling rope_parameters attention_dropout rms_norm_eps "
     "attention_bias mlp_bias embedding_multiplier logits_scaling residual_multiplier attention_multiplier"},
    {"smollm3",
     "vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads num_key_value_heads "
     "hidden_act max_position_embeddings initializer_range use_cache pad_token_id bos_token_id eos_token_id "
     "tie_word_embeddings rope_theta rope_scaling rope_parameters attention_dropout rms_norm_eps "
     "use_sliding_window sliding_window no_rope_layers no_rope_layer_interval layer_types attention_bias "
     "mlp_bias"},
    {"stablelm",
     "vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads num_key_value_heads "
     "hidden_act max_position_embeddings initializer_range use_cache pad_token_id bos_token_id eos_token_id "
     "tie_word_embeddings rope_theta rope_scaling rope_parameters attention_dropout layer_norm_eps "
     "use_qkv_bias qk_layernorm use_parallel_residual hidden_dropout partial_rotary_factor"},
    {"cohere",
     "vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads num_key_value_heads "
     "hidden_act max_position_embeddings initializer_range use_cache pad_token_id bos_token_id eos_token_id "
     "tie_word_embeddings rope_theta rope_scaling rope_parameters attention_dropout logit_scale "
     "layer_norm_eps attention_bias use_qk_norm"},
    {"cohere2",
     "vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads num_key_value_heads "
     "hidden_act max_position_embeddings initializer_range use_cache pad_token_id bos_token_id eos_token_id "
     "tie_word_embeddings rope_theta rope_scaling rope_parameters attention_dropout logit_scale "
     "layer_norm_eps attention_bias sliding_window layer_types head_dim"},
    {"glm",
     "vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads num_key_value_heads "
     "hidden_act max_position_embeddings initializer_range use_cache pad_token_id bos_token_id eos_token_id "
     "tie_word_embeddings rope_theta rope_scaling rope_parameters attention_dropout rms_norm_eps "
     "partial_rotary_factor head_dim attention_bias"},
    {"glm4",
     "vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads num_key_value_heads "
     "hidden_act max_position_embeddings initializer_range use_cache pad_token_id bos_token_id eos_token_id "
     "tie_word_embeddings rope_theta rope_scaling rope_parameters attention_dropout rms_norm_eps "
     "partial_rotary_factor head_dim attention_bias"},
    {"falcon",
     "vocab_size hidden_size num_hidden_layers num_attention_heads num_ln_in_parallel_attn "
     "layer_norm_epsilon initializer_range use_cache hidden_dropout attention_dropout num_kv_heads alibi "
     "new_decoder_architecture multi_query parallel_attn bias max_position_embeddings rope_theta "
     "rope_scaling rope_parameters bos_token_id eos_token_id ffn_hidden_size activation"},
    {"bloom",
     "vocab_size hidden_size n_layer n_head layer_norm_epsilon initializer_range use_cache bos_token_id "
     "eos_token_id apply_residual_connection_post_layernorm hidden_dropout attention_dropout "
     "pretraining_tp slow_but_exact n_embed num_attention_heads num_hidden_layers"},
    {"mpt",
     "d_model n_heads n_layers expansion_ratio max_seq_len vocab_size resid_pdrop layer_norm_epsilon "
     "emb_pdrop learned_pos_emb attn_config init_device logit_scale no_bias verbose embedding_fraction "
     "norm_type use_cache initializer_range"},
    {"mixtral",
     "vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads num_key_value_heads "
     "hidden_act max_position_embeddings initializer_range use_cache pad_token_id bos_token_id eos_token_id "
     "tie_word_embeddings rope_theta rope_scaling rope_parameters attention_dropout rms_norm_eps "
     "num_experts_per_tok output_router_logits router_aux_loss_coef "
     "head_dim sliding_window num_local_experts router_jitter_noise"},
    {"qwen2_moe",
     "vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads num_key_value_heads "
     "hidden_act max_position_embeddings initializer_range use_cache pad_token_id bos_token_id eos_token_id "
     "tie_word_embeddings rope_theta rope_scaling rope_parameters attention_dropout rms_norm_eps "
     "num_experts_per_tok output_router_logits router_aux_loss_coef "
     "use_sliding_window sliding_window max_window_layers layer_types decoder_sparse_step "
     "moe_intermediate_size shared_expert_intermediate_size num_experts norm_topk_prob mlp_only_layers "
     "qkv_bias"},
    {"qwen3_moe",
     "vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads num_key_value_heads "
     "hidden_act max_position_embeddings initializer_range use_cache pad_token_id bos_token_id eos_token_id "
     "tie_word_embeddings rope_theta rope_scaling rope_parameters attention_dropout rms_norm_eps "
     "num_experts_per_tok output_router_logits router_aux_loss_coef "
     "use_sliding_window sliding_window max_window_layers head_dim attention_bias decoder_sparse_step "
     "moe_intermediate_size num_experts norm_topk_prob mlp_only_layers"},
    {"olmoe",
     "vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads num_key_value_heads "
     "hidden_act max_position_embeddings initializer_range use_cache pad_token_id bos_token_id eos_token_id "
     "tie_word_embeddings rope_theta rope_scaling rope_parameters attention_dropout rms_norm_eps "
     "num_experts_per_tok output_router_logits router_aux_loss_coef "
     "attention_bias clip_qkv num_experts norm_topk_prob"},
    {"gpt_oss",
     "vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads "
     "num_key_value_heads hidden_act max_position_embeddings initializer_range rms_norm_eps use_cache "
     "pad_token_id bos_token_id eos_token_id tie_word_embeddings rope_theta rope_scaling "
     "rope_parameters attention_dropout attention_bias head_dim sliding_window num_local_experts "
     "num_experts_per_tok swiglu_alpha swiglu_limit router_aux_loss_coef output_router_logits "
     "layer_types initial_context_length experts_per_token"},
    {"deepseek_v2",
     "vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads "
     "num_key_value_heads hidden_act max_position_embeddings initializer_range rms_norm_eps use_cache "
     "pad_token_id bos_token_id eos_token_id tie_word_embeddings rope_theta rope_scaling "
     "rope_parameters attention_dropout attention_bias moe_intermediate_size n_shared_experts "
     "n_routed_experts routed_scaling_factor kv_lora_rank q_lora_rank qk_rope_head_dim v_head_dim "
     "qk_nope_head_dim n_group topk_group num_experts_per_tok first_k_dense_replace norm_topk_prob "
     "pretraining_tp topk_method scoring_func moe_layer_freq ep_size aux_loss_alpha seq_aux head_dim "
     "mlp_bias"},
    {"deepseek_v3",
     "vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads "
     "num_key_value_heads hidden_act max_position_embeddings initializer_range rms_norm_eps use_cache "
     "pad_token_id bos_token_id eos_token_id tie_word_embeddings rope_theta rope_scaling "
     "rope_parameters attention_dropout attention_bias moe_intermediate_size n_shared_experts "
     "n_routed_experts routed_scaling_factor kv_lora_rank q_lora_rank qk_rope_head_dim v_head_dim "
     "qk_nope_head_dim n_group topk_group num_experts_per_tok first_k_dense_replace norm_topk_prob "
     "pretraining_tp topk_method scoring_func moe_layer_freq ep_size aux_loss_alpha seq_aux head_dim "
     "mlp_bias rope_interleave num_nextn_predict_layers qk_head_dim"},
    {"xlm-roberta",
     "vocab_size hidden_size num_hidden_layers num_attention_heads intermediate_size hidden_act "
     "hidden_dropout_prob attention_probs_dropout_prob max_position_embeddings type_vocab_size "
     "initializer_range layer_norm_eps pad_token_id position_embedding_type use_cache "
     "classifier_dropout is_decoder add_cross_attention bos_token_id eos_token_id tie_word_embeddings "
     "embedding_size"},
    {"modernbert",
     "vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads hidden_activation "
     "max_position_embeddings initializer_range initializer_cutoff_factor norm_eps norm_bias "
     "pad_token_id eos_token_id bos_token_id cls_token_id sep_token_id attention_bias "
     "attention_dropout layer_types rope_parameters local_attention embedding_dropout mlp_bias "
     "mlp_dropout decoder_bias classifier_pooling classifier_dropout classifier_bias "
     "classifier_activation deterministic_flash_attn sparse_prediction sparse_pred_ignore_index "
     "reference_compile tie_word_embeddings global_rope_theta local_rope_theta "
     "global_attn_every_n_layers repad_logits_with_grad"},
    {"electra",
     "vocab_size hidden_size num_hidden_layers num_attention_heads intermediate_size hidden_act "
     "hidden_dropout_prob attention_probs_dropout_prob max_position_embeddings type_vocab_size "
     "initializer_range layer_norm_eps pad_token_id position_embedding_type use_cache "
     "classifier_dropout is_decoder add_cross_attention bos_token_id eos_token_id tie_word_embeddings "
     "embedding_size summary_type summary_use_proj summary_activation summary_last_dropout"},
    {"t5",
     "vocab_size d_model d_kv d_ff num_layers num_decoder_layers num_heads relative_attention_num_buckets "
     "relative_attention_max_distance dropout_rate layer_norm_epsilon initializer_factor feed_forward_proj "
     "is_encoder_decoder use_cache pad_token_id eos_token_id classifier_dropout tie_word_embeddings "
     "is_decoder scale_decoder_outputs dense_act_fn is_gated_act"},
    {"bart",
     "vocab_size max_position_embeddings encoder_layers encoder_ffn_dim encoder_attention_heads "
     "decoder_layers decoder_ffn_dim decoder_attention_heads encoder_layerdrop decoder_layerdrop "
     "activation_function d_model dropout attention_dropout activation_dropout init_std "
     "classifier_dropout scale_embedding use_cache num_labels pad_token_id bos_token_id eos_token_id "
     "is_encoder_decoder decoder_start_token_id forced_eos_token_id forced_bos_token_id "
     "force_bos_token_to_be_generated tie_word_embeddings is_decoder num_hidden_layers"},
    {"whisper",
     "vocab_size num_mel_bins encoder_layers encoder_attention_heads decoder_layers decoder_attention_heads "
     "decoder_ffn_dim encoder_ffn_dim encoder_layerdrop decoder_layerdrop decoder_start_token_id use_cache "
     "is_encoder_decoder activation_function d_model dropout attention_dropout activation_dropout init_std "
     "scale_embedding max_source_positions max_target_positions pad_token_id bos_token_id eos_token_id "
     "suppress_tokens begin_suppress_tokens use_weighted_layer_sum classifier_proj_size "
     "apply_spec_augment mask_time_prob mask_time_length mask_time_min_masks mask_feature_prob "
     "mask_feature_length mask_feature_min_masks median_filter_width tie_word_embeddings"},
    {"mt5",
     "vocab_size d_model d_kv d_ff num_layers num_decoder_layers num_heads relative_attention_num_buckets "
     "relative_attention_max_distance dropout_rate layer_norm_epsilon initializer_factor feed_forward_proj "
     "is_encoder_decoder use_cache tokenizer_class tie_word_embeddings pad_token_id eos_token_id "
     "decoder_start_token_id classifier_dropout is_decoder scale_decoder_outputs dense_act_fn is_gated_act"},
    {"bert",
     "vocab_size hidden_size num_hidden_layers num_attention_heads intermediate_size hidden_act "
     "hidden_dropout_prob attention_probs_dropout_prob max_position_embeddings type_vocab_size "
     "initializer_range layer_norm_eps pad_token_id position_embedding_type use_cache classifier_dropout "
     "is_decoder add_cross_attention bos_token_id eos_token_id tie_word_embeddings embedding_size"},
    {"roberta",
     "vocab_size hidden_size num_hidden_layers num_attention_heads intermediate_size hidden_act "
     "hidden_dropout_prob attention_probs_dropout_prob max_position_embeddings type_vocab_size "
     "initializer_range layer_norm_eps pad_token_id bos_token_id eos_token_id position_embedding_type "
     "use_cache "
     "classifier_dropout is_decoder add_cross_attention tie_word_embeddings embedding_size"},
    {"vit",
     "hidden_size num_hidden_layers num_attention_heads intermediate_size hidden_act hidden_dropout_prob "
     "attention_probs_dropout_prob initializer_range layer_norm_eps image_size patch_size num_channels "
     "qkv_bias "
     "encoder_stride pooler_output_size pooler_act"},
    {"deit",
     "hidden_size num_hidden_layers num_attention_heads intermediate_size hidden_act hidden_dropout_prob "
     "attention_probs_dropout_prob initializer_range layer_norm_eps image_size patch_size num_channels "
     "qkv_bias "
     "encoder_stride pooler_output_size pooler_act"},
    {"dinov2",
     "hidden_size num_hidden_layers num_attention_heads mlp_ratio hidden_act hidden_dropout_prob "
     "attention_probs_dropout_prob initializer_range layer_norm_eps image_size patch_size num_channels "
     "qkv_bias "
     "layerscale_value drop_path_rate use_swiglu_ffn out_features out_indices apply_layernorm "
     "reshape_hidden_states use_mask_token"},
    {"dinov2_with_registers",
     "hidden_size num_hidden_layers num_attention_heads mlp_ratio hidden_act hidden_dropout_prob "
     "attention_probs_dropout_prob initializer_range layer_norm_eps image_size patch_size num_channels "
     "qkv_bias "
     "layerscale_value drop_path_rate use_swiglu_ffn out_features out_indices apply_layernorm "
     "reshape_hidden_states num_register_tokens"},
    {"clip", "text_config vision_config projection_dim logit_scale_init_value"},
    {"clip_vision_model",
     "hidden_size intermediate_size projection_dim num_hidden_layers num_attention_heads num_channels "
     "image_size "
     "patch_size hidden_act layer_norm_eps attention_dropout initializer_range initializer_factor"},
    {"distilbert",
     "vocab_size max_position_embeddings sinusoidal_pos_embds n_layers n_heads dim hidden_dim dropout "
     "attention_dropout activation initializer_range qa_dropout seq_classif_dropout pad_token_id "
     "tie_word_embeddings"}};

/// Additional fields in published files: from code that preceded transformers', and from other programs.
inline const std::map<std::string, std::string> kInPublishedFiles = {
    {"llama", "is_llama_config rope_interleaved transformers.js_config"},
    {"qwen2", "use_mrope"},
    {"gpt2", "n_ctx"},
    {"phi3", "full_attn_mod interpolate_factor lm_head_bias mlp_bias auto_map"},
    {"starcoder2",
     "activation_function layer_norm_epsilon attention_softmax_in_fp32 scale_attention_softmax_in_fp32 "
     "scale_attn_weights mlp_type norm_type"},
    {"smollm3", "max_window_layers pretraining_tp transformers.js_config"},
    {"cohere2", "layer_switch order_of_interleaved_layers rotary_pct use_embedding_sharing"},
    {"gpt_oss", "experts_per_token initial_context_length swiglu_limit quantization_config"},
    {"deepseek_v2", "aux_loss_alpha seq_aux ep_size scoring_func topk_method norm_topk_prob"},
    {"opt", "prefix activation_dropout"},
    {"distilbert", "tie_weights_"}};

}  // namespace headscope::attention::test
