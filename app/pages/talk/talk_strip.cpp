#include <fmt/core.h>

#include "app/kit/rows.h"
#include "app/pages/talk/talk_page.h"
#include "app/platform/track.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/text_box.h"

namespace headscope::app::talk_page {

namespace {

constexpr float kEditorWidth = 320, kGap = 10;

/// Draws one view's picture with its number and name below.
void thumbnail(const State& page, Canvas list, const TalkView& talkView, int at, const ImRect& area,
               float pictureHeight) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  const ImRect picture(area.Min, ImVec2(area.Max.x, area.Min.y + pictureHeight));
  paintScene(view, list, talkView.scene, picture);
  const bool shown = at == page.at;
  if (shown) paintMark(view, list, "talk.shown", picture, theme.key, view.px(2));
  const float y = (picture.Max.y + area.Max.y) / 2 + view.px(1);
  const float number = paintText(list, view.fonts->smallBold, ImVec2(area.Min.x, y),
                                 shown ? theme.text : theme.secondary, std::to_string(at + 1));
  const float left = number + view.px(6);
  paintFitted(view, list, view.fonts->small, ImVec2(area.Min.x + left, y), area.GetWidth() - left,
              shown ? theme.text : theme.secondary, viewTitle(talkView, asSize(at)));
}

/// If the views are wider than the strip: a bar that shows the visible part. Dragging or clicking it scrolls.
void scrollBar(const View& view, Canvas list, const ImRect& area, float whole) {
  const float high = view.px(5), pad = view.px(12), width = area.GetWidth() - 2 * pad;
  const ImVec2 from(area.Min.x + pad, area.Max.y - high - view.px(3));
  hitArea("talk.scroll", ImVec2(from.x, from.y - view.px(2)), ImVec2(width, high + view.px(4)));
  const float share = area.GetWidth() / whole, most = std::max(1.0f, whole - area.GetWidth());
  const float thumb = std::max(width * share, view.px(24));
  if (ImGui::IsItemActive())
    ImGui::SetScrollX(
        std::clamp((ImGui::GetIO().MousePos.x - from.x - thumb / 2) / (width - thumb), 0.0f, 1.0f) * most);
  const bool lit = ImGui::IsItemHovered() || ImGui::IsItemActive();
  const float left = from.x + (width - thumb) * std::min(ImGui::GetScrollX() / most, 1.0f);
  list.AddRectFilled(from, ImVec2(from.x + width, from.y + high), view.theme->raised, high / 2);
  list.AddRectFilled(ImVec2(left, from.y), ImVec2(left + thumb, from.y + high),
                     lit ? view.theme->text : view.theme->secondary, high / 2);
}

/// Draws the row of views. A click shows a view, a drag moves it, a right click opens its menu.
void row(State& page, Scene& own, const ImRect& area) {
  View& view = page.view;
  if (!beginPanel(view, "talk.strip", area, 0, 0, ImGuiWindowFlags_HorizontalScrollbar)) return endPanel();
  Canvas list = *ImGui::GetWindowDrawList();
  const auto& views = own.talk->views;
  const float pad = view.px(12), label = view.px(22);
  const float high = area.GetHeight() - pad - label - view.px(14), wide = std::round(high * 16 / 9);
  const float step = wide + view.px(kGap), first = area.Min.x + pad - ImGui::GetScrollX();
  if (std::exchange(page.shows, false)) {
    const float at = pad + step * static_cast<float>(page.at);
    if (at < ImGui::GetScrollX() || at + wide > ImGui::GetScrollX() + area.GetWidth())
      ImGui::SetScrollX(std::max(0.0f, at - area.GetWidth() / 2 + wide / 2));
  }
  if (const float wheel = ImGui::GetIO().MouseWheel; wheel != 0 && ImGui::IsWindowHovered())
    ImGui::SetScrollX(ImGui::GetScrollX() - wheel * step);
  bool dragging = false;
  for (int i = 0; i < page.count; ++i) {
    const ImVec2 from(first + step * static_cast<float>(i), area.Min.y + pad);
    const ImRect box(from, ImVec2(from.x + wide, area.Max.y - view.px(12)));
    const std::string name = fmt::format("talk.view.{}", i);
    hitArea(name, box);
    if (ImGui::IsItemActivated()) {
      page.goTo = i;
      page.dragged = i;
    }
    dragging = dragging || (ImGui::IsItemActive() && ImGui::IsMouseDragging(0));
    if (ImGui::IsItemHovered() && ImGui::IsMouseReleased(1)) {
      page.goTo = i;
      view.menu = {"talk.rename", "talk.duplicate", "talk.earlier", "talk.later", "talk.remove"};
    }
    thumbnail(page, list, views[asSize(i)], i, box, high);
  }
  // The same margin after the last view as before the first.
  ImGui::SetCursorScreenPos(
      ImVec2(first + step * static_cast<float>(page.count) - view.px(kGap) + pad - 1, area.Min.y));
  ImGui::Dummy(ImVec2(1, 1));
  const float whole = step * static_cast<float>(page.count) - view.px(kGap) + 2 * pad;
  if (whole > area.GetWidth()) scrollBar(view, list, area, whole);
  if (page.dragged < 0) return endPanel();
  // The place among the others before which the dragged view is inserted.
  const float mouse = ImGui::GetIO().MousePos.x, origin = first - view.px(kGap) / 2;
  const int place = std::clamp(static_cast<int>(std::round((mouse - origin) / step)), 0, page.count);
  if (dragging) {
    const float x = origin + step * static_cast<float>(place);
    list.AddLine(ImVec2(x, area.Min.y + pad), ImVec2(x, area.Min.y + pad + high), view.theme->key,
                 view.px(3));
    track("talk.drop", ImVec2(x - 1, area.Min.y + pad), ImVec2(x + 1, area.Min.y + pad + high));
  }
  if (!ImGui::IsMouseDown(0)) {
    const int from = std::exchange(page.dragged, -1), to = place > from ? place - 1 : place;
    const bool moved = std::abs(mouse - ImGui::GetIO().MouseClickedPos[0].x) > wide / 3;
    if (moved && to != from && from < page.count) {
      moveView(own, from, to);
      own.cursor.view = to;
      page.goTo = to;
    }
  }
  endPanel();
}

/// Name and notes of the current view, and buttons for changes made on its stage.
void editor(State& page, Scene& own, const ImRect& area) {
  View& view = page.view;
  if (beginPanel(view, "talk.editor", area, 12, 8)) {
    Rows rows(view);
    const auto at = asSize(page.at);
    TalkView edited = own.talk->views[at];
    const bool changed = page.stage.changed();
    rows.input("talk.name", edited.name, page.focusName, "Name of the view");
    if (changed) {
      rows.action("talk.keep", "Keep in this view", "talk.keep");
      ImGui::SameLine(0, view.px(8));
      if (button(view, "talk.restore", "Revert", "", true)) view.request("talk.restore");
    }
    const float left = ImGui::GetContentRegionAvail().y;
    const int lines = std::max(1, static_cast<int>((left - view.px(14)) / lineHeight(view.fonts->text)));
    textBox(view, "talk.notes", edited.notes, lines, "Notes for your talk. Only you see them.");
    if (edited.name.size() > kMaxViewName || edited.notes.size() > kMaxViewNotes)
      view.messages.fail(
          fmt::format("A view's name has at most {} bytes, its notes {}.", kMaxViewName, kMaxViewNotes));
    else if (const TalkView& was = own.talk->views[at]; edited.name != was.name || edited.notes != was.notes)
      own.talk.edit().views[at] = std::move(edited);
  }
  endPanel();
}

}  // namespace

