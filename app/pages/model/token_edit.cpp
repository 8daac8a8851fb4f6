// Replacing a generated word, after which generation continues from there.

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "app/compute/layer/model_pass.h"
#include "app/pages/model/overview/strip_parts.h"
#include "app/platform/track.h"
#include "app/scene/models/open_model.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/text_box.h"

namespace headscope::app::model_page {

std::string cannotChange(const State& page, Index token) {
  if (!page.ready()) return "Reading the text…";
  if (token < page.study->text.typed)
    return "This word was typed. Edit it in the text; only generated words can be changed here";
  return "";
}

void openTokenEdit(State& page, Index token) {
  if (!cannotChange(page, token).empty()) return;
  page.writing.edit = {token, page.token(token), page.token(token), true, page.writing.on, false, ""};
  page.writing.on = false;
  page.writing.stripFrom = page.writing.stripFrom < 0 ? -1 : std::min(page.writing.stripFrom, token);
  page.view.redraw();
}

void tokenEditBox(View& view, Writing& writing, const ImRect& word) {
  EditedToken& edit = writing.edit;
  const bool opened = std::exchange(edit.justOpened, false);
  ImGui::SetCursorScreenPos(ImVec2(word.Min.x, word.GetCenter().y - view.px(14)));
  const bool entered =
      lineBox(view, "strip.edit", edit.text, std::max(word.GetWidth(), view.px(110)), opened, "");
  const bool left = !opened && ImGui::IsItemDeactivated();
  const bool escaped =
      std::any_of(view.input.events.begin(), view.input.events.end(), [](const InputEvent& event) {
        return event.kind == InputEvent::Kind::key && event.down && event.key == Key::escape;
      });
  const bool changed = edit.text != edit.before && !escaped;
  if ((entered || left) && !changed) {
    writing.on = edit.wasWriting;
    writing.edit = {};
    return;
  }
  edit.entered = entered || left;
  if (!edit.problem.empty()) {
    ImGui::SetCursorScreenPos(ImVec2(word.Min.x, word.Max.y + view.px(6)));
    problem(view, edit.problem);
  }
}

}  // namespace headscope::app::model_page
