#include <fmt/core.h>

#include "app/pages/lessons/lessons_page.h"
#include "app/platform/track.h"
#include "app/scene/mask_rules.h"
#include "app/widgets/controls.h"
#include "app/widgets/field_controls.h"

namespace headscope::app::lessons_page {

namespace {

/// Draws one segment per step: seen, current or still to come.
void progressBar(State& page, ImVec2 at, float width) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const auto steps = static_cast<Index>(page.here.lesson->steps.size());
  const float gap = view.px(6);
  const float wide = (width - gap * static_cast<float>(steps - 1)) / static_cast<float>(steps);
  for (Index i = 0; i < steps; ++i) {
    const float x = at.x + (wide + gap) * static_cast<float>(i);
    const ImVec2 from(x, at.y), to(x + wide, at.y + view.px(4));
    if (i > page.here.step)
      compat::rectOutline(list, from, to, theme.faint, 0, 1);
    else
      list.AddRectFilled(from, to, i == page.here.step ? theme.text : theme.faint);
    const std::string name = fmt::format("lesson.step.{}", i);
    if (hitArea(name, ImVec2(from.x, from.y - view.px(8)), ImVec2(std::max(wide, 1.0f), view.px(20))))
      page.asked.step = i;
    if (ImGui::IsItemHovered()) tooltip(view, page.here.lesson->steps[static_cast<std::size_t>(i)].title);
  }
}

/// Draws the lesson's title, the step and the time left. Returns the height.
float head(State& page, ImVec2 at, float width, bool small) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  float y = at.y;
  const float linkWide = textWidth(view.fonts->text, "‹  All lessons");
  const bool clicked = hitArea("lesson.list", ImVec2(at.x - view.px(4), y - view.px(3)),
                               ImVec2(linkWide + view.px(8), view.px(26)));
  paintText(list, view.fonts->text, ImVec2(at.x, y + view.px(10)),
            ImGui::IsItemHovered() ? theme.text : theme.secondary, "‹  All lessons");
  if (clicked) view.request("lesson.list");
  const std::string number =
      fmt::format("{} of {}", page.here.lesson->number, page.list.library->shippedCount());
  const bool numbered =
      page.here.lesson->number > 0 && page.here.lesson->number <= page.list.library->shippedCount();
  const std::string step = fmt::format("step {} of {}", page.here.step + 1, page.here.lesson->steps.size());
  const auto right = [&](ImFont* font, const std::string& text) {
    paintText(list, font, ImVec2(at.x + width, y + view.px(10)), theme.secondary, text, Align::right);
  };
  if (small)
    right(view.fonts->small, step);
  else if (numbered)
    right(view.fonts->text, number);
  y += view.px(small ? 34 : 44);
  paintFitted(view, list, view.fonts->bold, ImVec2(at.x, y), width, theme.secondary, page.here.lesson->title);
  y += view.px(small ? 18 : 22);
  progressBar(page, ImVec2(at.x, y), width);
  if (small) return y + view.px(14) - at.y;
  y += view.px(22);
  paintText(list, view.fonts->small, ImVec2(at.x, y), theme.secondary, step);
  const Index minutes = minutesLeft(*page.here.lesson, page.here.step);
  paintText(list, view.fonts->small, ImVec2(at.x + width, y), theme.secondary,
            fmt::format("about {} left", countedText(minutes, "minute")), Align::right);
  return y + view.px(30) - at.y;
}

