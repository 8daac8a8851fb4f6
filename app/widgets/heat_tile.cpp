#include "app/widgets/heat_tile.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/scene/number_text.h"
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

HeatmapTile pictureOf(const HeatTile& tile, int factor, const ValueRange& range) {
  const auto pooled = static_cast<float>(factor);
  HeatmapTile picture;
  picture.view.target = {tile.area.Min.x, tile.area.Min.y, tile.area.Max.x, tile.area.Max.y};
  picture.view.clip = picture.view.target;
  picture.view.firstRow = tile.row / pooled;
  picture.view.firstCol = tile.col / pooled;
  picture.view.rows = tile.rows / pooled;
  picture.view.cols = tile.cols / pooled;
  picture.low = range.low;
  picture.high = range.high;
  return picture;
}

render::HeatmapStyle styleFor(const View& view, const Look& look) {
  render::HeatmapStyle style;
  style.colormap = colormapFor(look);
  style.logarithmic = look.quantity == Quantity::weights && look.range == RangeMode::logarithmic;
  style.background = unpacked(view.theme->background);
  style.masked = unpacked(mixed(view.theme->background, view.theme->panel, 0.7f));
  style.maskedHatch = unpacked(mixed(view.theme->background, view.theme->line, 0.8f));
  style.deadHatch = unpacked(view.theme->faint);
  style.gap = std::max(1.0f, std::round(view.unit));
  style.hatchSpacing = view.px(12);
  return style;
}

void paintCrosshair(const View& view, ImDrawList& list, const HeatTile& tile, Index query, Index key, Index n,
                    Index m) {
  const float thick = std::max(1.5f, view.px(1.6f));
  const float right = std::min(tile.area.Max.x, tile.x(static_cast<float>(m)));
  const float bottom = std::min(tile.area.Max.y, tile.y(static_cast<float>(n)));
  const float left = std::max(tile.area.Min.x, tile.x(0)), top = std::max(tile.area.Min.y, tile.y(0));
  list.PushClipRect(ImVec2(tile.area.Min.x - 2, tile.area.Min.y - 2),
                    ImVec2(tile.area.Max.x + 2, tile.area.Max.y + 2), true);
  const float grow = thick / 2;
  if (key >= 0 && key < m) {
    const float x0 = tile.x(static_cast<float>(key)), x1 = tile.x(static_cast<float>(key + 1));
    compat::rectOutline(list, ImVec2(x0 - grow, top - grow),
                        ImVec2(std::max(x1, x0 + 2) + grow, bottom + grow), view.theme->key, 0, thick);
  }
  if (query >= 0 && query < n) {
    const float y0 = tile.y(static_cast<float>(query)), y1 = tile.y(static_cast<float>(query + 1));
    compat::rectOutline(list, ImVec2(left - grow, y0 - grow),
                        ImVec2(right + grow, std::max(y1, y0 + 2) + grow), view.theme->query, 0, thick);
  }
  list.PopClipRect();
}

namespace {

/// Positions to label so that neighbours stay `room` pixels apart, the lit one among them.
std::vector<Index> labelled(float first, float count, Index total, float cell, float room, Index lit) {
  std::vector<Index> result;
  const Index step = std::max<Index>(1, static_cast<Index>(std::ceil(room / cell)));
  const auto begin = std::max<Index>(0, static_cast<Index>(std::floor(first)));
  const auto end = std::min<Index>(total, static_cast<Index>(std::ceil(first + count)));
  for (Index i = (begin + step - 1) / step * step; i < end; i += step)
    if (lit < 0 || i == lit || std::abs(static_cast<float>(i - lit)) * cell >= room) result.push_back(i);
  if (lit >= begin && lit < end && std::find(result.begin(), result.end(), lit) == result.end())
    result.push_back(lit);
  return result;
}

}  // namespace

