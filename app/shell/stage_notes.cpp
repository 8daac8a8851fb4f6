#include <algorithm>
#include <cmath>

#include "app/platform/track.h"
#include "app/shell/stage_overlay.h"
#include "app/widgets/paint.h"

namespace headscope::app {

namespace {

constexpr float kNotesPad = 12, kNotesMargin = 22;

/// Notes in large type if they fit into the given height, otherwise in small type.
struct SetNotes {
  std::string text;
  ImFont* font;
  TextLines lines;
};
SetNotes setNotes(const View& view, const std::string& notes, float width, float most) {
  const std::string text = notes.empty() ? "No notes for this view." : notes;
  const float room = width - 2 * view.px(kNotesMargin);
  TextLines lines = linesOf(view.fonts->text, text, room);
  if (lines.size.y <= most) return {text, view.fonts->text, std::move(lines)};
  return {text, view.fonts->small, linesOf(view.fonts->small, text, room)};
}

float mostHeight(float height) {
  return height / 3;
}

}  // namespace

float notesHeight(const View& view, const std::string& notes, float width, float height) {
  const float pads = 2 * view.px(kNotesPad), most = mostHeight(height);
  return std::round(std::min(setNotes(view, notes, width, most - pads).lines.size.y + pads, most));
}

void stageNotes(const View& view, const std::string& notes, const ImRect& area) {
  const float pad = view.px(kNotesPad);
  const SetNotes set = setNotes(view, notes, area.GetWidth(), area.GetHeight() - 2 * pad);
  const Canvas list = *ImGui::GetForegroundDrawList();
  list.AddRectFilled(area.Min, area.Max, view.theme->raised);
  list.PushClipRect(area.Min, area.Max, true);
  paintLines(list, set.font, ImVec2(area.Min.x + view.px(kNotesMargin), area.Min.y + pad),
             notes.empty() ? view.theme->secondary : view.theme->text, set.lines, set.text);
  list.PopClipRect();
  track("stage.notes.text", area.Min, area.Max);
}

}  // namespace headscope::app
