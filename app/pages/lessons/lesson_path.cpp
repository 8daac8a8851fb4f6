#include <fmt/core.h>

#include "app/pages/lessons/lesson_list.h"
#include "app/platform/track.h"
#include "app/widgets/heat_parts.h"
#include "attention/core/extremes.h"

namespace headscope::app::lessons_page {

namespace {

const LessonProgress* progressOf(const State& page, const Lesson& lesson) {
  const auto found = page.record.progress.lessons.find(lesson.id);
  return found == page.record.progress.lessons.end() ? nullptr : &found->second;
}

void steps(const State& page, const Lesson& lesson, const ImRect& area) {
  const View& view = page.view;
  const LessonProgress* progress = progressOf(page, lesson);
  const Index last = lastStep(page, lesson), count = std::ssize(lesson.steps);
  const bool done = isDone(page, lesson);
  stepBar(view, area, count, view.px(count > 12 ? 2 : 4), [&](Index i, const ImRect&) {
    const bool seen = progress && progress->seen.contains(lesson.steps[asSize(i)].id);
    return !seen ? 0 : i == last && !done ? view.theme->text : view.theme->faint;
  });
}

std::string stateOf(const State& page, const Lesson& lesson) {
  const Index last = lastStep(page, lesson);
  if (isDone(page, lesson)) return "done";
  return last >= 0 ? fmt::format("step {} of {}", last + 1, lesson.steps.size())
                   : fmt::format("{} min", lesson.minutes);
}

/// Draws a lesson with its picture, topic and progress.
void card(State& page, std::size_t at, const ImRect& area) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  const LessonEntry& entry = page.list.library->lessons[at];
  const Lesson& lesson = *entry.lesson;
  Canvas list = *ImGui::GetWindowDrawList();
  if (hitArea("lesson.card." + lesson.id, area)) page.asked.lesson = lesson.id;
  const bool hovered = ImGui::IsItemHovered(), current = !view.figure &&
                                                         page.record.progress.last == lesson.id &&
                                                         lastStep(page, lesson) >= 0 && !isDone(page, lesson);
  if (hovered || current) {
    ImRect lit = area;
    lit.Expand(view.px(5));
    list.AddRectFilled(lit.Min, lit.Max, current ? theme.raised : mixed(theme.background, theme.raised, 0.6f),
                       view.px(6));
  }
  const float side = std::min(area.GetHeight(), area.GetWidth() * (view.present ? 0.26f : 0.36f));
  paintCover(page, at, ImRect(area.Min, ImVec2(area.Min.x + side, area.Min.y + side)));
  const float x = area.Min.x + side + view.px(12), right = area.Max.x - view.px(4), width = right - x;
  const bool large = area.GetHeight() > view.px(110);
  const float bar = area.Max.y - view.px(4), bottom = bar - view.px(4);
  ImFont* const quiet = view.present ? view.fonts->text : view.fonts->small;
  ImFont* title = large ? view.fonts->title : view.fonts->bold;
  TextLines name = linesOf(title, lesson.title, width);
  float y = area.Min.y;
  // On a small card, a long title is set smaller; if that isn't enough, it comes before number and length.
  if (y + lineHeight(quiet) + view.px(3) + name.size.y > bottom) {
    title = view.fonts->smallBold;
    name = linesOf(title, lesson.title, width);
  }
  if (const float head = lineHeight(quiet) + view.px(3); y + head + name.size.y <= bottom) {
    const float middle = y + lineHeight(quiet) / 2;
    paintText(list, quiet, ImVec2(x, middle), theme.secondary,
              entry.own ? "yours" : std::to_string(lesson.number));
    paintText(list, quiet, ImVec2(right, middle), theme.secondary, stateOf(page, lesson), Align::right);
    y += head;
  }
  if (y + name.size.y <= bottom)
    paintLines(list, title, ImVec2(x, y), theme.text, name, lesson.title);
  else
    paintFitted(view, list, title, ImVec2(x, y + lineHeight(title) / 2), width, theme.text, lesson.title);
  y += name.size.y + view.px(2);
  ImFont* const words = large ? view.fonts->text : quiet;
  if (const TextLines summary = linesOf(words, lesson.summary, width); y + summary.size.y <= bottom)
    paintLines(list, words, ImVec2(x, y), theme.secondary, summary, lesson.summary);
  else if (!view.present && y + lineHeight(words) <= bottom)
    paintFitted(view, list, words, ImVec2(x, y + lineHeight(words) / 2), width, theme.secondary,
                lesson.summary);
  steps(page, lesson, ImRect(x, bar, right, bar + view.px(3)));
}

/// Where the path passes a card.
float passes(const View& view, const ImRect& card) {
  return card.Max.y - view.px(2.5f);
}

/// The path from lesson to lesson: a stem along the left, a branch for each part, and the way to the end.
void branches(const View& view, const PathPlan& plan, float stem) {
  Canvas list = *ImGui::GetWindowDrawList();
  const std::uint32_t color = view.theme->line;
  const float thick = std::max(1.0f, view.px(1.5f));
  const auto line = [&](ImVec2 a, ImVec2 b) { list.AddLine(a, b, color, thick); };
  float low = 0;
  for (std::size_t i = 0; i < plan.cards.size(); ++i) {
    if (i == plan.end) continue;
    const auto& row = plan.cards[i];
    low = passes(view, row.front());
    line(ImVec2(stem, low), ImVec2(row.front().Min.x - view.px(2), low));
    for (std::size_t j = 1; j < row.size(); ++j)
      if (row[j].Min.y == row[j - 1].Min.y)
        line(ImVec2(row[j - 1].Max.x, passes(view, row[j])),
             ImVec2(row[j].Min.x - view.px(2), passes(view, row[j])));
  }
  line(ImVec2(stem, passes(view, plan.cards.front().front())), ImVec2(stem, low));
  if (!plan.end) return;
  const ImRect& end = plan.cards[*plan.end].front();
  const float join = end.Min.x - view.px(14), at = passes(view, end);
  const float first = passes(view, plan.cards[1].back()),
              last = passes(view, plan.cards[*plan.end - 1].back());
  for (std::size_t i = 1; i < *plan.end; ++i)
    line(ImVec2(plan.cards[i].back().Max.x, passes(view, plan.cards[i].back())),
         ImVec2(join, passes(view, plan.cards[i].back())));
  line(ImVec2(join, std::min(first, at)), ImVec2(join, std::max(last, at)));
  line(ImVec2(join, at), ImVec2(end.Min.x - view.px(2), at));
}

}  // namespace

