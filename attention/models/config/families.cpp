#include "attention/models/config/families.h"

#include <fmt/core.h>

#include "attention/formats/quote.h"
#include "attention/text/ascii.h"

namespace headscope::attention {

std::optional<Index> layerOf(std::string_view name, const TensorNaming& naming) {
  const std::string_view pattern = naming.names.layer, before = pattern.substr(0, pattern.find('N'));
  constexpr std::size_t kMostDigits = 9;
  for (const std::string_view prefix : naming.prefixes) {
    if (!name.starts_with(prefix) || !name.substr(prefix.size()).starts_with(before)) continue;
    if (before.size() == pattern.size()) return 0;
    const std::string_view rest = name.substr(prefix.size() + before.size());
    const std::size_t digits = rest.find_first_not_of("0123456789");
    if (digits == 0 || digits > kMostDigits || rest[digits] != '.') continue;
    return static_cast<Index>(std::stoll(std::string(rest.substr(0, digits))));
  }
  return std::nullopt;
}

std::span<const Family* const> familyTable() {
  static constexpr const Family* kNamed[] = {
      &families::gpt2,         &families::llama,      &families::mistral,
      &families::qwen2,        &families::qwen3,      &families::gemma,
      &families::gemma2,       &families::gemma3Text, &families::gemma3,
      &families::phi3,         &families::gptNeox,    &families::opt,
      &families::bert,         &families::roberta,    &families::distilbert,
      &families::gptNeo,       &families::gptJ,       &families::phi,
      &families::olmo2,        &families::olmo3,      &families::starcoder2,
      &families::granite,      &families::smollm3,    &families::stableLm,
      &families::cohere,       &families::mixtral,    &families::qwen2Moe,
      &families::qwen3Moe,     &families::olmoe,      &families::cohere2,
      &families::glm,          &families::glm4,       &families::falcon,
      &families::bloom,        &families::mpt,        &families::gptOss,
      &families::deepSeek2,    &families::deepSeek3,  &families::xlmRoberta,
      &families::modernBert,   &families::electra,    &families::vit,
      &families::deit,         &families::dinov2,     &families::dinov2WithRegisters,
      &families::clip,         &families::clipVision, &families::t5,
      &families::mt5,          &families::umt5,       &families::siglip,
      &families::siglipVision, &families::vitMsn,     &families::whisper,
      &families::ministral3,   &families::internLm3,  &families::iQuestCoder,
      &families::seedOss,      &families::vaultGemma, &families::ministral,
      &families::cwm,          &families::ernie45,    &families::helium,
      &families::olmo,         &families::exaone4};
  static const std::vector<const Family*> kFamilies = [] {
    std::vector<const Family*> all(std::begin(kNamed), std::end(kNamed));
    for (const auto& file :
         {families::ungated(), families::routed(), families::mixtures(), families::llamaDescendants(),
          families::gptDescendants(), families::bertDescendants(), families::bartDescendants(),
          families::hybrids(), families::mambaHybrids(), families::linearHybrids(), families::chunked(),
          families::recombined()})
      for (const Family& family : file) all.push_back(&family);
    return all;
  }();
  return kFamilies;
}

namespace {

std::string_view computedPart(const Family& family) {
  if (!family.names.patches.empty()) return "vision model";
  if (family.reads) return family.source ? "encoder–decoder" : "decoder that reads an encoder's output";
  if (family.encoder) return "encoder";
  if (!family.names.latentDown.empty()) return "decoder with latent attention";
  if (!family.names.recurrent.empty()) return "decoder with recurrent layers";
  return family.names.router.empty() ? "decoder" : "decoder with experts";
}

}  // namespace

std::span<const Multimodal> multimodalTable() {
  static constexpr std::string_view kVoxtral =
      R"({"num_key_value_heads": 8, "max_position_embeddings": 131072, "rms_norm_eps": 1e-5, "head_dim": 128,
          "rope_theta": 1e8, "vocab_size": 131072, "hidden_size": 3072, "intermediate_size": 8192,
          "num_hidden_layers": 30})";
  static constexpr Multimodal kTable[] = {{"llava", "llama"},
                                          {"llava_next", "llama"},
                                          {"llava_next_video", "llama"},
                                          {"llava_onevision", "qwen2"},
                                          {"vipllava", "llama"},
                                          {"video_llava", "llama"},
                                          {"idefics2", "mistral"},
                                          {"idefics3", "llama"},
                                          {"smolvlm", "llama"},
                                          {"mistral3", "mistral", true},
                                          {"internvl", "qwen2", true},
                                          {"got_ocr2", "qwen2", true},
                                          {"lighton_ocr", "qwen3", true},
                                          {"exaone4_5", "exaone4"},
                                          {"qwen2_vl", "qwen2_vl_text"},
                                          {"qwen2_5_vl", "qwen2_vl_text"},
                                          {"qwen3_vl", "qwen3_vl_text"},
                                          {"qwen3_5", "qwen3_5_text"},
                                          {"qwen3_5_moe", "qwen3_5_moe_text"},
                                          {"fuyu", "persimmon"},
                                          {"blip-2", "opt", true},
                                          {"instructblip", "opt", true},
                                          {"deepseek_vl", "llama", true},
                                          {"deepseek_vl_hybrid", "llama", true},
                                          {"janus", "llama", true},
                                          {"kimi_k25", "deepseek_v3", true},
                                          {"aya_vision", "cohere2", true, true},
                                          {"cohere2_vision", "cohere2", true, true},
                                          {"ovis2", "qwen2", true},
                                          {"video_llama_3", "qwen2"},
                                          {"qianfan_ocr", "qwen3"},
                                          {"hyperclovax_vision_v2", "hyperclovax", true},
                                          {"qwen2_audio", "qwen2", true},
                                          {"audioflamingo3", "qwen2", true},
                                          {"musicflamingo", "qwen2", true},
                                          {"voxtral", "llama", true, false, kVoxtral},
                                          {"glmasr", "llama", true},
                                          {"granite_speech", "granite", true},
                                          {"llama4", "llama4_text"}};
  return kTable;
}

