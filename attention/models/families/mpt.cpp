#include "attention/core/positions.h"
#include "attention/models/families/fields.h"

// MPT (MosaicML 2023): positions only through ALiBi, and no biases.

namespace headscope::attention {
namespace {

constexpr std::string_view kMptPrefixes[] = {"transformer.", ""};

void readMpt(const ConfigReader& json, ModelConfig& config) {
  config.modelDim = json.size("d_model", 2048);
  config.innerDim = json.size("expansion_ratio", 4, 1, kMaxConfigSize / config.modelDim) * config.modelDim;
  config.vocabulary = json.size("vocab_size", 50368);
  config.heads = config.kvHeads = json.size("n_heads", 16);
  config.headDim = families::evenShare(json, "d_model", config.modelDim, "n_heads", config.heads);
  config.maxPositions = json.size("max_seq_len", 2048, 1, kMaxPositions);
  config.activation = Activation::gelu;
  config.epsilon = json.positive("layer_norm_epsilon", 1e-5);
  config.normBias = false;
  config.alibi = true;
  families::addLayers(config, json.size("n_layers", 24, 1, kMaxLayers));
  const ConfigReader attention = json.object("attn_config");
  for (const auto& [name, value] :
       {std::pair("alibi", "true"), std::pair("prefix_lm", "false"), std::pair("qk_ln", "false"),
        std::pair("attn_type", "\"multihead_attention\"")})
    attention.expect(name, value);
  if (const double most = attention.positive("alibi_bias_max", 8); most != 8)
    config.slopes = alibiSlopes(config.heads, most);
  if (const auto most = attention.optionalPositive("clip_qkv")) config.clip = static_cast<float>(*most);
  if (const auto scale = attention.optionalPositive("softmax_scale"))
    for (LayerKind& layer : config.layers) layer.scale = static_cast<float>(*scale);
}

}  // namespace

constinit const Family families::mpt{
    .name = "mpt",
    .architecture = "Mpt",
    .prefixes = kMptPrefixes,
    .headPrefixes = kNoPrefix,
    .names = {.embedding = "wte",
              .layer = "blocks.N.",
              .qkv = "attn.Wqkv",
              .o = "attn.out_proj",
              .up = "ffn.up_proj",
              .down = "ffn.down_proj",
              .attentionNorm = "norm_1",
              .mlpNorm = "norm_2",
              .finalNorm = "norm_f",
              .head = "lm_head"},
    .fields = {.read = "d_model expansion_ratio vocab_size n_heads n_layers max_seq_len layer_norm_epsilon "
                       "attn_config",
               .ignored = "emb_pdrop learned_pos_emb init_device verbose embedding_fraction norm_type "
                          "init_config tokenizer_name",
               .fixed = "no_bias=true logit_scale=null hidden_size=@d_model num_attention_heads=@n_heads "
                        "num_hidden_layers=@n_layers",
               .base = &kSharedFields},
    .read = readMpt,
};

}  // namespace headscope::attention