bool isDone(const State& page, const Lesson& lesson) {
  const LessonProgress* progress = progressOf(page, lesson);
  return progress && std::all_of(lesson.steps.begin(), lesson.steps.end(),
                                 [&](const LessonStep& step) { return progress->seen.contains(step.id); });
}

Index lastStep(const State& page, const Lesson& lesson) {
  const LessonProgress* progress = progressOf(page, lesson);
  return progress ? lesson.stepAt(progress->last) : -1;
}

void paintCover(const State& page, std::size_t at, const ImRect& room) {
  const View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  if (!page.list.covers[at] || page.list.covers[at]->size() == 0) {
    compat::rectOutline(list, room.Min, room.Max, view.theme->line, 0, 1);
    return;
  }
  const attention::Matrix& picture = *page.list.covers[at];
  CellStyle style;
  style.gap = std::max(1.0f, view.px(0.8f));
  style.high = std::max(attention::finiteRange(picture).second, 1e-6f);  // masked cells are lower than any
  paintCells(view, list, squareCells(room, picture.rows(), picture.cols()), picture, style);
}

std::vector<PathPart> pathParts(const LessonLibrary& library, const std::string& searched) {
  std::vector<PathPart> parts;
  const auto& lessons = library.lessons;
  const std::string search = attention::foldCase(searched);
  for (std::size_t i = 0; i < lessons.size(); ++i) {
    const Lesson& lesson = *lessons[i].lesson;
    const std::string heading = lesson.part.empty() ? "Your lessons" : lesson.part;
    auto part = std::find_if(parts.begin(), parts.end(),
                             [&](const PathPart& each) { return each.heading == heading; });
    if (part == parts.end()) part = parts.insert(parts.end(), {heading, {}, !lessons[i].own});
    const std::string words = lesson.title + " " + lesson.summary + " " + lesson.part;
    if (search.empty() || attention::foldCase(words).find(search) != std::string::npos)
      part->lessons.push_back(i);
  }
  const auto last =
      std::find_if(parts.rbegin(), parts.rend(), [](const PathPart& part) { return part.ends; });
  for (PathPart& part : parts) part.ends = search.empty() && last != parts.rend() && &part == &*last;
  std::erase_if(parts, [](const PathPart& part) { return part.lessons.empty(); });
  return parts;
}

