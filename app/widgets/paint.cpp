#include "app/widgets/paint.h"

#include "app/platform/track.h"

namespace headscope::app {

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

bool paintScene(View& view, Canvas list, const std::shared_ptr<const Scene>& scene, const ImRect& area) {
  list.AddRectFilled(area.Min, area.Max, view.theme->raised);
  const auto texture = scene ? view.pictures.of(scene) : std::nullopt;
  if (texture)
    list.AddImage(compat::textureId(*texture), area.Min, area.Max, ImVec2(0, 1), ImVec2(1, 0));
  else
    paintFitted(view, list, view.fonts->small, area.GetCenter(), area.GetWidth(), view.theme->faint,
                "Drawing…", Align::center);
  return texture.has_value();
}

namespace {

/// Paints a box at the pointer's x, below `clear`, or above it if there is too little space below.
void paintTooltip(const View& view, std::string_view said, const ImRect& clear, float above) {
  if (said.empty()) return;
  ImFont* font = view.fonts->small;
  const float pad = view.px(9);
  const TextLines text = linesOf(font, said, view.px(320));
  const ImVec2 size = text.size;
  const ImVec2 screen = ImGui::GetIO().DisplaySize, mouse = ImGui::GetIO().MousePos;
  ImVec2 at(mouse.x + view.px(14), clear.Max.y);
  at.x = std::max(0.0f, std::min(at.x, screen.x - size.x - 2 * pad));
  if (at.y + size.y + 2 * pad > screen.y) at.y = clear.Min.y - size.y - 2 * pad - above;
  Canvas list = *ImGui::GetForegroundDrawList();
  const ImVec2 to(at.x + size.x + 2 * pad, at.y + size.y + 2 * pad);
  list.AddRectFilled(at, to, view.theme->raised, view.px(6));
  compat::rectOutline(list, at, to, view.theme->line, view.px(6), 1);
  paintLines(list, font, ImVec2(at.x + pad, at.y + pad), view.theme->text, text, said);
  track("tooltip", at, to);
}

}  // namespace

void tooltip(const View& view, std::string_view text) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  paintTooltip(view, text, ImRect(mouse, ImVec2(mouse.x, mouse.y + view.px(18))), view.px(6));
}

void tooltipBeside(const View& view, std::string_view text, const ImRect& clear) {
  const float space = view.px(6);
  paintTooltip(view, text, ImRect(clear.Min, ImVec2(clear.Max.x, clear.Max.y + space)), space);
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

namespace {

/// Whether marks need a dark outer hairline. On a light page, some tones of a map are too close to both the
/// mark's colour and the white around it.
bool hasHairline(const View& view) {
  return view.theme->light;
}

/// The contrast with white exceeds 9:1, so everything below contrasts with one of the two by at least 3:1.
std::uint32_t hairlineColor(const View& view) {
  return mixed(view.theme->text, view.theme->secondary, 0.6f);
}

std::uint32_t oppositeTone(const View& view) {
  return view.theme->light ? IM_COL32(255, 255, 255, 230) : IM_COL32(0, 0, 0, 230);
}

ImRect grown(ImRect box, float by) {
  box.Expand(by);
  return box;
}

/// Fills the area between two boxes.
void paintFrame(Canvas list, const ImRect& outer, const ImRect& inner, std::uint32_t color) {
  list.AddRectFilled(outer.Min, ImVec2(outer.Max.x, inner.Min.y), color);
  list.AddRectFilled(ImVec2(outer.Min.x, inner.Max.y), outer.Max, color);
  list.AddRectFilled(ImVec2(outer.Min.x, inner.Min.y), ImVec2(inner.Min.x, inner.Max.y), color);
  list.AddRectFilled(ImVec2(inner.Max.x, inner.Min.y), ImVec2(outer.Max.x, inner.Max.y), color);
}

}  // namespace

void paintMark(const View& view, Canvas list, const char* name, const ImRect& box, std::uint32_t color,
               float thick) {
  if (view.figure) return;
  if (thick <= 0) thick = view.px(1.6f);
  // Whole pixels keep the mark sharp. It is thinner on small cells, so as not to hide them.
  const float side = std::min(box.GetWidth(), box.GetHeight());
  const auto pixels = [](float wanted, float most) {
    return std::max(1.0f, std::round(std::min(wanted, most)));
  };
  const float line = pixels(thick, side / 4), rim = pixels(view.px(1), side / 8);
  const bool small = side < 10, hairline = hasHairline(view);
  const ImRect cells(std::round(box.Min.x), std::round(box.Min.y), std::round(box.Max.x),
                     std::round(box.Max.y));
  const ImRect middle = grown(cells, line), outer = grown(middle, rim);
  const ImRect around = grown(outer, small && hairline ? rim : 0);
  if (!drawsMark(list, name, around.Min, around.Max)) return;
  // The opposite tone goes inside a hairline, or outside it if cells are small.
  if (small && hairline) paintFrame(list, around, outer, oppositeTone(view));
  paintFrame(list, outer, middle, hairline ? hairlineColor(view) : oppositeTone(view));
  paintFrame(list, middle, cells, color);
  if (!small) paintFrame(list, cells, grown(cells, -rim), oppositeTone(view));
}

void paintGhost(const View& view, Canvas list, const char* name, const ImRect& box, std::uint32_t color) {
  if (view.figure) return;
  const float line = std::max(1.0f, std::round(view.px(1.3f))),
              rim = std::max(1.0f, std::round(view.px(0.8f)));
  const float dash = view.px(5), pitch = view.px(9);
  const ImRect inner(std::round(box.Min.x), std::round(box.Min.y), std::round(box.Max.x),
                     std::round(box.Max.y));
  const ImRect outer = grown(inner, line);
  if (!drawsMark(list, name, outer.Min - ImVec2(rim, rim), outer.Max + ImVec2(rim, rim))) return;
  const auto piece = [&](const ImRect& part) {
    list.AddRectFilled(part.Min - ImVec2(rim, rim), part.Max + ImVec2(rim, rim), oppositeTone(view));
    list.AddRectFilled(part.Min, part.Max, color);
  };
  for (float x = outer.Min.x; x < outer.Max.x; x += pitch) {
    const float to = std::min(x + dash, outer.Max.x);
    piece({x, outer.Min.y, to, inner.Min.y});
    piece({x, inner.Max.y, to, outer.Max.y});
  }
  for (float y = outer.Min.y; y < outer.Max.y; y += pitch) {
    const float to = std::min(y + dash, outer.Max.y);
    piece({outer.Min.x, y, inner.Min.x, to});
    piece({inner.Max.x, y, outer.Max.x, to});
  }
}

void paintSpot(const View& view, Canvas list, const char* name, const ImRect& box, std::uint32_t color) {
  if (view.figure) return;
  const float rim = std::max(1.0f, view.px(1));
  const ImRect middle = grown(box, rim), seen = grown(middle, hasHairline(view) ? rim : 0);
  if (!drawsMark(list, name, seen.Min, seen.Max)) return;
  if (hasHairline(view)) list.AddRectFilled(seen.Min, seen.Max, hairlineColor(view));
  list.AddRectFilled(middle.Min, middle.Max, oppositeTone(view));
  list.AddRectFilled(box.Min, box.Max, color);
}

}  // namespace headscope::app
