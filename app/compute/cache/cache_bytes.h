#pragma once

#include <cstdint>
#include <string>

#include "app/compute/cache/cache_studies.h"
#include "app/scene/scene.h"
#include "attention/core/attention.h"

namespace headscope::app {

/// Bytes per token in the cache, over the layers and in the storage format of scene.cost.cache: for the layer
/// itself, and for MHA, MQA and latent attention. int8 and int4 include their scales
/// (attention/cache/quantise.h).
struct CacheBytes {
  std::uint64_t own = 0, mha = 0, mqa = 0, mla = 0;
};
CacheBytes bytesPerToken(const Scene& scene, const attention::AttentionConfig& config);
/// The same for one of the four shapes.
std::uint64_t bytesPerToken(const Scene& scene, const ShapeCase& shape);
/// Return the layer's own latent sizes, or otherwise those of DeepSeek: 4·headDim for keys and values,
/// headDim/2 for positions.
Index latentDimOf(const attention::AttentionConfig& config);
Index rotaryDimOf(const attention::AttentionConfig& config);
/// Returns a sentence such as "GQA (2 kv heads) is ¼ of MHA."
std::string shareText(const attention::AttentionConfig& config, const CacheBytes& bytes);

}  // namespace headscope::app
