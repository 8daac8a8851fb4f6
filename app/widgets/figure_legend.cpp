#include "app/widgets/figure_legend.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/widgets/cells.h"
#include "app/widgets/paint.h"

namespace headscope::app {

namespace {
constexpr float kLegendGap = 20, kLegendTaken = 84, kLegendBar = 12, kLegendRow = 18;
}

float legendRoom(const View& view) {
  return view.px(kLegendGap + kLegendTaken);
}

void paintLegend(const View& view, Canvas list, ImVec2 at, float height, const FigureLegend& legend) {
  const Theme& theme = *view.theme;
  ImFont *const words = view.fonts->small, *const numbers = view.fonts->monoSmall;
  const float left = at.x + view.px(kLegendGap), right = left + view.px(kLegendBar),
              beside = right + view.px(6);
  float y = at.y + view.px(6);
  if (!legend.caption.empty()) {
    paintText(list, words, ImVec2(left, y), theme.secondary, legend.caption);
    y += view.px(12);
    const float bottom = y + std::clamp(height - view.px(18), view.px(40), view.px(182));
    paintRamp(list, legend.colormap, ImVec2(left, bottom), ImVec2(right, y));
    const float half = view.px(5);
    paintText(list, numbers, ImVec2(beside, y + half), theme.text, legend.labels.high);
    if (bottom - y > view.px(60))
      paintText(list, numbers, ImVec2(beside, (y + bottom) / 2), theme.text, legend.labels.middle);
    paintText(list, numbers, ImVec2(beside, bottom - half), theme.text, legend.labels.low);
    y = bottom + view.px(kLegendRow);
  }
  const auto swatch = [&](const std::string& word) {
    const ImRect sample(left, y - view.px(kLegendBar / 2), right, y + view.px(kLegendBar / 2));
    paintText(list, words, ImVec2(beside, y), theme.secondary, word);
    y += view.px(kLegendRow);
    return sample;
  };
  const auto outline = [&](const ImRect& area) {
    compat::rectOutline(list, area.Min, area.Max, theme.line, 0, std::max(1.0f, view.px(0.75f)));
  };
  for (const auto& [word, color] : legend.swatches) {
    const ImRect area = swatch(word);
    list.AddRectFilled(area.Min, area.Max, color);
    outline(area);
  }
  const auto marked = [&](const char* word, float value) {
    const ImRect area = swatch(word);
    paintCells(view, list, area, attention::Matrix::Constant(1, 1, value), {});
    outline(area);
  };
  if (legend.masked) marked("masked", render::kMaskedCell);
  if (legend.dead) marked("sees no key", render::kDeadCell);
  if (legend.notNumber) marked("no weight", std::numeric_limits<float>::quiet_NaN());
  for (const std::string& note : legend.notes) {
    paintText(list, words, ImVec2(left, y), theme.faint, note);
    y += view.px(14);
  }
}

ImVec2 figureCells(const View& view, Index queries, Index keys, const FigureRules& rules) {
  constexpr float kLabel = 13;
  const Index longer = std::max<Index>({queries, keys, 1});
  float cell = std::min(rules.side / static_cast<float>(longer), rules.largest);
  // Whole units keep cells equally wide and sharp at whole scales.
  cell = cell < 8 ? std::max(1.0f, std::round(cell + 0.3f)) : std::floor(cell);
  if (longer <= rules.allLabelled) cell = std::max(cell, kLabel);
  for (Index pooled = longer; pooled > rules.mostCells; pooled = (pooled + 1) / 2) cell /= 2;
  const auto n = static_cast<float>(queries), m = static_cast<float>(keys);
  // A single query over many keys would shrink to a line.
  return {view.px(cell * std::max(m, n / 5)), view.px(cell * std::max(n, m / 5))};
}

}  // namespace headscope::app
