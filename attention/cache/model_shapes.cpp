#include "attention/cache/model_shape.h"

// Published shapes. Sizes of the feed-forward part, vocabularies and experts are those of each model's
// config.json, where the model is published with one.

namespace headscope::attention {

namespace {

ModelShape encoder(const char* name, Index layers, Index d, Index heads) {
  return {.name = name,
          .layers = layers,
          .modelDim = d,
          .heads = heads,
          .kvHeads = heads,
          .headDim = 64,
          .context = 512,
          .decodes = false,
          .innerDim = 4 * d,
          .vocabulary = 30522,
          .positions = 514,
          .tied = true,
          .source = "Devlin et al. 2019, section 3"};
}

/// Multi-head attention, learned positions, an inner dimension of 4·d.
ModelShape gpt(const char* name, Index layers, Index d, Index heads, Index headDim, Index context,
               const char* source) {
  return {.name = name,
          .layers = layers,
          .modelDim = d,
          .heads = heads,
          .kvHeads = heads,
          .headDim = headDim,
          .context = context,
          .innerDim = 4 * d,
          .vocabulary = 50257,
          .positions = context,
          .tied = true,
          .source = source};
}

/// Rotated positions and a gated feed-forward part, as LLaMA and its descendants have them.
struct Gated {
  Index inner, vocabulary;
  bool tied = false;
};
ModelShape llama(const char* name, Index layers, Index d, Index heads, Index kvHeads, Index headDim,
                 Index context, const Gated& rest, const char* source) {
  return {.name = name,
          .layers = layers,
          .modelDim = d,
          .heads = heads,
          .kvHeads = kvHeads,
          .headDim = headDim,
          .context = context,
          .innerDim = rest.inner,
          .gated = true,
          .vocabulary = rest.vocabulary,
          .tied = rest.tied,
          .source = source};
}

ModelShape sliding(ModelShape shape, Index window, Index globalLayers) {
  shape.window = window;
  shape.globalLayers = globalLayers;
  return shape;
}

ModelShape mixture(ModelShape shape, Index experts, Index active, Index expertDim) {
  shape.experts = experts;
  shape.activeExperts = active;
  shape.expertDim = expertDim;
  return shape;
}

ModelShape starCoder() {
  ModelShape shape = gpt("StarCoder", 40, 6144, 48, 128, 8192, "Li et al. 2023, StarCoder, table 6");
  shape.kvHeads = 1;
  shape.vocabulary = 49152;
  return shape;
}

ModelShape deepSeek() {
  ModelShape shape = mixture(llama("DeepSeek-V3", 61, 7168, 128, 128, 128, 163840, {18432, 129280},
                                   "DeepSeek-AI 2024, DeepSeek-V3, section 4.2; config.json"),
                             256, 8, 2048);
  shape.latentDim = 512;
  shape.ropeDim = 64;
  shape.queryLatent = 1536;
  shape.valueDim = 128;
  shape.sharedExperts = 1;
  shape.denseLayers = 3;
  return shape;
}

std::vector<ModelShape> all() {
  const char* llama3 = "Grattafiori et al. 2024, The Llama 3 Herd of Models, table 3; config.json";
  const char* gemma2 = "Gemma Team 2024, Gemma 2, table 1; config.json";
  const char* qwen = "Qwen Team 2024, Qwen2.5, table 1; config.json";
  return {
      encoder("BERT-base", 12, 768, 12),
      encoder("BERT-large", 24, 1024, 16),
      gpt("GPT-2", 12, 768, 12, 64, 1024, "Radford et al. 2019, table 2"),
      gpt("GPT-2 XL", 48, 1600, 25, 64, 1024, "Radford et al. 2019, table 2"),
      gpt("GPT-3 175B", 96, 12288, 96, 128, 2048, "Brown et al. 2020, table 2.1"),
      llama("PaLM 540B", 118, 18432, 48, 1, 256, 2048, {73728, 256000, true},
            "Chowdhery et al. 2022, table 1"),
      starCoder(),
      llama("LLaMA-7B", 32, 4096, 32, 32, 128, 2048, {11008, 32000}, "Touvron et al. 2023, LLaMA, table 2"),
      llama("Llama-2-70B", 80, 8192, 64, 8, 128, 4096, {28672, 32000},
            "Touvron et al. 2023, Llama 2, table 1; config.json"),
      llama("Llama-3.2-1B", 16, 2048, 32, 8, 64, 131072, {8192, 128256, true}, "Meta 2024, config.json"),
      llama("Llama-3.1-8B", 32, 4096, 32, 8, 128, 131072, {14336, 128256}, llama3),
      llama("Llama-3.1-70B", 80, 8192, 64, 8, 128, 131072, {28672, 128256}, llama3),
      llama("Llama-3.1-405B", 126, 16384, 128, 8, 128, 131072, {53248, 128256}, llama3),
      sliding(llama("Mistral-7B v0.1", 32, 4096, 32, 8, 128, 32768, {14336, 32000},
                    "Jiang et al. 2023, Mistral 7B, table 1; config.json"),
              4096, 0),
      mixture(llama("Mixtral-8x7B", 32, 4096, 32, 8, 128, 32768, {14336, 32000},
                    "Jiang et al. 2024, Mixtral of Experts, table 1"),
              8, 2, 14336),
      llama("Gemma-2B", 18, 2048, 8, 1, 256, 8192, {16384, 256000, true},
            "Gemma Team 2024, Gemma, table 1; config.json"),
      sliding(llama("Gemma-2-9B", 42, 3584, 16, 8, 256, 8192, {14336, 256000, true}, gemma2), 4096, 21),
      sliding(llama("Gemma-2-27B", 46, 4608, 32, 16, 128, 8192, {36864, 256000, true}, gemma2), 4096, 23),
      sliding(llama("Gemma-3-27B", 62, 5376, 32, 16, 128, 131072, {21504, 262144, true},
                    "Gemma Team 2025, Gemma 3, section 2; config.json"),
              1024, 10),
      llama("Qwen2.5-7B", 28, 3584, 28, 4, 128, 131072, {18944, 152064}, qwen),
      llama("Qwen2.5-72B", 80, 8192, 64, 8, 128, 131072, {29568, 152064}, qwen),
      mixture(llama("Qwen3-235B", 94, 4096, 64, 4, 128, 40960, {12288, 151936},
                    "Qwen Team 2025, Qwen3, table 2; config.json"),
              128, 8, 1536),
      llama("Phi-3.5-mini", 32, 3072, 32, 32, 96, 131072, {8192, 32064}, "Microsoft 2024, config.json"),
      deepSeek(),
  };
}

}  // namespace

const std::vector<ModelShape>& modelShapes() {
  static const std::vector<ModelShape> kShapes = all();
  return kShapes;
}

}  // namespace headscope::attention
