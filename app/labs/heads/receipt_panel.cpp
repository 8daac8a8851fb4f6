#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "app/compute/score_text.h"
#include "app/labs/heads/heads_page.h"
#include "app/platform/track.h"
#include "app/scene/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/panel.h"
#include "attention/core/receipt.h"

namespace headscope::app {

namespace {

using attention::ScoreReceipt;
using attention::Vector;

const std::string& tokenText(const std::vector<attention::Token>& tokens, Index i) {
  return tokens[static_cast<std::size_t>(i)].text;
}

std::string subscript(Index number) {
  static constexpr std::array<const char*, 10> kDigits{"₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉"};
  std::string text;
  for (char digit : std::to_string(number)) text += kDigits[static_cast<std::size_t>(digit - '0')];
  return text;
}

/// One vector as bars around a zero line; more dimensions than bars are shown by their largest magnitude.
void bars(View& view, const std::string& name, const std::string& label, const Vector& values,
          std::uint32_t color, float height) {
  const float width = ImGui::GetContentRegionAvail().x, labelHeight = view.px(18);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  paintText(list, view.fonts->mono, ImVec2(at.x, at.y + labelHeight / 2), color, label);
  const float largest = values.size() ? values.cwiseAbs().maxCoeff() : 0;
  const float most = largest > 0 ? largest : 1;
  paintText(list, view.fonts->monoSmall, ImVec2(at.x + width, at.y + labelHeight / 2), view.theme->faint,
            largest > 0 ? "±" + numberText(most, 3) : "all 0", Align::right);
  const float top = at.y + labelHeight + view.px(2), zero = top + height / 2;
  const Index count = std::min<Index>(values.size(), static_cast<Index>(width / view.px(3)));
  list.AddLine(ImVec2(at.x, zero), ImVec2(at.x + width, zero), view.theme->line);
  const float step = width / static_cast<float>(std::max<Index>(count, 1)),
              space = step > view.px(5) ? view.px(2) : view.px(0.6f);
  for (Index bar = 0; bar < count; ++bar) {
    const Index from = bar * values.size() / count,
                to = std::max(from + 1, (bar + 1) * values.size() / count);
    float value = values[from];
    for (Index i = from; i < to; ++i)
      if (std::abs(values[i]) > std::abs(value)) value = values[i];
    const float end = zero - value / most * height / 2, x = at.x + static_cast<float>(bar) * step;
    const float minimum = view.px(0.75f);
    list.AddRectFilled(ImVec2(x, std::min(end, zero) - (value > 0 ? 0 : -0.0f) - minimum / 2),
                       ImVec2(x + step - space, std::max(end, zero) + minimum / 2), color, view.px(1));
  }
  ImGui::Dummy(ImVec2(width, labelHeight + height + view.px(8)));
  trackItem(name);
}

/// A term of the formula at the left and its number at the right, over a hairline.
void term(const View& view, const std::string& left, const std::string& right, std::uint32_t color,
          bool large = false) {
  const float width = ImGui::GetContentRegionAvail().x, height = view.px(large ? 34 : 29);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float y = at.y + height / 2;
  ImFont* number = large ? view.fonts->monoTitle : view.fonts->mono;
  const float digits = paintText(list, number, ImVec2(at.x + width, y), color, right, Align::right);
  paintFitted(view, list, view.fonts->text, ImVec2(at.x, y), width - digits - view.px(10),
              view.theme->secondary, left);
  list.AddLine(ImVec2(at.x, at.y + height), ImVec2(at.x + width, at.y + height), view.theme->line);
  ImGui::Dummy(ImVec2(width, height + 1));
}

void terms(const Snapshot& snapshot, const ScoreReceipt& receipt, const View& view) {
  const Theme& theme = *view.theme;
  term(view, "q · k", numberText(receipt.dot), theme.text);
  for (const attention::ScoreStep& step : receipt.steps) {
    const bool mask = step.term->kind == attention::TermKind::visibility;
    const std::uint32_t color = !mask ? theme.text : receipt.visible ? theme.value : theme.faint;
    term(view, step.term->label(snapshot.config), stepText(step), color);
    trackItem("receipt.term." + std::string(step.term->name));
  }
  if (receipt.rowMax == -INFINITY) {
    term(view, "no key is visible", "weight 0", theme.faint);
    return;
  }
  term(view,
       "exp(" + (receipt.visible ? numberText(receipt.score) : std::string("−∞")) +
           (receipt.rowMax < 0 ? " + " : " − ") + numberText(std::abs(receipt.rowMax)) + ")",
       weightText(receipt.exponential), theme.text);
  const float probability = receipt.exponential / receipt.rowSum;
  const float dropout = snapshot.config.dropout.probability;
  if (dropout > 0) {
    term(view, "÷ row sum " + numberText(receipt.rowSum), weightText(probability), theme.text);
    const bool dropped = receipt.weight == 0 && probability > 0;
    term(view, dropped ? "dropout: dropped" : "dropout: kept, ÷ " + numberText(1 - dropout, 2),
         weightText(receipt.weight), theme.query, true);
    return;
  }
  term(view, "÷ row sum " + numberText(receipt.rowSum), weightText(receipt.weight), theme.query, true);
}

/// The row's largest weights, each a bar that can be clicked.
void largestWeights(Scene& scene, const SequenceSnapshot& sequence, View& view, Index head, Index query) {
  const attention::MatrixView weights = sequence.attention.weights[head];
  std::vector<Index> order(static_cast<std::size_t>(weights.cols()));
  std::iota(order.begin(), order.end(), 0);
  const std::size_t shown = std::min<std::size_t>(order.size(), 6);
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(), [&](Index a, Index b) {
        return weights(query, a) > weights(query, b) || (weights(query, a) == weights(query, b) && a < b);
      });
  const float width = ImGui::GetContentRegionAvail().x, height = view.px(25);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  for (std::size_t i = 0; i < shown; ++i) {
    const Index key = order[i];
    const float weight = weights(query, key);
    if (weight == 0 && i > 0) break;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::PushID(static_cast<int>(key));
    if (ImGui::InvisibleButton("top", ImVec2(width, height))) scene.cursor.cell.key = key;
    ImGui::PopID();
    trackItem(fmt::format("top.{}", i));
    const bool lit = ImGui::IsItemHovered() || scene.cursor.cell.key == key;
    if (ImGui::IsItemHovered()) view.nextHover = {head, query, key};
    const float y = at.y + height / 2, barFrom = at.x + width * 0.33f, barTo = at.x + width - view.px(62),
                half = view.px(5);
    paintFitted(view, list, view.fonts->mono, ImVec2(at.x, y), barFrom - at.x - view.px(8),
                lit ? view.theme->key : view.theme->text, tokenText(sequence.keys, key));
    list.AddRectFilled(ImVec2(barFrom, y - half), ImVec2(barTo, y + half), view.theme->raised, view.px(3));
    list.AddRectFilled(ImVec2(barFrom, y - half),
                       ImVec2(barFrom + std::max(view.px(2), weight * (barTo - barFrom)), y + half),
                       view.theme->key, view.px(3));
    paintText(list, view.fonts->mono, ImVec2(at.x + width, y), view.theme->text, weightText(weight),
              Align::right);
  }
}

/// What the head was made to do and what it is seen to do.
void whatItDoes(const Snapshot& snapshot, const SequenceSnapshot& sequence, View& view, Index head) {
  gap(view, 10);
  sectionTitle(view, fmt::format("WHAT HEAD {} DOES", head));
  std::string text;
  if (snapshot.setup.weights.source == WeightSource::planted) {
    const attention::PlantedHead plant = plantedHeads(snapshot.setup)[static_cast<std::size_t>(head)];
    text = "Planted: " + attention::describe(plant);
    const bool readsPlaces =
        plant.behaviour == attention::Behaviour::offset || plant.behaviour == attention::Behaviour::localBand;
    if (readsPlaces && snapshot.setup.model.position != PositionKind::sinusoidal)
      text += ", which reads places from sinusoids; the embedding has none (Position is not Sinus)";
    text += ". ";
  }
  const attention::HeadLabel& label = sequence.labels[static_cast<std::size_t>(head)];
  if (!label.detector) {
    text += "No simple behaviour stands out above what the mask forces.";
  } else if (label.detector->labelsTheRestFrom) {
    text += "Spreads evenly: entropy is " + weightText(label.score) + " of the largest possible.";
  } else {
    const attention::DetectorScore& score =
        sequence.profiles[static_cast<std::size_t>(head)][label.detector->name];
    text += fmt::format("Seen: {}, {} of the weight over {} {}, {} above what even spreading gives.",
                        attention::describe(label), weightText(score.raw), score.rows,
                        score.rows == 1 ? "row" : "rows", weightText(score.above()));
  }
  hint(view, text);
}

void receipt(Scene& scene, const Snapshot& snapshot, const SequenceSnapshot& sequence, View& view) {
  const Theme& theme = *view.theme;
  const auto n = static_cast<Index>(sequence.queries.size()), m = static_cast<Index>(sequence.keys.size());
  Cell cell = scene.cursor.cell;
  if (view.hover.query >= 0) cell.query = view.hover.query;
  if (view.hover.key >= 0) cell.key = view.hover.key;
  if (view.hover.head >= 0) cell.head = view.hover.head;
  cell.head = std::clamp<Index>(cell.head, 0, snapshot.config.heads - 1);
  cell.query = std::clamp<Index>(cell.query, 0, n - 1);
  cell.key = std::clamp<Index>(cell.key, 0, m - 1);
  const ScoreReceipt explained = attention::explainScore(snapshot.config, sequence.mask, sequence.attention,
                                                         cell.head, cell.query, cell.key);
  sectionTitle(view, "RECEIPT", headName(cell.head));
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, y = at.y + view.px(16);
  const std::string from = fitted(view.fonts->hero, tokenText(sequence.queries, cell.query), width * 0.42f);
  float x = at.x + paintText(list, view.fonts->hero, ImVec2(at.x, y), theme.query, from);
  x += paintText(list, view.fonts->hero, ImVec2(x + view.px(9), y), theme.faint, "→") + view.px(18);
  paintText(list, view.fonts->hero, ImVec2(x, y), theme.key,
            fitted(view.fonts->hero, tokenText(sequence.keys, cell.key), at.x + width - x));
  ImGui::Dummy(ImVec2(width, view.px(32)));
  hint(view, fmt::format("query {} reads key {} through {}", cell.query, cell.key,
                         kvName(snapshot.config.kvHeadOf(cell.head))));
  const std::string q = "q" + subscript(cell.query), k = "k" + subscript(cell.key);
  bars(view, "bars.q", q, explained.q, theme.query, view.px(40));
  bars(view, "bars.k", k, explained.k, theme.key, view.px(40));
  bars(view, "bars.product", q + " ∘ " + k, explained.product, theme.secondary, view.px(40));
  terms(snapshot, explained, view);
  gap(view, 12);
  const float entropy = attention::rowEntropy(sequence.attention.weights[cell.head].row(cell.query));
  sectionTitle(
      view,
      "ROW OF “" + fitted(view.fonts->smallBold, tokenText(sequence.queries, cell.query), view.px(90)) + "”",
      "entropy " + numberText(entropy, 3) + " nats");
  largestWeights(scene, sequence, view, cell.head, cell.query);
  whatItDoes(snapshot, sequence, view, cell.head);
}

}  // namespace

void receiptPanel(Scene& scene, HeadsPage& page, const Layout& layout) {
  View& view = page.view;
  const Snapshot* snapshot = page.snapshot.get();
  if (!layout.showRight) return;
  // A drawer covers heatmaps, so its background belongs to its own window there.
  if (beginPanel(view, "receipt", layout.right, 20, 14, 0)) {
    fillDrawer(view, layout, {"heads", "cache"});
    if (const SequenceSnapshot* sequence = shownSequence(scene, snapshot)) {
      receipt(scene, *snapshot, *sequence, view);
    } else {
      sectionTitle(view, "RECEIPT");
      hint(view, "Point at a cell: its weight is taken apart here, term by term.");
    }
  }
  endPanel();
}

}  // namespace headscope::app
