#include "app/widgets/layout.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

/// Lays out a presentation: the page alone above a line that describes it. One head shares the page with its
/// receipt.
Layout presentLayout(const View& view, float width, float height, bool hasSide, bool hasStrip) {
  Layout layout;
  layout.presents = true;
  layout.showLeft = false;
  const float bottom = height - (view.figure ? 0 : view.px(28));
  // At most half of a wide screen; next to a lesson, the picture stays the larger part.
  const float side = std::min(width * 0.5f, std::max(view.px(196), width * 0.4f));
  layout.showRight = hasSide;
  layout.showCache = hasStrip;
  layout.cacheLine = false;
  layout.top = layout.left = ImRect(0, 0, 0, 0);
  layout.status = ImRect(0, bottom, width, height);
  const float right = hasSide ? std::round(width - (width < view.px(560) ? side : width * 0.5f)) : width,
              cacheTop = hasStrip ? bottom - view.px(64) : bottom;
  layout.right = ImRect(right, 0, width, bottom);
  layout.cache = ImRect(0, cacheTop, right, bottom);
  layout.center = ImRect(0, 0, right, cacheTop);
  return layout;
}

}  // namespace

Layout layoutFor(const View& view, float width, float height, bool hasSide, bool hasStrip) {
  if (view.present) return presentLayout(view, width, height, hasSide, hasStrip);
  Layout layout;
  const float unitsWide = width / view.unit, unitsHigh = height / view.unit;
  const float top = view.px(52), status = view.px(32);
  layout.narrow = unitsWide < 1500;
  layout.showRight = hasSide && (!layout.narrow || view.drawer);
  layout.showCache = hasStrip;
  layout.cacheLine = unitsHigh < 860;
  const float leftWidth = view.px(std::clamp(unitsWide * 0.19f, 280.0f, 348.0f));
  const float rightWidth = view.px(std::clamp(unitsWide * 0.2f, 320.0f, 384.0f));
  const float cacheHeight = view.px(layout.cacheLine ? 44 : std::clamp(unitsHigh * 0.2f, 176.0f, 232.0f));
  const float bottom = height - status;
  layout.top = ImRect(0, 0, width, top);
  layout.status = ImRect(0, bottom, width, height);
  // A drawer takes its space from the page, as a fixed panel does. If that would leave too little, it
  // replaces the left panel; if even that isn't enough, it covers the page.
  const float least = view.px(420);
  layout.showLeft = !(layout.showRight && width - leftWidth - rightWidth < least);
  const float left = layout.showLeft ? leftWidth : 0;
  const float right = layout.showRight && width - left - rightWidth >= view.px(240) ? rightWidth : 0;
  const float cacheTop = layout.showCache ? bottom - cacheHeight : bottom;
  layout.left = ImRect(0, top, left, bottom);
  layout.right = ImRect(width - rightWidth, top, width, bottom);
  layout.cache = ImRect(left, cacheTop, width - right, bottom);
  layout.center = ImRect(left, top, width - right, cacheTop);
  return layout;
}

bool beginPanel(const View& view, const char* name, const ImRect& area, float padX, float padY, int flags) {
  ImGui::SetNextWindowPos(area.Min);
  ImGui::SetNextWindowSize(area.GetSize());
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(view.px(padX), view.px(padY)));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
  const bool open =
      ImGui::Begin(name, nullptr,
                   ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoNav |
                       ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus |
                       ImGuiWindowFlags_NoBackground | flags);
  ImGui::PopStyleVar(3);
  return open;
}

void endPanel() {
  compat::end();
}

}  // namespace headscope::app
