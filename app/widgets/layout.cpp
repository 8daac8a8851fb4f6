#include "app/widgets/layout.h"

#include <algorithm>

namespace headscope::app {

Layout layoutFor(const View& view, float width, float height, bool hasSide, bool hasStrip) {
  Layout layout;
  const float unitsWide = width / view.unit, unitsHigh = height / view.unit;
  const float top = view.px(52), status = view.px(32);
  layout.narrow = unitsWide < 1500;
  layout.showLeft = !view.present;
  layout.showRight = hasSide && !view.present && (!layout.narrow || view.drawer);
  layout.showCache = hasStrip;
  layout.cacheLine = unitsHigh < 860;
  const float leftWidth = view.px(std::clamp(unitsWide * 0.19f, 280.0f, 348.0f));
  const float rightWidth = view.px(std::clamp(unitsWide * 0.2f, 320.0f, 384.0f));
  const float cacheHeight = view.px(layout.cacheLine ? 44 : std::clamp(unitsHigh * 0.2f, 176.0f, 232.0f));
  const float bottom = height - status;
  layout.top = ImRect(0, 0, width, top);
  layout.status = ImRect(0, bottom, width, height);
  const float left = layout.showLeft ? leftWidth : 0;
  // A drawer lies over the heads; a fixed panel takes its room from them.
  const float right = layout.showRight && !layout.narrow ? rightWidth : 0;
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
  ImGui::End();
}

}  // namespace headscope::app
