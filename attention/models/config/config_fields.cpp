#include "attention/models/config/config_reader.h"

namespace headscope::attention {

constinit const ConfigFields kSharedFields{
    .read =
        "model_type architectures is_causal tie_word_embeddings eos_token_id quantization_config "
        "num_local_experts num_experts n_routed_experts is_encoder_decoder auto_map",
    .ignored =
        // Where the file comes from and how its weights are stored.
    "transformers_version torch_dtype dtype _name_or_path _commit_hash auto_mapping unsloth_version "
    "unsloth_fixed model_name transformers.js_config "
    // Training.
    "is_decoder initializer_range gradient_checkpointing attention_dropout hidden_dropout "
    "hidden_dropout_prob "
    "attention_probs_dropout_prob resid_pdrop embd_pdrop attn_pdrop classifier_dropout dropout layerdrop "
    // How the model is computed, without effect on the result.
    "use_cache cache_implementation pretraining_tp chunk_size_feed_forward attn_implementation "
    "_attn_implementation _attn_implementation_autoset torchscript use_bfloat16 tf_legacy_loss "
    "output_attentions output_hidden_states output_scores return_dict use_return_dict "
    "return_dict_in_generate "
    // Other heads, and tokens that other programs add.
    "id2label label2id num_labels finetuning_task problem_type task_specific_params tokenizer_class "
    "bos_token_id pad_token_id sep_token_id cls_token_id mask_token_id unk_token_id "
    "decoder_start_token_id forced_bos_token_id forced_eos_token_id prefix "
    // Generation. Fields that change more than the sampling produce notes (model_config.h).
    "max_length min_length max_new_tokens do_sample early_stopping num_beams num_beam_groups "
    "diversity_penalty temperature top_k top_p typical_p repetition_penalty length_penalty "
    "no_repeat_ngram_size encoder_no_repeat_ngram_size bad_words_ids num_return_sequences "
    "remove_invalid_values exponential_decay_length_penalty suppress_tokens begin_suppress_tokens "
    // Fields for encoder–decoders and mixtures, which other models' files have too.
    "cross_attention_hidden_size tie_encoder_decoder num_experts_per_tok router_aux_loss_coef "
    "output_router_logits",
    .fixed = "add_cross_attention=false pruned_heads={}",
};

constinit const ConfigFields kRopeFields{
    .read =
        "rope_type type rope_theta factor partial_rotary_factor low_freq_factor high_freq_factor "
        "original_max_position_embeddings short_factor long_factor attention_factor beta_fast beta_slow "
        "truncate "
        "mscale mscale_all_dim llama_4_scaling_beta",
};

namespace {

void checkFixed(const ConfigReader& json, const ConfigFields& fields) {
  forEachField(fields.fixed, [&](std::string_view name, std::string_view value) {
    if (value.starts_with('@'))
      json.expectSame(name, value.substr(1));
    else
      json.expect(name, value);
  });
  if (fields.base) checkFixed(json, *fields.base);
}

/// Whether the object holds a rotation's fields, directly or one set per kind of layer.
bool isRope(std::string_view name) {
  static constexpr std::string_view kNames[] = {"rope_scaling", "rope_parameters", "full_attention",
                                                "sliding_attention"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

void collectUnknown(const ConfigReader& json, const ConfigFields& fields, std::string_view nested,
                    std::vector<std::string>& unknown) {
  checkFixed(json, fields);
  for (const std::string& name : json.names()) {
    if (json.isObject(name) && isRope(name))
      collectUnknown(json.object(name), kRopeFields, {}, unknown);
    else if (name == nested)
      collectUnknown(json.object(name), fields, {}, unknown);
    else if (!knows(fields, name))
      unknown.push_back(json.path(name));
  }
}

}  // namespace

bool isListed(std::string_view list, std::string_view name) {
  bool found = false;
  forEachField(list, [&](std::string_view each, std::string_view) { found |= each == name; });
  return found;
}

bool knows(const ConfigFields& fields, std::string_view name) {
  return isListed(fields.read, name) || isListed(fields.ignored, name) || isListed(fields.fixed, name) ||
         (fields.base && knows(*fields.base, name));
}

bool readsItself(const ConfigFields& fields, std::string_view name) {
  return &fields != &kSharedFields &&
         (isListed(fields.read, name) || (fields.base && readsItself(*fields.base, name)));
}

std::vector<std::string> checkFields(const ConfigReader& json, const ConfigFields& fields,
                                     std::string_view nested) {
  std::vector<std::string> unknown;
  collectUnknown(json, fields, nested, unknown);
  return unknown;
}

}  // namespace headscope::attention
