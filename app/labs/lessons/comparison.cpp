#include <fmt/core.h>

#include <algorithm>

#include "app/compute/value_range.h"
#include "app/labs/lessons/lessons_page.h"
#include "app/platform/track.h"
#include "app/scene/number_text.h"
#include "app/widgets/cells.h"
#include "app/widgets/paint.h"
#include "attention/core/mask.h"
#include "attention/masks/expression.h"
#include "render/heatmap.h"

namespace headscope::app {

namespace {

struct Compared {
  const Snapshot& snapshot;
  const SequenceSnapshot& sequence;
};

/// The head's map as it was, the row that is looked at framed.
float beforeMap(const LessonsPage& page, const Compared& before, ImVec2 at, float width, float room) {
  const View& view = page.view;
  const Theme& theme = *view.theme;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const Look& look = page.stage->scene().look;
  const Index head = std::min(page.stage->scene().cursor.focus, before.snapshot.config.heads - 1);
  attention::Matrix values = before.sequence.values(look.quantity)[head];
  const float wide =
      std::min(width, room * static_cast<float>(values.cols()) / static_cast<float>(values.rows()));
  const ImRect cells = squareCells({at.x, at.y, at.x + wide, at.y + room}, values.rows(), values.cols());
  CellStyle style{colormapFor(look), 0, 1, std::max(1.0f, view.px(1))};
  if (look.quantity == Quantity::scores) {
    style.low = values.array().isFinite().select(values, values.maxCoeff()).minCoeff();
    style.high = std::max(values.maxCoeff(), style.low + 1e-6f);
  }
  for (Index row = 0; row < values.rows(); ++row)
    for (Index col = 0; col < values.cols(); ++col)
      if (!attention::visible(before.sequence.mask, head, row, col)) values(row, col) = render::kMaskedCell;
  paintCells(view, list, cells, values, style);
  track("lesson.before", cells.Min, cells.Max);
  const Index query = page.stage->scene().cursor.cell.query;
  if (query < 0 || query >= values.rows()) return cells.GetHeight();
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
                "on “" + before.sequence.keys[static_cast<std::size_t>(key)].text + "”");
  }
  return cells.GetHeight();
}

/// A head's output for one query, as a strip from green to nothing.
void outputStrip(const LessonsPage& page, const attention::Matrix& row, float largest, const ImRect& area) {
  const View& view = page.view;
  const Theme& theme = *view.theme;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float wide = area.GetWidth() / static_cast<float>(row.cols());
  for (Index c = 0; c < row.cols(); ++c) {
    const float t = 0.5f + 0.5f * row(0, c) / std::max(largest, 1e-9f);
    const float x = area.Min.x + wide * static_cast<float>(c);
    list.AddRectFilled(ImVec2(x, area.Min.y), ImVec2(x + std::max(1.0f, wide - view.px(1)), area.Max.y),
                       mixed(theme.background, theme.value, 0.1f + 0.9f * std::clamp(t, 0.0f, 1.0f)));
  }
}

/// What the head's output for the query was and is, and how far that moved.
void outputs(const LessonsPage& page, const Compared& before, const Compared& now, ImVec2 at, float width) {
  const View& view = page.view;
  const Theme& theme = *view.theme;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const Index head = page.stage->scene().cursor.focus, query = page.stage->scene().cursor.cell.query;
  const auto& was = before.sequence.attention.headOutput;
  const auto& is = now.sequence.attention.headOutput;
  if (head >= was.count() || head >= is.count()) return;
  const attention::Matrix first = was[head], second = is[head];
  if (query < 0 || query >= first.rows() || query >= second.rows() || first.cols() != second.cols()) return;
  const attention::Matrix a = first.row(query), b = second.row(query);
  paintText(list, view.fonts->title, ImVec2(at.x, at.y), theme.text, "What the head then says");
  const float largest = std::max(a.cwiseAbs().maxCoeff(), b.cwiseAbs().maxCoeff());
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
  x += paintText(list, view.fonts->text, ImVec2(x, y), theme.secondary, "moved by ") + view.px(4);
  x += paintText(list, view.fonts->monoHero, ImVec2(x, y), theme.text,
                 moved == 0 ? "0" : numberText(moved, 3)) +
       view.px(6);
  paintFitted(view, list, view.fonts->text, ImVec2(x, y), at.x + width - x, theme.secondary,
              "times its own length");
  paintFitted(view, list, view.fonts->small, ImVec2(at.x, y + view.px(24)), width, theme.secondary,
              "‖now − before‖ ÷ ‖before‖");
}

}  // namespace

void comparison(LessonsPage& page, const ImRect& area) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  const Snapshot* before = page.study->before.get();
  const Snapshot* now = page.study->snapshot.get();
  if (before->sequences.empty() || !now || now->sequences.empty()) return;
  if (beginPanel(view, "lesson.comparison", area, 0, 0, 0)) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float pad = view.px(14), x = area.Min.x + pad, width = area.GetWidth() - 2 * pad;
    float y = area.Min.y + view.px(70);
    const Scene& shown = page.stage->scene();
    const Compared was{*before, *shownSequence(shown, before)}, is{*now, *shownSequence(shown, now)};
    const float wide = paintText(list, view.fonts->hero, ImVec2(x, y), theme.secondary, "Before");
    paintFitted(view, list, view.fonts->mono, ImVec2(x + wide + view.px(12), y), width - wide - view.px(12),
                theme.secondary, attention::maskText(before->setup.mask.layers));
    y += view.px(30);
    y += beforeMap(page, was, ImVec2(x, y), width * 0.72f, area.GetHeight() * 0.36f) + view.px(48);
    // Until the question is answered what the head says now is not given away.
    if (!page.asking() && area.Max.y - y > view.px(150)) outputs(page, was, is, ImVec2(x, y), width);
  }
  endPanel();
}

}  // namespace headscope::app
