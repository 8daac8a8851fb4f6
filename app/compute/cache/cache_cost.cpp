#include "app/compute/cache/cache_cost.h"

#include <fmt/core.h>

#include "app/compute/cache/cache_bytes.h"
#include "app/scene/text/number_text.h"
#include "attention/cache/cost.h"

namespace headscope::app {

double cacheBytes(const Snapshot& snapshot, Index kvHeads, Index tokens, Index bytesPerValue) {
  if (snapshot.config.latentDim > 0 && kvHeads == snapshot.config.kvHeads)
    return latentCacheBytes(snapshot, tokens, bytesPerValue);
  return static_cast<double>(attention::kvCacheBytes(kvHeads, snapshot.config.headDim, tokens, bytesPerValue,
                                                     static_cast<Index>(snapshot.sequences.size())));
}

double latentCacheBytes(const Snapshot& snapshot, Index tokens, Index bytesPerValue) {
  const Index values = latentDimOf(snapshot.config) + rotaryDimOf(snapshot.config);
  return static_cast<double>(values) * static_cast<double>(tokens) * static_cast<double>(bytesPerValue) *
         static_cast<double>(snapshot.sequences.size());
}

std::string cacheFormula(const Snapshot& snapshot, Index tokens, Index bytesPerValue) {
  const attention::AttentionConfig& config = snapshot.config;
  const Index kvHeads = config.kvHeads;
  std::string factors =
      config.latentDim > 0
          ? fmt::format("(latent {} + rotated {}) · {} B", config.latentDim, config.rotaryDim, bytesPerValue)
          : fmt::format("2 · {} · {} · {} B", countedText(kvHeads, "kv head"), config.headDim, bytesPerValue);
  if (snapshot.sequences.size() > 1) factors += fmt::format(" · {} lines", snapshot.sequences.size());
  if (isCross(snapshot.setup))
    return fmt::format("{}, filled once = {} · {}",
                       bytesText(cacheBytes(snapshot, kvHeads, tokens, bytesPerValue)), factors,
                       tokenCountText(tokens));
  return "+" + bytesText(cacheBytes(snapshot, kvHeads, 1, bytesPerValue)) + " per token = " + factors;
}

}  // namespace headscope::app
