#include "app/widgets/text/text_box.h"

#include "app/platform/track.h"
#include "app/platform/ui_state.h"
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

namespace {

/// Frames the box that has the keyboard.
void paintFocus(const View& view, const ImRect& area) {
  Canvas list = *ImGui::GetWindowDrawList();
  if (ImGui::IsItemActive() && drawsMark(list, "focus", area.Min, area.Max))
    compat::rectOutline(list, area.Min, area.Max, view.theme->secondary, view.px(7),
                        std::max(1.0f, view.px(1.5f)));
}

void paintHint(const View& view, const ImRect& area, const std::string& text) {
  const ImVec2 from = area.Min, to = area.Max;
  Canvas list = *ImGui::GetWindowDrawList();
  list.PushClipRect(from, to, true);
  list.AddText(view.fonts->text, compat::sizeOf(view.fonts->text),
               ImVec2(from.x + view.px(11), from.y + view.px(8)), view.theme->faint, text.c_str(), nullptr,
               to.x - from.x - view.px(22));
  list.PopClipRect();
}

/// Enough for any path.
constexpr std::size_t kMaxLineBytes = 4096;

/// Returns what a box accepts of typed or pasted text: no control characters, and line breaks only with
/// `lines`.
std::string taken(std::string_view text, bool lines) {
  std::string out;
  while (!lines && text.ends_with('\n')) text.remove_suffix(1);
  eachCodepoint(text, [&](std::uint32_t code, std::string_view) {
    const bool valid = code <= 0x10FFFF && !(code >= 0xD800 && code < 0xE000);
    if (code == '\n' || code == '\t')
      out += code == '\n' && lines ? '\n' : ' ';
    else if (code >= 0x20 && code != 0x7F)
      appendUtf8(out, valid ? code : 0xFFFD);
  });
  return out;
}

/// A box in one frame: its text and layout.
struct EditedBox {
  View& view;
  std::string& text;
  ImGuiID id;
  bool lines;        ///< allows several lines
  std::size_t most;  ///< in bytes
  EditLayout& layout;
  float width = 0;  ///< of the lines
  bool entered = false;

  TextEdit& edit() { return view.edit; }
  bool active() const { return view.edit.box == id && ImGui::GetActiveID() == id; }

  void activate() {
    ImGui::SetActiveID(id, ImGui::GetCurrentWindow());
    ImGui::FocusWindow(ImGui::GetCurrentWindow());
    edit() = {};
    edit().box = id;
    edit().before = edit().last = text;
    compat::wantTextInput();
  }
  /// Takes the keyboard for the program. Selects everything; after Enter in the same box, keeps the caret.
  void takeFocus() {
    const bool goesOn = edit().enteredBox == id && edit().last == text;
    const std::size_t caret = edit().caret;
    activate();
    if (goesOn)
      edit().moveTo(caret, false);
    else
      edit().selectAll(text);
  }
  void release() {
    ImGui::ClearActiveID();
    const ImGuiID left = std::exchange(edit().box, 0);
    edit().enteredBox = entered ? left : 0;
    edit().last = text;
  }

  void copy(bool cut) {
    const auto [from, to] = edit().selection();
    if (from == to) return;
    ImGui::SetClipboardText(text.substr(from, to - from).c_str());
    if (cut) edit().insert(text, "");
  }
  void paste() {
    const char* const clip = ImGui::GetClipboardText();
    const std::string pasted = taken(clip ? clip : "", lines);
    const auto [from, to] = edit().selection();
    if (!pastesTooMuch(view, pasted.size(), text.size() - (to - from), most)) edit().insert(text, pasted);
  }
  /// Handles Ctrl with a letter and its equivalents. Returns whether the key was one of them.
  bool command(const InputEvent& event) {
    const bool shift = event.mods.shift, ctrl = event.mods.ctrl && !event.mods.alt;
    if (ctrl && event.key == Key::a)
      edit().selectAll(text);
    else if (ctrl && (event.key == Key::c || event.key == Key::insert))
      copy(false);
    else if ((ctrl && event.key == Key::x) || (shift && event.key == Key::del))
      copy(true);
    else if ((ctrl && event.key == Key::v) || (shift && event.key == Key::insert))
      paste();
    else
      return false;
    return true;
  }

  void moveLines(float rows, bool selects) {
    TextEdit& now = edit();
    const ImVec2 at = layout.caretAt(now.caret);
    const float goal = now.goal >= 0 ? now.goal : at.x, line = lineHeight(view.fonts->text);
    const float y = at.y + (rows + 0.5f) * line;
    if (!lines) return;
    if (y < 0 || y >= layout.height())
      now.moveTo(y < 0 ? 0 : text.size(), selects);
    else
      now.moveTo(layout.byteAt(ImVec2(goal, y)), selects);
    now.goal = goal;
  }
  /// Moves left or right as seen, given the direction of the caret's paragraph.
  void moveSideways(bool right, bool word, bool selects) {
    TextEdit& now = edit();
    const bool forwards = right != layout.lines()[layout.lineOf(now.caret)].rightToLeft;
    const auto [from, to] = now.selection();
    if (from != to && !selects && !word) return now.moveTo(forwards ? to : from, false);
    if (word)
      return now.moveTo(forwards ? nextWord(text, now.caret) : previousWord(text, now.caret), selects);
    now.moveTo(forwards ? nextCluster(text, now.caret) : previousCluster(text, now.caret), selects);
  }

