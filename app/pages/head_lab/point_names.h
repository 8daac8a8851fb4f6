#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/widgets/view.h"
#include "imgui_internal.h"

namespace headscope::app::head_lab_page {

/// From places on a plane to pixels, the same scale on both axes.
struct PlaneView {
  ImRect area;
  float perUnit = 1;
  ImVec2 middle = {};  ///< the place in the middle of the area
  ImVec2 pixel(float x, float y) const {
    return area.GetCenter() + ImVec2((x - middle.x) * perUnit, (middle.y - y) * perUnit);
  }
};

/// Names beside the points of a plane, each where it touches no other name and no point: those that are
/// painted first choose first.
class PointNames {
 public:
  /// Of names inside `area`.
  PointNames(const View& view, const ImRect& area) : view_(view), area_(area) {}

  /// What the plane's directions are, in its corners: "PC 1 →" below at the right, "↑ PC 2" above at the
  /// left.
  void paintAxes(const std::string& first, const std::string& second);
  /// A point, or something else that names keep clear of.
  void keepClear(ImVec2 at, float radius);
  /// A line and a disc that names don't touch as long as there is another place.
  void keepOff(ImVec2 from, ImVec2 to);
  void keepOffDisc(ImVec2 center, float radius);
  /// At the right of a point, or where that is taken at the left, above, below or in a corner. False where
  /// all are: then nothing is painted.
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

}  // namespace headscope::app::head_lab_page
