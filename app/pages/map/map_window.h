#pragma once

#include <string>

#include "app/pages/map/map_overview.h"
#include "app/platform/imgui_compat.h"
#include "app/widgets/view.h"

namespace headscope::app::map_page {

/// The mapping between cells and pixels, used for everything drawn over the map. Uses double because at
/// 131,072 tokens a float is too coarse to place single cells.
struct MapWindow {
  ImRect area;               ///< in pixels
  Index n = 1, m = 1;        ///< queries and keys
  double row = 0, col = 0;   ///< the cell at the area's top left, fractional; negative if there is a margin
  double cellsPerPixel = 1;  ///< vertically
  double wide = 1;           ///< width of a cell divided by its height
  double closest = 0;        ///< the smallest possible cellsPerPixel

  float x(double col_) const { return area.Min.x + static_cast<float>((col_ - col) * wide / cellsPerPixel); }
  float y(double row_) const { return area.Min.y + static_cast<float>((row_ - row) / cellsPerPixel); }
  double colAt(float x_) const { return col + static_cast<double>(x_ - area.Min.x) * cellsPerPixel / wide; }
  double rowAt(float y_) const { return row + static_cast<double>(y_ - area.Min.y) * cellsPerPixel; }
  /// The part of the area that shows cells.
  ImRect cells() const;
  double cellPixels() const { return 1 / cellsPerPixel; }
  /// The finest level whose pixels cover at least one screen pixel, so that none is skipped.
  int level() const;
  /// The next finer level, whose pixels cover half to one screen pixel; they are pooled while drawing.
  int finerLevel() const { return level() > 0 ? level() - 1 : 0; }
};

/// Cells per pixel when the whole head is shown.
double wholeZoom(const ImRect& area, Index n, Index m);

/// Clamps the cursor to the head, and the zoom between cell and whole head; returns the resulting window.
MapWindow mapWindow(MapCursor& cursor, const View& view, const ImRect& area, Index n, Index m);

/// Multiplies cells per pixel by `factor`, keeping the cell at `about` in place.
void zoomMap(MapCursor& cursor, const MapWindow& window, double factor, ImVec2 about);
void panMap(MapCursor& cursor, const MapWindow& window, float dx, float dy);
/// Centres a cell, zoomed in enough to read its tokens.
void goToCell(MapCursor& cursor, const View& view, Index query, Index key);

/// "1 pixel = 64 × 64 cells" or "1 cell = 12 pixels".
std::string zoomText(const MapWindow& window);

/// The step, one of 1, 2, 5, 10, … cells, that keeps labels at least `room` pixels apart.
Index labelStep(const MapWindow& window, float room);

}  // namespace headscope::app::map_page
