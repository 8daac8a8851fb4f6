#include <fmt/core.h>

#include "app/pages/head_lab/pipeline/pipeline.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/rich_text.h"

namespace headscope::app::head_lab_page {

namespace {
constexpr float kNameRoom = 84, kColumnRoom = 58;
constexpr float kLabelRoom = 64, kNumberRoom = 57, kTotalRoom = 56, kLine = 22;  // for lines
}  // namespace

std::size_t columnsThatFit(const View& view, const ImRect& area) {
  return static_cast<std::size_t>(
      std::clamp((area.GetWidth() - view.px(kNameRoom)) / view.px(kColumnRoom), 3.0f, 17.0f));
}

int paintColumns(const View& view, const ImRect& area, const Columns& columns) {
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  if (columns.columns.empty()) return -1;
  const float line = view.px(27), left = area.Min.x + view.px(kNameRoom);
  const float each = (area.Max.x - left) / static_cast<float>(columns.columns.size());
  const float table = line * static_cast<float>(columns.rowNames.size() + 1);
  const float base = area.Max.y - table, top = area.Min.y + view.px(22);
  if (base - top < view.px(24)) return -1;  // only the headline
  const double span = std::max(columns.high - columns.low, 1e-30);
  const auto y = [&](double value) {
    return base - view.px(4) -
           static_cast<float>((value - columns.low) / span) * std::max(base - view.px(4) - top, 1.0f);
  };
  list.AddLine(ImVec2(left, y(0)), ImVec2(area.Max.x, y(0)), theme.line);
  int pointed = -1;
  std::optional<ImRect> ghost;
  for (std::size_t i = 0; i < columns.columns.size(); ++i) {
    const Column& column = columns.columns[i];
    const float x0 = left + each * static_cast<float>(i), middle = x0 + each / 2;
    const float half = std::min(each * 0.36f, view.px(28));
    hitArea(fmt::format("{}.{}", columns.name, i), ImVec2(x0, area.Min.y), ImVec2(each, area.GetHeight()));
    if (ImGui::IsItemHovered()) pointed = static_cast<int>(i);
    if (column.lit)
      list.AddRectFilled(ImVec2(x0, area.Min.y), ImVec2(x0 + each, area.Max.y), theme.raised, view.px(3));
    if (column.hovered && !column.lit) ghost = {x0, area.Min.y, x0 + each, area.Max.y};
    const float a = y(std::max(column.from, column.to)),
                b = std::max(y(std::min(column.from, column.to)), a + 1);
    if (column.outlined)
      compat::rectOutline(list, ImVec2(middle - half, a), ImVec2(middle + half, b), column.color, 0,
                          std::max(1.0f, view.px(1.4f)));
    else
      list.AddRectFilled(ImVec2(middle - half, a), ImVec2(middle + half, b), column.color);
    if (columns.joined && i + 1 < columns.columns.size())
      list.AddLine(ImVec2(middle + half, y(column.to)), ImVec2(middle + each - half, y(column.to)),
                   theme.faint);
    const bool last = i + 1 == columns.columns.size();
    paintText(list, last && columns.joined ? view.fonts->mono : view.fonts->monoSmall,
              ImVec2(middle, a - view.px(11)), last && columns.joined ? theme.text : theme.secondary,
              column.above, Align::center);
    paintText(list, view.fonts->small, ImVec2(middle, base + line / 2),
              column.lit || column.hovered ? theme.text : theme.secondary,
              fitted(view.fonts->small, column.label, each - view.px(2)), Align::center);
    for (std::size_t row = 0; row < column.numbers.size(); ++row) {
      ImFont* font = textWidth(view.fonts->mono, "−0.000") + view.px(4) <= each ? view.fonts->mono
                                                                                : view.fonts->monoSmall;
      paintText(list, font, ImVec2(middle, base + line * (static_cast<float>(row) + 1.5f)),
                columns.rowColors[row], column.numbers[row], Align::center);
    }
  }
  if (ghost) paintGhost(view, list, "ghost", *ghost, theme.text);
  for (std::size_t row = 0; row < columns.rowNames.size(); ++row)
    paintScripted(view, list, view.fonts->mono,
                  ImVec2(area.Min.x, base + line * (static_cast<float>(row) + 1.5f)), columns.rowColors[row],
                  columns.rowNames[row], Align::left, view.px(kNameRoom - 4));
  if (!columns.place.empty())
    paintText(list, view.fonts->mono, ImVec2(area.Min.x, base + line / 2), theme.secondary, columns.place);
  list.AddLine(ImVec2(area.Min.x, base + line * static_cast<float>(columns.rowNames.size())),
               ImVec2(area.Max.x, base + line * static_cast<float>(columns.rowNames.size())), theme.line);
  return pointed;
}

std::size_t linesThatFit(const View& view, const ImRect& area) {
  return static_cast<std::size_t>(std::clamp(area.GetHeight() / view.px(kLine) - 1, 1.0f, 17.0f));
}

namespace {

/// The places of a line's parts, in pixels.
struct LinePlace {
  float left, number, bars, right, high;  ///< `number`: width of one number; bars end where totals begin
  double low, span;

