#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/widgets/view.h"
#include "attention/core/tensor.h"

namespace headscope::app {

/// Maps points of a plane to pixels, with the same scale on both axes.
struct PlaneView {
  ImRect area;
  float perUnit = 1;
  ImVec2 middle = {};  ///< the point at the centre of the area
  ImVec2 pixel(float x, float y) const {
    return area.GetCenter() + ImVec2((x - middle.x) * perUnit, (middle.y - y) * perUnit);
  }
};

/// A plane in `area` that shows the origin in the middle and all points [n, 2]. `extent`: half of the range
/// that its shorter side shows, 0 = not known yet; it stays the same while the points fill the area well, and
/// while they are `held`.
PlaneView planeAround(const ImRect& area, const attention::Matrix& points, float& extent, bool held);

/// The nearest of points [n, 2] within `reach` pixels of `mouse`; −1 = none.
attention::Index pointUnder(const PlaneView& plane, const attention::Matrix& points, ImVec2 mouse,
                            float reach);

/// Places names next to the points of a plane so that they don't overlap other names or points. Names painted
/// first get the better places.
class PointNames {
 public:
  /// Places names inside `area`.
  PointNames(const View& view, const ImRect& area) : view_(view), area_(area) {}

  /// Draws the axes' names in the corners: "PC 1 →" at the bottom right, "↑ PC 2" at the top left.
  void paintAxes(const std::string& first, const std::string& second);
  /// Reserves the space of a point or another item that names must not cover.
  void keepClear(ImVec2 at, float radius);
  /// Marks a line or a disc that names avoid if another place is free.
  void keepOff(ImVec2 from, ImVec2 to);
  void keepOffDisc(ImVec2 center, float radius);
  /// Draws a name right of a point; if that place is taken, left of it, above, below or in a corner. Returns
  /// false, without drawing, if all places are taken.
  bool paint(ImVec2 at, float radius, const std::string& name, std::uint32_t color);

 private:
  const View& view_;
  ImRect area_;
  std::vector<ImRect> taken_;
  std::vector<std::pair<ImVec2, ImVec2>> lines_;
  std::vector<std::pair<ImVec2, float>> discs_;

  bool onLine(const ImRect& box) const;
  bool onDisc(const ImRect& box) const;
};

}  // namespace headscope::app
