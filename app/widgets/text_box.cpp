#include "app/widgets/text_box.h"

#include <imgui_stdlib.h>

#include <algorithm>
#include <deque>

#include "app/platform/supplementary.h"
#include "app/platform/track.h"
#include "app/widgets/long_text.h"
#include "app/widgets/marks.h"
#include "app/widgets/paint.h"
#include "app/widgets/wrapped_text.h"

namespace headscope::app {

namespace {

void pushBoxStyle(const View& view) {
  ImGui::PushStyleColor(ImGuiCol_FrameBg, view.theme->background);
  ImGui::PushStyleColor(ImGuiCol_Border, view.theme->line);
  ImGui::PushStyleColor(ImGuiCol_Text, view.theme->text);
  ImGui::PushStyleColor(ImGuiCol_TextSelectedBg, faded(view.theme->key, 0.35f));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(view.px(11), view.px(8)));
  ImGui::PushStyleVar(ImGuiStyleVar_FrameRounding, view.px(7));
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 1);
  compat::pushFont(view.fonts->text);
}

void popBoxStyle() {
  ImGui::PopFont();
  ImGui::PopStyleVar(3);
  ImGui::PopStyleColor(4);
}

/// The box that has the keyboard has a frame that shows.
void paintFocus(const View& view) {
  const ImVec2 from = ImGui::GetItemRectMin(), to = ImGui::GetItemRectMax();
  Canvas list = *ImGui::GetWindowDrawList();
  if (ImGui::IsItemActive() && drawsMark(list, "focus", from, to))
    compat::rectOutline(list, from, to, view.theme->secondary, view.px(7), std::max(1.0f, view.px(1.5f)));
}

void paintHint(const View& view, const std::string& text) {
  const ImVec2 from = ImGui::GetItemRectMin(), to = ImGui::GetItemRectMax();
  Canvas list = *ImGui::GetWindowDrawList();
  list.PushClipRect(from, to, true);
  list.AddText(view.fonts->text, compat::sizeOf(view.fonts->text),
               ImVec2(from.x + view.px(11), from.y + view.px(8)), view.theme->faint, text.c_str(), nullptr,
               to.x - from.x - view.px(22));
  list.PopClipRect();
}

constexpr ImWchar kMark = 0xFFFC;
/// As long as any path.
constexpr std::size_t kMaxLineBytes = 4096;

/// ImGui drops what is typed from the private use area, where the stand-ins are. While a box is drawn, they
/// wait in its queue as marks that pass, and the box's own filter puts them back.
class TypedStandIns {
 public:
  TypedStandIns() {
    for (ImWchar& character : ImGui::GetIO().InputQueueCharacters)
      if ((character >= 0xE000 && character <= 0xF8FF) || character == kMark) {
        waiting_.push_back(character);
        character = kMark;
      }
  }
  ~TypedStandIns() {
    // What this box did not take is for another.
    for (ImWchar& character : ImGui::GetIO().InputQueueCharacters) putBack(character);
  }
  TypedStandIns(const TypedStandIns&) = delete;
  TypedStandIns& operator=(const TypedStandIns&) = delete;

  void putBack(ImWchar& character) {
    if (character != kMark || waiting_.empty()) return;
    character = waiting_.front();
    waiting_.pop_front();
  }

 private:
  std::deque<ImWchar> waiting_;
};

/// A box in this frame: the person's text, and how it is wrapped in ImGui's editor.
struct WrappedEdit {
  const View& view;
  TypedStandIns& typed;
  float width = 0;
  std::string text;               ///< editable form, unwrapped
  std::string shown;              ///< the same, wrapped: what ImGui's editor holds
  std::pair<int, int> selection;  ///< bytes of `shown`, if the box has the keyboard

  std::string wrap(std::string_view what) const {
    return wrapped(what, width, [&](std::string_view piece) { return textWidth(view.fonts->text, piece); });
  }
};

/// The cursor then stands behind what changed.
void replaceAll(ImGuiInputTextCallbackData& data, const std::string& with) {
  const std::string before(data.Buf, static_cast<std::size_t>(data.BufTextLen));
  const auto same = std::mismatch(before.rbegin(), before.rend(), with.rbegin(), with.rend());
  data.DeleteChars(0, data.BufTextLen);
  data.InsertChars(0, with.c_str(), with.c_str() + with.size());
  data.CursorPos = data.BufTextLen - static_cast<int>(same.first - before.rbegin());
  // Not inside of a character of several bytes.
  while (data.CursorPos < data.BufTextLen && (with[static_cast<std::size_t>(data.CursorPos)] & 0xC0) == 0x80)
    ++data.CursorPos;
  data.SelectionStart = data.SelectionEnd = data.CursorPos;
}

/// Keeps the editor's text wrapped after every edit, and takes over what changed outside (undo, an opened
/// scene).
int onEdit(ImGuiInputTextCallbackData* data) {
  auto& edit = *static_cast<WrappedEdit*>(data->UserData);
  if (data->EventFlag == ImGuiInputTextFlags_CallbackCharFilter) {
    edit.typed.putBack(data->EventChar);
    return 0;
  }
  const std::string_view now(data->Buf, static_cast<std::size_t>(data->BufTextLen));
  if (data->EventFlag == ImGuiInputTextFlags_CallbackEdit) {
    edit.text = unwrapped(edit.text, edit.shown, now);
    edit.shown = edit.wrap(edit.text);
    if (edit.shown != now) {
      edit.shown.copy(data->Buf, edit.shown.size());  // the same length: the cursor stays where it is
      data->BufDirty = true;
    }
  } else if (edit.shown != now) {
    replaceAll(*data, edit.shown);
  }
  edit.selection = std::minmax({data->SelectionStart, data->SelectionEnd});
  return 0;
}

