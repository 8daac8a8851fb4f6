#include "attention/core/weight_init.h"

#include <cmath>

#include "attention/core/random.h"

namespace headscope::attention {

namespace {
constexpr float kNormalDeviation = 0.02f;
}  // namespace

Matrix xavierRows(Index rows, Index out, Index in, std::uint64_t seed, std::uint64_t map) {
  const double limit = std::sqrt(6.0 / static_cast<double>(in + out));
  Matrix weight(rows, in);
  Random random(mixSeed(mixSeed(seed, map), 0));
  for (Index i = 0; i < weight.size(); ++i)
    weight.data()[i] = static_cast<float>((2 * random.uniform() - 1) * limit);
  return weight;
}

Projections normalProjections(const AttentionConfig& config, bool bias, std::uint64_t seed, float gain) {
  Projections maps = xavierProjections(config, bias, seed);
  std::uint64_t stream = 4;  // behind those that Xavier draws from
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
