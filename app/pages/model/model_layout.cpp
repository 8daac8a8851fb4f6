#include <algorithm>
#include <cmath>

#include "app/pages/model/model_parts.h"
#include "app/pages/model/overview/overview_parts.h"

namespace headscope::app::model_page {

namespace {
constexpr float kStripHeight = 250;  // units, including all rows
}

/// Gives the large head the width that the thumbnails don't need. In a narrow window, a picture without
/// predictions gets the large head too if the thumbnails keep at least 600 units of width and seven tenths of
/// their size.
Layout divided(const State& page, Layout layout) {
  const View& view = page.view;
  if (layout.narrow && !layout.showRight && !layout.presents && page.picture() && !page.model.predicts()) {
    const auto pitch = [&](float right) {
      const ImRect map(0, 0, right - layout.center.Min.x - view.px(40),
                       layout.center.GetHeight() - view.px(6));
      return planMap(page.view, page.model, page.zoom, map, false).fit;
    };
    if (layout.right.Min.x - layout.center.Min.x < view.px(600) ||
        pitch(layout.right.Min.x) < 0.7f * pitch(layout.center.Max.x))
      return layout;
    layout.narrow = false;
    layout.showRight = true;
    layout.center.Max.x = layout.right.Min.x;
    return layout;
  }
  if (layout.narrow || layout.presents || !layout.showRight || !page.model.config) return layout;
  const float height = layout.center.GetHeight() - stripHeight(page, layout) - view.px(6 + 44);
  const float width = layout.right.Max.x - layout.center.Min.x - view.px(40), most = view.px(620);
  for (float right = most; right > layout.right.GetWidth(); right -= view.px(4)) {
    const ImRect area(0, 0, width - right, height), wide(0, 0, width - layout.right.GetWidth(), height);
    const auto pitch = [&](const ImRect& map) {
      return planMap(page.view, page.model, page.zoom, map, false).fit;
    };
    if (pitch(area) < pitch(wide)) continue;
    layout.center.Max.x = layout.right.Min.x = std::round(layout.right.Max.x - right);
    break;
  }
  return layout;
}

float stripHeight(const State& page, const Layout& layout) {
  const View& view = page.view;
  if (page.model.readsPictures()) return 0;                                  // it has no text
  const bool tokensAlone = page.model.config && !page.model.config->family;  // no predictions
  return view.px(layout.presents ? 36 : tokensAlone ? 96 : foldsStrip(page, layout) ? 148 : kStripHeight);
}

bool foldsStrip(const State& page, const Layout& layout) {
  const View& view = page.view;
  if (layout.presents || layout.center.GetHeight() < view.px(700)) return true;
  if (!page.model.config) return false;
  if (!page.model.config->family) return true;  // no rows of predictions
  const float high = layout.center.GetHeight() - view.px(kStripHeight) - view.px(72);
  return high / static_cast<float>(page.model.config->layerCount()) < view.px(26);
}

}  // namespace headscope::app::model_page
