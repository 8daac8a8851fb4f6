#include <fmt/core.h>

#include "app/compute/layer/layer_parts.h"
#include "app/pages/heads/heads_page.h"
#include "app/platform/track.h"
#include "app/scene/fields.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "attention/core/extremes.h"

namespace headscope::app::heads_page {

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

/// "the", or "the₄" if the word occurs more than once in the text.
std::string tokenName(const std::vector<attention::Token>& tokens, Index i) {
  const std::string& text = tokenText(tokens, i);
  const auto same =
      std::count_if(tokens.begin(), tokens.end(), [&](const auto& token) { return token.text == text; });
  return same > 1 ? text + subscript(i) : text;
}

/// The dimensions that one bar covers: several if there are more dimensions than bars.
struct BarSpan {
  Index from, to;
};
BarSpan spanOf(Index bar, Index bars, Index dims) {
  const Index from = bar * dims / bars;
  return {from, std::max(from + 1, (bar + 1) * dims / bars)};
}

float farthestFrom0(const Vector& values, BarSpan span) {
  float farthest = values[span.from];
  for (Index i = span.from; i < span.to; ++i) farthest = attention::stronger(farthest, values[i]);
  return farthest;
}

/// Draws one vector on a line: its name, bars around 0 on the scale ±`most`, and on the right the value of
/// the hovered dimension (hovered in any of the lines), else the scale.
void vectorLine(View& view, ReceiptPointer& pointer, const std::string& name, const std::string& label,
                const Vector& values, std::uint32_t color, float most) {
  const float width = ImGui::GetContentRegionAvail().x, height = view.px(view.present ? 27 : 34);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  Canvas list = *ImGui::GetWindowDrawList();
  // Large type leaves little space next to a lesson, and the bars matter most.
  const float from = at.x + view.px(view.present ? 72 : 84),
              to = at.x + width - view.px(view.present ? 44 : 62), zero = at.y + height / 2;
  paintFitted(view, list, view.fonts->mono, ImVec2(at.x, zero), from - at.x - view.px(6), color, label);
  const Index bars =
      std::min<Index>(values.size(), static_cast<Index>((to - from) / view.px(view.present ? 2 : 3)));
  const float step = (to - from) / static_cast<float>(std::max<Index>(bars, 1));
  const float space = step > view.px(5) ? view.px(2) : view.px(0.6f), least = view.px(0.75f);
  list.AddLine(ImVec2(from, zero), ImVec2(to, zero), view.theme->line);
  const float scale = (height / 2 - view.px(2)) / (most > 0 ? most : 1);
  for (Index bar = 0; bar < bars; ++bar) {
    const BarSpan span = spanOf(bar, bars, values.size());
    const float x = from + static_cast<float>(bar) * step, end = zero - farthestFrom0(values, span) * scale;
    if (pointer.dim >= span.from && pointer.dim < span.to)
      list.AddRectFilled(ImVec2(x - space / 2, at.y), ImVec2(x + step - space / 2, at.y + height),
                         view.theme->line);
    list.AddRectFilled(ImVec2(x, std::min(end, zero) - least / 2),
                       ImVec2(x + step - space, std::max(end, zero) + least / 2), color, view.px(1));
  }
  const bool pointed = pointer.dim >= 0 && pointer.dim < values.size();
  paintText(list, view.fonts->monoSmall, ImVec2(at.x + width, zero), pointed ? color : view.theme->faint,
            pointed    ? numberText(values[pointer.dim])
            : most > 0 ? "±" + numberText(most, 3)
                       : "all 0",
            Align::right);
  hitArea(name, ImVec2(width, height));
  const float mouse = ImGui::GetIO().MousePos.x;
  if (ImGui::IsItemHovered() && mouse >= from && mouse < to && bars > 0)
    pointer.nextDim =
        spanOf(std::min(static_cast<Index>((mouse - from) / step), bars - 1), bars, values.size()).from;
}

float largestOf(const Vector& values) {
  return attention::largestFinite(values);
}

/// Draws a term of the formula on the left and its number on the right, above a hairline.
void term(const View& view, const std::string& left, const std::string& right, std::uint32_t color,
          bool large = false) {
  const float width = ImGui::GetContentRegionAvail().x, height = view.px(view.present ? (large ? 30 : 24)
                                                                         : large      ? 34
                                                                                      : 29);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  Canvas list = *ImGui::GetWindowDrawList();
  const float y = at.y + height / 2;
  ImFont* number = large ? view.fonts->monoTitle : view.fonts->mono;
  const float digits = paintText(list, number, ImVec2(at.x + width, y), color, right, Align::right);
  paintFitted(view, list, view.fonts->text, ImVec2(at.x, y), width - digits - view.px(10),
              view.theme->secondary, left);
  list.AddLine(ImVec2(at.x, at.y + height), ImVec2(at.x + width, at.y + height), view.theme->line);
  ImGui::Dummy(ImVec2(width, height + 1));
}

/// The meaning of a score's term: the help text of the field that sets it.
const char* helpOf(const attention::ScoreTerm& term) {
  static constexpr std::pair<std::string_view, std::string_view> kFields[] = {{"scale", "model.scaled"},
                                                                              {"ALiBi", "model.position"},
                                                                              {"T5", "model.position"},
                                                                              {"additive", "mask.additive"}};
  if (term.number.member) return fieldAt("model." + std::string(term.number.name)).help;
  for (const auto& [name, path] : kFields)
    if (name == term.name) return fieldAt(path).help;
  return term.kind == attention::TermKind::visibility
             ? "The mask sets hidden scores to −∞, so their weight is 0."
             : "";
}

void terms(const Snapshot& snapshot, const ScoreReceipt& receipt, View& view) {
  const Theme& theme = *view.theme;
  term(view, "Σ q ∘ k", numberText(receipt.dot), theme.text);
  for (const attention::ScoreStep& step : receipt.steps) {
    const bool mask = step.term->kind == attention::TermKind::visibility;
    const std::uint32_t color = !mask ? theme.text : receipt.visible ? theme.value : theme.faint;
    term(view, step.term->label(snapshot.config), stepText(step), color);
    trackItem("receipt.term." + std::string(step.term->name));
    if (ImGui::IsItemHovered()) hoverHelp(view, "term." + std::string(step.term->name), helpOf(*step.term));
  }
  if (receipt.rowMax == -INFINITY) {
    term(view, "no key is visible", "weight 0", theme.faint);
    return;
  }
  term(view,
       "exp(" + (receipt.visible ? numberText(receipt.score) : std::string("−∞")) +
           (receipt.rowMax < 0 ? " + " : " − ") + numberText(std::abs(receipt.rowMax)) + ")",
       weightText(receipt.exponential), theme.text);
  if (receipt.sink) {
    term(view, fmt::format("sink, exp({} − {})", numberText(*receipt.sink), numberText(receipt.rowMax)),
         "+ " + weightText(std::exp(*receipt.sink - receipt.rowMax)), theme.secondary);
    trackItem("receipt.sink");
    if (ImGui::IsItemHovered())
      hoverHelp(
          view, "term.sink",
          "A learned score of this head that belongs to no key. Its share of the softmax reads no value: "
          "the weights of the keys sum to less than 1.");
  }
  const float probability = receipt.exponential / receipt.rowSum;
  const float dropout = snapshot.config.dropout.probability;
  term(view, "÷ row sum " + numberText(receipt.rowSum), weightText(probability), theme.query, dropout == 0);
  if (dropout == 0) return;
  const bool dropped = receipt.weight == 0 && probability > 0;
  term(view, dropped ? "dropout: dropped" : "dropout: kept, ÷ " + numberText(1 - dropout, 3),
       weightText(receipt.weight), theme.query, true);
}

/// Shows the key's value times the weight, and the head's output for the query.
void outputLines(View& view, ReceiptPointer& pointer, const ScoreReceipt& receipt, Index key,
                 Index visibleKeys) {
  const Theme& theme = *view.theme;
  const float most =
      std::max({largestOf(receipt.weighted), largestOf(receipt.rest), largestOf(receipt.output)});
  if (!view.present) sectionTitle(view, "OUTPUT OF THE HEAD", "Σ weight · v");
  vectorLine(view, pointer, "bars.weighted", weightText(receipt.weight) + "·v" + subscript(key),
             receipt.weighted, theme.value, most);
  const Index others = std::max<Index>(visibleKeys - (receipt.visible ? 1 : 0), 0);
  vectorLine(view, pointer, "bars.rest", fmt::format("+ {} more", others), receipt.rest, theme.value, most);
  vectorLine(view, pointer, "bars.output", "= output", receipt.output, theme.value, most);
}

/// Draws a key of the row with its weight as a bar; a click selects the key.
void weightLine(Scene& scene, const SequenceSnapshot& sequence, View& view, const Cell& cell, Index key,
                float weight, std::size_t place) {
  const float width = ImGui::GetContentRegionAvail().x, height = view.px(25);
  Canvas list = *ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  if (hitArea(fmt::format("top.{}", place), ImVec2(width, height))) scene.cursor.cell.key = key;
  if (ImGui::IsItemHovered()) view.nextHover = {cell.head, cell.query, key};
  const float y = at.y + height / 2, barFrom = at.x + width * 0.33f, barTo = at.x + width - view.px(62),
              half = view.px(5);
  if (key == cell.key) track("top.lit", at, ImVec2(at.x + width, at.y + height));
  paintFitted(view, list, view.fonts->mono, ImVec2(at.x, y), barFrom - at.x - view.px(8),
              key == cell.key ? view.theme->key : view.theme->text, tokenName(sequence.keys, key));
  list.AddRectFilled(ImVec2(barFrom, y - half), ImVec2(barTo, y + half), view.theme->raised, view.px(3));
  list.AddRectFilled(
      ImVec2(barFrom, y - half),
      ImVec2(barFrom + std::max(view.px(2), std::min(weight, 1.0f) * (barTo - barFrom)), y + half),
      view.theme->key, view.px(3));
  paintText(list, view.fonts->mono, ImVec2(at.x + width, y), view.theme->text, weightText(weight),
            Align::right);
}

/// Shows the row's largest weights, with the others summed up in one line.
void largestWeights(Scene& scene, const attention::AttentionConfig& config, const SequenceSnapshot& sequence,
                    View& view, const Cell& cell) {
  constexpr std::size_t kShown = 6;
  const attention::MatrixView weights = sequence.probabilities()[cell.head];
  const attention::MatrixView scores = sequence.attention.scores[cell.head];
  std::vector<Index> order;
  for (Index key = 0; key < weights.cols(); ++key)
    if (!(scores(cell.query, key) == -INFINITY)) order.push_back(key);
  const std::size_t shown = std::min(order.size(), kShown);
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                    [&](Index a, Index b) {
                      // Equal weights may differ in the last bits, depending on the processor.
                      const float left = std::round(weights(cell.query, a) * 1e5f);
                      const float right = std::round(weights(cell.query, b) * 1e5f);
                      return attention::descends(left, right) || (!attention::descends(right, left) && a < b);
                    });
  double rest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const float weight = weights(cell.query, order[i]);
    if (i < shown)
      weightLine(scene, sequence, view, cell, order[i], weight, i);
    else
      rest += static_cast<double>(weight);
  }
  if (order.size() > shown)
    term(view, fmt::format("+ {} more", order.size() - shown), weightText(static_cast<float>(rest)),
         view.theme->secondary);
  if (!config.sinks.empty())
    term(view, "+ sink, which reads nothing",
         weightText(attention::sinkShare(config, sequence.attention, cell.head, cell.query)),
         view.theme->secondary);
}

