#pragma once

#include <cstdint>
#include <string>

#include "app/compute/cache/cache_studies.h"
#include "app/scene/scene.h"
#include "attention/core/attention.h"

namespace headscope::app {

/// Bytes of one token's entries in the cache, of all the layers that scene.cost.cache asks for, stored as it
/// says: as the layer has them, and as MHA, MQA and latent attention would. int8 and int4 with their scales
/// (attention/cache/quantise.h).
struct CacheBytes {
  std::uint64_t own = 0, mha = 0, mqa = 0, mla = 0;
};
CacheBytes bytesPerToken(const Scene& scene, const attention::AttentionConfig& config);
/// The same of one of the four shapes.
std::uint64_t bytesPerToken(const Scene& scene, const ShapeCase& shape);
/// A layer's own latent, else one of this size, as DeepSeek has it: 4·headDim for keys and values, headDim/2 for positions.
Index latentDimOf(const attention::AttentionConfig& config);
Index rotaryDimOf(const attention::AttentionConfig& config);
/// "GQA (2 kv heads) is ¼ of MHA."
std::string shareText(const attention::AttentionConfig& config, const CacheBytes& bytes);

}  // namespace headscope::app
