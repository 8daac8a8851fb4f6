#include "app/widgets/text/long_text.h"

#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app {

namespace {

/// Returns at most `bytes` bytes from the start of the text, in whole characters.
std::string_view beginningOf(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

}  // namespace

bool longTextBox(View& view, const std::string& name, std::string_view text, int lines) {
  constexpr std::size_t kBytesOfLine = 200;
  const ImVec2 pad(view.px(11), view.px(8)), from = ImGui::GetCursorScreenPos();
  const ImVec2 size(ImGui::GetContentRegionAvail().x,
                    lineHeight(view.fonts->text) * static_cast<float>(lines) + view.px(18));
  const ImVec2 to(from.x + size.x, from.y + size.y);
  ImGui::Dummy(size);
  trackItem(name);
  Canvas list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(from, to, view.theme->background, view.px(7));
  compat::rectOutline(list, from, to, view.theme->line, view.px(7), 1);
  list.PushClipRect(from, to, true);
  paintParagraph(list, view.fonts->text, ImVec2(from.x + pad.x, from.y + pad.y), size.x - 2 * pad.x,
                 view.theme->faint, beginningOf(text, kBytesOfLine * static_cast<std::size_t>(lines)));
  list.PopClipRect();
  hint(view, "This text has " + countText(text.size()) + " bytes; up to " + countText(kMaxEditedBytes) +
                 " can be edited here. It is used unchanged; edit it in the scene file.");
  return button(view, name + ".clear", "Clear the text");
}

bool pastesTooMuch(View& view, std::size_t length, std::size_t present, std::size_t most) {
  if (present + length <= most) return false;
  view.messages.fail("The clipboard has " + countText(length) + " bytes; this text can have " +
                     countText(most) + ", and has " + countText(present) + ".");
  return true;
}

}  // namespace headscope::app
