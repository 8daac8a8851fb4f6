// The numbers of a word's card: all of them as a strip, and a window of bars and cells.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/kit/word_card.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/text_box.h"

namespace headscope::app {

namespace {

using Kind = WordCardState::Drag::Kind;

/// The value at the edge of a bar. It stays as it is while the vector changes.
float scaleOf(const WordCardSubject& subject) {
  const float largest = subject.before.size() > 0 ? subject.before.cwiseAbs().maxCoeff() : 0;
  return largest > 0 && std::isfinite(largest) ? largest * 1.15f : 1;
}

/// A bar from `middle` for a value, within half a height.
ImRect barOf(float left, float right, float middle, float half, float value, float scale) {
  const float end = middle - half * std::clamp(value / scale, -1.0f, 1.0f);
  return {left, std::min(end, middle), right, std::max(end, middle)};
}

/// The value farthest from 0 of a part of a vector.
template <typename Row>
float farthest(const Row& row, Index from, Index to) {
  Index at = 0;
  row.segment(from, to - from).cwiseAbs().maxCoeff(&at);
  return row[from + at];
}

/// All numbers: those of the word are bright, what they were is dark under them.
void paintStrip(const View& view, const WordCardSubject& subject, const ImRect& area) {
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const auto now = subject.now();
  const Index dims = now.size(),
              shown = std::min(dims, std::max<Index>(1, static_cast<Index>(area.GetWidth() / 2)));
  const float each = area.GetWidth() / static_cast<float>(shown), gap = each > view.px(3) ? view.px(1) : 0;
  const float middle = area.GetCenter().y, half = area.GetHeight() / 2, scale = scaleOf(subject);
  const WordStudy& study = subject.study;
  for (Index i = 0; i < shown; ++i) {
    const Index from = i * dims / shown, to = std::max(from + 1, (i + 1) * dims / shown);
    const float left = area.Min.x + each * static_cast<float>(i), right = left + each - gap;
    const auto paint = [&](float value, std::uint32_t color) {
      const ImRect bar = barOf(left, right, middle, half, value, scale);
      if (bar.GetHeight() > 0) list.AddRectFilled(bar.Min, bar.Max, color);
    };
    const float value = farthest(now, from, to), was = farthest(subject.before, from, to);
    const bool word = from >= study.wordAt && from < study.wordAt + study.wordCount;
    if (was != value) paint(was, mixed(theme.panel, theme.secondary, 0.45f));
    paint(value, word ? theme.text : theme.faint);
  }
}

void openCell(WordCardState& state, Index dim, float value) {
  const std::string text = numberText(static_cast<double>(value), 6);
  state.typing = {dim, text, text, true};
}

WordCardEdit withNumber(const WordCardSubject& subject, Index dim, float value, const char* drag) {
  WordCardEdit edit;
  Eigen::RowVectorXf vector = subject.now();
  vector[dim] = value;
  edit.vector = std::move(vector);
  edit.drag = drag;
  return edit;
}

void takeNumber(WordCardEdit& edit, WordCardEdit made) {
  edit.vector = std::move(made.vector);
  edit.drag = std::move(made.drag);
}

/// A bar, which follows the pointer up and down.
void bar(View& view, WordCardState& state, const WordCardSubject& subject, Index dim, const ImRect& area,
         WordCardEdit& edit) {
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const float scale = scaleOf(subject), middle = area.GetCenter().y, half = area.GetHeight() / 2;
  list.AddRectFilled(area.Min, area.Max, theme.background, view.px(3));
  list.AddLine(ImVec2(area.Min.x, middle), ImVec2(area.Max.x, middle), theme.line);
  const auto filled = [&](float value) { return barOf(area.Min.x, area.Max.x, middle, half, value, scale); };
  const float value = subject.now()[dim], was = subject.before[dim];
  const ImRect solid = filled(value);
  const std::uint32_t color = value == was ? theme.secondary : theme.text;
  list.AddRectFilled(solid.Min, solid.Max, mixed(theme.panel, color, 0.75f));
  const float cap = value < 0 ? solid.Max.y : solid.Min.y, thick = std::max(2.0f, view.px(2));
  list.AddRectFilled(ImVec2(area.Min.x, cap - thick / 2), ImVec2(area.Max.x, cap + thick / 2), color);
  if (value != was) {
    const ImRect before = filled(was);
    compat::rectOutline(list, before.Min, before.Max, theme.secondary, 0, 1);
  }
  if (subject.fixed()) return;
  hitArea(fmt::format("word.bar.{}", dim), area);
  if (ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeNS);
  WordCardState::Drag& drag = state.drag;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (ImGui::IsItemActivated()) {
    drag = {};
    drag.kind = Kind::bar;
    drag.dim = dim;
    drag.from = mouse;
    drag.vector = subject.now();
  }
  if (drag.kind != Kind::bar || drag.dim != dim) return;
  if (!ImGui::IsItemActive()) {
    drag.kind = Kind::none;
    return;
  }
  drag.moved = drag.moved || std::abs(mouse.y - drag.from.y) >= view.px(2);
  if (drag.moved && dim < drag.vector.size())
    takeNumber(edit, withNumber(subject, dim, drag.vector[dim] + (drag.from.y - mouse.y) / half * scale,
                                "word.bar"));
}

/// The number of a bar in as many digits as fit.
std::string cellNumber(const View& view, float value, float room) {
  return firstFitting(view.fonts->monoSmall, {fixedText(value, 2), fixedText(value, 1), fixedText(value, 0)},
                      room);
}

/// A number, which a click opens for typing.
void cell(View& view, WordCardState& state, const WordCardSubject& subject, Index dim, const ImRect& area) {
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  if (state.typing.dim == dim) return;  // typed over the others, after them
  const bool types = !subject.fixed() && !view.present;
  const bool clicked = types && hitArea(fmt::format("word.cell.{}", dim), area);
  if (types)
    list.AddRectFilled(area.Min, area.Max, ImGui::IsItemHovered() ? theme.line : theme.raised, view.px(3));
  const float value = subject.now()[dim];
  paintText(list, view.fonts->monoSmall, area.GetCenter(), theme.text,
            cellNumber(view, value, area.GetWidth()), Align::center);
  if (clicked) openCell(state, dim, value);
}

/// The cell that is open for typing.
void typedCell(View& view, WordCardState& state, const WordCardSubject& subject, const ImRect& area,
               WordCardEdit& edit) {
  WordCardState::Typing& typing = state.typing;
  const float wide = view.px(96);
  ImGui::SetCursorScreenPos(ImVec2(area.GetCenter().x - wide / 2, area.GetCenter().y - view.px(17)));
  const bool opened = std::exchange(typing.opened, false);
  const bool entered = lineBox(view, "word.typed", typing.text, wide, opened, "");
  if (!entered && (opened || !ImGui::IsItemDeactivated())) return;
  const Index dim = std::exchange(typing.dim, -1);
  if (typing.text == typing.was) return;  // which has fewer digits than the number
  const auto number = typedNumber(typing.text);
  const auto value = static_cast<float>(number.value_or(HUGE_VAL));
  if (!std::isfinite(value))
    state.problem = fmt::format("“{}” for dimension {} is not a finite number.", typing.text, dim);
  else
    takeNumber(edit, withNumber(subject, dim, value, ""));
}

/// Moves the window of bars by a click or a drag on the strip, or by the wheel.
void moveWindow(const View& view, WordCardState& state, const WordCardLayout& layout, Index dims) {
  const Index last = dims - layout.shown;
  hitArea("word.strip", layout.strip);
  if (ImGui::IsItemActive()) {
    const float share = (ImGui::GetIO().MousePos.x - layout.strip.Min.x) / layout.strip.GetWidth();
    state.firstDim = static_cast<Index>(share * static_cast<float>(dims)) - layout.shown / 2;
  }
  const ImRect all(layout.strip.Min, layout.dims.Max);
  if (ImGui::IsWindowHovered() && all.Contains(ImGui::GetIO().MousePos))
    for (const InputEvent& event : view.input.events)
      if (event.kind == InputEvent::Kind::wheel)
        state.firstDim -= static_cast<Index>(std::lround((event.y + event.x) * 3));
  state.firstDim = std::clamp<Index>(state.firstDim, 0, last);
}

}  // namespace

void wordNumbers(View& view, WordCardState& state, const WordCardSubject& subject,
                 const WordCardLayout& layout, WordCardEdit& edit) {
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const Index dims = subject.values.cols();
  if (state.firstDim < 0) state.firstDim = subject.study.wordAt;
  moveWindow(view, state, layout, dims);
  paintStrip(view, subject, layout.strip);
  const auto stripX = [&](Index dim) {
    return layout.strip.Min.x + layout.strip.GetWidth() * static_cast<float>(dim) / static_cast<float>(dims);
  };
  const ImVec2 from(stripX(state.firstDim), layout.strip.Min.y - 1),
      to(std::max(stripX(state.firstDim + layout.shown), from.x + view.px(4)), layout.strip.Max.y + 1);
  compat::rectOutline(list, from, to, theme.text, view.px(2), std::max(1.0f, view.px(1.5f)));
  list.AddLine(ImVec2(from.x, to.y), layout.bars.Min, theme.line);
  list.AddLine(to, ImVec2(layout.bars.Max.x, layout.bars.Min.y), theme.line);
  const float pitch = layout.bars.GetWidth() / static_cast<float>(layout.shown), gap = view.px(4);
  const auto column = [&](const ImRect& row, Index i) {
    const float left = std::round(row.Min.x + pitch * static_cast<float>(i));
    return ImRect(left, row.Min.y, std::round(left + pitch - gap), row.Max.y);
  };
  for (Index i = 0; i < layout.shown; ++i) {
    const Index dim = state.firstDim + i;
    bar(view, state, subject, dim, column(layout.bars, i), edit);
    cell(view, state, subject, dim, column(layout.cells, i));
    const ImRect foot = column(layout.dims, i);
    paintText(list, view.fonts->monoSmall, foot.GetCenter(), theme.faint,
              fitted(view.fonts->monoSmall, std::to_string(dim), foot.GetWidth()), Align::center);
  }
  const Index typed = state.typing.dim - state.firstDim;
  if (state.typing.dim >= 0 && (typed < 0 || typed >= layout.shown)) state.typing.dim = -1;
  if (state.typing.dim >= 0) typedCell(view, state, subject, column(layout.cells, typed), edit);
}

}  // namespace headscope::app
