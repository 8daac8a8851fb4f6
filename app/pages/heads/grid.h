#pragma once

#include <vector>

#include "app/widgets/view.h"

namespace headscope::app::heads_page {

/// A layout of equally shaped heatmaps in an area.
struct GridPlan {
  int columns = 1, rows = 1;
  float cell = 1;  ///< longer side of a cell in pixels; the cell is square unless stretched
  float mapWidth = 1, mapHeight = 1;
  float titleHeight = 0, leftRoom = 0, bottomRoom = 0;  ///< around one map
  float tileWidth = 1, tileHeight = 1;
  float gapX = 0, gapY = 0;
  /// Where tokens label the axes: on every map; on the query axis of each row's first map; there and below
  /// the last map of each column; nowhere.
  enum class Labels { every, firstOfRow, outer, none } labels = Labels::none;
  float margin = 0;  ///< left of the first map of each row, for its axis
};

/// The plan with the largest maps; among nearly equal ones, prefers full rows and columns that line up with
/// the kv groups. `labelLeft` and `labelBottom`: pixels that token labels need. Labels are dropped only when
/// maps get too small for them.
GridPlan planGrid(const View& view, ImVec2 area, int heads, int groupSize, float queries, float keys,
                  float labelLeft, float labelBottom);

/// A figure's plan, with the number of columns that comes closest to its aspect; `labelLeft` as above. Also
/// sets the figure's size, with `below` pixels under the last row.
GridPlan planFigure(View& view, int heads, ImVec2 map, float labelLeft, float below);

/// The cells of each head's map in `area`, in head order, in pixels.
std::vector<ImRect> mapAreas(const View& view, const GridPlan& plan, const ImRect& area, int heads);

}  // namespace headscope::app::heads_page