  float x(double value) const { return bars + static_cast<float>((value - low) / span) * (right - bars); }
};

void paintLine(const View& view, const Columns& columns, const Column& column, const LinePlace& place,
               float middle, bool last) {
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  paintText(list, view.fonts->text, ImVec2(place.left, middle),
            column.lit || column.hovered ? theme.text : theme.secondary,
            fitted(view.fonts->text, column.label, view.px(kLabelRoom - 4)));
  for (std::size_t i = 0; i < column.numbers.size(); ++i)
    paintText(list, view.fonts->mono,
              ImVec2(place.left + view.px(kLabelRoom) + place.number * static_cast<float>(i + 1), middle),
              columns.rowColors[i], column.numbers[i], Align::right);
  const float half = std::min(place.high * 0.3f, view.px(11));
  const float from = place.x(std::min(column.from, column.to)),
              to = std::max(place.x(std::max(column.from, column.to)), from + 1);
  const ImVec2 a(from, middle - half), b(to, middle + half);
  if (column.outlined)
    compat::rectOutline(list, a, b, column.color, 0, std::max(1.0f, view.px(1.4f)));
  else
    list.AddRectFilled(a, b, column.color);
  if (columns.joined && !last)
    list.AddLine(ImVec2(place.x(column.to), middle + half),
                 ImVec2(place.x(column.to), middle + place.high - half), theme.faint);
  paintText(list, last && columns.joined ? view.fonts->mono : view.fonts->monoSmall,
            ImVec2(place.right + view.px(kTotalRoom), middle),
            last && columns.joined ? theme.text : theme.secondary, column.above, Align::right);
}

}  // namespace

int paintLines(const View& view, const ImRect& area, const Columns& columns) {
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const auto count = static_cast<float>(columns.columns.size());
  if (count == 0) return -1;
  LinePlace place;
  place.left = area.Min.x;
  place.number = view.px(kNumberRoom);
  place.bars =
      area.Min.x + view.px(kLabelRoom + 14) + place.number * static_cast<float>(columns.rowNames.size());
  place.right = area.Max.x - view.px(columns.joined ? kTotalRoom : 4);
  place.high = std::min(area.GetHeight() / (count + 1), view.px(36));
  place.low = columns.low;
  place.span = std::max(columns.high - columns.low, 1e-30);
  const float head = area.Min.y + place.high / 2;
  paintText(list, view.fonts->mono, ImVec2(area.Min.x, head), theme.secondary, columns.place);
  for (std::size_t i = 0; i < columns.rowNames.size(); ++i)
    paintScripted(view, list, view.fonts->mono,
                  ImVec2(area.Min.x + view.px(kLabelRoom) + place.number * static_cast<float>(i + 1), head),
                  columns.rowColors[i], columns.rowNames[i], Align::right, place.number - view.px(2));
  list.AddLine(ImVec2(place.x(0), area.Min.y + place.high),
               ImVec2(place.x(0), area.Min.y + place.high * (count + 1)), theme.line);
  int pointed = -1;
  std::optional<ImRect> ghost;
  for (std::size_t i = 0; i < columns.columns.size(); ++i) {
    const Column& column = columns.columns[i];
    const float top = area.Min.y + place.high * static_cast<float>(i + 1);
    hitArea(fmt::format("{}.{}", columns.name, i), ImVec2(area.Min.x, top),
            ImVec2(area.GetWidth(), place.high));
    if (ImGui::IsItemHovered()) pointed = static_cast<int>(i);
    if (column.lit)
      list.AddRectFilled(ImVec2(area.Min.x, top), ImVec2(area.Max.x, top + place.high), theme.raised,
                         view.px(3));
    if (column.hovered && !column.lit) ghost = {area.Min.x, top, area.Max.x, top + place.high};
    paintLine(view, columns, column, place, top + place.high / 2, i + 1 == columns.columns.size());
  }
  if (ghost) paintGhost(view, list, "ghost", *ghost, theme.text);
  return pointed;
}

namespace {

using attention::MatrixView;

/// The selected query's row of scores, up to its weights.
struct Row {
  const attention::HeadSteps& steps;
  MatrixView scores, weights;
  Index query = 0;
  float most = 0;    ///< the largest score; −∞ if no key is visible
  double total = 0;  ///< Σ exp(score − most)

