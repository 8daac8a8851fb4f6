#include <algorithm>

#include "app/shell/panels.h"
#include "app/widgets/paint.h"

namespace headscope::app {

const PlacedError* errorAt(const Snapshot* snapshot, Place place) {
  return snapshot && snapshot->error && snapshot->error->place == place ? &*snapshot->error : nullptr;
}

const SequenceSnapshot* shownSequence(const Scene& scene, const Snapshot* snapshot) {
  if (!snapshot || snapshot->sequences.empty()) return nullptr;
  const auto last = static_cast<Index>(snapshot->sequences.size()) - 1;
  return &snapshot->sequences[static_cast<std::size_t>(std::clamp<Index>(scene.cursor.sequence, 0, last))];
}

void noteScroll(View& view) {
  static float lastScroll = 0;
  if (ImGui::GetScrollY() != lastScroll) view.scrolledAt = view.time;
  lastScroll = ImGui::GetScrollY();
}

void scrollEdge(const View& view, const ImRect& area) {
  if (ImGui::GetScrollMaxY() - ImGui::GetScrollY() <= view.px(6)) return;
  const std::uint32_t solid = view.theme->panel, clear = faded(solid, 0);
  ImGui::GetWindowDrawList()->AddRectFilledMultiColor(ImVec2(area.Min.x, area.Max.y - view.px(36)), area.Max,
                                                      clear, clear, solid, solid);
}

std::uint32_t groupColor(const Theme& theme, Index kvHead) {
  return theme.groups[static_cast<std::size_t>(kvHead) % theme.groups.size()];
}

void paintMessage(const View& view, const ImRect& area, const std::string& title, const std::string& text,
                  std::uint32_t color) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 middle = area.GetCenter();
  paintText(list, view.fonts->hero, ImVec2(middle.x, middle.y - view.px(26)), color, title, Align::center);
  const float width = std::min(area.GetWidth() - view.px(40), view.px(560));
  ImFont* font = view.fonts->text;
  const float needed = std::min(width, textWidth(font, text) + 1);
  paintParagraph(list, font, ImVec2(middle.x - needed / 2, middle.y + view.px(2)), width,
                 view.theme->secondary, text);
}

std::string headName(Index head) {
  return "Head " + std::to_string(head);
}
std::string kvName(Index kvHead) {
  return "KV " + std::to_string(kvHead);
}

}  // namespace headscope::app
