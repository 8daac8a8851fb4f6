#include "attention/models/families/encoders/bert.h"

namespace headscope::attention {

void families::readBertFields(const ConfigReader& json, Index firstPosition, ModelConfig& config) {
  config.modelDim = json.size("hidden_size");
  config.innerDim = json.size("intermediate_size");
  config.vocabulary = json.size("vocab_size");
  config.heads = config.kvHeads = json.size("num_attention_heads");
  config.headDim = evenShare(json, "hidden_size", config.modelDim, "num_attention_heads", config.heads);
  config.positionRows = json.size("max_position_embeddings", {}, firstPosition + 1);
  config.firstPosition = firstPosition;
  config.maxPositions = config.positionRows - firstPosition;
  config.tokenTypes = json.size("type_vocab_size", 2);
  config.activation = readActivation(json, "hidden_act", "gelu");
  config.epsilon = json.positive("layer_norm_eps", 1e-12);
  config.order = BlockOrder::after;
  config.causal = json.flag("is_decoder", false);
  config.qkvBias = config.outputBias = config.mlpBias = true;
  addLayers(config, json.size("num_hidden_layers", {}, 1, kMaxLayers));
}

constinit const ConfigFields families::kBertFields{
    .read =
        "hidden_size intermediate_size vocab_size num_attention_heads num_hidden_layers "
        "max_position_embeddings type_vocab_size hidden_act layer_norm_eps is_decoder",
    .ignored =
        "directionality pooler_fc_size pooler_num_attention_heads pooler_num_fc_layers "
        "pooler_size_per_head pooler_type output_past embedding_size",
    .fixed = R"(position_embedding_type="absolute")",
    .base = &kSharedFields,
};

namespace {

// BERT (Devlin et al. 2019).
constexpr std::string_view kBertPrefixes[] = {"bert.", ""};

}  // namespace

constinit const Family families::bert{
    .name = "bert",
    .architecture = "Bert",
    .prefixes = kBertPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kBertNames,
    .encoder = true,
    .fields = {.base = &kBertFields},
    .read = [](const ConfigReader& json, ModelConfig& config) { readBertFields(json, 0, config); },
};

}  // namespace headscope::attention
