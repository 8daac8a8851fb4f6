#pragma once

#include "app/pages/model/model_state.h"

namespace headscope::app::model_page {

// Parts of the overview: what stands above the thumbnails, the thumbnails, what stands beside a layer.

/// Heads that are seen to do one thing.
struct Behaviour {
  const attention::Detector* detector = nullptr;  ///< null: mixed
  std::string name;                               ///< as filterName() has it
  Index heads = 0;
  bool deliberate = false;
};
/// What the heads of all layers that have come do: first what is deliberate, mixed last, in the order of
/// allDetectors().
std::vector<Behaviour> behavioursOf(const Layers& layers, float threshold);

/// What the numbers of "without it" are about; "" where they aren't known.
std::string lossText(State& page);
/// "−0.12", "+0.05".
std::string changeText(float change);

/// Where the thumbnails are.
struct OverviewPlan {
  ImRect area;
  ImRect map;  ///< the part of it that thumbnails are in
  Index layers = 0, heads = 0;
  float fit = 0;             ///< the pitch at which all are in sight
  float largest = 0;         ///< to which the wheel enlarges
  float pitch = 0, gap = 0;  ///< from thumbnail to thumbnail, and of it the space
  float rowPitch = 0;        ///< from layer to layer
  float left = 0, top = 0;   ///< of the first thumbnail, before scrolling
  float columns = 0;         ///< left end of what stands beside a layer
  bool band = false;         ///< that stands under the layer instead, over its whole width
  bool stream = false;       ///< there is room for what layers add and would say
  bool sinks = false;        ///< what heads' sinks take stands at the right of each thumbnail
  bool label = false, score = false, belowTriangle = false;
  bool zooms = false;      ///< the thumbnails are so small that the wheel enlarges them
  bool magnifies = false;  ///< and those about the pointer are shown larger
  ImVec2 scroll, most;     ///< by how much they are moved, and can be

  float cells() const { return pitch - gap; }
  ImRect tile(Index layer, Index column) const;
  bool inSight(const ImRect& tile) const {
    return tile.Max.x > map.Min.x && tile.Min.x < map.Max.x && tile.Max.y > map.Min.y &&
           tile.Min.y < map.Max.y;
  }
};
/// Inside a page with its header, which is higher above large thumbnails.
OverviewPlan planMap(const View& view, const ShownModel& model, const OverviewZoom& zoom, const ImRect& inner,
                     bool presents);

void overviewHeader(Scene& scene, State& page, const ImRect& area, const OverviewPlan& plan);
/// The thumbnails with their labels, frames and marks, and the numbers of heads and layers.
void paintThumbnails(const Scene& scene, State& page, const OverviewPlan& plan);
/// Mean entropy, what is added to the stream, the lens selector and the guess so far, for every layer.
void streamColumns(Scene& scene, State& page, const OverviewPlan& plan);

/// The heads about the one that is pointed at, larger, beside the pointer, with a sentence below them.
void magnifier(const Scene& scene, State& page, const OverviewPlan& plan, Index layer, Index column,
               const std::string& says);

}  // namespace headscope::app::model_page
