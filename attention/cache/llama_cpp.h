#pragma once

#include "attention/cache/serving.h"

namespace headscope::attention {

// The memory that llama.cpp allocates, and its speed if a part of a model stays in the system's memory.

/// How llama.cpp is started; its own options are in parentheses.
struct LlamaCppSettings {
  NumberFormat keys = NumberFormat::fp16, values = NumberFormat::fp16;  ///< (--cache-type-k, --cache-type-v)
  Index ubatch = 512;          ///< tokens computed at once (--ubatch-size)
  bool fullWindows = false;    ///< windows cache all tokens (--swa-full)
  bool flashAttention = true;  ///< (--flash-attn)
  /// Layers on the GPU (--gpu-layers); nothing: as many as fit.
  std::optional<Index> gpuLayers = {};
  bool cacheInSystem = false;    ///< (--no-kv-offload)
  bool expertsInSystem = false;  ///< (--cpu-moe)
  double systemBandwidth = 0;    ///< bytes per second of the system's memory
};

/// The cache of all layers of one kind.
struct LlamaCppLayers {
  LayerGroup group;
  Index cells = 0;                                 ///< tokens per layer and sequence
  std::uint64_t keys = 0, values = 0, states = 0;  ///< bytes of all layers and sequences
};

struct LlamaCppMemory {
  std::vector<LlamaCppLayers> layers;
  std::uint64_t keys = 0, values = 0, states = 0;
  double compute = 0;  ///< bytes of the compute buffer
  std::uint64_t cache() const { return saturatingSum({keys, values, states}); }
};

/// Returns what llama.cpp allocates for `request.batch` sequences of `request.tokens` tokens. As in its
/// llama_kv_cache, a layer has the context's cells in whole 256s; one with a window or chunk has
/// min(context, window + ubatch) cells in whole 256s. A latent is stored as keys alone. States have 32 bits.
///
/// The compute buffer is the largest of a step's intermediate results, in 32 bits, for a ubatch of u tokens,
/// d = modelDim and n cells: the logits u·(vocabulary + d); without flash attention, the scores
/// u·(heads·n + n + 4·d), with it the mask and its copy in 16 bits u·(1.5·n + 4·d); the feed-forward part
/// u·(2·innerDim + 2·d). This is exact for published logs without flash attention (Llama-3-8B: 258.50 MiB at
/// 2,048 tokens, 560.00 at 8,192; Mistral-7B: 164.00 at 2,048, 2,144.00 at 32,768) and an estimate for
/// others.
///
/// Returns an Error if llama.cpp has no such cache: another format, rows that aren't whole groups of it, or
/// quantised values without flash attention.
Result<LlamaCppMemory> llamaCppMemory(const ModelShape& shape, const CostRequest& request,
                                      const LlamaCppSettings& settings);

/// How a model is spread over one GPU and the system's memory, and the time of a decode step.
struct Offloading {
  Index gpuLayers = 0, layers = 0;
  double gpuBytes = 0, systemBytes = 0;  ///< held
  double gpuRead = 0, systemRead = 0;    ///< read by a decode step of the batch
  double seconds = 0;  ///< of the step: both parts one after the other, each at its memory's bandwidth
  bool fits = false;   ///< the GPU's part into its usable memory
};
/// Layers are moved from the last to the first; the head is on the GPU with all of them, the embedding table
/// in the system's memory, as in llama.cpp. Layers count as equally large. Throws std::invalid_argument for
/// settings without a systemBandwidth above 0.
Offloading offload(const ModelShape& shape, const CostRequest& request, const LlamaCppSettings& settings,
                   const LlamaCppMemory& memory, const Machine& machine);

}  // namespace headscope::attention
