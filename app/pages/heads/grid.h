#pragma once

#include <vector>

#include "app/widgets/view.h"

namespace headscope::app::heads_page {

/// How a number of equally shaped heatmaps shares an area.
struct GridPlan {
  int columns = 1, rows = 1;
  float cell = 1;  ///< larger side of one cell in pixels; both sides unless stretched
  float mapWidth = 1, mapHeight = 1;
  float titleHeight = 0, leftRoom = 0, bottomRoom = 0;  ///< around one map
  float tileWidth = 1, tileHeight = 1;
  float gapX = 0, gapY = 0;
  /// Where tokens stand on the axes: on every map; on the queries' axis of each row's first map; there and
  /// below the last map of each column; nowhere.
  enum class Labels { every, firstOfRow, outer, none } labels = Labels::none;
  float margin = 0;  ///< left of the first map of each row, for its axis
};

/// The plan with the largest maps; among nearly equal ones, one whose columns line up with the kv groups.
/// labelLeft and labelBottom are what token labels would need, in pixels. Labels are the last thing to go.
GridPlan planGrid(const View& view, ImVec2 area, int heads, int groupSize, float queries, float keys,
                  float labelLeft, float labelBottom);

/// A figure's plan, in as many columns as bring it nearest to its aspect; `labelLeft` as above. Says how
/// large it is, with `below` pixels under the last row.
GridPlan planFigure(View& view, int heads, ImVec2 map, float labelLeft, float below);

/// Where the cells of each head's map lie in `area`, row by row, in pixels.
std::vector<ImRect> mapAreas(const View& view, const GridPlan& plan, const ImRect& area, int heads);

}  // namespace headscope::app::heads_page
