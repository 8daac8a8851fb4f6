#include <fmt/core.h>

#include <algorithm>

#include "app/pages/head_lab/head_lab_state.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"

namespace headscope::app::head_lab_page {

void groupTable(Scene& scene, State& page, const ImRect& area) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const attention::AttentionConfig& config = page.layer->config();
  const Cell cell = shownCell(scene, page);
  const Index kv = config.kvHeadOf(cell.head), group = config.groupSize();
  paintText(list, view.fonts->monoTitle, ImVec2(area.Min.x, area.Min.y + view.px(14)), theme.text,
            group == 1 ? fmt::format("head {} reads K{}, V{}", cell.head, cell.head, cell.head)
                       : fmt::format("⌊{} ÷ {}⌋ = {}: head {} reads K and V of KV {}", cell.head, group, kv,
                                     cell.head, kv));
  const float line = view.px(30), top = area.Min.y + view.px(44);
  const auto room = std::max<Index>(1, static_cast<Index>((area.Max.y - top) / line));
  const Index shown = std::min(config.kvHeads, room - (config.kvHeads > room ? 1 : 0));
  const Index first = std::clamp<Index>(kv - shown / 2, 0, config.kvHeads - std::max<Index>(shown, 1));
  for (Index i = 0; i < shown; ++i) {
    const Index g = first + i;
    const float y = top + line * (static_cast<float>(i) + 0.5f);
    float x = area.Min.x +
              paintBadge(view, list, ImVec2(area.Min.x, y), groupColor(theme, g), fmt::format("KV {}", g)) +
              view.px(14);
    for (Index h = g * group; h < (g + 1) * group; ++h) {
      const std::string text = std::to_string(h);
      const float wide = textWidth(view.fonts->mono, text) + view.px(16);
      if (x + wide + view.px(60) > area.Max.x && h + 1 < (g + 1) * group) {
        paintText(list, view.fonts->text, ImVec2(x, y), theme.secondary,
                  fmt::format("+ {}", (g + 1) * group - h));
        break;
      }
      if (hitArea(fmt::format("group.{}", h), ImVec2(x, y - view.px(12)), ImVec2(wide, view.px(24))))
        scene.cursor.cell.head = h;
      const bool lit = h == cell.head;
      if (lit || ImGui::IsItemHovered())
        list.AddRectFilled(
            ImVec2(x, y - view.px(12)), ImVec2(x + wide, y + view.px(12)),
            lit ? mixed(theme.background, theme.query, theme.light ? 0.1f : 0.18f) : theme.raised,
            view.px(4));
      paintText(list, view.fonts->mono, ImVec2(x + wide / 2, y), lit ? theme.query : theme.secondary, text,
                Align::center);
      x += wide + view.px(4);
    }
  }
  if (shown < config.kvHeads)
    paintText(list, view.fonts->text, ImVec2(area.Min.x, top + line * (static_cast<float>(shown) + 0.5f)),
              theme.secondary, "and " + countedText(config.kvHeads - shown, "more kv head"));
}

}  // namespace headscope::app::head_lab_page
