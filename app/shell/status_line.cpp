#include <algorithm>

#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/shell/bars.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app {

namespace {

/// Shows the figures of the page and the window and any running computation, between `x` and `end`.
void figures(View& view, const WindowState& window, const PageStatus& page, Canvas list, float x, float y,
             float end) {
  std::vector<Figure> all = page.figures;
  all.push_back({"textures", bytesText(static_cast<double>(window.gpuBytes)), 330});
  if (window.drawSeconds > 0) all.push_back({"frame", timeText(window.drawSeconds), 240});
  all.push_back({"undo", std::to_string(window.undoSteps), 160});
  for (const Figure& figure : all) {
    if (end - x <= view.px(figure.room)) continue;
    x += paintText(list, view.fonts->small, ImVec2(x, y), view.theme->secondary, figure.label) + view.px(5);
    x += paintText(list, view.fonts->monoSmall, ImVec2(x, y), view.theme->text, figure.value) + view.px(22);
  }
  if (page.busySeconds <= 0.5) return;
  const float from = x;
  x += paintText(list, view.fonts->small, ImVec2(x, y), view.theme->warning, page.busyWords);
  track(page.busyName, ImVec2(from, y - view.px(8)), ImVec2(x, y + view.px(8)));
  if (!page.canStop) return;
  ImGui::SetCursorScreenPos(ImVec2(x + view.px(10), y - view.px(14)));
  if (button(view, "stop", "Stop", page.hasPicture ? "" : "There is no earlier result to go back to", true))
    view.request("edit.stop");
}

/// Shows the last error, otherwise the last notice, otherwise a problem with the visible numbers, between `x`
/// and `end`. Returns whether there was any.
bool messageLine(const View& view, Canvas list, float x, float y, float end, const std::string& notFinite) {
  const Messages& messages = view.messages;
  const float half = view.px(8);
  if (const bool fails = !messages.error.empty(); fails || (messages.notice.empty() && !notFinite.empty())) {
    list.AddRectFilled(ImVec2(x, y - half), ImVec2(x + view.px(3), y + half), view.theme->error);
    paintFitted(view, list, view.fonts->small, ImVec2(x + view.px(10), y), end - x - view.px(40),
                view.theme->error, fails ? messages.error : notFinite);
    track(fails ? "error" : "not_finite", ImVec2(x, y - half), ImVec2(end, y + half));
    return true;
  }
  if (messages.notice.empty()) return false;
  paintFitted(view, list, view.fonts->small, ImVec2(x, y), end - x, view.theme->text, messages.notice);
  track("notice", ImVec2(x, y - half), ImVec2(end, y + half));
  return true;
}

}  // namespace

void statusLine(View& view, const Layout& layout, const WindowState& window, const PageStatus& page) {
  const Theme& theme = *view.theme;
  Canvas back = *ImGui::GetBackgroundDrawList();
  back.AddRectFilled(layout.status.Min, layout.status.Max, theme.panel);
  back.AddLine(layout.status.Min, ImVec2(layout.status.Max.x, layout.status.Min.y), theme.line);
  if (beginPanel(view, "status", layout.status, 0, 0, ImGuiWindowFlags_NoScrollWithMouse)) {
    Canvas list = *ImGui::GetWindowDrawList();
    const float y = layout.status.GetCenter().y;
    const float right = layout.status.Max.x - view.px(20);
    paintText(list, view.fonts->small, ImVec2(right, y), theme.secondary, page.shape, Align::right);
    const float end = right - textWidth(view.fonts->small, page.shape) - view.px(24);
    const float x = view.px(20);
    if (!messageLine(view, list, x, y, end, page.notFinite)) figures(view, window, page, list, x, y, end);
  }
  endPanel();
}

void paintPointerMessage(View& view) {
  const PointerMessage& told = view.told;
  if (told.text.empty()) return;
  if (view.time - told.since > kPointerMessageSeconds) {
    view.told.text.clear();
    return;
  }
  ImFont* font = view.fonts->small;
  const ImVec2 pad(view.px(10), view.px(7)), screen = ImGui::GetIO().DisplaySize;
  const std::string text = fitted(font, told.text, screen.x - 4 * pad.x);
  const ImVec2 size(textWidth(font, text) + 2 * pad.x, lineHeight(font) + 2 * pad.y);
  // Above the pointer, since tooltips are below it.
  const float edge = view.px(4), above = told.at.y - view.px(14) - size.y;
  ImVec2 at(told.at.x - size.x / 2, above < edge ? told.at.y + view.px(22) : above);
  at.x = std::clamp(at.x, edge, std::max(edge, screen.x - size.x - edge));
  at.y = std::clamp(at.y, edge, std::max(edge, screen.y - size.y - edge));
  const ImVec2 to(at.x + size.x, at.y + size.y);
  Canvas list = *ImGui::GetForegroundDrawList();
  list.AddRectFilled(at, to, view.theme->text, view.px(6));
  paintText(list, font, ImVec2(at.x + pad.x, (at.y + to.y) / 2), view.theme->background, text);
  track("told", at, to);
}

void captionLine(View& view, const Layout& layout, const std::vector<CaptionPart>& caption,
                 const std::string& notFinite) {
  if (beginPanel(view, "status", layout.status, 0, 0, ImGuiWindowFlags_NoScrollWithMouse)) {
    Canvas list = *ImGui::GetWindowDrawList();
    const float y = layout.status.GetCenter().y;
    float x = layout.status.Min.x + view.px(14), end = layout.status.Max.x - view.px(14);
    if (!messageLine(view, list, x, y, end, notFinite)) {
      const float from = x;
      for (const CaptionPart& part : caption)
        if (part.atEnd) {
          const float wide =
              paintText(list, view.fonts->text, ImVec2(end, y), part.color, part.text, Align::right);
          end -= wide + view.px(12);
        }
      for (const CaptionPart& part : caption)
        if (!part.atEnd && end - x > view.px(12))
          x += paintText(list, view.fonts->text, ImVec2(x, y), part.color,
                         fitted(view.fonts->text, part.text, end - x));
      track("caption", ImVec2(from, y - view.px(9)), ImVec2(x, y + view.px(9)));
    }
  }
  endPanel();
}

}  // namespace headscope::app
