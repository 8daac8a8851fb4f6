#pragma once

#include <functional>
#include <string>

#include "app/compute/layer/value_range.h"
#include "app/pages/head_lab/head_lab_state.h"
#include "app/widgets/heat_tile.h"

namespace headscope::app::head_lab_page {

/// All heads of a layer as small maps of queries × keys.
struct HeadMaps {
  std::string name;                ///< of the place; tests call the maps NAME.0, NAME.1, …
  const attention::Stack& values;  ///< [heads, ⌈n/factor⌉, ⌈m/factor⌉]
  int factor = 1;
  std::function<ValueRange(Index head)> range;
  bool eases = true;   ///< what was there moves to what comes
  bool names = false;  ///< with the tokens' names
  /// Draws the line above a map, within `width`; nothing: the head's name and what it does.
  std::function<void(Index head, ImVec2 leftMiddle, float width)> title = {};
};

/// So many maps side by side, their cells as large as the area allows.
struct MapGrid {
  int columns = 1, rows = 1;
  float width = 1, height = 1;  ///< of one map, pixels
};
/// What lies between maps, and above each of them.
struct MapSpacing {
  float x = 18, y = 10, title = 26;
};
MapGrid mapGrid(const View& view, ImVec2 area, Index heads, Index queries, Index keys,
                const MapSpacing& spacing = {});

/// The same with room for the tokens' names at the left and below, where the maps don't lose more than names
/// are worth.
struct NamedGrid {
  ImRect area;  ///< of the maps
  ImVec2 room;  ///< for names; none where it is 0
  MapGrid grid;
};
NamedGrid namedGrid(const View& view, const ImRect& whole, const SequenceSnapshot& sequence, Index heads,
                    const MapSpacing& spacing = {});
/// Queries beside the first map of each row, keys below every map that has none under it, and what the axes
/// are; nothing without room. `lit`: its query and key, −1 for none.
void paintTokenNames(const View& view, const SequenceSnapshot& sequence, const std::vector<HeatTile>& tiles,
                     const NamedGrid& named, const Cell& lit);

/// Draws them. Pointing at a cell lights it everywhere, a click chooses head, query and key.
void headMaps(Scene& scene, State& page, const ImRect& area, const HeadMaps& maps);

}  // namespace headscope::app::head_lab_page