PathPlan layPath(std::span<const PathPart> parts, const ImRect& area, int columns, float head, ImVec2 gap,
                 float least, float most) {
  PathPlan plan;
  plan.cards.resize(parts.size());
  const auto size = [&](std::size_t i) { return static_cast<int>(parts[i].lessons.size()); };
  for (std::size_t i = 2; i < parts.size(); ++i)
    if (parts[i].ends && size(i) == 1 && columns > 2) plan.end = i;
  for (std::size_t i = 1; plan.end && i < *plan.end; ++i)
    if (size(i) >= columns) plan.end.reset();
  int rows = 0, heads = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i == plan.end) continue;
    rows += (size(i) + columns - 1) / columns;
    ++heads;
  }
  const float free =
      area.GetHeight() - head * static_cast<float>(heads) - gap.y * static_cast<float>(rows - 1);
  const float high = std::clamp(free / static_cast<float>(std::max(rows, 1)), least, most);
  const float wide = (area.GetWidth() + gap.x) / static_cast<float>(columns) - gap.x;
  const auto place = [&](int column, float y) {
    const float x = area.Min.x + (wide + gap.x) * static_cast<float>(column);
    return ImRect(x, y, x + wide, y + high);
  };
  float y = area.Min.y;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i == plan.end) continue;
    y += head;
    for (int j = 0; j < size(i); ++j) {
      if (j > 0 && j % columns == 0) y += high + gap.y;
      plan.cards[i].push_back(place(j % columns, y));
    }
    y += high + gap.y;
  }
  plan.bottom = std::max(area.Min.y, y - gap.y);
  if (plan.end) {
    const float first = plan.cards[1].front().Min.y, last = plan.cards[*plan.end - 1].back().Min.y;
    plan.cards[*plan.end] = {place(columns - 1, (first + last) / 2)};
  }
  return plan;
}

float lessonPath(State& page, const ImRect& area) {
  View& view = page.view;
  const std::vector<PathPart> parts = pathParts(*page.list.library, page.list.search);
  if (parts.empty()) return area.Min.y;
  const bool present = view.present;
  const float stem = area.Min.x + view.px(6);
  ImRect room = area;
  room.Min.x += view.px(22);
  const int columns = std::clamp(static_cast<int>(room.GetWidth() / view.px(present ? 160 : 208)), 1, 4);
  const PathPlan plan =
      layPath(parts, room, columns, view.px(present ? 20 : 18),
              ImVec2(view.px(20), view.px(present ? 8 : 10)), view.px(present ? 40 : 58), view.px(150));
  branches(view, plan, stem);
  Canvas list = *ImGui::GetWindowDrawList();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const ImRect& first = plan.cards[i].front();
    paintFitted(view, list, present ? view.fonts->bold : view.fonts->smallBold,
                ImVec2(first.Min.x, first.Min.y - view.px(10)), room.Max.x - first.Min.x,
                view.theme->secondary, parts[i].heading);
    for (std::size_t j = 0; j < parts[i].lessons.size(); ++j)
      card(page, parts[i].lessons[j], plan.cards[i][j]);
  }
  return plan.bottom;
}

}  // namespace headscope::app::lessons_page
