#include "app/pages/lessons/comparison.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "app/compute/layer/value_range.h"
#include "app/pages/lessons/lessons_state.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/cells.h"
#include "app/widgets/paint.h"
#include "attention/core/extremes.h"
#include "attention/core/mask.h"
#include "attention/masks/expression.h"
#include "render/heatmap.h"

namespace headscope::app::lessons_page {

namespace {

/// The query of `other` that corresponds to `query`: at the same position if the texts have the same length
/// or the same word there, else the only one with the same word; −1 if there is no unique match.
Index sameQuery(const SequenceSnapshot& line, const SequenceSnapshot& other, Index query) {
  const auto& from = line.queries;
  const auto& to = other.queries;
  if (query < 0 || query >= std::ssize(from)) return -1;
  const std::string& word = from[static_cast<std::size_t>(query)].text;
  const auto is = [&](const attention::Token& token) { return token.text == word; };
  const bool samePlace = query < std::ssize(to) && is(to[static_cast<std::size_t>(query)]);
  if (from.size() == to.size() || samePlace) return query;
  const auto found = std::find_if(to.begin(), to.end(), is);
  return std::count_if(to.begin(), to.end(), is) == 1 ? found - to.begin() : -1;
}

/// Draws the head's map before the step, with a frame around the selected row. Returns its height.
float beforeMap(const State& page, const ComparedRow& before, ImVec2 at, float width, float room) {
  const View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const Look& look = page.stage.document->scene().look;
  attention::Matrix values = before.line->values(look.quantity)[before.head];
  const float wide =
      std::min(width * 0.72f, room * static_cast<float>(values.cols()) / static_cast<float>(values.rows()));
  const ImRect cells = squareCells({at.x, at.y, at.x + wide, at.y + room}, values.rows(), values.cols());
  CellStyle style{colormapFor(look), 0, 1, std::max(1.0f, view.px(1))};
  if (look.quantity == Quantity::scores) {
    std::tie(style.low, style.high) = attention::finiteRange(values);
    style.high = std::max(style.high, style.low + 1e-6f);
  }
  for (Index row = 0; row < values.rows(); ++row)
    for (Index col = 0; col < values.cols(); ++col)
      if (!attention::visible(before.line->mask, before.head, row, col))
        values(row, col) = render::kMaskedCell;
  paintCells(view, list, cells, values, style);
  track("lesson.before", cells.Min, cells.Max);
  const Index query = before.query;
  if (query < 0) return cells.GetHeight();
  const float high = cells.GetHeight() / static_cast<float>(values.rows());
  const float y = cells.Min.y + high * static_cast<float>(query);
  compat::rectOutline(list, ImVec2(cells.Min.x, y), ImVec2(cells.Max.x, y + high), theme.query, 0,
                      std::max(1.5f, view.px(1.6f)));
  Index key = 0;
  const float most = values.row(query).maxCoeff(&key);
  const std::string value = look.quantity == Quantity::scores ? numberText(most, 3) : weightText(most);
  const float x = cells.Max.x + view.px(12), left = at.x + width - x;
  if (left > view.px(50)) {
    paintText(list, view.fonts->mono, ImVec2(x, y + high / 2), theme.text, value);
    paintFitted(view, list, view.fonts->small, ImVec2(x, y + high / 2 + view.px(17)), left, theme.secondary,
                "on “" + before.line->keys[static_cast<std::size_t>(key)].text + "”");
  }
  return cells.GetHeight();
}

/// Draws a head's output for one query as a strip: the larger a value, the stronger its colour.
void outputStrip(const State& page, const attention::Matrix& row, float largest, const ImRect& area) {
  const View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const float wide = area.GetWidth() / static_cast<float>(row.cols());
  for (Index c = 0; c < row.cols(); ++c) {
    const float t = 0.5f + 0.5f * row(0, c) / std::max(largest, 1e-9f);
    const float x = area.Min.x + wide * static_cast<float>(c);
    list.AddRectFilled(ImVec2(x, area.Min.y), ImVec2(x + std::max(1.0f, wide - view.px(1)), area.Max.y),
                       mixed(theme.background, theme.value, 0.1f + 0.9f * std::clamp(t, 0.0f, 1.0f)));
  }
}

/// Draws the head's output for the query before and now, and how far it moved.
void outputs(const State& page, const ComparedRow& before, const ComparedRow& now, ImVec2 at, float width) {
  const View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const attention::Matrix a = before.line->attention.headOutput[before.head].row(before.query),
                          b = now.line->attention.headOutput[now.head].row(now.query);
  if (a.cols() != b.cols()) return;
  paintText(list, view.fonts->title, ImVec2(at.x, at.y), theme.text, "Head output");
  const float largest = std::max(attention::largestFinite(a), attention::largestFinite(b));
  const float label = view.px(56), high = view.px(22);
  float y = at.y + view.px(20);
  for (const auto& [name, row] : {std::pair("before", &a), std::pair("now", &b)}) {
    paintText(list, view.fonts->text, ImVec2(at.x, y + high / 2), theme.secondary, name);
    outputStrip(page, *row, largest, ImRect(at.x + label, y, at.x + width, y + high));
    y += high + view.px(8);
  }
  const double moved = (b - a).norm() / std::max(a.norm(), 1e-12f);
  float x = at.x;
  y += view.px(14);
  x += paintText(list, view.fonts->text, ImVec2(x, y), theme.secondary, "changed by ") + view.px(4);
  x += paintText(list, view.fonts->monoHero, ImVec2(x, y), theme.text,
                 moved == 0 ? "0" : numberText(moved, 3)) +
       view.px(6);
  const float room = at.x + width - x;
  const char* words = "times its own length";
  if (textWidth(view.fonts->text, words) > room) words = "× its length";
  paintFitted(view, list, view.fonts->text, ImVec2(x, y), room, theme.secondary, words);
  paintFitted(view, list, view.fonts->small, ImVec2(at.x, y + view.px(24)), width, theme.secondary,
              "‖now − before‖ ÷ ‖before‖");
}

/// Height of outputs(), in layout units.
constexpr float kOutputsHeight = 134;

/// The selected row, in the stage's current snapshot.
ComparedRow rowNow(const State& page) {
  const Snapshot* snapshot = page.stage.shown.get();
  if (!snapshot || snapshot->sequences.empty()) snapshot = page.here.study->snapshot.get();
  const Cursor& at = page.stage.document->scene().cursor;
  ComparedRow row{shownSequence(page.stage.document->scene(), snapshot),
                  std::clamp<Index>(at.focus, 0, snapshot->config.heads - 1), at.cell.query};
  row.query = std::min<Index>(row.query, std::ssize(row.line->queries) - 1);
  return row;
}

ComparedRow rowBefore(const State& page, const ComparedRow& now) {
  const Snapshot& snapshot = *page.here.study->before;
  const SequenceSnapshot* line = shownSequence(page.stage.document->scene(), &snapshot);
  return {line, std::min<Index>(now.head, snapshot.config.heads - 1), sameQuery(*now.line, *line, now.query)};
}

}  // namespace

void comparison(State& page, const ImRect& area) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  if (beginPanel(view, "lesson.comparison", area, 0, 0, 0)) {
    Canvas list = *ImGui::GetWindowDrawList();
    const float pad = view.px(14), x = area.Min.x + pad, width = area.GetWidth() - 2 * pad;
    float y = area.Min.y + view.px(70);
    const ComparedRow is = rowNow(page), was = rowBefore(page, is);
    const float wide = paintText(list, view.fonts->hero, ImVec2(x, y), theme.secondary, "Before");
    paintFitted(view, list, view.fonts->mono, ImVec2(x + wide + view.px(12), y), width - wide - view.px(12),
                theme.secondary, attention::maskText(page.here.study->before->setup.mask.layers));
    y += view.px(30);
    // The map leaves space for the row's softmax as long as it stays large enough.
    const bool row = was.query >= 0 && is.query >= 0;
    const float gap = view.px(32), parts = view.px(kOutputsHeight) + sharedOutHeight(view) + 2 * gap;
    const float left = area.Max.y - y - parts;
    const bool shared = row && left >= view.px(130);
    const float room = std::min(area.GetHeight() * 0.36f, shared ? left : INFINITY);
    y += beforeMap(page, was, ImVec2(x, y), width, room) + gap;
    // Don't reveal what the head does now before the question is answered.
    const bool open = !page.asking();
    if (shared) {
      sharedOut(view, was, open ? &is : nullptr, ImVec2(x, y), width);
      y += sharedOutHeight(view) + gap;
    }
    if (row && open && area.Max.y - y >= view.px(kOutputsHeight) - 1)
      outputs(page, was, is, ImVec2(x, y), width);
  }
  endPanel();
}

}  // namespace headscope::app::lessons_page