void paintAxisLabels(const View& view, ImDrawList& list, const HeatTile& tile, const AxisLabels& labels) {
  ImFont* font = labels.large ? view.fonts->mono : view.fonts->monoSmall;
  const float room = lineHeight(font) * 1.08f;
  const auto n = static_cast<Index>(labels.queries->size()), m = static_cast<Index>(labels.keys->size());
  for (Index i : labelled(tile.row, tile.rows, n, tile.cellHeight(), room, labels.litQuery)) {
    const float y = tile.y(static_cast<float>(i) + 0.5f);
    if (y < tile.area.Min.y || y > tile.area.Max.y) continue;
    const bool lit = i == labels.litQuery;
    paintText(list, font, ImVec2(tile.area.Min.x - view.px(6), y),
              lit ? view.theme->query : view.theme->secondary,
              fitted(font, (*labels.queries)[static_cast<std::size_t>(i)].text, labels.leftRoom - view.px(8)),
              Align::right);
  }
  constexpr float kDegrees = 62;
  for (Index j : labelled(tile.col, tile.cols, m, tile.cellWidth(), room, labels.litKey)) {
    const float x = tile.x(static_cast<float>(j) + 0.5f);
    if (x < tile.area.Min.x || x > tile.area.Max.x) continue;
    const bool lit = j == labels.litKey;
    const float longest = (labels.bottomRoom - view.px(10)) / std::sin(kDegrees * 3.14159f / 180);
    paintRotated(list, font, ImVec2(x + view.px(3), tile.area.Max.y + view.px(6)), kDegrees,
                 lit ? view.theme->key : view.theme->secondary,
                 fitted(font, (*labels.keys)[static_cast<std::size_t>(j)].text, longest));
  }
}

namespace {

std::string cellText(float value, Quantity quantity) {
  if (quantity == Quantity::scores) return numberText(value, 3);
  std::string text = weightText(value);
  // ".82" rather than "0.819": two digits are what a cell has room for.
  if (value > 0 && value < 1) {
    text = fmt::format("{:.2f}", value);
    if (text == "0.00") return "";
    if (text == "1.00") return "1.0";
    text.erase(0, 1);
  }
  return text;
}

float normalized(const ValueRange& range, float value) {
  if (range.logarithmic)
    return std::log10(std::max(value, range.low) / range.low) / std::log10(range.high / range.low);
  return (value - range.low) / (range.high - range.low);
}

}  // namespace

void paintValues(const View& view, ImDrawList& list, const HeatTile& tile, Index n, Index m, const Look& look,
                 const ValueRange& range, const CellValue& value) {
  const float side = std::min(tile.cellWidth(), tile.cellHeight());
  ImFont* font = side > view.px(60)   ? view.fonts->monoTitle
                 : side > view.px(40) ? view.fonts->mono
                                      : view.fonts->monoSmall;
  const float needed = textWidth(font, look.quantity == Quantity::weights ? ".88" : "−88.8") + view.px(4);
  if (tile.cellWidth() < needed || tile.cellHeight() < lineHeight(font) * 1.25f) return;
  const auto firstRow = std::max<Index>(0, static_cast<Index>(tile.row)),
             firstCol = std::max<Index>(0, static_cast<Index>(tile.col));
  const Index lastRow = std::min<Index>(n, static_cast<Index>(std::ceil(tile.row + tile.rows)));
  const Index lastCol = std::min<Index>(m, static_cast<Index>(std::ceil(tile.col + tile.cols)));
  list.PushClipRect(tile.area.Min, tile.area.Max, true);
  for (Index row = firstRow; row < lastRow; ++row)
    for (Index col = firstCol; col < lastCol; ++col) {
      const std::optional<float> shown = value(row, col);
      const std::string text = shown ? cellText(*shown, look.quantity) : "";
      if (text.empty()) continue;
      paintText(list, font,
                ImVec2(tile.x(static_cast<float>(col) + 0.5f), tile.y(static_cast<float>(row) + 0.5f)),
                faded(inkOn(render::sample(colormapFor(look), normalized(range, *shown))), 0.92f), text,
                Align::center);
    }
  list.PopClipRect();
}