/// While a wrapped box has the keyboard, copying gives its text with spaces where it was only wrapped.
void copyUnwrapped(const WrappedEdit& edit) {
  const auto from = static_cast<std::size_t>(edit.selection.first),
             to = static_cast<std::size_t>(edit.selection.second);
  if (to <= from || to > edit.text.size()) return;
  const char* clip = ImGui::GetClipboardText();
  if (!clip || edit.shown.compare(from, to - from, clip) != 0 ||
      edit.text.compare(from, to - from, clip) == 0)
    return;
  ImGui::SetClipboardText(edit.text.substr(from, to - from).c_str());
}

}  // namespace

bool textBox(View& view, const std::string& name, std::string& text, int lines, const std::string& hintText) {
  if (text.size() > kMaxEditedBytes) {
    if (!longTextBox(view, name, text, lines)) return false;
    text.clear();
    return true;
  }
  pushBoxStyle(view);
  const std::string id = "##" + name;
  TypedStandIns typed;
  const float width = ImGui::GetContentRegionAvail().x - view.px(26);
  WrappedEdit edit{view, typed, width, toEditable(text), {}, view.controls.selection};
  edit.shown = edit.wrap(edit.text);
  const WrappedEdit before = edit;
  std::string buffer = edit.shown;
  const float height = lineHeight(view.fonts->text) * static_cast<float>(lines) + view.px(18);
  ImGuiInputTextFlags flags = ImGuiInputTextFlags_CallbackEdit | ImGuiInputTextFlags_CallbackAlways |
                              ImGuiInputTextFlags_CallbackCharFilter | ImGuiInputTextFlags_NoUndoRedo;
  if (compat::escapeTakesBack() || pastesTooMuch(view, id.c_str(), text.size(), kMaxTextBytes))
    flags |= ImGuiInputTextFlags_ReadOnly;
  // Its editor is a window of its own, which lies over the hint and the frame that are painted here: it has
  // no background, so that they show.
  const ImVec2 at = ImGui::GetCursorScreenPos();
  Canvas(*ImGui::GetWindowDrawList())
      .AddRectFilled(at, ImVec2(at.x + ImGui::GetContentRegionAvail().x, at.y + height),
                     view.theme->background, view.px(7));
  ImGui::PushStyleColor(ImGuiCol_FrameBg, 0);
  const bool changed =
      ImGui::InputTextMultiline(id.c_str(), &buffer, ImVec2(-FLT_MIN, height), flags, onEdit, &edit);
  ImGui::PopStyleColor();
  trackItem(name);
  paintFocus(view);
  const bool copied =
      std::any_of(view.input.events.begin(), view.input.events.end(), [](const InputEvent& event) {
        return event.kind == InputEvent::Kind::key && event.down && event.mods.ctrl &&
               (event.key == Key::c || event.key == Key::x);
      });
  if (copied && ImGui::IsItemActive()) copyUnwrapped(before);
  if (ImGui::IsItemActive()) view.controls.selection = edit.selection;
  if (text.empty() && !ImGui::IsItemActive()) paintHint(view, hintText);
  popBoxStyle();
  if (!changed) return false;
  const std::string now = fromEditable(edit.text);
  if (now == text) return false;
  text = now;
  view.controls.continuousEdit = name;
  return true;
}

bool textBox(View& view, const std::string& name, SharedText& text, int lines, const std::string& hintText) {
  // Not even copied in every frame.
  if (text.size() > kMaxEditedBytes) {
    if (!longTextBox(view, name, *text, lines)) return false;
    text = std::string();
    return true;
  }
  std::string own = text;
  if (!textBox(view, name, own, lines, hintText)) return false;
  text = std::move(own);
  return true;
}

bool lineBox(View& view, const std::string& name, std::string& text, float width, bool focus,
             const std::string& hintText) {
  pushBoxStyle(view);
  ImGui::PushItemWidth(width);
  if (focus) ImGui::SetKeyboardFocusHere();
  std::string edited = toEditable(text);
  TypedStandIns typed;
  const auto filter = [](ImGuiInputTextCallbackData* data) {
    static_cast<TypedStandIns*>(data->UserData)->putBack(data->EventChar);
    return 0;
  };
  const std::string id = "##" + name;
  ImGuiInputTextFlags flags = ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_CallbackCharFilter;
  if (pastesTooMuch(view, id.c_str(), text.size(), kMaxLineBytes)) flags |= ImGuiInputTextFlags_ReadOnly;
  const bool entered = ImGui::InputText(id.c_str(), &edited, flags, filter, &typed);
  trackItem(name);
  paintFocus(view);
  if (edited.empty()) paintHint(view, hintText);
  ImGui::PopItemWidth();
  popBoxStyle();
  text = fromEditable(edited);
  return entered;
}

}  // namespace headscope::app
