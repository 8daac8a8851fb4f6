#pragma once

#include <functional>
#include <string>

#include "app/compute/layer/value_range.h"
#include "app/pages/head_lab/head_lab_state.h"
#include "app/widgets/heat_tile.h"

namespace headscope::app::head_lab_page {

/// All heads of a layer as small maps of queries × keys.
struct HeadMaps {
  std::string name;                ///< of the place; tests find the maps as NAME.0, NAME.1, …
  const attention::Stack& values;  ///< [heads, ⌈n/factor⌉, ⌈m/factor⌉]
  int factor = 1;
  std::function<ValueRange(Index head)> range;
  bool eases = true;   ///< new values ease in from the last ones
  bool names = false;  ///< with the tokens' names
  /// Draws the line above a map, within `width`. If empty: the head's name and behaviour.
  std::function<void(Index head, ImVec2 leftMiddle, float width)> title = {};
};

/// A grid of maps that are as large as the area allows.
struct MapGrid {
  int columns = 1, rows = 1;
  float width = 1, height = 1;  ///< of one map, in pixels
};
/// The gaps between maps and the title height above each, in layout units.
struct MapSpacing {
  float x = 18, y = 10, title = 26;
};
MapGrid mapGrid(const View& view, ImVec2 area, Index heads, Index queries, Index keys,
                const MapSpacing& spacing = {});

/// A grid with space for the tokens' names on the left and below, if the maps don't shrink too much for it.
struct NamedGrid {
  ImRect area;  ///< of the maps
  ImVec2 room;  ///< for names; 0 = no names
  MapGrid grid;
};
NamedGrid namedGrid(const View& view, const ImRect& whole, const SequenceSnapshot& sequence, Index heads,
                    const MapSpacing& spacing = {});
/// Labels the queries left of each row's first map, the keys below each column's last map, and the axes.
/// Draws nothing if `named` has no space for names. `lit`: highlighted query and key; −1 = none.
void paintTokenNames(const View& view, const SequenceSnapshot& sequence, const std::vector<HeatTile>& tiles,
                     const NamedGrid& named, const Cell& lit);

/// Draws the maps. Hovering over a cell highlights it everywhere; a click selects head, query and key.
void headMaps(Scene& scene, State& page, const ImRect& area, const HeadMaps& maps);

}  // namespace headscope::app::head_lab_page
