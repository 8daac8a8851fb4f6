#include "attention/models/config/text_part.h"

#include <ranges>
#include <span>

#include "attention/formats/quote.h"
#include "attention/models/config/config_reader.h"
#include "attention/text/ascii.h"

namespace headscope::attention {

namespace {

/// The key of the object with the text model, or with the object that has it; "" if there is none.
std::string keyOfText(const ConfigReader& json) {
  for (const char* layers : {"num_hidden_layers", "num_layers", "n_layers", "n_layer"})
    if (json.has(layers)) return "";
  for (const char* key : {"text_config", "llm_config", "language_config", "thinker_config",
                          "language_model_config", "text_cfg", "llm"})
    if (json.isObject(key)) return key;
  return "";
}

/// Adds "vision" for an object vision_config, unless it describes the text model or how weights are stored.
void addOthers(const ConfigReader& json, std::string_view text, std::vector<std::string>& models) {
  static constexpr std::string_view kParts[] = {"attn_config",         "ffn_config",
                                                "quantization_config", "generation_config",
                                                "compression_config",  "per_layer_config"};
  static constexpr std::string_view kEnd = "_config";
  for (const std::string& name : json.names())
    if (name.ends_with(kEnd) && name != text && json.isObject(name) &&
        std::ranges::find(kParts, name) == std::end(kParts)) {
      models.push_back(name.substr(0, name.size() - kEnd.size()));
      std::replace(models.back().begin(), models.back().end(), '_', ' ');
    }
}

bool has(std::string_view name, std::span<const std::string_view> parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return name.find(part) != name.npos; });
}

/// Whether a field says how weights are stored, in which blocks and groups.
bool isStorage(std::string_view path) {
  return path.starts_with("quantization") || path.starts_with("compression_config");
}

/// Whether a field may change what is cached or how much is computed, by its name.
bool speaksOfAttention(std::string_view name) {
  static constexpr std::string_view kOf[] = {"attention", "attn",    "head",   "kv",   "layer",
                                             "window",    "sliding", "group",  "shar", "block",
                                             "cla_",      "latent",  "mem_len"};
  // Norms, positions, factors, training and the like change values, not how many there are.
  static constexpr std::string_view kNot[] = {
      "norm",   "eps",     "drop",   "init",     "std",      "bias",     "rope",   "rotary",
      "scal",   "cap",     "soft",   "impl",     "32",       "upcast",   "prune",  "multip",
      "temper", "loss",    "dtype",  "backend",  "flash",    "sdpa",     "kernel", "embedding",
      "alpha",  "beta",    "factor", "parallel", "clip",     "relative", "tie",    "label",
      "router", "version", "freez",  "position", "gradient", "topk"};
  static constexpr std::string_view kNames[] = {"n_group", "num_expert_group", "block_dim", "block_type",
                                                "block_use_swiglu"};
  if (knows(kSharedFields, name) || std::ranges::find(kNames, name) != std::end(kNames)) return false;
  const std::string lower = lowerCase(name);
  return has(lower, kOf) && !has(lower, kNot);
}

}  // namespace

TextModel textPart(const ConfigReader& root) {
  TextModel part{root};
  std::vector<std::string> models;
  for (std::string key = keyOfText(root);; key = keyOfText(part.json)) {
    addOthers(part.json, key, models);
    if (key.empty()) break;
    part.json = part.json.object(key);
    part.nested = true;
  }
  for (std::size_t i = 0; i < models.size(); ++i)
    part.others += (i == 0 ? "" : i + 1 == models.size() ? " and " : ", ") + models[i];
  return part;
}

std::string unreadOfAttention(const ConfigReader& json) {
  std::string all;
  for (const std::string& path : json.unread())
    if (!isStorage(path) && speaksOfAttention(path.substr(path.rfind('.') + 1)))
      all += (all.empty() ? "" : ", ") + quotedText(path);
  return all;
}

std::string_view nestedDefaults(std::string_view type) {
  // The sizes of each type's configuration class in Hugging Face's transformers, which leaves them out of
  // files.
  static constexpr std::pair<std::string_view, std::string_view> kDefaults[] = {
      {"llama", R"({"hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
          "intermediate_size": 11008, "vocab_size": 32000, "max_position_embeddings": 2048})"},
      {"mistral", R"({"hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
          "intermediate_size": 14336, "vocab_size": 32000, "max_position_embeddings": 131072})"},
      {"mixtral", R"({"hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
          "intermediate_size": 14336, "vocab_size": 32000, "max_position_embeddings": 131072})"},
      {"qwen2", R"({"hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
          "num_key_value_heads": 32, "intermediate_size": 22016, "vocab_size": 151936,
          "max_position_embeddings": 32768})"},
      {"gemma", R"({"hidden_size": 3072, "num_hidden_layers": 28, "num_attention_heads": 16,
          "num_key_value_heads": 16, "intermediate_size": 24576, "vocab_size": 256000,
          "max_position_embeddings": 8192})"},
      {"gemma2", R"({"hidden_size": 2304, "num_hidden_layers": 26, "num_attention_heads": 8,
          "num_key_value_heads": 4, "intermediate_size": 9216, "vocab_size": 256000,
          "max_position_embeddings": 8192})"},
      {"gemma3_text", R"({"hidden_size": 2304, "num_hidden_layers": 26, "intermediate_size": 9216})"},
      {"opt", R"({"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "ffn_dim": 3072,
          "vocab_size": 50272, "max_position_embeddings": 2048})"},
      {"persimmon", R"({"hidden_size": 4096, "num_hidden_layers": 36, "num_attention_heads": 64,
          "intermediate_size": 16384, "vocab_size": 262144, "max_position_embeddings": 16384})"},
      {"phi", R"({"hidden_size": 2048, "num_hidden_layers": 24, "num_attention_heads": 32,
          "intermediate_size": 8192, "vocab_size": 51200, "max_position_embeddings": 2048})"},
      {"phi3", R"({"hidden_size": 3072, "num_hidden_layers": 32, "num_attention_heads": 32,
          "intermediate_size": 8192, "vocab_size": 32064, "max_position_embeddings": 4096})"},
      {"clip_text_model", R"({"hidden_size": 512, "num_hidden_layers": 12, "num_attention_heads": 8,
          "intermediate_size": 2048, "vocab_size": 49408, "max_position_embeddings": 77})"},
      {"siglip_text_model", R"({"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
          "intermediate_size": 3072, "vocab_size": 32000, "max_position_embeddings": 64})"}};
  const auto found = std::ranges::find(kDefaults, type, [](const auto& each) { return each.first; });
  return found == std::end(kDefaults) ? "{}" : found->second;
}

}  // namespace headscope::attention
