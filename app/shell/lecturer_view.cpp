#include "app/shell/lecturer_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/platform/track.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/draw_text.h"

namespace headscope::app {

namespace {

/// Returns the largest area at the top left of `area` with the picture's proportions.
ImRect fitInto(const ImRect& area, const LecturerPicture& picture) {
  const float scale = std::min(area.GetWidth() / picture.width, area.GetHeight() / picture.height);
  return {area.Min, ImVec2(area.Min.x + std::round(picture.width * scale),
                           area.Min.y + std::round(picture.height * scale))};
}

ImRect paintPicture(const View& view, Canvas list, const char* name, const ImRect& area,
                    const std::optional<LecturerPicture>& picture, const std::string& otherwise) {
  const ImRect place = fitInto(area, picture.value_or(LecturerPicture{}));
  list.AddRectFilled(place.Min, place.Max, view.theme->raised);
  if (picture)
    list.AddImage(compat::textureId(picture->texture), place.Min, place.Max, ImVec2(0, 1), ImVec2(1, 0));
  else
    paintText(list, view.fonts->text, place.GetCenter(), view.theme->secondary, otherwise, Align::center);
  track(name, place.Min, place.Max);
  return place;
}

/// Paints keys and their effects, wrapping lines.
void paintKeys(const View& view, Canvas list, const ImRect& area, const std::vector<KeyHint>& keys) {
  const float line = view.px(30), space = view.px(8);
  float x = area.Min.x, y = area.Min.y + line / 2;
  for (const KeyHint& each : keys) {
    const float key = textWidth(view.fonts->mono, each.key);
    const float wide = key + space + textWidth(view.fonts->reading, each.word) + view.px(22);
    if (x > area.Min.x && x + wide > area.Max.x) {
      x = area.Min.x;
      y += line;
    }
    if (y + line / 2 > area.Max.y) return;
    paintText(list, view.fonts->mono, ImVec2(x, y), view.theme->secondary, each.key);
    paintText(list, view.fonts->reading, ImVec2(x + key + space, y), view.theme->text, each.word);
    x += wide;
  }
}

/// Scrolls if the notes are longer than their area.
void paintNotes(const View& view, const ImRect& area, const std::string& notes) {
  if (beginPanel(view, "lecturer.notes", area, 0, 0)) {
    const std::string text = notes.empty() ? "No notes for this view." : notes;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float wide = area.GetWidth() - view.px(16);
    // Notes are read at a glance, so use the largest type that needs no scrolling.
    ImFont* const font = linesOf(view.fonts->hero, text, wide).size.y <= area.GetHeight() - view.px(8)
                             ? view.fonts->hero
                             : view.fonts->title;
    const float high = paintParagraph(*ImGui::GetWindowDrawList(), font, at, wide,
                                      notes.empty() ? view.theme->secondary : view.theme->text, text);
    ImGui::Dummy(ImVec2(1, high));
    track("lecturer.notes", at, ImVec2(area.Max.x, at.y + high));
  }
  endPanel();
}

}  // namespace

std::string elapsedText(double seconds) {
  const auto whole = static_cast<long>(std::max(0.0, seconds));
  const long hours = whole / 3600, minutes = whole / 60 % 60;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60)
                   : fmt::format("{}:{:02}", minutes, whole % 60);
}

void lecturerView(View& view, const LecturerState& state, float width, float height) {
  const Theme& theme = *view.theme;
  const float pad = view.px(20), top = view.px(56);
  const ImRect all(0, 0, width, height);
  if (beginPanel(view, "lecturer", all, 0, 0, ImGuiWindowFlags_NoScrollWithMouse)) {
    const Canvas list = *ImGui::GetWindowDrawList();
    float right = width - pad;
    right -= paintText(list, view.fonts->hero, ImVec2(right, top / 2), theme.text, state.clock, Align::right);
    right -= view.px(28);
    right -= paintText(list, view.fonts->hero, ImVec2(right, top / 2), theme.secondary, state.elapsed,
                       Align::right);
    const std::string title = state.title.empty() ? "What the audience sees" : state.title;
    paintFitted(view, list, view.fonts->title, ImVec2(pad, top / 2), right - 2 * pad, theme.text, title);
    // The hall's picture gets the height that the keys leave; next view and notes get the remaining width, at
    // least a third.
    const LecturerPicture shape = state.hall.value_or(LecturerPicture{});
    const float high = (height - top) * 0.78f, fits = high * shape.width / shape.height + pad * 1.5f;
    const float middle = std::round(std::clamp(fits, width * 0.5f, width * 0.68f));
    const ImRect hall =
        paintPicture(view, list, "lecturer.hall", ImRect(pad, top, middle - pad / 2, top + high), state.hall,
                     "The audience's window isn't drawn yet");
    const char* veil = state.blank    ? "The audience's screen is dark"
                       : state.frozen ? "The audience still sees this picture"
                                      : nullptr;
    float y = hall.Max.y + view.px(10);
    if (veil) {
      paintText(list, view.fonts->bold, ImVec2(pad, y + view.px(10)), theme.warning, veil);
      y += view.px(28);
    }
    paintKeys(view, list, ImRect(pad, y, middle - pad / 2, height - pad / 2), state.keys);
    const float left = middle + pad / 2;
    paintText(list, view.fonts->text, ImVec2(left, top + view.px(8)), theme.secondary,
              state.hasNext ? "Next" : "");
    float below = top;
    if (state.hasNext)
      below = paintPicture(view, list, "lecturer.next",
                           ImRect(left, top + view.px(22), width - pad, top + (height - top) * 0.42f),
                           state.next, "Painting…")
                  .Max.y +
              view.px(16);
    paintNotes(view, ImRect(left, below, width - pad, height - pad), state.notes);
  }
  endPanel();
}

}  // namespace headscope::app
