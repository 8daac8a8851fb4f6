#include "app/widgets/paint.h"

#include <cmath>

#include "app/platform/ui_state.h"
#include "app/platform/wide_glyphs.h"
#include "app/widgets/wrapped_text.h"

namespace headscope::app {

namespace {
const char* begin(std::string_view text) {
  return text.data();
}
const char* end(std::string_view text) {
  return text.data() + text.size();
}

/// A text as the fonts can draw it: itself nearly always.
class Drawable {
 public:
  explicit Drawable(std::string_view text) : text_(text) {
    if (needsStandIns(text)) text_ = own_ = drawable(text);
  }
  Drawable(const Drawable&) = delete;
  Drawable& operator=(const Drawable&) = delete;
  std::string_view text() const { return text_; }

 private:
  std::string own_;
  std::string_view text_;
};

float widthOf(ImFont* font, std::string_view drawn) {
  return font->CalcTextSizeA(compat::sizeOf(font), FLT_MAX, 0, begin(drawn), end(drawn)).x;
}

/// Draws it, and for tests notes it. `wrap`: the width of the paragraph; 0 = one line.
void put(Canvas list, ImFont* font, ImVec2 at, ImVec2 size, std::uint32_t color, std::string_view drawn,
         std::string_view text, float wrap = 0) {
  if (!compat::isPlace(at)) return;
  UiState& state = uiState();
  if (state.watches) {
    const ImGuiWindow* window = ImGui::GetCurrentContext()->CurrentWindow;
    const bool foreground = list.isForeground();
    const bool scrolls = !foreground && window && (window->ScrollMax.y > 0 || window->ScrollMax.x > 0);
    state.texts.push_back({std::string(text), ImRect(at, ImVec2(at.x + size.x, at.y + size.y)),
                           ImRect(list.GetClipRectMin(), list.GetClipRectMax()), color, scrolls, foreground});
  }
  if (!state.hidesTexts) list.AddText(font, compat::sizeOf(font), at, color, begin(drawn), end(drawn), wrap);
}
}  // namespace

float textWidth(ImFont* font, std::string_view text) {
  return widthOf(font, Drawable(text).text());
}

float lineHeight(const ImFont* font) {
  return compat::sizeOf(font);
}

float paintText(Canvas list, ImFont* font, ImVec2 at, std::uint32_t color, std::string_view text,
                Align align) {
  const Drawable shown(text);
  const float size = compat::sizeOf(font);
  const float width = widthOf(font, shown.text());
  if (align == Align::center) at.x -= width / 2;
  if (align == Align::right) at.x -= width;
  put(list, font, ImVec2(std::round(at.x), std::round(at.y - size / 2)), ImVec2(width, size), color,
      shown.text(), text);
  return width;
}

float paintSpaced(Canvas list, ImFont* font, ImVec2 at, std::uint32_t color, std::string_view text,
                  float space) {
  const float start = at.x;
  for (std::size_t from = 0; from < text.size();) {
    std::size_t to = from + 1;
    while (to < text.size() && (static_cast<unsigned char>(text[to]) & 0xC0) == 0x80) ++to;
    at.x += paintText(list, font, at, color, text.substr(from, to - from)) + space;
    from = to;
  }
  return at.x - start;
}

/// How many bytes of a line fit into `width`, looking no further than that.
static std::size_t bytesWithin(ImFont* font, std::string_view text, float width) {
  const char* end = text.data();
  font->CalcTextSizeA(compat::sizeOf(font), std::nextafter(width, FLT_MAX), 0, text.data(),
                      text.data() + text.size(), &end);
  return static_cast<std::size_t>(end - text.data());
}

/// The same of a text whose characters are not drawn as they are: by whole characters.
static std::size_t wideBytesWithin(ImFont* font, std::string_view text, float width) {
  std::size_t fits = 0;
  for (std::size_t at = 0; at < text.size(); fits = at) {
    do ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
    if (textWidth(font, text.substr(0, at)) > width) break;
  }
  return fits;
}

std::string fitted(ImFont* font, std::string_view text, float width) {
  if (text.empty()) return "";
  if (width < textWidth(font, "…")) return textWidth(font, text) <= width ? std::string(text) : "";
  if (needsStandIns(text)) {
    if (textWidth(font, text) <= std::nextafter(width, FLT_MAX)) return std::string(text);
    const float room = std::max(0.0f, width - textWidth(font, "…"));
    return std::string(text.substr(0, wideBytesWithin(font, text, room))) + "…";
  }
  if (bytesWithin(font, text, width) == text.size()) return std::string(text);
  const float room = std::max(0.0f, width - textWidth(font, "…"));
  return std::string(text.substr(0, bytesWithin(font, text, room))) + "…";
}

void paintFitted(const View& view, Canvas list, ImFont* font, ImVec2 at, float width, std::uint32_t color,
                 std::string_view text, Align align) {
  const std::string shown = fitted(font, text, width);
  const float drawn = paintText(list, font, at, color, shown, align);
  if (shown == text) return;
  const float left = align == Align::left ? at.x : align == Align::right ? at.x - drawn : at.x - drawn / 2;
  const float half = lineHeight(font) * 0.6f;
  if (ImGui::IsMouseHoveringRect(ImVec2(left, at.y - half), ImVec2(left + drawn, at.y + half)))
    tooltip(view, text);
}

void paintRotated(Canvas list, ImFont* font, ImVec2 at, float degrees, std::uint32_t color,
                  std::string_view text) {
  // ImGui drops glyphs that start outside the clip rectangle before they are turned, so the text is laid out
  // at the window's origin first and moved with its turn.
  if (!compat::isPlace(at)) return;
  const Drawable shown(text);
  const float size = compat::sizeOf(font);
  const float width = widthOf(font, shown.text());
  const ImVec2 clipMin = list.GetClipRectMin(), clipMax = list.GetClipRectMax();
  const ImVec2 origin(clipMin.x, clipMin.y);
  list.PushClipRect(clipMin, ImVec2(std::max(clipMax.x, clipMin.x + width + size),
                                    std::max(clipMax.y, clipMin.y + 2 * size)));
  ImVector<ImDrawVert>& vertices = list.vertices();
  const int first = vertices.Size;
  if (!uiState().hidesTexts) list.AddText(font, size, origin, color, begin(shown.text()), end(shown.text()));
  const float angle = -degrees * 3.14159265f / 180;
  const float c = std::cos(angle), s = std::sin(angle);
  for (int i = first; i < vertices.Size; ++i) {
    ImVec2& p = vertices[i].pos;
    const float x = p.x - origin.x - width, y = p.y - origin.y - size / 2;
    p = ImVec2(at.x + c * x - s * y, at.y + s * x + c * y);
  }
  list.PopClipRect();
}

float paintParagraph(Canvas list, ImFont* font, ImVec2 at, float width, std::uint32_t color,
                     std::string_view text) {
  // Dear ImGui would break a line behind the point of a number too.
  const std::string lines =
      wrapped(text, width, [&](std::string_view piece) { return textWidth(font, piece); });
  const Drawable shown(lines);
  const ImVec2 size =
      font->CalcTextSizeA(compat::sizeOf(font), FLT_MAX, width, begin(shown.text()), end(shown.text()));
  put(list, font, ImVec2(std::round(at.x), std::round(at.y)), size, color, shown.text(), text, width);
  return size.y;
}

void tooltip(const View& view, std::string_view said) {
  if (said.empty()) return;
  const Drawable shown(said);
  const std::string_view text = shown.text();
  ImFont* font = view.fonts->small;
  const float wrap = view.px(320), pad = view.px(9);
  const ImVec2 size = font->CalcTextSizeA(compat::sizeOf(font), FLT_MAX, wrap, begin(text), end(text));
  const ImVec2 screen = ImGui::GetIO().DisplaySize, mouse = ImGui::GetIO().MousePos;
  ImVec2 at(mouse.x + view.px(14), mouse.y + view.px(18));
  at.x = std::max(0.0f, std::min(at.x, screen.x - size.x - 2 * pad));
  if (at.y + size.y + 2 * pad > screen.y) at.y = mouse.y - size.y - 2 * pad - view.px(6);
  Canvas list = *ImGui::GetForegroundDrawList();
  const ImVec2 to(at.x + size.x + 2 * pad, at.y + size.y + 2 * pad);
  list.AddRectFilled(at, to, view.theme->raised, view.px(6));
  compat::rectOutline(list, at, to, view.theme->line, view.px(6), 1);
  put(list, font, ImVec2(at.x + pad, at.y + pad), size, view.theme->text, text, said, wrap);
}

float paintBadge(const View& view, Canvas list, ImVec2 leftMiddle, std::uint32_t color,
                 std::string_view text) {
  ImFont* font = view.fonts->small;
  const float width = textWidth(font, text) + view.px(12), half = view.px(9);
  list.AddRectFilled(ImVec2(leftMiddle.x, leftMiddle.y - half),
                     ImVec2(leftMiddle.x + width, leftMiddle.y + half),
                     faded(color, view.theme->light ? 0.1f : 0.18f), view.px(4));
  paintText(list, font, ImVec2(leftMiddle.x + view.px(6), leftMiddle.y), color, text);
  return width;
}

}  // namespace headscope::app