  bool seesNone() const { return most == -INFINITY; }
  bool hidden(Index key) const { return scores(query, key) == -INFINITY; }
  /// e^{score − max}; 0 for a masked key.
  double power(Index key) const {
    return hidden(key) ? 0 : std::exp(static_cast<double>(scores(query, key)) - static_cast<double>(most));
  }
};

Row rowOf(const State& page, const Cell& cell) {
  const SequenceSnapshot& sequence = page.layer->sequence();
  Row row{page.head->steps, sequence.attention.scores[cell.head], sequence.probabilities()[cell.head],
          cell.query};
  row.most = row.scores.row(cell.query).maxCoeff();
  for (Index key = 0; key < row.scores.cols(); ++key) row.total += row.power(key);
  return row;
}

/// The keys around the selected one, as many as fit: all, or some and a column for the others.
std::vector<Index> keysInSight(const State& page, const ImRect& area, Index keys, Index around) {
  const auto most = static_cast<Index>(tableRoom(page, belowSumTitle(page.view, area)));
  const Index count = keys <= most ? keys : std::max<Index>(most - 1, 1);
  const Index first = std::clamp<Index>(around - count / 2, 0, keys - count);
  std::vector<Index> shown(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) shown[static_cast<std::size_t>(i)] = first + i;
  return shown;
}

float before(const Row& row, Step step, Index key) {
  const float dot = row.steps.dots(row.query, key);
  return step == Step::scale     ? dot
         : step == Step::bias    ? dot * row.steps.factor
         : step == Step::softmax ? row.scores(row.query, key)
                                 : row.steps.unmasked(row.query, key);
}

float after(const Row& row, Step step, Index key) {
  return step == Step::scale     ? row.steps.dots(row.query, key) * row.steps.factor
         : step == Step::bias    ? row.steps.unmasked(row.query, key)
         : step == Step::softmax ? row.weights(row.query, key)
                                 : row.scores(row.query, key);
}

/// How a number is computed, and an explanation.
struct Made {
  std::string formula, how;
};

Made madeByScale(const Row& row, Index key) {
  const auto dot = static_cast<double>(row.steps.dots(row.query, key));
  const auto factor = static_cast<double>(row.steps.factor);
  const double amount = std::abs(factor);
  if (factor == 1) return {"q · k", "no scaling: the row's scores are unchanged"};
  const char* what = factor == 0  ? "every score is 0"
                     : amount > 1 ? "same pattern, larger numbers"
                                  : "same pattern, smaller numbers";
  return {fmt::format("{} × {}", cellText(dot), cellText(factor)),
          fmt::format("the whole row {}: {}", factorText(factor), what)};
}

/// "5·tanh((10.80 − 0.500) ÷ 5)": all terms between the scale and the mask, with their numbers, in order.
Made madeByBias(const State& page, const Cell& cell) {
  const attention::AttentionConfig& config = page.layer->config();
  Made made;
  bool sum = false;
  const auto also = [&](const std::string& words) {
    made.how += (made.how.empty() ? "" : "; then ") + words;
  };
  for (const attention::ScoreStep& step :
       attention::scoreSteps(config, page.layer->sequence().mask, cell.head, cell.query, cell.key,
                             page.head->steps.dots(cell.query, cell.key))) {
    const auto value = static_cast<double>(step.value);
    switch (step.term->kind) {
      case attention::TermKind::factor:
        made.formula = cellText(static_cast<double>(step.score));
        break;
      case attention::TermKind::cap:
        made.formula = fmt::format("{0}·tanh({1} ÷ {0})", roundedText(value, 4),
                                   sum ? "(" + made.formula + ")" : made.formula);
        sum = false;
        also(fmt::format("the soft-cap keeps the score within ±{}", roundedText(value, 4)));
        break;
      case attention::TermKind::distance:
      case attention::TermKind::cell:
        made.formula += (value < 0 ? " − " : " + ") + cellText(std::abs(value));
        sum = true;
        also(step.term->kind == attention::TermKind::cell
                 ? "the added term depends on the cell, not on the words"
                 : "the added term depends on distance and head, not on the words");
        break;
      case attention::TermKind::visibility:
        break;
    }
  }
  return made;
}

Made madeBySoftmax(const Row& row, Index key) {
  if (row.seesNone()) return {"no key is visible: the weight", "the softmax has no score to normalize"};
  const std::string most = cellText(static_cast<double>(row.most)), total = cellText(row.total);
  return {row.hidden(key)
              ? "hidden: e^{−∞} = 0"
              : fmt::format("e^{{{} − {}}} ÷ {}", cellText(static_cast<double>(row.scores(row.query, key))),
                            most, total),
          fmt::format("largest score of the row {}, Σ exp(score − max) = {}", most, total)};
}

Made madeBy(const State& page, Step step, const Row& row, const Cell& cell) {
  switch (step) {
    case Step::scale:
      return madeByScale(row, cell.key);
    case Step::bias:
      return madeByBias(page, cell);
    case Step::mask:
      return {row.hidden(cell.key) ? "hidden: −∞ replaces the score" : "visible: same score",
              "−∞ becomes weight 0 in the softmax"};
    default:
      return madeBySoftmax(row, cell.key);
  }
}

std::vector<std::string> namesOf(const State& page, Step step) {
  const bool scales = page.head->steps.factor != 1;
  switch (step) {
    case Step::scale:
      return {"q · k", scales ? "scaled" : "unscaled"};
    case Step::bias:
      return {scales ? "scaled" : "q · k", biasTerms(page).adds() ? "biased" : "capped"};
    case Step::mask:
      return {"score", "masked"};
    default:
      return {"score", "e^{s−max}", "weight"};
  }
}

/// What a table says of the keys that don't fit: how many, and after the softmax, the sum of their weights.
Column otherKeys(const View& view, const Row& row, const std::vector<Index>& shown, bool softmax) {
  const auto weights = row.weights.row(row.query);
  const Index first = shown.front(), end = shown.back() + 1, omitted = weights.size() - std::ssize(shown);
  Column column{
      moreText(omitted), 0, 0, "", {"", ""}, mixed(view.theme->background, view.theme->text, 0.42f)};
  if (!softmax) return column;
  column.to = static_cast<double>(weights.head(first).sum() + weights.tail(weights.size() - end).sum());
  column.numbers.push_back(cellText(column.to));
  return column;
}

}  // namespace

std::string moreText(Index count) {
  return count < 1000 ? fmt::format("{} more", count) : "others";
}

void rowTable(const Scene& scene, State& page, const ImRect& area, const Cell& cell) {
  const View& view = page.view;
  const Theme& theme = *view.theme;
  const Cell selected = selectedCell(scene, page);
  const Step step = scene.cursor.lab.step;
  const bool softmax = step == Step::softmax;
  const Row row = rowOf(page, cell);
  Columns columns;
  columns.name = "row";
  columns.rowNames = namesOf(page, step);
  columns.rowColors = {theme.secondary, theme.text};
  if (softmax) columns.rowColors = {theme.secondary, theme.secondary, theme.key};
  const std::vector<Index> keys = keysInSight(page, area, row.scores.cols(), selected.key);
  for (const Index key : keys) {
    const float made = after(row, step, key);
    const bool hidden = made == -INFINITY || (softmax && row.hidden(key));
    Column column{page.layer->sequence().keys[static_cast<std::size_t>(key)].text,
                  0,
                  hidden ? 0 : static_cast<double>(made),
                  "",
                  {cellText(static_cast<double>(before(row, step, key)))},
                  theme.key,
                  made < 0};
    if (softmax) column.numbers.push_back(hidden ? "0" : cellText(row.power(key)));
    column.numbers.push_back(hidden && softmax ? "0" : cellText(static_cast<double>(made)));
    column.lit = key == selected.key;
    column.hovered = key == view.hover.key;
    columns.low = std::min(columns.low, column.to);
    columns.high = std::max(columns.high, column.to);
    columns.columns.push_back(std::move(column));
  }
  if (std::ssize(keys) < row.scores.cols()) columns.columns.push_back(otherKeys(view, row, keys, softmax));
  if (softmax) columns.high = 1;
  const Made made = madeBy(page, step, row, cell);
  const auto total = static_cast<double>(after(row, step, cell.key));
  paintSumTitle(view, area, {made.formula, total, made.how, cell != selected});
  const int pointed = paintTable(page, belowSumTitle(view, area), columns);
  if (pointed < 0 || pointed >= std::ssize(keys)) return;
  page.view.nextHover = {cell.head, selected.query, keys[static_cast<std::size_t>(pointed)]};
}

}  // namespace headscope::app::head_lab_page
