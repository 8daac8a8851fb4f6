#include "app/compute/plots/thinning.h"

#include <cmath>

namespace headscope::app {

using attention::Index;

namespace {

bool suffices(Index step, double each, double room, Index count) {
  return step >= count || (each > 0 && each * static_cast<double>(step) >= room);
}

}  // namespace

Index powerOfTwoStep(double each, double room, Index count) {
  Index step = 1;
  while (!suffices(step, each, room, count)) step *= 2;
  return step;
}

Index roundStep(double each, double room, Index count) {
  Index step = 1;
  for (int i = 0; !suffices(step, each, room, count); ++i) step = i % 3 == 1 ? step / 2 * 5 : step * 2;
  return step;
}

std::vector<float> placesBetween(float from, float to, float step) {
  std::vector<float> places;
  if (!(step > 0) || !std::isfinite(from) || !std::isfinite(to) || !std::isfinite(step)) return places;
  for (int i = 0; i < kMaxPlaces; ++i) {
    const float at = from + static_cast<float>(i) * step;
    if (at >= to) break;
    places.push_back(at);
  }
  return places;
}

}  // namespace headscope::app
