#include "app/compute/cache/cache_bytes.h"

#include <fmt/core.h>

#include <algorithm>

#include "app/compute/cost/cost_figures.h"
#include "app/scene/text/byte_text.h"
#include "app/scene/text/number_text.h"
#include "attention/cache/model_cost.h"
#include "attention/cache/quantise.h"

namespace headscope::app {

namespace {

/// Returns the bytes of `rows` rows of `size` numbers in each layer; an empty row has no scale either.
std::uint64_t storedBytes(const CacheSetup& cache, Index rows, Index size) {
  if (size == 0) return 0;
  return attention::saturatingMultiply(attention::quantisedBytes(rows, size, cache.stored),
                                       static_cast<std::uint64_t>(std::max<Index>(cache.layers, 1)));
}

}  // namespace

std::uint64_t bytesPerToken(const Scene& scene, const ShapeCase& shape) {
  const CacheSetup& cache = scene.cost.cache;
  const Index rows = 2 * shape.kvHeads;
  if (rows > 0) return storedBytes(cache, rows, shape.numbersPerToken / rows);
  return storedBytes(cache, 1, shape.latent) + storedBytes(cache, 1, shape.rotary);
}

CacheBytes bytesPerToken(const Scene& scene, const attention::AttentionConfig& config) {
  const auto bytes = [&](Index rows, Index size) { return storedBytes(scene.cost.cache, rows, size); };
  const auto ofHeads = [&](Index heads) {
    return bytes(heads, config.headDim) + bytes(heads, config.valueSize());
  };
  const std::uint64_t latent = bytes(1, latentDimOf(config)) + bytes(1, rotaryDimOf(config));
  return {config.latentDim > 0 ? latent : ofHeads(config.kvHeads), ofHeads(config.heads), ofHeads(1), latent};
}

Index latentDimOf(const attention::AttentionConfig& config) {
  return config.latentDim > 0 ? config.latentDim : 4 * config.headDim;
}
Index rotaryDimOf(const attention::AttentionConfig& config) {
  return config.latentDim > 0 ? config.rotaryDim : config.headDim / 2;
}

std::string shareText(const attention::AttentionConfig& config, const CacheBytes& bytes) {
  if (config.latentDim > 0)
    return fmt::format("MLA (a latent of {} + {}) is {} of MHA.", config.latentDim, config.rotaryDim,
                       fractionText(bytes.own, bytes.mha));
  if (config.heads == 1) return "One head: nothing to share.";
  if (config.kvHeads == config.heads) return "MHA: one band per head.";
  return fmt::format("{} ({}) is {} of MHA.", kindName(config.heads, config.kvHeads),
                     countedText(config.kvHeads, "kv head"), fractionText(bytes.own, bytes.mha));
}

}  // namespace headscope::app
