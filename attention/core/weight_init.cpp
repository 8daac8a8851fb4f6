#include "attention/core/weight_init.h"

#include "attention/core/random.h"

namespace headscope::attention {

namespace {
constexpr float kNormalDeviation = 0.02f;
}  // namespace

Projections normalProjections(const AttentionConfig& config, bool bias, std::uint64_t seed, float gain) {
  Projections maps = xavierProjections(config, bias, seed);
  std::uint64_t stream = 4;  // after the streams of xavierProjections()
  for (Linear* map : {&maps.q, &maps.k, &maps.v, &maps.o}) {
    Random random(mixSeed(seed, stream++));
    for (Index i = 0; i < map->weight.size(); ++i)
      map->weight.data()[i] = kNormalDeviation * gain * random.gaussian();
  }
  return maps;
}

Projections scaledXavier(const AttentionConfig& config, bool bias, std::uint64_t seed, float gain) {
  Projections maps = xavierProjections(config, bias, seed);
  for (Linear* map : {&maps.q, &maps.k, &maps.v, &maps.o}) map->weight *= gain;
  return maps;
}

}  // namespace headscope::attention