std::vector<ModelType> modelTypes() {
  std::vector<ModelType> types;
  for (const Family* family : familyTable()) {
    const std::string_view computes = computedPart(*family);
    types.push_back({family->name, computes});
    forEachField(family->aliases, [&](std::string_view name, std::string_view) {
      types.push_back({name, computes, family->name});
    });
  }
  for (const Multimodal& each : multimodalTable())
    types.push_back({each.name, "text part of a multimodal model", each.text});
  return types;
}

// The message for a family that isn't computed.

namespace {

/// The family with the longest name that begins `name` or begins with it: "qwen3" for "qwen3_next". At least
/// four letters have to agree.
const Family* nearestByName(std::string_view name) {
  const std::string type = lowerCase(name);
  const Family* nearest = nullptr;
  std::size_t most = 3;
  for (const Family* family : familyTable()) {
    const auto [end, other] = std::ranges::mismatch(type, family->name);
    const auto same = asSize(end - type.begin());
    if (same <= most || same < std::min(type.size(), family->name.size())) continue;
    most = same;
    nearest = family;
  }
  return nearest;
}

bool knows(const ConfigFields& fields, std::string_view name) {
  return isListed(fields.ignored, name) || isListed(fields.fixed, name) ||
         (fields.base && knows(*fields.base, name));
}

/// What isn't computed of well-known types.
struct Missing {
  std::string_view types, part;
};

std::string_view missingPart(std::string_view type) {
  static constexpr Missing kMissing[] = {
      {"mamba mamba2 falcon_mamba", "its layers are state spaces and have no attention"},
      {"rwkv xlstm", "its layers are recurrent and have no attention"},
      {"zamba zamba2", "most of its layers are Mamba's, and the others share their weights"},
      {"bailing_hybrid", "most of its layers have linear attention"},
      {"gemma3n gemma3n_text", "its tokens have embeddings in each layer, and its layers share keys"},
      {"deepseek_v32 glm_moe_dsa", "an indexer chooses the keys of each query"},
      {"mimo_v2_flash", "its layers with a window have other numbers of heads"},
      {"diffllama", "its heads are differences of two attentions"},
      {"deberta deberta-v2", "its scores depend on contents and relative positions apart"},
      {"longformer led big_bird bigbird_pegasus", "its queries see windows and a few global tokens"}};
  for (const Missing& each : kMissing)
    if (isListed(each.types, type)) return each.part;
  return {};
}

struct KnownFields {
  const Family* family = nullptr;
  std::size_t known = 0, all = 0;
};

/// The family that knows the most of the file's fields, apart from those that all families share: that asks
/// for them or ignores them.
KnownFields nearestByFields(const ConfigReader& json) {
  std::vector<std::string> own = json.names();
  std::erase_if(own, [](const std::string& name) { return ignores(kSharedFields, name); });
  KnownFields nearest;
  for (const Family* family : familyTable()) {
    const auto asked = fieldsRead(*family, json);
    const std::string inside = family->nested.empty() ? "" : std::string(family->nested) + ".";
    const auto known = asSize(std::ranges::count_if(own, [&](const std::string& name) {
      return asked.contains(inside + name) || knows(family->fields, name);
    }));
    if (known > nearest.known) nearest = {family, known, own.size()};
  }
  return nearest;
}

}  // namespace

