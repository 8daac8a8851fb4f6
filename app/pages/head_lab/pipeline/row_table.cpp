#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/pages/head_lab/pipeline/columns.h"
#include "app/pages/head_lab/pipeline/worked_parts.h"
#include "app/scene/text/number_text.h"
#include "attention/core/score_terms.h"

namespace headscope::app::head_lab_page {

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

/// The keys around the selected one, as many as fit.
std::vector<Index> keysInSight(const State& page, const ImRect& area, Index keys, Index around) {
  const auto most = static_cast<Index>(tableRoom(page, belowSumTitle(page.view, area)));
  const Index count = std::min(keys, most), first = std::clamp<Index>(around - count / 2, 0, keys - count);
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

}  // namespace

void rowTable(const Scene& scene, State& page, const ImRect& area) {
  const View& view = page.view;
  const Theme& theme = *view.theme;
  const Cell cell = shownCell(scene, page);
  const Step step = scene.cursor.lab.step;
  const bool softmax = step == Step::softmax;
  const Row row = rowOf(page, cell);
  Columns columns;
  columns.name = "row";
  columns.rowNames = namesOf(page, step);
  columns.rowColors = {theme.secondary, theme.text};
  if (softmax) columns.rowColors = {theme.secondary, theme.secondary, theme.key};
  const std::vector<Index> keys = keysInSight(page, area, row.scores.cols(), scene.cursor.cell.key);
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
    column.lit = key == cell.key;
    columns.low = std::min(columns.low, column.to);
    columns.high = std::max(columns.high, column.to);
    columns.columns.push_back(std::move(column));
  }
  if (softmax) columns.high = 1;
  const Made made = madeBy(page, step, row, cell);
  paintSumTitle(view, area, made.formula, static_cast<double>(after(row, step, cell.key)), made.how);
  const int pointed = paintTable(page, belowSumTitle(view, area), columns);
  if (pointed < 0) return;
  page.view.nextHover = {cell.head, cell.query, keys[static_cast<std::size_t>(pointed)]};
}

}  // namespace headscope::app::head_lab_page
