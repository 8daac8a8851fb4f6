#include "app/pages/map/map_window.h"

#include <algorithm>
#include <bit>

#include "app/compute/plots/thinning.h"
#include "app/scene/text/number_text.h"

namespace headscope::app::map_page {

ImRect MapWindow::cells() const {
  return {std::max(area.Min.x, x(0)), std::max(area.Min.y, y(0)),
          std::min(area.Max.x, x(static_cast<double>(m))), std::min(area.Max.y, y(static_cast<double>(n)))};
}

int MapWindow::level() const {
  // A size slightly below a pixel still counts as one pixel.
  return std::countr_zero(
      static_cast<std::uint64_t>(powerOfTwoStep(1, cellsPerPixel * (1 - 1e-6), std::max<Index>({n, m, 1}))));
}

double wholeZoom(const ImRect& area, Index n, Index m) {
  return std::max(static_cast<double>(n) / static_cast<double>(std::max(1.0f, area.GetHeight())),
                  static_cast<double>(m) / static_cast<double>(std::max(1.0f, area.GetWidth())));
}

namespace {

/// The first visible cell for a wanted middle, with `all` cells inside the window or filling it.
double firstCell(double& middle, double shown, double all) {
  const double one = shown / 2, other = all - shown / 2;
  middle = std::clamp(middle, std::min(one, other), std::max(one, other));
  return middle - shown / 2;
}

}  // namespace

MapWindow mapWindow(MapCursor& cursor, const View& view, const ImRect& area, Index n, Index m) {
  MapWindow window;
  window.area = area;
  window.n = n;
  window.m = m;
  const double whole = wholeZoom(area, n, m);
  const double closest = window.closest = std::min(whole, 1 / static_cast<double>(view.px(96)));
  const bool all = cursor.cellsPerPixel <= 0 || cursor.cellsPerPixel >= whole * (1 - 1e-9);
  if (all) {
    cursor.cellsPerPixel = 0;
    cursor.row = static_cast<double>(n) / 2;
    cursor.col = static_cast<double>(m) / 2;
  }
  window.cellsPerPixel = all ? whole : std::max(cursor.cellsPerPixel, closest);
  if (!all) cursor.cellsPerPixel = window.cellsPerPixel;
  // While presenting, a short text fills the screen: its cells may be wider than high.
  constexpr Index kShort = 64;
  constexpr double kWidest = 1.6;
  if (all && view.present && std::max(n, m) <= kShort)
    window.wide = std::clamp(area.GetWidth() * whole / static_cast<double>(m), 1.0, kWidest);
  window.row = firstCell(cursor.row, area.GetHeight() * window.cellsPerPixel, static_cast<double>(n));
  window.col =
      firstCell(cursor.col, area.GetWidth() * window.cellsPerPixel / window.wide, static_cast<double>(m));
  return window;
}

void zoomMap(MapCursor& cursor, const MapWindow& window, double factor, ImVec2 about) {
  // Stops at the closest zoom, so that the cell under the pointer stays there.
  const double next = std::max(window.cellsPerPixel * factor, window.closest);
  const double fromMiddleX = about.x - window.area.GetCenter().x,
               fromMiddleY = about.y - window.area.GetCenter().y;
  cursor.row = window.rowAt(about.y) - fromMiddleY * next;
  cursor.col = window.colAt(about.x) - fromMiddleX * next;
  cursor.cellsPerPixel = next;
}

void panMap(MapCursor& cursor, const MapWindow& window, float dx, float dy) {
  cursor.col += static_cast<double>(dx) * window.cellsPerPixel / window.wide;
  cursor.row += static_cast<double>(dy) * window.cellsPerPixel;
}

void goToCell(MapCursor& cursor, const View& view, Index query, Index key) {
  cursor.query = query;
  cursor.key = key;
  cursor.row = static_cast<double>(query) + 0.5;
  cursor.col = static_cast<double>(key) + 0.5;
  const double readable = 1 / static_cast<double>(view.px(24));
  if (cursor.cellsPerPixel <= 0 || cursor.cellsPerPixel > readable) cursor.cellsPerPixel = readable;
}

std::string zoomText(const MapWindow& window) {
  const auto number = [](double value) { return numberText(value, value < 10 ? 2 : 3); };
  if (window.cellsPerPixel >= 1) {
    const std::string side = number(window.cellsPerPixel);
    return "1 pixel = " + side + " × " + side + " cells";
  }
  return "1 cell = " + number(window.cellPixels()) + " pixels";
}

Index labelStep(const MapWindow& window, float room) {
  return roundStep(1, static_cast<double>(room) * window.cellsPerPixel, std::max(window.n, window.m));
}

}  // namespace headscope::app::map_page