/// Says what the head was planted to do, and what the detectors find.
void whatItDoes(const Look& look, const Snapshot& snapshot, const SequenceSnapshot& sequence, View& view,
                Index head) {
  gap(view, 10);
  sectionTitle(view, fmt::format("WHAT HEAD {} DOES", head));
  std::string text;
  if (snapshot.setup.subject.model.empty() && snapshot.setup.weights.source == WeightSource::planted) {
    const attention::PlantedHead plant = plantedHeads(snapshot.setup)[static_cast<std::size_t>(head)];
    text = "Planted: " + attention::describe(plant);
    const bool readsPlaces =
        plant.behaviour == attention::Behaviour::offset || plant.behaviour == attention::Behaviour::localBand;
    if (readsPlaces && snapshot.setup.model.position != PositionKind::sinusoidal)
      text += ", which needs sinusoids in the embedding (set Position to Sine)";
    text += ". ";
  }
  const attention::HeadLabel label = sequence.label(head, look.labelThreshold);
  if (!label.detector) {
    text += "No detector scores above what the mask alone forces.";
  } else if (label.detector->fallbackLabelThreshold) {
    text += "Spreads evenly: entropy is " + weightText(label.score) + " of the maximum.";
  } else {
    const attention::DetectorScore& score =
        sequence.profiles[static_cast<std::size_t>(head)][label.detector->name];
    text += fmt::format("Observed: {}, {} of the weight over {}, {} above even attention.",
                        attention::describe(label), weightText(score.raw), countedText(score.rows, "row"),
                        weightText(score.above()));
  }
  hint(view, text);
}

