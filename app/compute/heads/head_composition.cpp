#include "app/compute/heads/head_composition.h"

#include <algorithm>

namespace headscope::app {

using attention::asSize;
using attention::Error;
using attention::HeadCircuits;
using attention::Result;

std::pair<const char*, double> ComposedHead::strongest() const {
  const std::pair<const char*, double> kinds[] = {{"Q", with.q}, {"K", with.k}, {"V", with.v}};
  return *std::ranges::max_element(kinds, {}, &std::pair<const char*, double>::second);
}

Result<HeadCompositions> headCompositions(const CompositionQuestion& question, std::stop_token stop) {
  const attention::Model& model = *question.opened->model;
  if (const attention::Status status = model.config().haveHeadsMaps(); !status) return status.error();
  const HeadCircuits own = headCircuits(model, question.layer, question.head);
  HeadCompositions all;
  for (Index layer = 0; layer < model.config().layerCount(); ++layer)
    for (Index head = 0; head < model.config().heads && layer != question.layer; ++head) {
      if (stop.stop_requested()) return Error{"stopped"};
      const HeadCircuits other = headCircuits(model, layer, head);
      if (layer < question.layer)
        all.earlier.push_back({layer, head, composition(other, own)});
      else
        all.later.push_back({layer, head, composition(own, other)});
    }
  if (const attention::Status status = model.checkpoint().intact(); !status) return status.error();
  for (auto* const heads : {&all.earlier, &all.later})
    std::ranges::stable_sort(*heads, std::greater(),
                             [](const ComposedHead& one) { return one.strongest().second; });
  return all;
}

Result<std::vector<ComposedPair>> allCompositions(const attention::Model& model, std::stop_token stop) {
  if (const attention::Status status = model.config().haveHeadsMaps(); !status) return status.error();
  const Index layers = model.config().layerCount(), heads = model.config().heads;
  std::vector<HeadCircuits> maps;
  std::vector<ComposedPair> pairs;
  for (Index layer = 0; layer < layers; ++layer) {
    for (Index head = 0; head < heads; ++head) maps.push_back(headCircuits(model, layer, head));
    for (Index from = 0; from < layer * heads; ++from)
      for (Index to = layer * heads; to < std::ssize(maps); ++to) {
        if (stop.stop_requested()) return Error{"stopped"};
        pairs.push_back({from / heads, from % heads, to / heads, to % heads,
                         composition(maps[asSize(from)], maps[asSize(to)])});
      }
  }
  if (const attention::Status status = model.checkpoint().intact(); !status) return status.error();
  std::ranges::stable_sort(pairs, {}, [](const ComposedPair& pair) {
    return std::tuple(pair.fromLayer, pair.fromHead, pair.toLayer, pair.toHead);
  });
  return pairs;
}

}  // namespace headscope::app
