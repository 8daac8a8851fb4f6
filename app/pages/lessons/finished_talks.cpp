#include <fmt/core.h>

#include "app/pages/lessons/lesson_list.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app::lessons_page {

namespace {

/// Paints the first views of a talk, as many as have room: in rows of three, or of two large ones if there is
/// one row only.
void views(const State& page, const std::vector<TalkView>& all, const ImRect& area) {
  View& view = page.view;
  const float gap = view.px(6);
  const auto width = [&](std::size_t columns) {
    return (area.GetWidth() - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
  };
  const auto rowsOf = [&](std::size_t columns) {
    const float high = std::round(width(columns) * 9 / 16);
    return static_cast<std::size_t>(std::max(0.0f, (area.GetHeight() + gap) / (high + gap)));
  };
  const std::size_t columns = rowsOf(3) == 1 && rowsOf(2) == 1 ? 2 : 3, rows = rowsOf(columns);
  const float wide = width(columns), high = std::round(wide * 9 / 16);
  for (std::size_t i = 0; i < std::min(all.size(), columns * rows); ++i) {
    const ImVec2 from(area.Min.x + (wide + gap) * static_cast<float>(i % columns),
                      area.Min.y + (high + gap) * static_cast<float>(i / columns));
    paintScene(view, *ImGui::GetWindowDrawList(), all[i].scene,
               ImRect(from, ImVec2(from.x + wide, from.y + high)));
  }
}

/// A finished talk: its first views, its title and length, and buttons to give or change it.
void finished(State& page, std::size_t at, const ImRect& area) {
  View& view = page.view;
  const ReadyTalk& talk = kReadyTalks[at];
  const std::string id = talk.id;
  Canvas list = *ImGui::GetWindowDrawList();
  const float words = view.px(60);
  const ImRect pictures(area.Min, ImVec2(area.Max.x, area.Max.y - words));
  if (page.list.talks) views(page, (*page.list.talks)[at]->talk->views, pictures);
  float y = pictures.Max.y + view.px(14);
  paintFitted(view, list, view.fonts->bold, ImVec2(area.Min.x, y), area.GetWidth(), view.theme->text,
              talk.title);
  y += view.px(16);
  ImGui::SetCursorScreenPos(ImVec2(area.Min.x, y));
  if (button(view, "talk.give." + id, "Present  ▶")) view.request("talk.give." + id);
  ImGui::SameLine(0, view.px(8));
  if (button(view, "talk.ready." + id, "Open", "", true)) view.request("talk.ready." + id);
  const float right = ImGui::GetItemRectMax().x + view.px(8);
  const std::string length = fmt::format("{} views · {} min", talk.views, talk.minutes);
  paintText(
      list, view.fonts->small, ImVec2(area.Max.x, ImGui::GetItemRectMin().y + view.px(14)),
      view.theme->secondary,
      firstFitting(view.fonts->small, {length, fmt::format("{} min", talk.minutes), ""}, area.Max.x - right),
      Align::right);
}

}  // namespace

void finishedTalks(State& page, const ImRect& area) {
  View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  list.AddLine(area.Min, ImVec2(area.Max.x, area.Min.y), view.theme->line);
  const float y = area.Min.y + view.px(18);
  const float wide =
      paintText(list, view.fonts->bold, ImVec2(area.Min.x, y), view.theme->text, "Finished talks");
  const float left = area.Min.x + wide + view.px(14);
  paintFitted(view, list, view.fonts->small, ImVec2(left, y), area.Max.x - left, view.theme->secondary,
              "Present one as it is, or open a copy to change it");
  const auto count = static_cast<float>(kReadyTalks.size());
  const float gap = view.px(20), each = (area.GetWidth() - gap * (count - 1)) / count;
  for (std::size_t i = 0; i < kReadyTalks.size(); ++i) {
    const float x = area.Min.x + (each + gap) * static_cast<float>(i);
    finished(page, i, ImRect(x, area.Min.y + view.px(34), x + each, area.Max.y));
  }
}

void ownTalk(Rows& rows, State& page, const Scene& own) {
  const std::vector<TalkView>& all = own.talk->views;
  rows.section("YOUR TALK", all.empty() ? "" : countedText(std::ssize(all), "view"));
  if (all.empty())
    return rows.hint(
        "On any page, “+ Talk” at the top adds what the page shows. Then present it view by view.",
        "lesson.no_talk");
  const float wide = (rows.width() - 2 * page.view.px(6)) / 3;
  views(page, all, rows.area("lesson.talk", std::round(wide * 9 / 16) / page.view.unit));
  rows.actions({{"lesson.talk.present", "Present  ▶", "talk.present"},
                {"lesson.talk.open", "Edit", "page.talk", true}});
}

}  // namespace headscope::app::lessons_page
