#include "app/widgets/panel.h"

#include <fmt/core.h>

#include <cctype>

#include "app/scene/models/open_model.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

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
  layout.showCache = hasStrip && unitsHigh >= 420;
  const float leftWidth = view.px(std::clamp(unitsWide * 0.19f, 280.0f, 348.0f));
  const float rightWidth = view.px(std::clamp(unitsWide * 0.2f, 320.0f, 384.0f));
  const float cacheHeight = view.px(unitsHigh < 860 ? 44 : std::clamp(unitsHigh * 0.2f, 176.0f, 232.0f));
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

void fillSide(const View& view, const ImRect& area) {
  Canvas back = *ImGui::GetBackgroundDrawList();
  back.AddRectFilled(area.Min, area.Max, view.theme->panel);
  back.AddLine(ImVec2(area.Max.x, area.Min.y), area.Max, view.theme->line);
}

void fillDrawer(const View& view, const Layout& layout, std::initializer_list<const char*> covered) {
  // A newly shown panel is put below the others, so move what the drawer covers further down.
  for (const char* name : covered)
    if (ImGuiWindow* window = layout.narrow ? ImGui::FindWindowByName(name) : nullptr)
      ImGui::BringWindowToDisplayBack(window);
  Canvas list = *ImGui::GetWindowDrawList();
  list.PushClipRect(layout.right.Min, layout.right.Max);
  list.AddRectFilled(layout.right.Min, layout.right.Max, view.theme->panel);
  list.AddLine(layout.right.Min, ImVec2(layout.right.Min.x, layout.right.Max.y), view.theme->line);
  list.PopClipRect();
}

void scrollEdge(const View& view, const ImRect& area) {
  if (ImGui::GetScrollMaxY() - ImGui::GetScrollY() <= view.px(6)) return;
  const std::uint32_t solid = view.theme->panel, clear = faded(solid, 0);
  const ImVec2 from(area.Min.x, area.Max.y - view.px(36));
  Canvas list = *ImGui::GetWindowDrawList();
  if (drawsMark(list, kFade, from, area.Max))
    list.AddRectFilledMultiColor(from, area.Max, clear, clear, solid, solid);
}

namespace {

/// Turns a message into a sentence. Messages start in lower case, to follow what they are about. A file name
/// at the start stays unchanged.
std::string asSentence(std::string text) {
  const std::string first = text.substr(0, text.find(' '));
  if (!text.empty() && first.find_first_of("./_") == std::string::npos)
    text[0] = static_cast<char>(text[0] >= 'a' && text[0] <= 'z' ? text[0] - 'a' + 'A' : text[0]);
  if (!text.empty() && std::isalnum(static_cast<unsigned char>(text.back()))) text += '.';
  return text;
}

}  // namespace

void paintMessage(const View& view, const ImRect& area, const std::string& title, const std::string& message,
                  std::uint32_t color) {
  const std::string text = asSentence(message);
  Canvas list = *ImGui::GetWindowDrawList();
  const ImVec2 middle = area.GetCenter();
  paintText(list, view.fonts->hero, ImVec2(middle.x, middle.y - view.px(26)), color, title, Align::center);
  const float most = std::min(area.GetWidth() - view.px(40), view.px(560));
  ImFont* font = view.fonts->text;
  // Balances the line lengths, so that no single word is left on the last line.
  const float whole = textWidth(font, text) + 1, lines = std::ceil(whole / most);
  const float width = lines > 1 ? std::min(most, whole / lines + view.px(40)) : whole;
  paintParagraph(list, font, ImVec2(middle.x - width / 2, middle.y + view.px(2)), width,
                 view.theme->secondary, text);
}

void emptyMessage(View& view, const ImRect& area, const std::string& title, const std::string& text,
                  const std::string& label, const char* action) {
  const ImVec2 middle = area.GetCenter();
  const ImRect above(area.Min.x, area.Min.y, area.Max.x, area.Max.y - view.px(30));
  paintMessage(view, above, title, text, view.theme->text);
  ImGui::SetCursorScreenPos(
      ImVec2(middle.x - textWidth(view.fonts->text, label) / 2 - view.px(11), middle.y + view.px(34)));
  if (button(view, std::string("empty.") + action, label)) view.request(action);
}

std::string headName(Index head) {
  return "Head " + std::to_string(head);
}
std::string kvName(Index kvHead) {
  return "KV " + std::to_string(kvHead);
}

Index layerNumber(const Setup& setup, Index layer) {
  const auto& opened = setup.subject.opened;
  return opened && opened->recorded ? opened->recorded->layers()[static_cast<std::size_t>(layer)].number
                                    : layer;
}

std::string layerPrefix(const Setup& setup) {
  const bool several = setup.subject.opened || isStack(setup);
  return several ? fmt::format("Layer {} · ", layerNumber(setup, shownLayer(setup))) : "";
}
std::string headWords(const Setup& setup, Index head) {
  const bool several = !layerPrefix(setup).empty();
  return (several ? fmt::format("layer {} ", layerNumber(setup, shownLayer(setup))) : "") + "head " +
         std::to_string(head);
}

}  // namespace headscope::app