void paintCellValues(const View& view, ImDrawList& list, const HeatTile& tile,
                     const SequenceSnapshot& sequence, const Look& look, const ValueRange& range) {
  const attention::AttentionResult& result = sequence.attention;
  const attention::MatrixView values =
      look.quantity == Quantity::weights ? result.weights[tile.head] : result.scores[tile.head];
  const Index lit = tile.decodedRows >= 0 ? tile.decodedRows : values.rows();
  paintValues(view, list, tile, lit, values.cols(), look, range,
              [&](Index row, Index col) -> std::optional<float> {
                if (result.scores.at(tile.head, row, col) == render::kMaskedCell) return std::nullopt;
                return values(row, col);
              });
}

std::string pooledText(int factor) {
  return fmt::format("brightest of {} × {} cells", factor, factor);
}

void cellTooltip(const View& view, const SequenceSnapshot& sequence, Index head, Index query, Index key) {
  const attention::AttentionResult& result = sequence.attention;
  const float score = result.scores.at(head, query, key);
  std::string text =
      fmt::format("{} → {}\n{} · query {} · key {}\n", sequence.queries[static_cast<std::size_t>(query)].text,
                  sequence.keys[static_cast<std::size_t>(key)].text, headName(head), query, key);
  if (result.lse(head, query) == render::kMaskedCell)
    text += "this query sees no key: its weights are 0";
  else if (score == render::kMaskedCell)
    text += "masked";
  else
    text += "weight " + weightText(result.weights.at(head, query, key)) + " · score " + numberText(score);
  tooltip(view, text);
}

namespace {
/// A word for tight places.
std::string shortName(const attention::HeadLabel& label) {
  const bool fixed = label.detector && !label.detector->titleOf;
  return fixed ? std::string(label.detector->shortName) : attention::describe(label);
}
}  // namespace

void paintHeadTitle(const View& view, ImDrawList& list, const Snapshot& snapshot,
                    const SequenceSnapshot& sequence, Index head, ImVec2 at, float width, bool large) {
  const Theme& theme = *view.theme;
  const Index kv = snapshot.config.kvHeadOf(head);
  ImFont* nameFont = large ? view.fonts->hero : view.fonts->bold;
  const bool roomy = width > view.px(150);
  const std::string title = roomy ? headName(head) : std::to_string(head);
  float x = at.x + paintText(list, nameFont, at, theme.text, title) + view.px(8);
  if (width > view.px(118) && snapshot.config.kvHeads < snapshot.config.heads)
    x += paintBadge(view, list, ImVec2(x, at.y), groupColor(theme, kv), kvName(kv)) + view.px(10);
  else if (snapshot.config.kvHeads < snapshot.config.heads) {
    list.AddCircleFilled(ImVec2(x - view.px(1), at.y), view.px(3), groupColor(theme, kv));
    x += view.px(5);
  }
  const attention::HeadLabel& label = sequence.labels[static_cast<std::size_t>(head)];
  const float right = at.x + width;
  ImFont* small = large ? view.fonts->text : view.fonts->small;
  ImFont* number = large ? view.fonts->mono : view.fonts->monoSmall;
  const std::string digits = label.detector ? fmt::format("{:.2f}", label.score) : "";
  const float digitsWidth = digits.empty() ? 0 : textWidth(number, digits) + view.px(6);
  // The whole name with its score, else a short name with it, else the short name: a number alone says
  // nothing.
  std::string word = attention::describe(label);
  if (textWidth(small, word) + digitsWidth > right - x) word = shortName(label);
  float end = right;
  if (!digits.empty() && textWidth(small, word) + digitsWidth <= right - x) {
    paintText(list, number, ImVec2(right, at.y), theme.text, digits, Align::right);
    end = right - digitsWidth;
  }
  if (end - x >= std::min(view.px(26), textWidth(small, word)))
    paintFitted(view, list, small, ImVec2(end, at.y), end - x, theme.secondary, word, Align::right);
}

}  // namespace headscope::app
