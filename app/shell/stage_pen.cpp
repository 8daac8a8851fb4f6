#include <algorithm>
#include <cfloat>
#include <cmath>

#include "app/platform/track.h"
#include "app/shell/shell.h"
#include "app/widgets/panel.h"

namespace headscope::app {

namespace {

using Stroke = StageState::Stroke;

ImRect window() {
  return {ImVec2(0, 0), ImGui::GetIO().DisplaySize};
}

/// The smallest picture or word there, which a stroke that begins there belongs to.
std::string thingAt(ImVec2 at) {
  std::string found;
  float least = FLT_MAX;
  for (const auto& [name, rect] : allTracked()) {
    const float size = rect.GetWidth() * rect.GetHeight();
    if (name.starts_with("stage.") || !rect.Contains(at) || size < 64 || size >= least) continue;
    found = name;
    least = size;
  }
  return found;
}

/// Where what it belongs to is now; nothing where that isn't on screen.
std::optional<ImRect> placeOf(const Stroke& stroke) {
  return stroke.on.empty() ? std::optional(window()) : tracked(stroke.on);
}

void drawOn(StageState& stage, float step) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (ImGui::IsItemActivated()) {
    stage.strokes.push_back({thingAt(mouse), {}, ImGui::GetIO().KeyShift});
    stage.drawing = true;
  }
  if (!ImGui::IsItemActive()) stage.drawing = false;
  if (!stage.drawing || stage.strokes.empty()) return;
  Stroke& stroke = stage.strokes.back();
  const std::optional<ImRect> place = placeOf(stroke);
  if (!place) return;
  const ImVec2 size = place->GetSize();
  const ImVec2 at((mouse.x - place->Min.x) / size.x, (mouse.y - place->Min.y) / size.y);
  std::vector<ImVec2>& points = stroke.points;
  if (stroke.arrow && points.size() > 1)
    points.back() = at;
  else if (points.empty() ||
           std::hypot((at.x - points.back().x) * size.x, (at.y - points.back().y) * size.y) >= step)
    points.push_back(at);
}

/// On two tones, so that it shows on every colormap.
void paintStroke(const View& view, Canvas list, const Stroke& stroke, const std::string& name) {
  const std::optional<ImRect> place = placeOf(stroke);
  if (!place || stroke.points.empty()) return;
  std::vector<ImVec2> points;
  ImRect bounds(FLT_MAX, FLT_MAX, -FLT_MAX, -FLT_MAX);
  for (const ImVec2 point : stroke.points) {
    points.emplace_back(place->Min.x + point.x * place->GetWidth(),
                        place->Min.y + point.y * place->GetHeight());
    bounds.Add(points.back());
  }
  const auto paint = [&](std::uint32_t color, float wide) {
    list.AddCircleFilled(points.front(), wide / 2, color, 16);
    list.AddPolyline(points.data(), static_cast<int>(points.size()), color, 0, wide);
    if (!stroke.arrow || points.size() < 2) return;
    const ImVec2 tip = points.back(), from = points.front();
    const float length = std::max(1.0f, std::hypot(tip.x - from.x, tip.y - from.y));
    const ImVec2 along((tip.x - from.x) / length, (tip.y - from.y) / length);
    const float head = view.px(9) + wide;
    const ImVec2 base(tip.x - along.x * head, tip.y - along.y * head),
        side(-along.y * head / 2, along.x * head / 2);
    list.AddTriangleFilled(ImVec2(tip.x + along.x * wide / 2, tip.y + along.y * wide / 2),
                           ImVec2(base.x + side.x, base.y + side.y), ImVec2(base.x - side.x, base.y - side.y),
                           color);
  };
  paint(view.theme->background, view.px(5.5f));
  paint(groupColor(*view.theme, 3), view.px(3));
  track(name, bounds.Min, bounds.Max);
}

}  // namespace

void stagePen(const View& view, StageState& stage) {
  if (!stage.pen && stage.strokes.empty()) return;
  const ImRect all = window();
  const ImGuiWindowFlags untouched = stage.pen ? 0 : ImGuiWindowFlags_NoInputs;
  if (beginPanel(view, "stage.paper", all, 0, 0, ImGuiWindowFlags_NoScrollWithMouse | untouched)) {
    ImGui::BringWindowToDisplayFront(ImGui::GetCurrentWindow());
    if (stage.pen) {
      ImGui::SetCursorScreenPos(all.Min);
      compat::invisibleButton("stage.paper", all.GetSize());
      drawOn(stage, view.px(2));
    }
    for (std::size_t i = 0; i < stage.strokes.size(); ++i)
      paintStroke(view, *ImGui::GetWindowDrawList(), stage.strokes[i], "stage.stroke." + std::to_string(i));
  }
  endPanel();
}

}  // namespace headscope::app