float stripHeight(const View& view, float windowHeight) {
  return view.present ? 0 : view.px(std::clamp(windowHeight / view.unit * 0.19f, 124.0f, 180.0f));
}

void strip(State& page, Scene& own, const ImRect& area) {
  const View& view = page.view;
  Canvas back = *ImGui::GetBackgroundDrawList();
  back.AddRectFilled(area.Min, area.Max, view.theme->panel);
  back.AddLine(area.Min, ImVec2(area.Max.x, area.Min.y), view.theme->line);
  const float middle = area.Max.x - std::min(view.px(kEditorWidth), area.GetWidth() / 2);
  back.AddLine(ImVec2(middle, area.Min.y), ImVec2(middle, area.Max.y), view.theme->line);
  row(page, own, ImRect(area.Min.x, area.Min.y, middle, area.Max.y));
  editor(page, own, ImRect(middle, area.Min.y, area.Max.x, area.Max.y));
}

namespace {

constexpr std::string_view kMapZoom = "cursor.map.cells_per_pixel";

/// The value of a field that may take any value between two others; nothing for other fields.
std::optional<double> travelling(const Field& field, const Scene& scene) {
  if (const auto* real = std::get_if<Member<float>>(&field.access))
    return static_cast<double>(real->of(scene));
  if (const auto* real = std::get_if<Member<double>>(&field.access)) return real->of(scene);
  if (const auto* whole = std::get_if<Member<Index>>(&field.access); whole && field.path == "cursor.step")
    return static_cast<double>(whole->of(scene));
  return std::nullopt;
}

void put(const Field& field, Scene& scene, double value) {
  if (const auto* real = std::get_if<Member<float>>(&field.access))
    real->edit(scene) = static_cast<float>(value);
  if (const auto* real = std::get_if<Member<double>>(&field.access)) real->edit(scene) = value;
  if (const auto* whole = std::get_if<Member<Index>>(&field.access))
    whole->edit(scene) = static_cast<Index>(std::llround(value));
}

}  // namespace

bool ViewTravel::begin(const Scene& from, const Scene& to, double now, double seconds) {
  ways_.clear();
  beganAt_ = now;
  seconds_ = std::max(seconds, 1e-3);
  Scene rest = from;
  std::vector<Way> ways;
  for (const Field& field : allFields()) {
    const auto begin = travelling(field, from), end = travelling(field, to);
    if (!begin || *begin == *end) continue;
    // A zoom of 0 means "the whole map" and can't be interpolated.
    if (field.path == kMapZoom && (*begin <= 0 || *end <= 0)) return false;
    ways.push_back({&field, *begin, *end, *end});
    put(field, rest, *end);
  }
  if (rest != to) return false;
  ways_ = std::move(ways);
  return active();
}

void ViewTravel::advance(Scene& scene, double now) {
  const double share = std::clamp((now - beganAt_) / seconds_, 0.0, 1.0), t = share * share * (3 - 2 * share);
  for (Way& way : ways_) {
    const double is = *travelling(*way.field, scene);
    if (std::abs(is - way.last) > 1e-5 * std::max(1.0, std::abs(way.last))) continue;
    double value = way.field->path == kMapZoom ? way.from * std::pow(way.to / way.from, t)
                                               : way.from + (way.to - way.from) * t;
    if (share == 1) value = way.to;
    put(*way.field, scene, value);
    way.last = *travelling(*way.field, scene);
  }
  if (share == 1) ways_.clear();
}

}  // namespace headscope::app::talk_page
