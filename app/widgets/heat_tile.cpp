#include "app/widgets/heat_tile.h"

#include <fmt/core.h>

#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"
#include "app/widgets/panel.h"

namespace headscope::app {

std::optional<HeatTile::RowCol> HeatTile::cellAt(ImVec2 point, Index n, Index m) const {
  if (!area.Contains(point)) return std::nullopt;
  const auto r = static_cast<Index>(std::floor(row + (point.y - area.Min.y) / cellHeight()));
  const auto c = static_cast<Index>(std::floor(col + (point.x - area.Min.x) / cellWidth()));
  if (r < 0 || c < 0 || r >= n || c >= m) return std::nullopt;
  return RowCol{r, c};
}

void trackCells(const std::string& name, const HeatTile& tile, const std::vector<attention::Token>* rows,
                const std::vector<attention::Token>* columns) {
  trackTokens(name, {rows, columns, ImRect(tile.x(0), tile.y(0), tile.x(1), tile.y(1))});
}

HeatmapTile pictureOf(const HeatTile& tile, int factor, const ValueRange& range) {
  const auto pooled = static_cast<float>(factor);
  HeatmapTile picture;
  picture.view.target = {tile.area.Min.x, tile.area.Min.y, tile.area.Max.x, tile.area.Max.y};
  picture.view.clip = picture.view.target;
  picture.view.firstRow = tile.row / pooled;
  picture.view.firstCol = tile.col / pooled;
  picture.view.rows = tile.rows / pooled;
  picture.view.cols = tile.cols / pooled;
  picture.range = range;
  return picture;
}

std::optional<render::Tint> tintOn(const Theme& theme, render::Colormap colormap) {
  if (!theme.light || colormap != render::Colormap::diverging) return std::nullopt;
  // The hues of the map for dark pages, equally dark at both ends.
  return render::Tint{unpacked(IM_COL32(0x7b, 0x3f, 0xa6, 0xff)), unpacked(IM_COL32(0x15, 0x6b, 0x2b, 0xff)),
                      unpacked(theme.raised)};
}

render::Color colorOn(const Theme& theme, render::Colormap colormap, float t) {
  const auto tint = tintOn(theme, colormap);
  if (!tint) return render::sample(colormap, t);
  const float away = 2 * std::clamp(t, 0.0f, 1.0f) - 1;
  return unpacked(mixed(packed(*tint->middle), packed(away < 0 ? tint->low : tint->high), std::abs(away)));
}

render::HeatmapStyle styleFor(const View& view, const Look& look) {
  return styleFor(view, colormapFor(look));
}

render::HeatmapStyle styleFor(const View& view, render::Colormap colormap) {
  render::HeatmapStyle style;
  style.colormap = colormap;
  style.tint = tintOn(*view.theme, style.colormap);
  style.background = unpacked(view.theme->background);
  style.masked = unpacked(mixed(view.theme->background, view.theme->panel, 0.7f));
  style.maskedHatch = unpacked(mixed(view.theme->background, view.theme->line, 0.8f));
  style.deadHatch = unpacked(view.theme->faint);
  style.gap = std::max(1.0f, std::round(view.unit));
  style.hatchSpacing = view.px(12);
  return style;
}

void paintCrosshair(const View& view, Canvas list, const HeatTile& tile, Index query, Index key, Index n,
                    Index m) {
  paintCrosshairs(view, list, tile, {-1, query, key}, view.hover, n, m);
}

void paintCrosshairs(const View& view, Canvas list, const HeatTile& tile, const Crosshair& selected,
                     const Crosshair& hovered, Index n, Index m) {
  const ImVec2 from(std::max(tile.area.Min.x, tile.x(0)), std::max(tile.area.Min.y, tile.y(0)));
  const ImVec2 to(std::min(tile.area.Max.x, tile.x(static_cast<float>(m))),
                  std::min(tile.area.Max.y, tile.y(static_cast<float>(n))));
  const auto column = [&](Index at) {
    const float x = tile.x(static_cast<float>(at));
    return ImRect(x, from.y, std::max(tile.x(static_cast<float>(at + 1)), x + 2), to.y);
  };
  const auto row = [&](Index at) {
    const float y = tile.y(static_cast<float>(at));
    return ImRect(from.x, y, to.x, std::max(tile.y(static_cast<float>(at + 1)), y + 2));
  };
  const float outside = view.px(4);
  list.PushClipRect(tile.area.Min - ImVec2(outside, outside), tile.area.Max + ImVec2(outside, outside), true);
  const Theme& theme = *view.theme;
  const auto& [head, query, key] = selected;
  const auto& [overHead, overQuery, overKey] = hovered;
  if (overKey >= 0 && overKey < m && overKey != key)
    paintGhost(view, list, "ghost", column(overKey), theme.key);
  if (overQuery >= 0 && overQuery < n && overQuery != query)
    paintGhost(view, list, "ghost", row(overQuery), theme.query);
  if (key >= 0 && key < m) paintMark(view, list, "crosshair", column(key), theme.key);
  if (query >= 0 && query < n) paintMark(view, list, "crosshair", row(query), theme.query);
  list.PopClipRect();
}

std::vector<Index> labelledPositions(double first, double last, Index total, Index step, double room,
                                     std::initializer_list<Index> pointedOut) {
  const auto begin = std::max<Index>(0, static_cast<Index>(std::floor(first)));
  const auto end = std::min<Index>(total, static_cast<Index>(std::ceil(last)));
  std::vector<Index> kept;
  const auto isFree = [&](Index i) {
    return std::ranges::none_of(
        kept, [&](Index at) { return std::abs(static_cast<double>(i - at)) < std::max(room, 1.0); });
  };
  for (const Index at : pointedOut)
    if (at >= begin && at < end && isFree(at)) kept.push_back(at);
  std::vector<Index> result = kept;
  for (Index i = (begin + step - 1) / step * step; i < end; i += step)
    if (isFree(i)) result.push_back(i);
  return result;
}

void paintAxisTitles(const View& view, Canvas list, const ImRect& cells, float room, bool roomBelow) {
  const float right = cells.Min.x - view.px(8), y = cells.Min.y - view.px(12);
  const float below = roomBelow ? cells.Max.y + view.px(12) : cells.Max.y - view.px(8);
  const bool wide = textWidth(view.fonts->small, "query ↓") <= room - view.px(8);
  ImFont* font = room >= view.px(100) ? view.fonts->text : view.fonts->small;
  const float query =
      paintText(list, font, ImVec2(right, y), view.theme->query, wide ? "query ↓" : "q ↓", Align::right);
  const float key =
      paintText(list, font, ImVec2(right, below), view.theme->key, wide ? "key →" : "k →", Align::right);
  track("axis.query", ImVec2(right - query, y - view.px(7)), ImVec2(right, y + view.px(7)));
  track("axis.key", ImVec2(right - key, below - view.px(7)), ImVec2(right, below + view.px(7)));
}

namespace {

constexpr float kLabelDegrees = 62;

std::optional<LabelUnder> labelAt(const HeatTile& tile, const AxisLabels& labels, const View& view,
                                  ImVec2 point) {
  const ImRect& cells = tile.area;
  const auto n = static_cast<Index>(labels.queries->size()), m = static_cast<Index>(labels.keys->size());
  const bool left = point.x < cells.Min.x && point.x >= cells.Min.x - labels.leftRoom;
  if (left && point.y >= cells.Min.y && point.y < cells.Max.y && n > 0)
    if (const auto cell = tile.cellAt(ImVec2(cells.Min.x, point.y), n, std::max<Index>(m, 1)))
      return LabelUnder{true, cell->row};
  if (point.y < cells.Max.y || point.y >= cells.Max.y + labels.bottomRoom || m == 0) return std::nullopt;
  // Turned labels end at their columns and start further left below.
  const float down = point.y - cells.Max.y - view.px(6);
  const float x = point.x + down / std::tan(kLabelDegrees * 3.14159f / 180);
  if (const auto cell = tile.cellAt(ImVec2(x, cells.Max.y - 0.5f), std::max<Index>(n, 1), m))
    return LabelUnder{false, cell->col};
  return std::nullopt;
}

}  // namespace

std::optional<LabelUnder> clickedLabel(View& view, const HeatTile& tile, const AxisLabels& labels) {
  if (!ImGui::IsWindowHovered()) return std::nullopt;
  const auto under = labelAt(tile, labels, view, ImGui::GetIO().MousePos);
  if (!under) return std::nullopt;
  (under->query ? view.nextHover.query : view.nextHover.key) = under->at;
  return ImGui::IsMouseClicked(1) ? under : std::nullopt;
}

void paintAxisLabels(const View& view, Canvas list, const HeatTile& tile, const AxisLabels& labels) {
  ImFont* font = labels.large ? view.fonts->mono : view.fonts->monoSmall;
  const float room = lineHeight(font) * 1.08f;
  const auto marked = [&](Index at) { return view.figure ? -1 : at; };
  const Index litQuery = marked(labels.litQuery), litKey = marked(labels.litKey);
  const Index overQuery = marked(view.hover.query), overKey = marked(view.hover.key);
  const Theme& theme = *view.theme;
  const auto n = static_cast<Index>(labels.queries->size()), m = static_cast<Index>(labels.keys->size());
  const auto positions = [](float from, float count, Index total, float apart,
                            std::initializer_list<Index> pointedOut) {
    const auto step = std::max<Index>(1, static_cast<Index>(std::ceil(apart)));
    return labelledPositions(double{from}, double{from + count}, total, step, double{apart}, pointedOut);
  };
  for (Index i : positions(tile.row, tile.rows, n, room * 0.8f / tile.cellHeight(), {litQuery, overQuery})) {
    const float y = tile.y(static_cast<float>(i) + 0.5f);
    if (y < tile.area.Min.y || y > tile.area.Max.y) continue;
    paintText(list, font, ImVec2(tile.area.Min.x - view.px(6), y),
              i == litQuery    ? theme.query
              : i == overQuery ? theme.text
                               : theme.secondary,
              fitted(font, (*labels.queries)[static_cast<std::size_t>(i)].text, labels.leftRoom - view.px(8)),
              Align::right);
  }
  for (Index j : positions(tile.col, tile.cols, m, room * (view.figure ? 0.8f : 1) / tile.cellWidth(),
                           {litKey, overKey})) {
    const float x = tile.x(static_cast<float>(j) + 0.5f);
    if (x < tile.area.Min.x || x > tile.area.Max.x) continue;
    const float longest = (labels.bottomRoom - view.px(10)) / std::sin(kLabelDegrees * 3.14159f / 180);
    paintRotated(list, font, ImVec2(x + view.px(3), tile.area.Max.y + view.px(6)), kLabelDegrees,
                 j == litKey    ? theme.key
                 : j == overKey ? theme.text
                                : theme.secondary,
                 fitted(font, (*labels.keys)[static_cast<std::size_t>(j)].text, longest));
  }
}

namespace {

/// Returns ".82", or ".819" if `roomy`; a cell needs no 0 before the point. Blank if the digits would show 0,
/// which no softmax gives.
std::string cellText(float value, Quantity quantity, bool roomy) {
  if (quantity == Quantity::scores) return numberText(value, 3);
  if (value < 0) return "−" + cellText(-value, quantity, roomy);
  if (!(value < 1) || (value == 0 && quantity == Quantity::dropped)) return weightText(value);
  const int digits = roomy ? 3 : 2;
  const std::string text = fixedText(value, digits);
  if (text == fixedText(0, digits)) return "";
  return text.front() == '0' ? text.substr(1) : fixedText(1, digits - 1);
}

float normalized(const ValueRange& range, float value) {
  if (range.logarithmic)
    return std::log10(std::max(value, range.low) / range.low) / std::log10(range.high / range.low);
  return (value - range.low) / (range.high - range.low);
}

}  // namespace

void paintValues(const View& view, Canvas list, const HeatTile& tile, Index n, Index m, const Look& look,
                 const ValueRange& range, const CellValue& value) {
  const float side = std::min(tile.cellWidth(), tile.cellHeight());
  ImFont* font = side > view.px(60)   ? view.fonts->monoTitle
                 : side > view.px(40) ? view.fonts->mono
                                      : view.fonts->monoSmall;
  const bool scores = look.quantity == Quantity::scores;
  const float needed = textWidth(font, scores ? "−88.8" : ".88") + view.px(4);
  const bool roomy = tile.cellWidth() > textWidth(font, ".8888") + view.px(10);
  if (tile.cellWidth() < needed || tile.cellHeight() < lineHeight(font) * 1.25f) return;
  const auto firstRow = std::max<Index>(0, static_cast<Index>(tile.row)),
             firstCol = std::max<Index>(0, static_cast<Index>(tile.col));
  const Index lastRow = std::min<Index>(n, static_cast<Index>(std::ceil(tile.row + tile.rows)));
  const Index lastCol = std::min<Index>(m, static_cast<Index>(std::ceil(tile.col + tile.cols)));
  list.PushClipRect(tile.area.Min, tile.area.Max, true);
  for (Index row = firstRow; row < lastRow; ++row)
    for (Index col = firstCol; col < lastCol; ++col) {
      const std::optional<float> shown = value(row, col);
      const std::string text = shown ? cellText(*shown, look.quantity, roomy) : "";
      const float x = tile.x(static_cast<float>(col) + 0.5f), half = textWidth(font, text) / 2;
      // While panning, an edge cell could show half its number; showing none reads better.
      if (text.empty() || x - half < tile.area.Min.x || x + half > tile.area.Max.x) continue;
      paintText(list, font, ImVec2(x, tile.y(static_cast<float>(row) + 0.5f)),
                inkOn(colorOn(*view.theme, colormapFor(look), normalized(range, *shown))), text,
                Align::center);
    }
  list.PopClipRect();
}

void paintCellValues(const View& view, Canvas list, const HeatTile& tile, const SequenceSnapshot& sequence,
                     const Look& look, const ValueRange& range) {
  const attention::AttentionResult& result = sequence.attention;
  const attention::MatrixView values = sequence.values(look.quantity)[tile.head];
  const Index lit = tile.decodedRows >= 0 ? tile.decodedRows : values.rows();
  paintValues(view, list, tile, lit, values.cols(), look, range,
              [&](Index row, Index col) -> std::optional<float> {
                if (result.scores.at(tile.head, row, col) == render::kMaskedCell) return std::nullopt;
                return values(row, col);
              });
}

std::string pooledText(int factor) {
  return fmt::format("largest of {} × {} cells", factor, factor);
}

void cellTooltip(const View& view, const SequenceSnapshot& sequence, Index head, Index query, Index key,
                 bool underOther) {
  const attention::AttentionResult& result = underOther ? sequence.other->attention : sequence.attention;
  const attention::Stack& weights = underOther ? sequence.other->probabilities() : sequence.probabilities();
  const float score = result.scores.at(head, query, key);
  std::string text =
      fmt::format("{} → {}\n{} · query {} · key {}\n", sequence.queries[static_cast<std::size_t>(query)].text,
                  sequence.keys[static_cast<std::size_t>(key)].text, headName(head), query, key);
  if (result.lse(head, query) == render::kMaskedCell)
    text += "this query sees no key, so its weights are 0";
  else if (score == render::kMaskedCell)
    text += "masked";
  else
    text += "weight " + weightText(weights.at(head, query, key)) + " · score " + numberText(score);
  if (&weights != &result.weights && score != render::kMaskedCell) {
    const float left = result.weights.at(head, query, key);
    text += left == 0 ? "\ndropped" : "\nafter dropout " + weightText(left);
  }
  tooltip(view, text);
}

}  // namespace headscope::app
