#include <algorithm>

#include "app/panels/panels.h"

namespace headscope::app {

const PlacedError* errorAt(const Snapshot* snapshot, Place place) {
  return snapshot && snapshot->error && snapshot->error->place == place ? &*snapshot->error : nullptr;
}

const SequenceSnapshot* shownSequence(const Scene& scene, const Snapshot* snapshot) {
  if (!snapshot || snapshot->sequences.empty()) return nullptr;
  const auto last = static_cast<Index>(snapshot->sequences.size()) - 1;
  return &snapshot->sequences[static_cast<std::size_t>(std::clamp<Index>(scene.cursor.sequence, 0, last))];
}

std::uint32_t groupColor(const Theme& theme, Index kvHead) {
  return theme.groups[static_cast<std::size_t>(kvHead) % theme.groups.size()];
}

std::string headName(Index head) {
  return "Head " + std::to_string(head);
}
std::string kvName(Index kvHead) {
  return "KV " + std::to_string(kvHead);
}

}  // namespace headscope::app