/// Draws the settings that the step changes. Returns the height.
float changes(State& page, ImVec2 at, float width) {
  const LessonStep& step = page.at();
  const auto all = changesBetween(step.changed, sceneBefore(*page.here.lesson, step), step.scene);
  if (all.empty()) return 0;
  const View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const std::size_t shown = std::min<std::size_t>(all.size(), 4);
  const float line = view.px(26), pad = view.px(10);
  // A change too long for one line shows its new value on a second line.
  const auto fits = [&](const ChangedField& change) {
    return textWidth(view.fonts->text, change.label) + textWidth(view.fonts->mono, change.before) +
               textWidth(view.fonts->mono, change.now) + 2 * pad + view.px(50) <
           width;
  };
  float high = 2 * pad;
  for (std::size_t i = 0; i < shown; ++i) high += fits(all[i]) ? line : 2 * line;
  list.AddRectFilled(at, ImVec2(at.x + width, at.y + high), mixed(theme.panel, theme.background, 0.6f),
                     view.px(6));
  float y = at.y + pad + line / 2;
  for (std::size_t i = 0; i < shown; ++i) {
    const ChangedField& change = all[i];
    float x = at.x + pad;
    x += paintText(list, view.fonts->text, ImVec2(x, y), theme.secondary, change.label) + view.px(12);
    const float right = at.x + width - pad;
    const std::string before = fitted(view.fonts->mono, change.before, right - x);
    x += paintText(list, view.fonts->mono, ImVec2(x, y), theme.secondary, before) + view.px(8);
    if (!fits(change)) {
      y += line;
      x = at.x + pad;
    }
    x += paintText(list, view.fonts->text, ImVec2(x, y), theme.secondary, "→") + view.px(8);
    paintFitted(view, list, view.fonts->mono, ImVec2(x, y), right - x, theme.text, change.now);
    y += line;
  }
  return high + view.px(18);
}

void knob(State& page, const std::string& path) {
  View& view = page.view;
  Scene& scene = page.stage.document->scene();
  // A plain mask's switch, with its sizes while it is on.
  for (const PlainMask& mask : kPlainMasks)
    if (path == mask.path)
      return ruleSwitch(scene.setup.mask.layers, mask.kind, mask.path, mask.label, {}, view);
  if (path == "mask.layers") {
    for (std::size_t i = 0; i < scene.setup.mask.layers.size(); ++i)
      parameterSliders(scene.setup.mask.layers, i, fmt::format("lesson.mask.{}", i), {}, view);
    return;
  }
  const Field& field = fieldAt(path);
  if (std::holds_alternative<Slider>(field.control)) fieldSlider(view, scene, path);
  if (std::holds_alternative<Toggle>(field.control)) fieldToggle(view, scene, path);
  if (std::holds_alternative<Selection>(field.control)) {
    hint(view, field.help);
    fieldChoice(view, scene, path);
  }
}

/// The reset button, right of the section's title, so that the controls don't move when it appears.
void wayBack(View& view, ImVec2 line) {
  const ImVec2 below = ImGui::GetCursorScreenPos();
  const char* label = "Reset step  Esc";
  const float width = textWidth(view.fonts->text, label) + view.px(24);
  ImGui::SetCursorScreenPos(ImVec2(line.x + ImGui::GetContentRegionAvail().x - width, line.y - view.px(4)));
  if (button(view, "lesson.restore", label)) view.request("lesson.restore");
  ImGui::SetCursorScreenPos(below);
}

/// The step's controls, and a reset button if something was changed.
void knobs(State& page) {
  View& view = page.view;
  const LessonStep& step = page.at();
  if (step.tries.empty() && !page.stage.changed) return;
  gap(view, 14);
  const ImVec2 line = ImGui::GetCursorScreenPos();
  sectionTitle(view, "TRY IT", page.stage.changed ? "" : "as in the lesson");
  if (page.stage.changed) wayBack(view, line);
  if (!page.asking())
    for (const std::string& path : step.tries) knob(page, path);
  if (!page.stage.changed) return;
  const Scene& written = page.asking() ? sceneBefore(*page.here.lesson, step) : step.scene;
  const auto moved = changesBetween(written, page.stage.document->scene());
  gap(view, 6);
  if (!moved.empty())
    hint(view, fmt::format("You changed {}: {} → {}{}", moved.front().label, moved.front().before,
                           moved.front().now,
                           moved.size() > 1 ? fmt::format(", and {} more", moved.size() - 1) : ""));
}

struct WayOn {
  std::string label, brief;
};

WayOn wayOn(const State& page) {
  if (page.asking()) return {page.here.guess >= 0 ? "Show the answer" : "Skip to the answer", "Answer"};
  const auto next = static_cast<std::size_t>(page.here.step + 1);
  if (next < page.here.lesson->steps.size()) return {page.here.lesson->steps[next].title, "Next"};
  return {"Finish the lesson", "Finish"};
}

