#pragma once

#include <cmath>

#include "app/pages/model/model_state.h"

namespace headscope::app::model_page {

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
