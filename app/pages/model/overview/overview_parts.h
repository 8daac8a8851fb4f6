#pragma once

#include <cmath>

#include "app/kit/board.h"
#include "app/pages/model/model_state.h"

namespace headscope::app::model_page {

// Parts of the overview: the header above the thumbnails, the thumbnails, and the columns next to them.

/// A behaviour that heads show.
struct Behaviour {
  const attention::Detector* detector = nullptr;  ///< null: mixed
  std::string name;                               ///< from filterName()
  Index heads = 0;
  bool deliberate = false;
};
/// The behaviours of all heads computed so far: deliberate ones first, mixed last, otherwise in the order of
/// allDetectors().
std::vector<Behaviour> behavioursOf(const Layers& layers, float threshold);

/// What the "without it" numbers measure; "" if they aren't known.
std::string lossText(State& page);
/// "−0.12", "+0.05".
std::string changeText(float change);
inline constexpr float kWorthSaying = 0.05f;  ///< smaller changes aren't shown

/// The layout of the overview.
struct OverviewPlan {
  ImRect area;
  ImRect map;  ///< the part with the thumbnails
  Index layers = 0, heads = 0;
  float fit = 0;             ///< the pitch at which all thumbnails are visible
  float largest = 0;         ///< the largest pitch that zooming reaches
  float pitch = 0, gap = 0;  ///< from thumbnail to thumbnail, and the part of it between them
  float rowPitch = 0;        ///< from layer to layer
  float left = 0, top = 0;   ///< of the first thumbnail, before scrolling
  float columns = 0;         ///< left edge of the stream columns, see streamColumns()
  bool band = false;         ///< the stream columns are under each layer instead, across its width
  bool stream = false;       ///< the stream columns are shown
  bool sinks = false;        ///< the shares of heads' sinks are drawn right of each thumbnail
  bool label = false, score = false, belowTriangle = false;
  bool zooms = false;      ///< the thumbnails are small enough to zoom
  bool magnifies = false;  ///< those around the pointer are shown enlarged
  ImVec2 scroll, most;     ///< scroll offset, and its maximum

  float cells() const { return pitch - gap; }
  ImRect tile(Index layer, Index column) const;
  bool inSight(const ImRect& tile) const {
    return tile.Max.x > map.Min.x && tile.Min.x < map.Max.x && tile.Max.y > map.Min.y &&
           tile.Min.y < map.Max.y;
  }
};
/// The place of a head's whole picture.
inline HeatTile tileOf(const LayerSummary& layer, const ImRect& area, Index head) {
  return {area, 0, 0, static_cast<float>(layer.weights.rows()), static_cast<float>(layer.weights.cols()),
          head};
}
/// Lays out the overview in `inner`, below a header. Thumbnails with space for words (`score`) have a
/// headline in it, and the meaning of their numbers below.
OverviewPlan planMap(const View& view, const ShownModel& model, const OverviewZoom& zoom,
                     const ImRect& inner);
/// Layout units that margins and the row of views take from the overview's height.
inline constexpr float kAroundOverview = 50;

/// Adds the filters by behaviour and the order of heads, below a headline if there is space for it.
void overviewHeader(Board& board, Scene& scene, State& page, bool headed);
/// The thumbnails with their labels, frames and marks, and the numbers of heads and layers.
void paintThumbnails(const Scene& scene, State& page, const OverviewPlan& plan);
/// For every layer: mean entropy, what it adds to the stream, the lens selector and the prediction so far.
void streamColumns(Scene& scene, State& page, const OverviewPlan& plan);

/// Draws the heads around the one under the pointer, enlarged next to it, with the text `says` below.
void magnifier(const Scene& scene, State& page, const OverviewPlan& plan, Index layer, Index column,
               const std::string& says);

/// Why a token can't be replaced; "" if it can.
std::string cannotChange(const State& page, Index token);
/// Opens a box for replacing a generated token. Does nothing if it can't be replaced.
void openTokenEdit(State& page, Index token);
/// Draws that box over the token's word.
void tokenEditBox(View& view, Writing& writing, const ImRect& word);

/// The tokens that have columns, and where these are: `count` tokens from `first` on. While presenting a long
/// text, its first `lead` tokens come before them, and ellipses mark the tokens that are left out.
struct StripColumns {
  float left, width;
  Index first, count, slots;
  ImFont* font;
  Index lead = 0;       ///< tokens from the beginning, followed by a slot with an ellipsis
  bool goesOn = false;  ///< the last slot has an ellipsis

  float slot(Index number) const { return left + width * static_cast<float>(number); }
  float at(Index token) const {
    return slot(token < lead ? token : token - first + (lead > 0 ? lead + 1 : 0));
  }
  bool has(Index token) const { return token < lead || (token >= first && token < first + count); }
  /// The token whose column contains x; −1 if there is none.
  Index tokenAt(float x) const {
    const auto number = static_cast<Index>(std::floor((x - left) / width));
    for (const Index token : {number, number + first - (lead > 0 ? lead + 1 : 0)})
      if (token >= 0 && has(token) && x >= at(token) && x < at(token) + width) return token;
    return -1;
  }
  template <typename Each>
  void each(const Each& each) const {
    for (Index token = 0; token < lead; ++token) each(token);
    for (Index token = first; token < first + count; ++token) each(token);
  }
};

/// Lays out the strip's columns in `area`.
StripColumns columnsFor(const Scene& scene, const State& page, const ImRect& area);
/// Draws the ellipses in the slots for tokens that are left out.
void paintEllipses(const View& view, const StripColumns& columns, float y);

}  // namespace headscope::app::model_page