/// The Back and Next buttons, always visible.
void ways(State& page, const ImRect& area) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  list.AddLine(area.Min, ImVec2(area.Max.x, area.Min.y), theme.line);
  const float pad = view.px(28), y = area.GetCenter().y, half = view.px(17);
  const bool canBack = page.here.step > 0 || (page.here.answered && page.at().question);
  const auto [label, brief] = wayOn(page);
  // The title of the next step needs the space more than the word "Back" does.
  const float around = view.px(50 + 16), wanted = textWidth(view.fonts->bold, label) + around;
  const bool wordless = wanted > area.GetWidth() - 2 * pad - view.px(104);
  const ImVec2 backSize(view.px(wordless ? 40 : 104), 2 * half);
  if (hitArea("lesson.back", ImVec2(area.Min.x + pad, y - half), backSize) && canBack)
    view.request("lesson.back");
  const ImVec2 from(area.Min.x + pad, y - half);
  list.AddRectFilled(from, ImVec2(from.x + backSize.x, y + half),
                     ImGui::IsItemHovered() && canBack ? theme.line : theme.raised, view.px(6));
  const std::uint32_t ink = canBack ? theme.text : theme.faint;
  paintText(list, view.fonts->small, ImVec2(from.x + view.px(14), y), ink, "◀");
  if (!wordless) paintText(list, view.fonts->text, ImVec2(from.x + view.px(36), y), ink, "Back");
  const float left = std::max(from.x + backSize.x + view.px(16), area.Max.x - pad - view.px(252));
  const ImVec2 nextFrom(left, y - half), nextTo(area.Max.x - pad, y + half);
  if (hitArea("lesson.next", nextFrom, ImVec2(nextTo.x - left, 2 * half))) view.request("lesson.next");
  const std::uint32_t ground = page.asking() ? theme.raised : theme.text;
  const std::uint32_t words = page.asking() ? theme.text : theme.background;
  list.AddRectFilled(nextFrom, nextTo, ImGui::IsItemHovered() ? mixed(ground, theme.line, 0.25f) : ground,
                     view.px(6));
  const float room = nextTo.x - left - view.px(50);
  // A long title may be cut off with dots, but a few letters of it would say nothing.
  const bool tight = room < view.px(100) && textWidth(view.fonts->bold, label) > room;
  paintFitted(view, list, view.fonts->bold, ImVec2(left + view.px(16), y), room, words,
              tight ? brief : label);
  paintText(list, view.fonts->small, ImVec2(nextTo.x - view.px(16), y), words, "▶", Align::right);
  const float hintLeft = from.x + backSize.x + view.px(10);
  if (left - hintLeft > view.px(110))
    paintText(list, view.fonts->monoSmall, ImVec2(hintLeft, y), theme.faint, "PgUp  PgDn");
}

/// Draws the step's title, which stays while the text below scrolls. Returns its height.
float stepTitle(const State& page, ImVec2 at, float width) {
  const View& view = page.view;
  const std::string& title = page.at().title;
  const std::uint32_t color = view.theme->text;
  Canvas list = *ImGui::GetWindowDrawList();
  const RichFonts fonts{view.fonts->hero, view.fonts->hero, view.fonts->monoHero, view.fonts->text, color};
  const RichText text{{{RichSpan::Kind::plain, title, nullptr}}};
  const float line = lineHeight(fonts.plain);
  // A very long title is cut to one line, to leave space for the text.
  if (paintRichText(view, nullptr, fonts, text, at, width) < 3 * line)
    return paintRichText(view, &list, fonts, text, at, width);
  paintFitted(view, list, fonts.plain, ImVec2(at.x, at.y + line / 2), width, color, title);
  return line;
}

