#pragma once

#include <string>

#include "app/pages/map/map_overview.h"
#include "app/platform/imgui_compat.h"
#include "app/widgets/view.h"

namespace headscope::app::map_page {

/// Which cells are where: everything drawn over the map goes through it. In double: at 131,072 tokens a float
/// is too coarse for the places of single cells.
struct MapWindow {
  ImRect area;              ///< pixels
  Index n = 1, m = 1;       ///< cells
  double row = 0, col = 0;  ///< the cell at the area's top left, fractional; negative where there is a margin
  double cellsPerPixel = 1;  ///< downwards
  double wide = 1;           ///< a cell is so many times as wide as it is high
  double closest = 0;        ///< the least cellsPerPixel there can be

  float x(double col_) const { return area.Min.x + static_cast<float>((col_ - col) * wide / cellsPerPixel); }
  float y(double row_) const { return area.Min.y + static_cast<float>((row_ - row) / cellsPerPixel); }
  double colAt(float x_) const { return col + static_cast<double>(x_ - area.Min.x) * cellsPerPixel / wide; }
  double rowAt(float y_) const { return row + static_cast<double>(y_ - area.Min.y) * cellsPerPixel; }
  /// The part of the area that shows cells.
  ImRect cells() const;
  double cellPixels() const { return 1 / cellsPerPixel; }
  /// The level whose pixels are at least one on screen, so that none is passed over.
  int level() const;
  /// The next finer one, whose pixels are between half a pixel on screen and one: pooled as they are drawn.
  int finerLevel() const { return level() > 0 ? level() - 1 : 0; }
};

/// Cells for each pixel when the whole head is shown.
double wholeZoom(const ImRect& area, Index n, Index m);

/// Keeps the cursor inside the head and the zoom between single cells and the whole, and says what it shows.
MapWindow mapWindow(MapCursor& cursor, const View& view, const ImRect& area, Index n, Index m);

/// Makes a change of zoom about a point of the window: the cell under it stays there.
void zoomMap(MapCursor& cursor, const MapWindow& window, double factor, ImVec2 about);
void panMap(MapCursor& cursor, const MapWindow& window, float dx, float dy);
/// Brings a cell into the middle, close enough to read its tokens.
void goToCell(MapCursor& cursor, const View& view, Index query, Index key);

/// "1 pixel = 64 × 64 cells", "1 cell = 12 pixels".
std::string zoomText(const MapWindow& window);

/// Steps for labels at least `room` pixels apart: 1, 2, 5, 10, … cells.
Index labelStep(const MapWindow& window, float room);

}  // namespace headscope::app::map_page
