// Every field that a family's published code knows is used, known not to matter, or refused by name.

#include "attention/models/config_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "attention/models/families.h"
#include "tests/attention/models/golden_models.h"
#include "tests/attention/models/plain_model.h"
#include "tests/support/temporary_folder.h"

namespace headscope::attention::test {
namespace {

using ::testing::HasSubstr;
using OrderedJson = nlohmann::ordered_json;

/// The arguments of the families' configuration classes, and what else their modelling code reads, in
/// transformers 4.54, 4.57.3 and 5.5, but for those that all models have.
const std::map<std::string, std::string> kPublished = {
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
    {"distilbert",
     "vocab_size max_position_embeddings sinusoidal_pos_embds n_layers n_heads dim hidden_dim dropout "
     "attention_dropout activation initializer_range qa_dropout seq_classif_dropout pad_token_id "
     "tie_word_embeddings"}};

/// A config.json of the family that is read without a note.
OrderedJson configOf(const Family& family) {
  for (const PlainModel& model : plainModels()) {
    OrderedJson json = OrderedJson::parse(model.config);
    if (!json.contains("model_type")) json["model_type"] = "bert";
    if (json["model_type"] == family.name) return json;
  }
  throw std::runtime_error("there is no config of " + std::string(family.name));
}

/// The object that describes the model.
OrderedJson& described(const Family& family, OrderedJson& json) {
  return family.nested.empty() ? json : json[std::string(family.nested)];
}

Result<ModelConfig> read(const OrderedJson& json) {
  return readModelConfig(json.dump(), "config.json");
}

/// Visits the names of one list, the base's included.
template <class Visit>
void walk(const ConfigFields* fields, std::string_view ConfigFields::*list, Visit&& visit) {
  for (; fields; fields = fields->base)
    forEachField(fields->*list, [&](std::string_view name, std::string_view) { visit(std::string(name)); });
}

std::set<std::string> namesOf(const ConfigFields& fields, std::string_view ConfigFields::*list) {
  std::set<std::string> names;
  walk(&fields, list, [&](const std::string& name) { names.insert(name); });
  return names;
}

TEST(ConfigFields, whatPublishedCodeKnowsIsOnAList) {
  for (const Family* family : familyTable()) {
    const auto published = kPublished.find(std::string(family->name));
    ASSERT_NE(published, kPublished.end()) << family->name << " is not in this test";
    forEachField(published->second, [&](std::string_view name, std::string_view) {
      const auto isOn = [&](std::string_view ConfigFields::*list) {
        return namesOf(family->fields, list).contains(std::string(name));
      };
      EXPECT_TRUE(name == family->nested || isOn(&ConfigFields::read) || isOn(&ConfigFields::ignored) ||
                  isOn(&ConfigFields::fixed))
          << family->name << ": " << name;
    });
  }
}

/// No value of the wrong kind passes: a field that is said to be read is read.
TEST(ConfigFields, whatIsReadIsReadWhateverTheOthersSay) {
  for (const Family* family : familyTable())
    for (const std::string& name : namesOf(family->fields, &ConfigFields::read)) {
      OrderedJson json = configOf(*family);
      const bool shared = namesOf(kSharedFields, &ConfigFields::read).contains(name);
      (shared && name != "is_causal" ? json : described(*family, json))[name] =
          OrderedJson::array({OrderedJson::object()});
      const auto config = read(json);
      ASSERT_FALSE(config.ok()) << family->name << ": " << name << " is not read";
      EXPECT_THAT(config.error().message, HasSubstr(name)) << family->name;
    }
}

TEST(ConfigFields, whatIsFixedIsRefusedByNameWithAnyOtherValue) {
  for (const Family* family : familyTable())
    for (const std::string& name : namesOf(family->fields, &ConfigFields::fixed)) {
      OrderedJson json = configOf(*family);
      OrderedJson& object = described(*family, json);
      object[name] = "other";
      const auto config = read(json);
      ASSERT_FALSE(config.ok()) << family->name << ": " << name;
      EXPECT_THAT(config.error().message, HasSubstr(name + " is \"other\", expected ")) << family->name;
    }
}

TEST(ConfigFields, whatIsIgnoredChangesNothing) {
  for (const Family* family : familyTable()) {
    const auto plain = read(configOf(*family));
    ASSERT_TRUE(plain.ok()) << plain.error().message;
    const auto own = namesOf(family->fields, &ConfigFields::read);
    for (const std::string& name : namesOf(family->fields, &ConfigFields::ignored)) {
      if (own.contains(name)) continue;
      OrderedJson json = configOf(*family);
      described(*family, json)[name] = OrderedJson::array({7});
      const auto config = read(json);
      ASSERT_TRUE(config.ok()) << family->name << ": " << config.error().message;
      EXPECT_EQ(*config, *plain) << family->name << ": " << name;
    }
  }
}

TEST(ConfigFields, whatNobodyKnowsIsSaidOnce) {
  for (const Family* family : familyTable()) {
    OrderedJson json = configOf(*family);
    const auto plain = read(json);
    ASSERT_TRUE(plain.ok()) << plain.error().message;
    OrderedJson& object = described(*family, json);
    object["half_the_heads"] = true;
    object["unsaid"] = nullptr;
    const auto config = read(json);
    ASSERT_TRUE(config.ok()) << config.error().message;
    const std::string path = family->nested.empty() ? "" : std::string(family->nested) + ".";
    ASSERT_EQ(config->notes.size(), plain->notes.size() + 1) << family->name;
    EXPECT_EQ(config->notes.back(),
              "config.json has a field that Headscope doesn't know: \"" + path + "half_the_heads\".");
  }
  OrderedJson llama = configOf(families::llama);
  llama["x"] = 1;
  llama["rope_scaling"]["y"] = 2;
  EXPECT_EQ(read(llama)->notes.back(),
            "config.json has fields that Headscope doesn't know: \"rope_scaling.y\", \"x\".");
}

/// Gemma's modelling code reads hidden_act since transformers 4.48, Gemma 2's and 3's hidden_activation
/// alone.
TEST(ConfigFields, gemmasActivationIsTheOneItsCodeReads) {
  const auto with = [](const Family& family, const char* act, const char* activation) {
    OrderedJson json = configOf(family);
    json.erase("hidden_act");
    json.erase("hidden_activation");
    if (act) json["hidden_act"] = act;
    if (activation) json["hidden_activation"] = activation;
    return *read(json);
  };
  EXPECT_EQ(with(families::gemma, "relu", nullptr).activation, Activation::relu);
  EXPECT_EQ(with(families::gemma, nullptr, nullptr).activation, Activation::geluTanh);
  EXPECT_THAT(with(families::gemma, "relu", nullptr).notes, testing::IsEmpty());
  EXPECT_EQ(with(families::gemma2, "relu", nullptr).activation, Activation::geluTanh);
  for (const Family* family : {&families::gemma, &families::gemma2}) {
    const ModelConfig both = with(*family, "relu", "gelu");
    EXPECT_EQ(both.activation, Activation::gelu);
    EXPECT_THAT(both.notes, testing::ElementsAre(
                                "config.json says \"relu\" for hidden_act, \"gelu\" for hidden_activation: "
                                "the latter counts."));
  }
}

TEST(ConfigFields, goldenModelsHaveNoneThatIsUnknown) {
  for (const std::string& family : kGoldenFamilies) {
    const auto text = headscope::test::fileText(goldenModel(family) / "config.json");
    EXPECT_THAT(readModelConfig(text, "config.json")->notes, testing::IsEmpty()) << family;
  }
}

TEST(ConfigFields, codeOfTheFilesOwnIsSaidNotToRun) {
  OrderedJson json = configOf(families::phi3);
  json["auto_map"] = {{"AutoModelForCausalLM", "modeling_phi3.Phi3ForCausalLM"}};
  ASSERT_EQ(read(json)->notes.size(), 1u);
  EXPECT_THAT(read(json)->notes[0], HasSubstr("auto_map"));
}

}  // namespace
}  // namespace headscope::attention::test