/// Fades lines that scroll out of view, so that none looks cut off.
void fadeEdges(const View& view, float width) {
  const ImVec2 from = ImGui::GetWindowPos();
  const float bottom = from.y + ImGui::GetWindowHeight(), high = view.px(18);
  const std::uint32_t ground = view.theme->panel, clear = ground & ~IM_COL32_A_MASK;
  Canvas list = *ImGui::GetWindowDrawList();
  const float above = std::min(high, ImGui::GetScrollY()),
              below = std::min(high, ImGui::GetScrollMaxY() - ImGui::GetScrollY());
  list.AddRectFilledMultiColor(from, ImVec2(from.x + width, from.y + above), ground, ground, clear, clear);
  list.AddRectFilledMultiColor(ImVec2(from.x, bottom - below), ImVec2(from.x + width, bottom), clear, clear,
                               ground, ground);
}

/// Everything from the step's text to its controls; scrolls if too long.
void reading(State& page, float width) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const ImVec2 start = ImGui::GetCursorScreenPos();
  float y = start.y;
  const LessonStep& step = page.at();
  if (!page.here.problem.empty()) {
    y += paintParagraph(list, view.fonts->text, ImVec2(start.x, y), width, theme.error, page.here.problem);
  } else if (!page.here.study) {
    y += paintParagraph(list, view.fonts->text, ImVec2(start.x, y), width, theme.secondary, "Computing…");
  } else {
    std::vector<LinkArea> bold;
    y += paintRichText(view, &list, readingFonts(view, theme.text), richOrPlain(page.here.study->text),
                       ImVec2(start.x, y), width, &bold) +
         view.px(18);
    explainTerms(view, list, bold);
    y += changes(page, ImVec2(start.x, y), width);
    if (step.question && !page.here.study->options.empty()) {
      list.AddLine(ImVec2(start.x, y), ImVec2(start.x + width, y), theme.line);
      y += view.px(20);
      paintSpaced(list, view.fonts->smallBold, ImVec2(start.x, y), theme.secondary, "PREDICT", view.px(1.4f));
      if (const GuessCount count = guessesOf(page.record.progress.lessons[page.here.lesson->id]);
          count.all > 0)
        paintText(list, view.fonts->small, ImVec2(start.x + width, y), theme.secondary,
                  fmt::format("{} of {} right so far", count.right, count.all), Align::right);
      y += view.px(16);
      // Show the answer as soon as it is given.
      if (std::exchange(page.here.showAnswer, false))
        ImGui::SetScrollFromPosY(y - ImGui::GetWindowPos().y, 0.1f);
      y += questionPart(page, ImVec2(start.x, y), width);
    }
  }
  ImGui::SetCursorScreenPos(ImVec2(start.x, y));
  ImGui::Dummy(ImVec2(width, 1));
  knobs(page);
  gap(view, 10);
  if (button(view, "lesson.take", "Open on its page  Shift+Enter", "", true)) view.request("lesson.take");
  gap(view, 16);
}

}  // namespace

void lessonColumn(State& page, const ImRect& area) {
  View& view = page.view;
  fillSide(view, area);
  const float pad = view.px(28), bottom = view.px(58);
  if (beginPanel(view, "lesson", area, 0, 0, ImGuiWindowFlags_NoScrollWithMouse)) {
    const float width = area.GetWidth() - 2 * pad;
    const bool small = area.GetHeight() < view.px(760);
    const float above = view.px(small ? 12 : 20);
    float top = head(page, ImVec2(area.Min.x + pad, area.Min.y + above), width, small) + above;
    top += stepTitle(page, ImVec2(area.Min.x + pad, area.Min.y + top), width) + view.px(small ? 8 : 12);
    ImGui::SetCursorScreenPos(ImVec2(area.Min.x + pad, area.Min.y + top));
    // The id contains the step, so that each step starts scrolled to its top.
    const std::string id = fmt::format("lesson.text.{}.{}", page.here.lesson->id, page.here.step);
    const float high = area.GetHeight() - top - bottom;
    ImGui::SetNextWindowContentSize(ImVec2(width, 0));
    if (ImGui::BeginChild(id.c_str(), ImVec2(width + pad * 0.6f, high), false,
                          ImGuiWindowFlags_NoBackground)) {
      reading(page, width);
      fadeEdges(view, width);
    }
    compat::endChild();
    ways(page, ImRect(area.Min.x, area.Max.y - bottom, area.Max.x, area.Max.y));
  }
  endPanel();
}

}  // namespace headscope::app::lessons_page
