#include "app/widgets/paint.h"

#include <cmath>

namespace headscope::app {

namespace {
const char* begin(std::string_view text) {
  return text.data();
}
const char* end(std::string_view text) {
  return text.data() + text.size();
}
}  // namespace

float textWidth(ImFont* font, std::string_view text) {
  return font->CalcTextSizeA(compat::sizeOf(font), FLT_MAX, 0, begin(text), end(text)).x;
}

float lineHeight(const ImFont* font) {
  return compat::sizeOf(font);
}

float paintText(ImDrawList& list, ImFont* font, ImVec2 at, std::uint32_t color, std::string_view text,
                Align align) {
  const float size = compat::sizeOf(font);
  const float width = textWidth(font, text);
  if (align == Align::center) at.x -= width / 2;
  if (align == Align::right) at.x -= width;
  list.AddText(font, size, ImVec2(std::round(at.x), std::round(at.y - size / 2)), color, begin(text),
               end(text));
  return width;
}

float paintSpaced(ImDrawList& list, ImFont* font, ImVec2 at, std::uint32_t color, std::string_view text,
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

std::string fitted(ImFont* font, std::string_view text, float width) {
  if (bytesWithin(font, text, width) == text.size()) return std::string(text);
  const float room = std::max(0.0f, width - textWidth(font, "…"));
  return std::string(text.substr(0, bytesWithin(font, text, room))) + "…";
}

void paintFitted(const View& view, ImDrawList& list, ImFont* font, ImVec2 at, float width,
                 std::uint32_t color, std::string_view text, Align align) {
  const std::string shown = fitted(font, text, width);
  const float drawn = paintText(list, font, at, color, shown, align);
  if (shown == text) return;
  const float left = align == Align::left ? at.x : align == Align::right ? at.x - drawn : at.x - drawn / 2;
  const float half = lineHeight(font) * 0.6f;
  if (ImGui::IsMouseHoveringRect(ImVec2(left, at.y - half), ImVec2(left + drawn, at.y + half)))
    tooltip(view, text);
}

void paintRotated(ImDrawList& list, ImFont* font, ImVec2 at, float degrees, std::uint32_t color,
                  std::string_view text) {
  // ImGui drops glyphs that start outside the clip rectangle before they are turned, so the text is laid out
  // at the window's origin first and moved with its turn.
  const float size = compat::sizeOf(font);
  const float width = textWidth(font, text);
  const ImVec2 clipMin = list.GetClipRectMin(), clipMax = list.GetClipRectMax();
  const ImVec2 origin(clipMin.x, clipMin.y);
  list.PushClipRect(clipMin, ImVec2(std::max(clipMax.x, clipMin.x + width + size),
                                    std::max(clipMax.y, clipMin.y + 2 * size)));
  const int first = list.VtxBuffer.Size;
  list.AddText(font, size, origin, color, begin(text), end(text));
  const float angle = -degrees * 3.14159265f / 180;
  const float c = std::cos(angle), s = std::sin(angle);
  for (int i = first; i < list.VtxBuffer.Size; ++i) {
    ImVec2& p = list.VtxBuffer[i].pos;
    const float x = p.x - origin.x - width, y = p.y - origin.y - size / 2;
    p = ImVec2(at.x + c * x - s * y, at.y + s * x + c * y);
  }
  list.PopClipRect();
}

float paintParagraph(ImDrawList& list, ImFont* font, ImVec2 at, float width, std::uint32_t color,
                     std::string_view text) {
  const float size = compat::sizeOf(font);
  const float height = font->CalcTextSizeA(size, FLT_MAX, width, begin(text), end(text)).y;
  list.AddText(font, size, ImVec2(std::round(at.x), std::round(at.y)), color, begin(text), end(text), width);
  return height;
}

void tooltip(const View& view, std::string_view text) {
  if (text.empty()) return;
  ImFont* font = view.fonts->small;
  const float wrap = view.px(320), pad = view.px(9);
  const ImVec2 size = font->CalcTextSizeA(compat::sizeOf(font), FLT_MAX, wrap, begin(text), end(text));
  const ImVec2 screen = ImGui::GetIO().DisplaySize, mouse = ImGui::GetIO().MousePos;
  ImVec2 at(mouse.x + view.px(14), mouse.y + view.px(18));
  at.x = std::max(0.0f, std::min(at.x, screen.x - size.x - 2 * pad));
  if (at.y + size.y + 2 * pad > screen.y) at.y = mouse.y - size.y - 2 * pad - view.px(6);
  ImDrawList& list = *ImGui::GetForegroundDrawList();
  const ImVec2 to(at.x + size.x + 2 * pad, at.y + size.y + 2 * pad);
  list.AddRectFilled(at, to, view.theme->raised, view.px(6));
  compat::rectOutline(list, at, to, view.theme->line, view.px(6), 1);
  list.AddText(font, compat::sizeOf(font), ImVec2(at.x + pad, at.y + pad), view.theme->text, begin(text),
               end(text), wrap);
}

float paintBadge(const View& view, ImDrawList& list, ImVec2 leftMiddle, std::uint32_t color,
                 std::string_view text) {
  ImFont* font = view.fonts->small;
  const float width = textWidth(font, text) + view.px(12), half = view.px(9);
  list.AddRectFilled(ImVec2(leftMiddle.x, leftMiddle.y - half),
                     ImVec2(leftMiddle.x + width, leftMiddle.y + half), faded(color, 0.18f), view.px(4));
  paintText(list, font, ImVec2(leftMiddle.x + view.px(6), leftMiddle.y), color, text);
  return width;
}

}  // namespace headscope::app
