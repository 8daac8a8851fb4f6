#include <algorithm>
#include <cmath>

#include "app/pages/map/map_state.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/heat_tile.h"
#include "app/widgets/paint.h"

namespace headscope::app::map_page {

namespace {

std::string tokenAt(const std::vector<attention::Token>& tokens, Index at) {
  return at < static_cast<Index>(tokens.size()) ? tokens[static_cast<std::size_t>(at)].text : "";
}

/// The visible multiples of `step` at least `room` cells from the highlighted one, then that one itself.
std::vector<Index> labelled(double first, double last, Index total, Index step, double room, Index lit) {
  std::vector<Index> result;
  const Index begin = std::max<Index>(0, static_cast<Index>(std::floor(first)));
  const Index end = std::min<Index>(total, static_cast<Index>(std::ceil(last)));
  for (Index i = (begin + step - 1) / step * step; i < end; i += step)
    if (lit < 0 || std::abs(static_cast<double>(i - lit)) >= room) result.push_back(i);
  if (lit >= begin && lit < end) result.push_back(lit);
  return result;
}

/// Draws "12,288 animal" left of a row, with a tick if rows are thinner than their label. Words take at most
/// `words` pixels, so that the numbers align in a column.
void rowLabel(const View& view, Canvas list, const MapWindow& window, float edge, const MapText& text,
              Index row, bool lit, float words) {
  const float y = window.y(static_cast<double>(row) + 0.5);
  if (y < window.area.Min.y || y > window.area.Max.y) return;
  const Theme& theme = *view.theme;
  const std::uint32_t color = lit ? theme.query : theme.secondary;
  ImFont* font = view.fonts->monoSmall;
  if (window.cellPixels() < view.px(6))
    list.AddLine(ImVec2(edge - view.px(4), y), ImVec2(edge - view.px(1), y), lit ? theme.query : theme.line);
  const float x = edge - view.px(8), gap = words > 0 ? view.px(8) : 0;
  paintText(list, font, ImVec2(x, y), color, fitted(font, tokenAt(text.queries, row), words), Align::right);
  paintText(list, font, ImVec2(x - words - gap, y), lit ? color : theme.faint,
            countText(static_cast<std::uint64_t>(row)), Align::right);
}

/// Draws number and token below a column; if columns are narrow and all are labelled, the turned token.
void keyLabel(const View& view, Canvas list, const MapWindow& window, float edge, const MapText& text,
              Index key, bool lit, bool turned) {
  const float x = window.x(static_cast<double>(key) + 0.5);
  if (x < window.area.Min.x || x > window.area.Max.x) return;
  const Theme& theme = *view.theme;
  const std::uint32_t color = lit ? theme.key : theme.secondary;
  ImFont* font = view.fonts->monoSmall;
  const std::string token = tokenAt(text.keys, key);
  const std::string number = countText(static_cast<std::uint64_t>(key));
  if (turned && !lit) {
    constexpr float kDegrees = 62;
    const float longest = view.px(kMapBottom - 12) / std::sin(kDegrees * 3.14159f / 180);
    paintRotated(list, font, ImVec2(x + view.px(3), edge + view.px(6)), kDegrees, color,
                 fitted(font, token.empty() ? number : token, longest));
    return;
  }
  if (window.cellPixels() < view.px(6))
    list.AddLine(ImVec2(x, edge + view.px(1)), ImVec2(x, edge + view.px(4)), lit ? theme.key : theme.line);
  paintText(list, font, ImVec2(x, edge + view.px(13)), lit ? color : theme.faint, number, Align::center);
  if (!token.empty())
    paintText(list, font, ImVec2(x, edge + view.px(29)), color, fitted(font, token, view.px(84)),
              Align::center);
}

}  // namespace

void paintMapAxes(const View& view, Canvas list, const MapWindow& window, const MapText& text, Index litQuery,
                  Index litKey) {
  if (view.figure) litQuery = litKey = -1;
  const ImRect cells = window.cells();
  const float rowRoom = lineHeight(view.fonts->monoSmall) * 1.15f;
  const Index rowStep = labelStep(window, rowRoom);
  const std::vector<Index> rows = labelled(window.row, window.rowAt(window.area.Max.y), window.n, rowStep,
                                           static_cast<double>(rowRoom) * window.cellsPerPixel, litQuery);
  float words = 0, numbers = 0;
  for (const Index row : rows) {
    words = std::max(words, textWidth(view.fonts->monoSmall, tokenAt(text.queries, row)));
    numbers = std::max(numbers, textWidth(view.fonts->monoSmall, countText(static_cast<std::uint64_t>(row))));
  }
  words = std::min(words, view.px(kMapLeft - 26) - numbers);
  for (const Index row : rows) rowLabel(view, list, window, cells.Min.x, text, row, row == litQuery, words);
  const float wide = view.px(92), narrow = lineHeight(view.fonts->monoSmall) * 1.15f;
  const bool turned = labelStep(window, wide) > 1 && labelStep(window, narrow) == 1;
  const float keyRoom = turned ? narrow : wide;
  for (const Index key :
       labelled(window.col, window.colAt(window.area.Max.x), window.m, labelStep(window, keyRoom),
                static_cast<double>(turned ? view.px(52) : wide) * window.cellsPerPixel, litKey))
    keyLabel(view, list, window, cells.Max.y, text, key, key == litKey, turned);
  // Next to the first labels, which lie below and left of the corners.
  const ImRect corner(cells.Min.x - view.px(28), cells.Min.y - view.px(4), cells.Max.x, cells.Max.y);
  paintAxisTitles(view, list, corner, view.px(kMapLeft - 36));
}

}  // namespace headscope::app::map_page
