#include <fmt/core.h>

#include "app/pages/lessons/lessons_page.h"
#include "app/platform/track.h"
#include "app/widgets/heat_parts.h"

namespace headscope::app::lessons_page {

const Scene& sceneBefore(const Lesson& lesson, const LessonStep& step) {
  const int at = lesson.stepAt(step.from);
  return at < 0 ? lesson.opening : lesson.steps[asSize(at)].scene;
}

RichText richOrPlain(const std::string& text) {
  auto rich = parseRichText(text);
  if (rich) return *std::move(rich);
  return {{{RichSpan::Kind::plain, text, nullptr}}};
}

RichFonts readingFonts(const View& view, std::uint32_t color) {
  const Fonts& fonts = *view.fonts;
  return {fonts.reading, fonts.title, fonts.monoTitle, fonts.script, color};
}

std::string optionLetter(std::size_t option) {
  return std::string(1, static_cast<char>('A' + option));
}

Index minutesLeft(const Lesson& lesson, Index step) {
  const auto steps = static_cast<double>(lesson.steps.size());
  return static_cast<Index>(std::ceil(lesson.minutes * (steps - static_cast<double>(step)) / steps));
}

GuessCount guessesOf(const LessonProgress& progress) {
  GuessCount count;
  for (const auto& [step, guess] : progress.guesses) {
    ++count.all;
    count.right += guess.right ? 1 : 0;
  }
  return count;
}

namespace {

/// The head's map as last drawn; nothing if another head is enlarged.
std::optional<ImRect> headRect(const State& page) {
  const Index focus = page.stage.document->scene().cursor.focus,
              head = std::max<Index>(page.at().look.head, 0);
  if (focus < 0) return tracked(fmt::format("head.{}", head));
  return focus == head || page.at().look.head < 0 ? tracked("focus") : std::nullopt;
}

/// Whether the stage shows the step's own word at that position.
bool isOfStep(const State& page, std::vector<attention::Token> SequenceSnapshot::*tokens, Index at) {
  if (at < 0) return true;
  const Scene& scene = page.stage.document->scene();
  const SequenceSnapshot* shown = shownSequence(scene, page.stage.shown.get());
  const SequenceSnapshot* own =
      page.here.study ? shownSequence(scene, page.here.study->snapshot.get()) : nullptr;
  const auto word = [&](const SequenceSnapshot* line) {
    return line && at < std::ssize(line->*tokens) ? (line->*tokens)[asSize(at)].text : "";
  };
  return !word(shown).empty() && word(shown) == word(own);
}

}  // namespace

std::optional<ImRect> lookRect(const State& page) {
  if (!page.stage.document) return std::nullopt;
  const LessonLook& look = page.at().look;
  if (!look.control.empty()) return tracked(look.control);
  if (page.stage.document->scene().cursor.page != "heads") return std::nullopt;
  const auto seen = headRect(page);
  const SequenceSnapshot* sequence = shownSequence(page.stage.document->scene(), page.stage.shown.get());
  if (!seen || !sequence) return seen;
  // A zoomed head is larger than its visible part.
  const ImRect whole =
      page.stage.document->scene().cursor.focus >= 0 ? tracked("focus.cells").value_or(*seen) : *seen;
  ImRect rect = whole;
  const Index rows = std::ssize(sequence->queries), cols = std::ssize(sequence->keys);
  const float high = whole.GetHeight() / static_cast<float>(rows),
              wide = whole.GetWidth() / static_cast<float>(cols);
  const bool row = look.at == LookAt::row || look.at == LookAt::cell,
             column = look.at == LookAt::column || look.at == LookAt::cell;
  // Before the answer, or after someone has typed, other words may be there.
  if (row && !isOfStep(page, &SequenceSnapshot::queries, look.query)) return std::nullopt;
  if (column && !isOfStep(page, &SequenceSnapshot::keys, look.key)) return std::nullopt;
  if (row && look.query >= 0) {
    rect.Min.y = whole.Min.y + high * static_cast<float>(look.query);
    rect.Max.y = rect.Min.y + high;
  }
  if (column && look.key >= 0) {
    rect.Min.x = whole.Min.x + wide * static_cast<float>(look.key);
    rect.Max.x = rect.Min.x + wide;
  }
  rect.ClipWith(*seen);
  return rect.Min.x < rect.Max.x && rect.Min.y < rect.Max.y ? std::optional(rect) : std::nullopt;
}

namespace {

/// The place of a mark, and the start of the line that leads to it.
struct MarkPlace {
  ImVec2 center, edge;
  bool tied = true;
};

/// A place next to `rect` that covers neither words nor numbers.
MarkPlace markPlace(const State& page, const ImRect& rect, const ImRect& area) {
  const View& view = page.view;
  const LessonLook& look = page.at().look;
  const float y = rect.GetCenter().y, x = rect.GetCenter().x;
  // Left of a plot are its ticks.
  if (look.control.starts_with("plot."))
    return {ImVec2(rect.Max.x - view.px(16), rect.Min.y + view.px(16)), {}, false};
  if (!look.control.empty() && look.at != LookAt::right) {
    // The gap between the place and the window's edge may be barely wide enough.
    const float x0 = rect.Min.x - view.px(16), least = area.Min.x + view.px(12);
    const bool squeezed = x0 < least && rect.Min.x - area.Min.x >= view.px(22);
    return {ImVec2(squeezed ? area.Min.x + view.px(11) : x0, y), ImVec2(rect.Min.x, y), !squeezed};
  }
  if (look.at == LookAt::column) {
    // Causal masks leave the top of a column free; otherwise the mark goes next to the title.
    const Snapshot* snapshot = page.stage.shown.get();
    const bool free = snapshot && !snapshot->sequences.empty() && look.key > 0 && look.head >= 0 &&
                      !attention::visible(snapshot->sequences.front().mask, look.head, 0, look.key);
    if (free) return {ImVec2(x, rect.Min.y + view.px(13)), {}, false};
    return {ImVec2(rect.Min.x - view.px(16), rect.Min.y - view.px(31)), ImVec2(x, rect.Min.y)};
  }
  // There is no space between the heads of the grid: the mark goes into the corner, or at the end of the row.
  if (look.control.empty() && page.stage.document->scene().cursor.focus < 0) {
    const float inset = view.px(14);
    return {ImVec2(rect.Max.x - inset, look.at == LookAt::head ? rect.Min.y + inset : y), {}, false};
  }
  // A cell's row and column are outlined; its mark goes where a row's does.
  const auto whole = look.at == LookAt::cell ? headRect(page) : std::nullopt;
  const float right = whole ? whole->Max.x : rect.Max.x;
  // The mark of a small control sits on the neighbouring control.
  const float away = view.px(!look.control.empty() && rect.GetWidth() < view.px(40) ? 15 : 20);
  // Don't cover the text on the right.
  if (right + away + view.px(11) > area.Max.x) return {ImVec2(right - view.px(14), y), {}, false};
  return {ImVec2(right + away, y), ImVec2(right, y)};
}

/// The value of the cell that the step points at, as the stage shows it; "" if it points at more, or at a
/// cell that the mask hides.
std::string markedValue(const State& page) {
  const LessonLook& look = page.at().look;
  const Snapshot* snapshot = page.stage.shown.get();
  if (look.at != LookAt::cell || !look.control.empty() || !snapshot || snapshot->sequences.empty()) return "";
  const Scene& scene = page.stage.document->scene();
  if (scene.look.quantity != Quantity::scores) return "";
  const SequenceSnapshot& line = *shownSequence(scene, snapshot);
  const attention::Stack& values = line.attention.scores;
  if (look.head < 0 || look.head >= values.count() || look.query < 0 || look.query >= values.rows() ||
      look.key < 0 || look.key >= values.cols() ||
      !attention::visible(line.mask, look.head, look.query, look.key))
    return "";
  return fixedText(double{values[look.head](look.query, look.key)}, 2);
}

}  // namespace

void lookMark(const State& page, const ImRect& area) {
  const View& view = page.view;
  const int mark = page.at().look.mark;
  const auto rect = lookRect(page);
  if (mark <= 0 || !rect || view.dialog) return;
  ImRect free = area;
  if (const float words = wordsArea(page, area).Min.x; words > area.Min.x) free.Max.x = words;
  if (!beginPanel(view, "lesson.marks", area, 0, 0, ImGuiWindowFlags_NoInputs)) return endPanel();
  // A newly shown panel is put below the others, whose thumbnails would cover the mark.
  if (ImGui::IsWindowAppearing()) ImGui::BringWindowToDisplayFront(ImGui::GetCurrentWindow());
  Canvas list = *ImGui::GetWindowDrawList();
  MarkPlace place = markPlace(page, *rect, free);
  // If the mark would leave the window, it goes into the corner of the place.
  if (place.center.x < free.Min.x + view.px(11))
    place = {ImVec2(rect->Max.x - view.px(16), rect->Min.y + view.px(16)), {}, false};
  const ImVec2 center = place.center;
  if (place.tied) list.AddLine(place.edge, center, 0xFFFAF6F4, view.px(1.5f));
  paintMark(view, list, center, std::to_string(mark));
  // Cells are too small for most scores.
  const std::string value = markedValue(page);
  const ImVec2 from(center.x + view.px(18), center.y);
  if (from.x + textWidth(view.fonts->mono, value) < free.Max.x)
    paintText(list, view.fonts->mono, from, view.theme->text, value);
  track("lesson.mark", ImVec2(center.x - view.px(11), center.y - view.px(11)),
        ImVec2(center.x + view.px(11), center.y + view.px(11)));
  endPanel();
}

void stepBar(const View& view, const ImRect& area, Index steps, float gap,
             const std::function<std::uint32_t(Index, const ImRect&)>& color) {
  Canvas list = *ImGui::GetWindowDrawList();
  const auto count = static_cast<float>(steps);
  const float wide = (area.GetWidth() - gap * (count - 1)) / count;
  for (Index i = 0; i < steps; ++i) {
    const float x = area.Min.x + (wide + gap) * static_cast<float>(i);
    const ImRect part(x, area.Min.y, x + wide, area.Max.y);
    if (const std::uint32_t fill = color(i, part))
      list.AddRectFilled(part.Min, part.Max, fill);
    else
      compat::rectOutline(list, part.Min, part.Max, view.theme->faint, 0, 1);
  }
}

}  // namespace headscope::app::lessons_page
