#include <algorithm>

#include "app/platform/track.h"
#include "app/shell/shell.h"
#include "app/widgets/paint.h"

namespace headscope::app {

void notesOverlay(const View& view, const std::string& notes, const Layout& layout) {
  const std::string text = notes.empty() ? "No notes for this view." : notes;
  const Canvas list = *ImGui::GetForegroundDrawList();
  const float pad = view.px(12), width = std::min(view.px(330), layout.status.GetWidth() * 0.5f);
  const TextLines lines = linesOf(view.fonts->text, text, width);
  const float bottom = layout.status.Min.y - view.px(8);
  const ImVec2 from(view.px(10), std::max(view.px(8), bottom - lines.size.y - 2 * pad)),
      to(from.x + lines.size.x + 2 * pad, bottom);
  list.AddRectFilled(from, to, view.theme->raised, view.px(7));
  list.PushClipRect(from, to, true);
  paintLines(list, view.fonts->text, ImVec2(from.x + pad, from.y + pad),
             notes.empty() ? view.theme->secondary : view.theme->text, lines, text);
  list.PopClipRect();
  track("stage.notes.text", from, to);
}

}  // namespace headscope::app