  void press(const InputEvent& event) {
    if (command(event)) return;
    TextEdit& now = edit();
    const bool shift = event.mods.shift, ctrl = event.mods.ctrl;
    const EditLayout::Line line = layout.lines()[layout.lineOf(now.caret)];
    switch (event.key) {
      case Key::left:
      case Key::right:
        return moveSideways(event.key == Key::right, ctrl, shift);
      case Key::up:
      case Key::down:
        return moveLines(event.key == Key::up ? -1 : 1, shift);
      case Key::pageUp:
      case Key::pageDown:
        return moveLines(event.key == Key::pageUp ? -5 : 5, shift);
      case Key::home:
        return now.moveTo(ctrl ? 0 : line.from, shift);
      case Key::end:
        return now.moveTo(ctrl ? text.size() : line.to, shift);
      case Key::backspace:
      case Key::del:
        return now.erase(text, event.key == Key::del, ctrl);
      case Key::enter:
        if (lines && !ctrl) return now.insert(text, "\n");
        entered = true;
        return release();
      case Key::escape:
        if (!lines) text = now.before;
        return release();
      default:
        return;
    }
  }

  void type() {
    for (const InputEvent& event : view.input.events) {
      if (!active()) return;
      if (event.kind == InputEvent::Kind::key && event.down) press(event);
      if (event.kind == InputEvent::Kind::text) {
        std::string typed;
        appendUtf8(typed, event.codepoint);
        if (const std::string what = taken(typed, lines); !what.empty() && text.size() < most)
          edit().insert(text, what);
      }
      layout.update(view.fonts->text, text, width);
    }
  }

  /// `origin` is the text's top left corner on screen.
  void point(ImVec2 origin, bool hovered) {
    const ImGuiIO& io = ImGui::GetIO();
    if (hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_TextInput);
    const ImVec2 at(io.MousePos.x - origin.x, io.MousePos.y - origin.y);
    if (hovered && io.MouseClicked[0]) {
      const bool extends = active() && io.KeyShift;
      if (!active()) activate();
      edit().moveTo(layout.byteAt(at), extends);
      if (io.MouseDoubleClicked[0]) edit().selectWord(text);
    } else if (active() && io.MouseClicked[0]) {
      release();
    } else if (active() && io.MouseDown[0] && (io.MouseDelta.x != 0 || io.MouseDelta.y != 0)) {
      edit().moveTo(layout.byteAt(at), true);
    }
  }

  void paint(Canvas list, ImVec2 origin) {
    ImFont* font = view.fonts->text;
    const float line = lineHeight(font);
    const float top = list.GetClipRectMin().y, bottom = list.GetClipRectMax().y;
    const auto [from, to] = active() ? edit().selection() : std::pair<std::size_t, std::size_t>{};
    for (std::size_t i = 0; i < layout.lines().size(); ++i) {
      const float y = origin.y + static_cast<float>(i) * line;
      if (y + line < top || y > bottom) continue;
      if (from < to)
        for (const auto& [begins, ends] : layout.selected(i, from, to))
          list.AddRectFilled(ImVec2(origin.x + begins, y), ImVec2(origin.x + ends, y + line),
                             faded(view.theme->key, 0.35f));
      uiState().typesetter.draw(list, font, ImVec2(origin.x + layout.left(i), y), view.theme->text,
                                *layout.shaped(i));
    }
    if (!active()) return;
    const ImVec2 caret = layout.caretAt(edit().caret);
    const ImVec2 at(std::floor(origin.x + caret.x), origin.y + caret.y);
    list.AddLine(ImVec2(at.x, at.y + 0.5f), ImVec2(at.x, at.y + line - 1.5f), view.theme->text,
                 std::max(1.0f, view.px(1)));
    track("caret", at, ImVec2(at.x + 1, at.y + line));
  }
};

/// Lays out the box and handles typing and the pointer; `origin` is the text's top left corner.
void runBox(EditedBox& box, const ImRect& area, ImVec2 origin, bool focus) {
  ImGui::ItemSize(area);
  box.layout.update(box.view.fonts->text, box.text, box.width);  // fonts may have changed
  // A box scrolled out of view keeps the keyboard.
  if (!ImGui::ItemAdd(area, box.id) && !box.active()) return;
  ImGui::KeepAliveID(box.id);
  const bool wasActive = box.active();
  if (wasActive) {
    box.edit().follow(box.text);
    box.type();
  }
  const bool hovered = compat::itemHoverable(area, box.id);
  if (focus)
    box.takeFocus();
  else
    box.point(origin, hovered);  // a click that opened the box must not move the caret
  box.layout.update(box.view.fonts->text, box.text, box.width);
  if (!box.active()) return;
  compat::wantTextInput();
  box.edit().last = box.text;
}

EditLayout& layoutOf(View& view, const std::string& name) {
  constexpr std::size_t kMaxLayouts = 32;
  auto& layouts = view.editLayouts;
  if (layouts.size() >= kMaxLayouts && !layouts.contains(name)) layouts.clear();
  return layouts[name];
}

}  // namespace

