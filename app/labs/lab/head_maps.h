#pragma once

#include <functional>
#include <string>

#include "app/compute/value_range.h"
#include "app/labs/lab/lab_page.h"

namespace headscope::app {

/// All heads of a layer as small maps of queries × keys.
struct HeadMaps {
  std::string name;                ///< of the place; tests call the maps NAME.0, NAME.1, …
  const attention::Stack& values;  ///< [heads, ⌈n/factor⌉, ⌈m/factor⌉]
  int factor = 1;
  bool eases = true;   ///< what was there moves to what comes
  bool names = false;  ///< tokens beside the first map of each row and below the last, where there is room
  std::function<ValueRange(Index head)> range;
  /// Draws the line above a map, within `width`; nothing: the head's name and what it does.
  std::function<void(Index head, ImVec2 leftMiddle, float width)> title = {};
};

/// So many maps side by side, their cells as large as the area allows.
struct MapGrid {
  int columns = 1, rows = 1;
  float width = 1, height = 1;  ///< of one map, pixels
};
MapGrid mapGrid(const View& view, ImVec2 area, Index heads, Index queries, Index keys);

/// Draws them. Pointing at a cell lights it everywhere, a click chooses head, query and key.
void headMaps(Scene& scene, LabPage& page, const ImRect& area, const HeadMaps& maps);

}  // namespace headscope::app
