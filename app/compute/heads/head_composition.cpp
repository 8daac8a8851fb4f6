#include "app/compute/heads/head_composition.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

using attention::asSize;
using attention::Error;
using attention::HeadCircuits;
using attention::HeadGroup;
using attention::HeadPlace;
using attention::Result;

namespace {

/// Returns all heads that can read or be read by another, layer by layer.
std::vector<HeadPlace> placesOf(const attention::Model& model) {
  const attention::ModelConfig& config = model.config();
  std::vector<HeadPlace> places;
  const auto add = [&](HeadGroup group, Index layer, Index heads) {
    for (Index head = 0; head < heads; ++head) places.push_back({group, layer, head});
  };
  if (config.reads() && model.source()) {
    const attention::ModelConfig& encoder = model.source()->config();
    for (Index layer = 0; layer < encoder.layerCount(); ++layer)
      add(HeadGroup::encoder, layer, encoder.heads);
  }
  for (Index layer = 0; layer < config.layerCount(); ++layer) {
    add(config.reads() ? HeadGroup::decoder : config.group, layer, config.heads);
    if (config.reads()) add(HeadGroup::cross, layer, config.heads);
  }
  return places;
}

}  // namespace

std::pair<const char*, double> ComposedHead::strongest() const {
  std::pair<const char*, double> best{"Q", with.q};
  for (const auto& kind : {std::pair("K", with.k), std::pair("V", with.v)})
    if (std::isnan(best.second) || kind.second > best.second) best = kind;
  return best;
}

Result<HeadCompositions> headCompositions(const CompositionQuestion& question, std::stop_token stop) {
  const attention::Model& model = *question.opened->model;
  if (const attention::Status status = model.config().checkHeadMaps(); !status) return status.error();
  const HeadPlace asked{model.config().group, question.layer, question.head};
  const HeadCircuits own = headCircuits(model, asked);
  HeadCompositions all;
  for (const HeadPlace& place : placesOf(model)) {
    if (stop.stop_requested()) return Error{"stopped"};
    const attention::Reads isRead = readsOf(place, asked), reads = readsOf(asked, place);
    if (!isRead.any() && !reads.any()) continue;
    const HeadCircuits other = headCircuits(model, place);
    if (isRead.any())
      all.earlier.push_back({place.layer, place.head, composition(other, own, isRead), place.group});
    else
      all.later.push_back({place.layer, place.head, composition(own, other, reads), place.group});
  }
  if (const attention::Status status = model.checkpoint().intact(); !status) return status.error();
  for (auto* const heads : {&all.earlier, &all.later})
    std::ranges::stable_sort(*heads, std::greater(),
                             [](const ComposedHead& one) { return one.strongest().second; });
  return all;
}

Result<std::vector<ComposedPair>> allCompositions(const attention::Model& model) {
  if (const attention::Status status = model.config().checkHeadMaps(); !status) return status.error();
  const std::vector<HeadPlace> places = placesOf(model);
  std::vector<HeadCircuits> maps;
  for (const HeadPlace& place : places) maps.push_back(headCircuits(model, place));
  std::vector<ComposedPair> pairs;
  for (std::size_t from = 0; from < places.size(); ++from)
    for (std::size_t to = 0; to < places.size(); ++to) {
      const attention::Reads reads = readsOf(places[from], places[to]);
      if (reads.any())
        pairs.push_back({places[from].layer, places[from].head, places[to].layer, places[to].head,
                         composition(maps[from], maps[to], reads), places[from].group, places[to].group});
    }
  if (const attention::Status status = model.checkpoint().intact(); !status) return status.error();
  return pairs;
}

}  // namespace headscope::app