std::string unknownFamily(const ConfigReader& json, std::string_view type, std::string_view field) {
  const std::string families =
      fmt::format("of the {} families that Headscope computes.", familyTable().size());
  std::string text = type.empty()
                         ? json.at(field) + " is absent, expected one " + families
                         : json.at(field) + " " + quotedText(std::string(type)) + " is none " + families;
  if (json.isObject("pretrained_cfg") || type.starts_with("timm"))
    return text +
           " It is a model of timm; Headscope reads the vision models of transformers: vit, deit, "
           "dinov2 and clip. " +
           std::string(kRecordInstead);
  if (const std::string_view part = missingPart(type); !part.empty())
    text += fmt::format(" What differs: {}.", part);
  else if (const Family* named = nearestByName(type))
    text += fmt::format(" The nearest by name is {}.", named->name);
  else if (const KnownFields fields = nearestByFields(json); fields.family && 2 * fields.known > fields.all)
    text += fmt::format(" The nearest is {}, which knows {} of its {} fields.", fields.family->name,
                        fields.known, fields.all);
  return text + " " + std::string(kRecordInstead);
}

// Fields that need no reader.

constinit const ConfigFields kSharedFields{
    .ignored =
        // Read by model_config.cpp.
    "model_type architectures is_causal tie_word_embeddings eos_token_id quantization_config "
    "quantization compression_config "
    "num_local_experts num_experts n_routed_experts is_encoder_decoder auto_map "
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
    .ignored =
        "rope_type type rope_theta factor partial_rotary_factor low_freq_factor high_freq_factor "
        "original_max_position_embeddings short_factor long_factor attention_factor beta_fast beta_slow "
        "truncate "
        "mscale mscale_all_dim llama_4_scaling_beta "
        // Positions in pictures; those of text are the same in all sections.
        "mrope_section mrope_interleaved",
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
  return isListed("rope_scaling rope_parameters full_attention sliding_attention", name);
}

/// Collects the unknown fields of `json`, which are known if the file or its object `other` was asked for
/// them.
void collectUnknown(const ConfigReader& json, const ConfigReader& other, const ConfigFields& fields,
                    std::string_view nested, std::vector<std::string>& unknown) {
  checkFixed(json, fields);
  for (const std::string& name : json.names()) {
    if (json.isObject(name) && isRope(name))
      collectUnknown(json.object(name), json.object(name), kRopeFields, {}, unknown);
    else if (!nested.empty() && name == nested)
      collectUnknown(other, json, fields, {}, unknown);
    else if (!json.asked(name) && !other.asked(name) && !ignores(fields, name))
      unknown.push_back(json.path(name));
  }
}

}  // namespace

bool ignores(const ConfigFields& fields, std::string_view name) {
  return isListed(fields.ignored, name) || (fields.base && ignores(*fields.base, name));
}

std::vector<std::string> checkFields(const ConfigReader& json, const ConfigFields& fields,
                                     std::string_view nested) {
  std::vector<std::string> unknown;
  collectUnknown(json, nested.empty() ? json : json.object(nested), fields, nested, unknown);
  return unknown;
}

}  // namespace headscope::attention