Index visibleKeys(const SequenceSnapshot& sequence, const Cell& cell) {
  return (sequence.attention.scores[cell.head].row(cell.query).array() != -INFINITY).count();
}

void receipt(Scene& scene, const Snapshot& snapshot, const SequenceSnapshot& sequence, View& view,
             ReceiptPointer& pointer) {
  const Theme& theme = *view.theme;
  const Cell cell = litCell(scene, snapshot, sequence, view);
  const ScoreReceipt explained = attention::explainScore(snapshot.config, sequence.mask, sequence.attention,
                                                         cell.head, cell.query, cell.key);
  if (!view.present) sectionTitle(view, "RECEIPT", layerPrefix(snapshot.setup) + headName(cell.head));
  Canvas list = *ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, y = at.y + view.px(16);
  const std::string from = fitted(view.fonts->hero, tokenName(sequence.queries, cell.query), width * 0.42f);
  float x = at.x + paintText(list, view.fonts->hero, ImVec2(at.x, y), theme.query, from);
  x += paintText(list, view.fonts->hero, ImVec2(x + view.px(9), y), theme.faint, "→") + view.px(18);
  paintText(list, view.fonts->hero, ImVec2(x, y), theme.key,
            fitted(view.fonts->hero, tokenName(sequence.keys, cell.key), at.x + width - x));
  ImGui::Dummy(ImVec2(width, view.px(32)));
  if (!view.present)
    hint(view, fmt::format("query {} reads key {} through {}", cell.query, cell.key,
                           kvName(snapshot.config.kvHeadOf(cell.head))));
  const std::string q = "q" + subscript(cell.query), k = "k" + subscript(cell.key);
  pointer.dim = std::exchange(pointer.nextDim, -1);
  if (pointer.dim >= 0) view.redraw(2);
  vectorLine(view, pointer, "bars.q", q, explained.q, theme.query, largestOf(explained.q));
  vectorLine(view, pointer, "bars.k", k, explained.k, theme.key, largestOf(explained.k));
  vectorLine(view, pointer, "bars.product", q + "∘" + k, explained.product, theme.secondary,
             largestOf(explained.product));
  terms(snapshot, explained, view);
  gap(view, 8);
  outputLines(view, pointer, explained, cell.key, visibleKeys(sequence, cell));
  if (view.present) return;  // the rest is for reading
  gap(view, 12);
  const float entropy = attention::rowEntropy(sequence.probabilities()[cell.head].row(cell.query));
  sectionTitle(
      view,
      "ROW OF “" + fitted(view.fonts->smallBold, tokenText(sequence.queries, cell.query), view.px(90)) + "”",
      "entropy " + numberText(entropy, 3) + " nats");
  if (ImGui::IsItemHovered())
    hoverHelp(
        view, "entropy",
        "Entropy −Σ w·ln w of the row: 0 if one key has all the weight, ln n if n keys share it equally.");
  largestWeights(scene, snapshot.config, sequence, view, cell);
  whatItDoes(scene.look, snapshot, sequence, view, cell.head);
}

}  // namespace

void receiptPanel(Scene& scene, State& page, const Layout& layout) {
  View& view = page.view;
  const Snapshot* snapshot = page.snapshot.get();
  if (!layout.showRight) return;
  // A drawer covers heatmaps, so its own window must draw its background.
  if (beginPanel(view, "receipt", layout.right, 20, 14, 0)) {
    fillDrawer(view, layout, {"heads", "cache"});
    if (const SequenceSnapshot* sequence = shownSequence(scene, snapshot)) {
      receipt(scene, *snapshot, *sequence, page.view, page.receipt);
    } else {
      sectionTitle(view, "RECEIPT");
      hint(view, "Point at a cell to see its weight term by term.");
    }
  }
  endPanel();
}

}  // namespace headscope::app::heads_page