bool textBox(View& view, const std::string& name, std::string& text, int lines, const std::string& hintText) {
  if (text.size() > kMaxEditedBytes) {
    if (!longTextBox(view, name, text, lines)) return false;
    text.clear();
    return true;
  }
  const ImVec2 pad(view.px(11), view.px(8)), at = ImGui::GetCursorScreenPos();
  const ImVec2 size(ImGui::GetContentRegionAvail().x,
                    lineHeight(view.fonts->text) * static_cast<float>(lines) + view.px(18));
  const ImRect frame(at, ImVec2(at.x + size.x, at.y + size.y));
  Canvas(*ImGui::GetWindowDrawList()).AddRectFilled(frame.Min, frame.Max, view.theme->background, view.px(7));
  std::string now = text;
  noteTabStop(ImGui::GetID(name.c_str()), frame, TabStopKind::text);
  ImGui::BeginGroup();
  ImGui::PushStyleColor(ImGuiCol_ChildBg, 0);
  ImGui::PushStyleColor(ImGuiCol_Border, view.theme->line);
  ImGui::PushStyleVar(ImGuiStyleVar_ChildRounding, view.px(7));
  ImGui::PushStyleVar(ImGuiStyleVar_ChildBorderSize, 1);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::BeginChild(name.c_str(), size, true, ImGuiWindowFlags_NoMove);
  ImGui::PopStyleVar(3);
  ImGui::PopStyleColor(2);
  EditedBox box{view, now, ImGui::GetID("text"), true, kMaxTextBytes, layoutOf(view, name)};
  box.width = size.x - view.px(26);
  box.layout.update(view.fonts->text, now, box.width);
  const ImVec2 from = ImGui::GetCursorScreenPos(), origin(from.x + pad.x, from.y + pad.y);
  const float high = std::max(box.layout.height() + 2 * pad.y, size.y);
  runBox(box,
         ImRect(from, ImVec2(from.x + size.x - ImGui::GetCurrentWindow()->ScrollbarSizes.x, from.y + high)),
         origin, false);
  box.paint(*ImGui::GetWindowDrawList(), origin);
  if (box.active() && std::exchange(box.edit().reveals, false)) {
    const float y = box.layout.caretAt(box.edit().caret).y, top = ImGui::GetScrollY();
    const float room = size.y - 2 * pad.y, line = lineHeight(view.fonts->text);
    if (y < top) ImGui::SetScrollY(y);
    if (y + line > top + room) ImGui::SetScrollY(y + line - room);
  }
  compat::endChild();
  ImGui::EndGroup();
  trackItem(name);
  paintFocus(view, frame);
  if (text.empty() && !ImGui::IsItemActive()) paintHint(view, frame, hintText);
  if (now == text) return false;
  text = std::move(now);
  view.controls.continuousEdit = name;
  return true;
}

bool textBox(View& view, const std::string& name, SharedText& text, int lines, const std::string& hintText) {
  // Avoids copying a long text every frame.
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
  const ImVec2 pad(view.px(11), view.px(8)), at = ImGui::GetCursorScreenPos();
  const ImRect frame(at, ImVec2(at.x + width, at.y + lineHeight(view.fonts->text) + 2 * pad.y));
  if (view.figure) return false;
  Canvas list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(frame.Min, frame.Max, view.theme->background, view.px(7));
  compat::rectOutline(list, frame.Min, frame.Max, view.theme->line, view.px(7), 1);
  const std::string id = "##" + name;
  EditedBox box{view, text, ImGui::GetID(id.c_str()), false, kMaxLineBytes, layoutOf(view, name)};
  box.width = FLT_MAX;
  const float room = std::max(0.0f, width - 2 * pad.x);
  const auto origin = [&] {
    return ImVec2(frame.Min.x + pad.x - (box.active() ? box.edit().scroll : 0), frame.Min.y + pad.y);
  };
  runBox(box, frame, origin(), focus);
  noteTabStop(box.id, frame, TabStopKind::text);
  if (box.active()) {
    const float x = box.layout.caretAt(box.edit().caret).x;
    float& scroll = box.edit().scroll;
    scroll = std::clamp(scroll, std::max(0.0f, x - room), x);
  }
  list.PushClipRect(ImVec2(frame.Min.x + pad.x - 1, frame.Min.y),
                    ImVec2(frame.Max.x - pad.x + 1, frame.Max.y), true);
  box.paint(list, origin());
  list.PopClipRect();
  track(name, frame.Min, frame.Max);
  paintFocus(view, frame);
  if (text.empty()) paintHint(view, frame, hintText);
  return box.entered;
}

}  // namespace headscope::app
