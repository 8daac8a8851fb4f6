#include "attention/models/config/model_catalogue.h"

#include <cctype>

#include "attention/text/ascii.h"

namespace headscope::attention {

namespace {

std::vector<ModelShape> readAll() {
  std::vector<ModelShape> shapes;
  for (const CatalogueModel& model : catalogueModels()) {
    auto shape = readModelShape(model.config, std::string(model.name));
    if (!shape) throw std::logic_error(shape.error().message);
    shape->source = model.source;
    shapes.push_back(*std::move(shape));
  }
  return shapes;
}

/// Whether a word doesn't affect the size: suffixes, dates, numbers of active parameters.
bool saysNoSize(const std::string& word) {
  static constexpr std::string_view kWords[] = {"instruct", "it",      "chat", "base", "hf",  "pt",
                                                "thinking", "preview", "meta", "c4ai", "ai21"};
  const auto digits =
      std::count_if(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  const auto length = std::ssize(word);
  const bool date = length == 4 && digits == 4;
  const bool active = length >= 3 && word.front() == 'a' && word.back() == 'b' && digits >= 1 &&
                      digits + std::count(word.begin(), word.end(), '.') == length - 2;
  return date || active || std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

/// The letters that a plain name begins with: "llama" for "Llama-3.3-70B".
std::string familyOf(std::string_view plain) {
  return std::string(plain.substr(0, std::find_if(plain.begin(), plain.end(), [](unsigned char c) {
                                       return std::isdigit(c) != 0;
                                     }) - plain.begin()));
}

}  // namespace

std::span<const CatalogueModel> catalogueModels() {
  static const std::vector<CatalogueModel> kAll = [] {
    std::vector<CatalogueModel> all;
    for (const auto& rows : {catalogueToGemma(), catalogueFromQwen()})
      all.insert(all.end(), rows.begin(), rows.end());
    return all;
  }();
  return kAll;
}

std::string plainModelName(std::string_view name) {
  if (const auto slash = name.rfind('/'); slash != name.npos) name.remove_prefix(slash + 1);
  std::vector<std::string> words(1);
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '.')
      words.back() += lowerCase(c);
    else if (!words.back().empty())
      words.emplace_back();
  }
  std::string plain;
  for (const std::string& word : words)
    if (!saysNoSize(word)) plain += word;
  return plain;
}

const std::vector<ModelShape>& modelShapes() {
  static const std::vector<ModelShape> kShapes = readAll();
  return kShapes;
}

const ModelShape* findModel(const std::vector<ModelShape>& shapes, std::string_view name) {
  if (const ModelShape* exact = findShape(shapes, name)) return exact;
  const std::string wanted = plainModelName(name);
  if (wanted.empty()) return nullptr;
  const ModelShape* begun = nullptr;
  int many = 0;
  for (const ModelShape& shape : shapes) {
    const std::string plain = plainModelName(shape.name);
    if (plain == wanted) return &shape;
    if (!plain.starts_with(wanted)) continue;
    begun = &shape;
    ++many;
  }
  return many == 1 ? begun : nullptr;
}

std::string nearestModel(const std::vector<ModelShape>& shapes, std::string_view name) {
  const std::string wanted = plainModelName(name), family = familyOf(wanted);
  std::vector<std::string> plain;
  std::vector<const ModelShape*> same, all;
  for (const ModelShape& shape : shapes) {
    all.push_back(&shape);
    if (familyOf(plainModelName(shape.name)) == family) same.push_back(&shape);
  }
  std::vector<const ModelShape*>& among = same.empty() ? all : same;
  std::vector<std::string_view> names;
  for (const ModelShape* shape : among) plain.push_back(plainModelName(shape->name));
  names.assign(plain.begin(), plain.end());
  const std::string found = suggestion(wanted, names);
  for (std::size_t i = 0; i < plain.size(); ++i)
    if (found == "; did you mean " + plain[i] + "?") return "; did you mean " + among[i]->name + "?";
  if (same.empty()) return {};
  std::string list;
  for (std::size_t i = 0; i < same.size() && i < 4; ++i) list += (i > 0 ? ", " : "") + same[i]->name;
  return "; models of the same family: " + list;
}

// One row per model: its name, published number of parameters, sources, and the config.json fields that
// determine its cost. Parameters are those of the published files, including any layer that predicts further
// tokens.

namespace {

constexpr CatalogueModel kToGemma[] = {
    {"BERT-base", 0.10948, "Devlin et al. 2019, section 3; config.json of google-bert/bert-base-uncased",
     R"({"model_type": "bert", "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
        "intermediate_size": 3072, "vocab_size": 30522, "max_position_embeddings": 512})"},
    {"BERT-large", 0.33514, "Devlin et al. 2019, section 3; config.json of google-bert/bert-large-uncased",
     R"({"model_type": "bert", "hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16,
        "intermediate_size": 4096, "vocab_size": 30522, "max_position_embeddings": 512})"},
    {"T5-small", 0.060507, "Raffel et al. 2020, section 3.8; config.json of google-t5/t5-small",
     R"({"model_type": "t5", "d_model": 512, "d_kv": 64, "d_ff": 2048, "num_layers": 6,
        "num_decoder_layers": 6, "num_heads": 8, "vocab_size": 32128, "n_positions": 512})"},
    {"T5-large", 0.73767, "Raffel et al. 2020, section 3.8; config.json of google-t5/t5-large",
     R"({"model_type": "t5", "d_model": 1024, "d_kv": 64, "d_ff": 4096, "num_layers": 24,
        "num_heads": 16, "vocab_size": 32128, "n_positions": 512})"},
    {"BART-large", 0.40629, "Lewis et al. 2020, section 2; config.json of facebook/bart-large",
     R"({"model_type": "bart", "d_model": 1024, "encoder_layers": 12, "decoder_layers": 12,
        "encoder_attention_heads": 16, "decoder_attention_heads": 16, "encoder_ffn_dim": 4096, "decoder_ffn_dim": 4096,
        "vocab_size": 50265, "max_position_embeddings": 1024})"},
    {"Whisper large-v3", 1.5435, "OpenAI 2023, config.json of openai/whisper-large-v3",
     R"({"model_type": "whisper", "d_model": 1280, "encoder_layers": 32, "decoder_layers": 32,
        "encoder_attention_heads": 20, "decoder_attention_heads": 20, "encoder_ffn_dim": 5120, "decoder_ffn_dim": 5120,
        "vocab_size": 51866, "max_target_positions": 448, "max_source_positions": 1500, "num_mel_bins": 128})"},
    {"GPT-1", 0.11653, "Radford et al. 2018, section 4.1; config.json of openai-community/openai-gpt",
     R"({"model_type": "openai-gpt", "n_embd": 768, "n_layer": 12, "n_head": 12,
        "n_positions": 512, "vocab_size": 40478})"},
    {"GPT-2", 0.12444, "Radford et al. 2019, table 2; config.json of openai-community/gpt2",
     R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024,
        "vocab_size": 50257})"},
    {"GPT-2 XL", 1.5576, "Radford et al. 2019, table 2; config.json of openai-community/gpt2-xl",
     R"({"model_type": "gpt2", "n_embd": 1600, "n_layer": 48, "n_head": 25, "n_positions": 1024,
        "vocab_size": 50257})"},
    {"GPT-3 175B", 174.6, "Brown et al. 2020, tables 2.1 and D.1",
     R"({"model_type": "gpt2", "n_embd": 12288, "n_layer": 96, "n_head": 96, "n_positions": 2048,
        "vocab_size": 50257})"},
    {"GPT-J-6B", 6.0509, "config.json of EleutherAI/gpt-j-6b",
     R"({"model_type": "gptj", "n_embd": 4096, "n_layer": 28, "n_head": 16, "n_positions": 2048,
        "vocab_size": 50400, "tie_word_embeddings": false})"},
    {"GPT-NeoX-20B", 20.555, "Black et al. 2022, section 2; config.json of EleutherAI/gpt-neox-20b",
     R"({"model_type": "gpt_neox", "hidden_size": 6144, "num_hidden_layers": 44, "num_attention_heads": 64,
        "intermediate_size": 24576, "max_position_embeddings": 2048, "vocab_size": 50432})"},
    {"PaLM 540B", 540.35, "Chowdhery et al. 2022, table 1",
     R"({"model_type": "llama", "hidden_size": 18432, "num_hidden_layers": 118, "num_attention_heads": 48,
        "num_key_value_heads": 1, "head_dim": 256, "intermediate_size": 73728, "max_position_embeddings": 2048,
        "vocab_size": 256000, "tie_word_embeddings": true})"},
    {"OPT-175B", 175, "Zhang et al. 2022, table 1",
     R"({"model_type": "opt", "hidden_size": 12288, "num_hidden_layers": 96, "num_attention_heads": 96,
        "ffn_dim": 49152, "max_position_embeddings": 2048, "vocab_size": 50272})"},
    {"BLOOM", 176.25, "BigScience 2022, table 3; config.json of bigscience/bloom",
     R"({"model_type": "bloom", "n_embed": 14336, "n_layer": 70, "num_attention_heads": 112,
        "seq_length": 2048, "vocab_size": 250880})"},
    {"StarCoder", 15.517, "Li et al. 2023, StarCoder, table 6; config.json of bigcode/starcoder",
     R"({"model_type": "gpt_bigcode", "n_embd": 6144, "n_layer": 40, "n_head": 48, "n_inner": 24576,
        "n_positions": 8192, "vocab_size": 49152, "multi_query": true})"},
    {"StarCoder2-15B", 15.958, "Lozhkov et al. 2024, table 7; config.json of bigcode/starcoder2-15b",
     R"({"model_type": "starcoder2", "hidden_size": 6144, "num_hidden_layers": 40, "num_attention_heads": 48,
        "num_key_value_heads": 4, "intermediate_size": 24576, "max_position_embeddings": 16384, "sliding_window": 4096,
        "vocab_size": 49152, "tie_word_embeddings": false})"},
    {"Falcon-7B", 6.9217, "Almazrouei et al. 2023, table 15; config.json of tiiuae/falcon-7b",
     R"({"model_type": "falcon", "hidden_size": 4544, "num_hidden_layers": 32, "num_attention_heads": 71,
        "num_kv_heads": 71, "multi_query": true, "new_decoder_architecture": false, "max_position_embeddings": 2048,
        "vocab_size": 65024})"},
    {"Falcon-40B", 41.303, "Almazrouei et al. 2023, table 15; config.json of tiiuae/falcon-40b",
     R"({"model_type": "falcon", "hidden_size": 8192, "num_hidden_layers": 60, "num_attention_heads": 128,
        "num_kv_heads": 8, "new_decoder_architecture": true, "max_position_embeddings": 2048, "vocab_size": 65024})"},
    {"MPT-7B", 6.6493, "MosaicML 2023, config.json of mosaicml/mpt-7b",
     R"({"model_type": "mpt", "d_model": 4096, "n_layers": 32, "n_heads": 32, "expansion_ratio": 4,
        "max_seq_len": 2048, "vocab_size": 50432, "attn_config": {"alibi": true}})"},
    {"DBRX", 131.6, "Databricks 2024, config.json of databricks/dbrx-base",
     R"({"model_type": "dbrx", "d_model": 6144, "n_layers": 40, "n_heads": 48, "max_seq_len": 32768,
        "vocab_size": 100352, "attn_config": {"kv_n_heads": 8, "clip_qkv": 8},
        "ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4}})"},
    {"LLaMA-7B", 6.7384, "Touvron et al. 2023, LLaMA, table 2",
     R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
        "intermediate_size": 11008, "max_position_embeddings": 2048, "vocab_size": 32000})"},
    {"Llama-2-7B", 6.7384, "Touvron et al. 2023, Llama 2, table 1; config.json of meta-llama/Llama-2-7b-hf",
     R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
        "intermediate_size": 11008, "max_position_embeddings": 4096, "vocab_size": 32000})"},
    {"Llama-2-70B", 68.977, "Touvron et al. 2023, Llama 2, table 1; config.json of meta-llama/Llama-2-70b-hf",
     R"({"model_type": "llama", "hidden_size": 8192, "num_hidden_layers": 80, "num_attention_heads": 64,
        "num_key_value_heads": 8, "intermediate_size": 28672, "max_position_embeddings": 4096, "vocab_size": 32000})"},
    {"Llama-3.1-8B", 8.0303,
     "Grattafiori et al. 2024, The Llama 3 Herd of Models, table 3; config.json of meta-llama/Llama-3.1-8B",
     R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 8, "intermediate_size": 14336, "max_position_embeddings": 131072, "vocab_size": 128256})"},
    {"Llama-3.1-70B", 70.554,
     "Grattafiori et al. 2024, The Llama 3 Herd of Models, table 3; config.json of meta-llama/Llama-3.1-70B",
     R"({"model_type": "llama", "hidden_size": 8192, "num_hidden_layers": 80, "num_attention_heads": 64,
        "num_key_value_heads": 8, "intermediate_size": 28672, "max_position_embeddings": 131072, "vocab_size": 128256})"},
    {"Llama-3.1-405B", 405.85,
     "Grattafiori et al. 2024, The Llama 3 Herd of Models, table 3; config.json of meta-llama/Llama-3.1-405B",
     R"({"model_type": "llama", "hidden_size": 16384, "num_hidden_layers": 126, "num_attention_heads": 128,
        "num_key_value_heads": 8, "intermediate_size": 53248, "max_position_embeddings": 131072, "vocab_size": 128256})"},
    {"Llama-3.2-1B", 1.2358, "Meta 2024, config.json of meta-llama/Llama-3.2-1B",
     R"({"model_type": "llama", "hidden_size": 2048, "num_hidden_layers": 16, "num_attention_heads": 32,
        "num_key_value_heads": 8, "head_dim": 64, "intermediate_size": 8192, "max_position_embeddings": 131072,
        "vocab_size": 128256, "tie_word_embeddings": true})"},
    {"Llama-3.2-3B", 3.2127, "Meta 2024, config.json of meta-llama/Llama-3.2-3B",
     R"({"model_type": "llama", "hidden_size": 3072, "num_hidden_layers": 28, "num_attention_heads": 24,
        "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 8192, "max_position_embeddings": 131072,
        "vocab_size": 128256, "tie_word_embeddings": true})"},
    {"Llama-3.3-70B", 70.554, "Meta 2024, config.json of meta-llama/Llama-3.3-70B-Instruct",
     R"({"model_type": "llama", "hidden_size": 8192, "num_hidden_layers": 80, "num_attention_heads": 64,
        "num_key_value_heads": 8, "intermediate_size": 28672, "max_position_embeddings": 131072, "vocab_size": 128256})"},
    {"Llama-4-Scout-17B-16E", 107.77,
     "Meta 2025, config.json of meta-llama/Llama-4-Scout-17B-16E, the text model",
     R"({"model_type": "llama4_text", "hidden_size": 5120, "num_hidden_layers": 48, "num_attention_heads": 40,
        "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 8192, "intermediate_size_mlp": 16384,
        "num_local_experts": 16, "num_experts_per_tok": 1, "interleave_moe_layer_step": 1, "attention_chunk_size": 8192,
        "max_position_embeddings": 10485760, "vocab_size": 202048})"},
    {"Llama-4-Maverick-17B-128E", 400.71,
     "Meta 2025, config.json of meta-llama/Llama-4-Maverick-17B-128E, the text model",
     R"({"model_type": "llama4_text", "hidden_size": 5120, "num_hidden_layers": 48, "num_attention_heads": 40,
        "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 8192, "intermediate_size_mlp": 16384,
        "num_local_experts": 128, "num_experts_per_tok": 1, "interleave_moe_layer_step": 2, "attention_chunk_size": 8192,
        "max_position_embeddings": 1048576, "vocab_size": 202048})"},
    {"Mistral-7B v0.1", 7.2417,
     "Jiang et al. 2023, Mistral 7B, table 1; config.json of mistralai/Mistral-7B-v0.1",
     R"({"model_type": "mistral", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 8, "intermediate_size": 14336, "max_position_embeddings": 32768, "sliding_window": 4096,
        "vocab_size": 32000})"},
    {"Mistral-Nemo-12B", 12.248, "Mistral AI 2024, config.json of mistralai/Mistral-Nemo-Base-2407",
     R"({"model_type": "mistral", "hidden_size": 5120, "num_hidden_layers": 40, "num_attention_heads": 32,
        "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 14336, "max_position_embeddings": 131072,
        "sliding_window": null, "vocab_size": 131072})"},
    {"Mistral-Small-24B", 23.572, "Mistral AI 2025, config.json of mistralai/Mistral-Small-24B-Instruct-2501",
     R"({"model_type": "mistral", "hidden_size": 5120, "num_hidden_layers": 40, "num_attention_heads": 32,
        "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 32768, "max_position_embeddings": 32768,
        "sliding_window": null, "vocab_size": 131072})"},
    {"Mistral-Large-123B", 122.61, "Mistral AI 2024, config.json of mistralai/Mistral-Large-Instruct-2407",
     R"({"model_type": "mistral", "hidden_size": 12288, "num_hidden_layers": 88, "num_attention_heads": 96,
        "num_key_value_heads": 8, "intermediate_size": 28672, "max_position_embeddings": 131072, "sliding_window": null,
        "vocab_size": 32768})"},
    {"Mixtral-8x7B", 46.703,
     "Jiang et al. 2024, Mixtral of Experts, table 1; config.json of mistralai/Mixtral-8x7B-v0.1",
     R"({"model_type": "mixtral", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 8, "intermediate_size": 14336, "max_position_embeddings": 32768, "sliding_window": null,
        "num_local_experts": 8, "num_experts_per_tok": 2, "vocab_size": 32000})"},
    {"Mixtral-8x22B", 140.63, "Mistral AI 2024, config.json of mistralai/Mixtral-8x22B-v0.1",
     R"({"model_type": "mixtral", "hidden_size": 6144, "num_hidden_layers": 56, "num_attention_heads": 48,
        "num_key_value_heads": 8, "intermediate_size": 16384, "max_position_embeddings": 65536, "sliding_window": null,
        "num_local_experts": 8, "num_experts_per_tok": 2, "vocab_size": 32768})"},
    {"Gemma-2B", 2.5062, "Gemma Team 2024, Gemma, table 1; config.json of google/gemma-2b",
     R"({"model_type": "gemma", "hidden_size": 2048, "num_hidden_layers": 18, "num_attention_heads": 8,
        "num_key_value_heads": 1, "head_dim": 256, "intermediate_size": 16384, "max_position_embeddings": 8192,
        "vocab_size": 256000})"},
    {"Gemma-2-2B", 2.6143, "Gemma Team 2024, Gemma 2, table 1; config.json of google/gemma-2-2b",
     R"({"model_type": "gemma2", "hidden_size": 2304, "num_hidden_layers": 26, "num_attention_heads": 8,
        "num_key_value_heads": 4, "head_dim": 256, "intermediate_size": 9216, "max_position_embeddings": 8192,
        "sliding_window": 4096, "vocab_size": 256000})"},
    {"Gemma-2-9B", 9.2417, "Gemma Team 2024, Gemma 2, table 1; config.json of google/gemma-2-9b",
     R"({"model_type": "gemma2", "hidden_size": 3584, "num_hidden_layers": 42, "num_attention_heads": 16,
        "num_key_value_heads": 8, "head_dim": 256, "intermediate_size": 14336, "max_position_embeddings": 8192,
        "sliding_window": 4096, "vocab_size": 256000})"},
    {"Gemma-2-27B", 27.227, "Gemma Team 2024, Gemma 2, table 1; config.json of google/gemma-2-27b",
     R"({"model_type": "gemma2", "hidden_size": 4608, "num_hidden_layers": 46, "num_attention_heads": 32,
        "num_key_value_heads": 16, "head_dim": 128, "intermediate_size": 36864, "max_position_embeddings": 8192,
        "sliding_window": 4096, "vocab_size": 256000})"},
    {"Gemma-3-1B", 0.99989, "Gemma Team 2025, Gemma 3, table 1; config.json of google/gemma-3-1b-pt",
     R"({"model_type": "gemma3_text", "hidden_size": 1152, "num_hidden_layers": 26, "num_attention_heads": 4,
        "num_key_value_heads": 1, "head_dim": 256, "intermediate_size": 6912, "max_position_embeddings": 32768,
        "sliding_window": 512, "vocab_size": 262144})"},
    {"Gemma-3-4B", 3.8801,
     "Gemma Team 2025, Gemma 3, table 1; config.json of google/gemma-3-4b-pt, the text model",
     R"({"model_type": "gemma3_text", "hidden_size": 2560, "num_hidden_layers": 34, "num_attention_heads": 8,
        "num_key_value_heads": 4, "head_dim": 256, "intermediate_size": 10240, "max_position_embeddings": 131072,
        "sliding_window": 1024, "vocab_size": 262208})"},
    {"Gemma-3-12B", 11.766,
     "Gemma Team 2025, Gemma 3, table 1; config.json of google/gemma-3-12b-pt, the text model",
     R"({"model_type": "gemma3_text", "hidden_size": 3840, "num_hidden_layers": 48, "num_attention_heads": 16,
        "num_key_value_heads": 8, "head_dim": 256, "intermediate_size": 15360, "max_position_embeddings": 131072,
        "sliding_window": 1024, "vocab_size": 262208})"},
    {"Gemma-3-27B", 27.009,
     "Gemma Team 2025, Gemma 3, section 2; config.json of google/gemma-3-27b-pt, the text model",
     R"({"model_type": "gemma3_text", "hidden_size": 5376, "num_hidden_layers": 62, "num_attention_heads": 32,
        "num_key_value_heads": 16, "head_dim": 128, "intermediate_size": 21504, "max_position_embeddings": 131072,
        "sliding_window": 1024, "vocab_size": 262208})"},
    {"Gemma-3n-E4B", 6.87, "Google 2025, config.json of google/gemma-3n-E4B, the text model",
     R"({"model_type": "gemma3n_text", "hidden_size": 2048, "num_hidden_layers": 35, "num_attention_heads": 8,
        "num_key_value_heads": 2, "head_dim": 256, "intermediate_size": 16384, "max_position_embeddings": 32768,
        "num_kv_shared_layers": 15, "sliding_window": 512, "vocab_size": 262400, "vocab_size_per_layer_input": 262144,
        "hidden_size_per_layer_input": 256})"},
};

}  // namespace

std::span<const CatalogueModel> catalogueToGemma() {
  return kToGemma;
}

}  // namespace headscope::attention
