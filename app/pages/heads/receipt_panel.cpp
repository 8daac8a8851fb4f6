#include <fmt/core.h>

#include "app/compute/layer/layer_parts.h"
#include "app/pages/heads/heads_page.h"
#include "app/platform/track.h"
#include "app/scene/fields.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/heat_tile.h"
#include "app/widgets/paint.h"
#include "attention/core/extremes.h"

namespace headscope::app::heads_page {

namespace {

using attention::ScoreReceipt;
using attention::Vector;

const std::string& tokenText(const std::vector<attention::Token>& tokens, Index i) {
  return tokens[static_cast<std::size_t>(i)].text;
}

/// "the", or "the₄" if the word occurs more than once in the text.
std::string tokenName(const std::vector<attention::Token>& tokens, Index i) {
  const std::string& text = tokenText(tokens, i);
  const auto same =
      std::count_if(tokens.begin(), tokens.end(), [&](const auto& token) { return token.text == text; });
  return same > 1 ? text + loweredDigits(i) : text;
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

constexpr float kLine = 27;  ///< height of a vector's line, in layout units

/// A vector of the receipt.
struct VectorLine {
  const char* name;
  std::string label;
  const Vector& values;
  std::uint32_t color;
  float most = attention::largestFinite(values);  ///< the scale's end
};

/// Draws a vector on a line: its name, bars around 0 on the scale ±most, and on the right the value of the
/// hovered dimension (hovered in any of the lines), else the scale.
void vectorLine(Rows& rows, ReceiptPointer& pointer, const VectorLine& line) {
  const View& view = rows.view();
  const Vector& values = line.values;
  const ImRect area = rows.area("", kLine);
  Canvas list = *ImGui::GetWindowDrawList();
  const float from = area.Min.x + view.px(76), to = area.Max.x - view.px(58), zero = area.GetCenter().y;
  paintFitted(view, list, view.fonts->mono, ImVec2(area.Min.x, zero), from - area.Min.x - view.px(6),
              line.color, line.label);
  const Index bars = std::min<Index>(values.size(), static_cast<Index>((to - from) / view.px(3)));
  const float step = (to - from) / static_cast<float>(std::max<Index>(bars, 1));
  const float space = step > view.px(5) ? view.px(2) : view.px(0.6f), least = view.px(0.75f);
  list.AddLine(ImVec2(from, zero), ImVec2(to, zero), view.theme->line);
  const float scale = (area.GetHeight() / 2 - view.px(2)) / (line.most > 0 ? line.most : 1);
  for (Index bar = 0; bar < bars; ++bar) {
    const BarSpan span = spanOf(bar, bars, values.size());
    const float x = from + static_cast<float>(bar) * step, end = zero - farthestFrom0(values, span) * scale;
    if (pointer.dim >= span.from && pointer.dim < span.to)
      list.AddRectFilled(ImVec2(x - space / 2, area.Min.y), ImVec2(x + step - space / 2, area.Max.y),
                         view.theme->line);
    list.AddRectFilled(ImVec2(x, std::min(end, zero) - least / 2),
                       ImVec2(x + step - space, std::max(end, zero) + least / 2), line.color, view.px(1));
  }
  const bool pointed = pointer.dim >= 0 && pointer.dim < values.size();
  paintText(list, view.fonts->monoSmall, ImVec2(area.Max.x, zero), pointed ? line.color : view.theme->faint,
            pointed         ? numberText(values[pointer.dim])
            : line.most > 0 ? "±" + numberText(line.most, 3)
                            : "all 0",
            Align::right);
  hitArea(line.name, area);
  const float mouse = ImGui::GetIO().MousePos.x;
  if (ImGui::IsItemHovered() && mouse >= from && mouse < to && bars > 0)
    pointer.nextDim =
        spanOf(std::min(static_cast<Index>((mouse - from) / step), bars - 1), bars, values.size()).from;
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

/// A term of the formula and its number.
void term(Rows& rows, const std::string& label, const std::string& value, std::uint32_t color,
          const std::string& name = "", const char* help = "") {
  rows.pair(label, value, {.color = color, .name = name, .lined = true});
  if (*help && ImGui::IsItemHovered()) hoverHelp(rows.view(), name, help);
}

void terms(Rows& rows, const Snapshot& snapshot, const ScoreReceipt& receipt) {
  const Theme& theme = rows.theme();
  term(rows, "Σ q ∘ k", numberText(receipt.dot), theme.text);
  for (const attention::ScoreStep& step : receipt.steps) {
    const bool mask = step.term->kind == attention::TermKind::visibility;
    term(rows, step.term->label(snapshot.config), stepText(step),
         !mask             ? theme.text
         : receipt.visible ? theme.value
                           : theme.faint,
         "receipt.term." + std::string(step.term->name), helpOf(*step.term));
  }
  if (receipt.rowMax == -INFINITY) return term(rows, "no key is visible", "weight 0", theme.faint);
  term(rows,
       "exp(" + (receipt.visible ? numberText(receipt.score) : std::string("−∞")) +
           (receipt.rowMax < 0 ? " + " : " − ") + numberText(std::abs(receipt.rowMax)) + ")",
       weightText(receipt.exponential), theme.text);
  if (receipt.sink)
    term(rows, fmt::format("sink, exp({} − {})", numberText(*receipt.sink), numberText(receipt.rowMax)),
         "+ " + weightText(std::exp(*receipt.sink - receipt.rowMax)), theme.secondary, "receipt.sink",
         "A learned score of this head that belongs to no key. Its share of the softmax reads no value: "
         "the weights of the keys sum to less than 1.");
  const float probability = receipt.exponential / receipt.rowSum;
  const float dropout = snapshot.config.dropout.probability;
  const PairLook result{.color = theme.query, .type = Type::title, .lined = true};
  const std::string sum = "÷ row sum " + numberText(receipt.rowSum);
  if (dropout == 0) return rows.pair(sum, weightText(probability), result);
  term(rows, sum, weightText(probability), theme.query);
  const bool dropped = receipt.weight == 0 && probability > 0;
  rows.pair(dropped ? "dropout: dropped" : "dropout: kept, ÷ " + numberText(1 - dropout, 3),
            weightText(receipt.weight), result);
}

/// Shows the key's value times the weight, and the head's output for the query.
void outputLines(Rows& rows, ReceiptPointer& pointer, const ScoreReceipt& receipt, Index key, Index others) {
  const std::uint32_t color = rows.theme().value;
  const float most =
      std::max({attention::largestFinite(receipt.weighted), attention::largestFinite(receipt.rest),
                attention::largestFinite(receipt.output)});
  vectorLine(rows, pointer,
             {"bars.weighted", weightText(receipt.weight) + "·v" + loweredDigits(key), receipt.weighted,
              color, most});
  vectorLine(rows, pointer, {"bars.rest", fmt::format("+ {} more", others), receipt.rest, color, most});
  vectorLine(rows, pointer, {"bars.output", "= output", receipt.output, color, most});
}

/// Whether the query sees the key.
bool visible(const SequenceSnapshot& sequence, const Cell& cell, Index key) {
  return !(sequence.attention.scores.at(cell.head, cell.query, key) == -INFINITY);
}

/// Shows the row's largest weights, with the others summed up in one line; a click selects a key.
void largestWeights(Rows& rows, Scene& scene, const attention::AttentionConfig& config,
                    const SequenceSnapshot& sequence, const Cell& cell) {
  const Theme& theme = rows.theme();
  const auto weights = sequence.probabilities()[cell.head].row(cell.query);
  std::vector<Index> order;
  for (Index key = 0; key < weights.cols(); ++key)
    if (visible(sequence, cell, key)) order.push_back(key);
  const std::size_t shown = std::min<std::size_t>(order.size(), 6);
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                    [&](Index a, Index b) {
                      // Equal weights may differ in the last bits, depending on the processor.
                      const float left = std::round(weights(a) * 1e5f), right = std::round(weights(b) * 1e5f);
                      return attention::descends(left, right) || (!attention::descends(right, left) && a < b);
                    });
  for (std::size_t i = 0; i < shown; ++i) {
    const Index key = order[i];
    const auto weight = static_cast<double>(weights(key));
    const BarLook look{.ink = key == cell.key ? theme.key : theme.text, .color = theme.key, .label = 100};
    if (rows.bar(fmt::format("top.{}", i), tokenName(sequence.keys, key), weight, weightText(weights(key)),
                 look))
      choose(scene.cursor, {cell.head, cell.query, key});
    if (ImGui::IsItemHovered()) rows.view().nextHover = {cell.head, cell.query, key};
    if (key == cell.key) trackItem("top.lit");
  }
  double rest = 0;
  for (std::size_t i = shown; i < order.size(); ++i) rest += static_cast<double>(weights(order[i]));
  if (order.size() > shown)
    term(rows, fmt::format("+ {} more", order.size() - shown), weightText(static_cast<float>(rest)),
         theme.secondary);
  if (!config.sinks.empty())
    term(rows, "+ sink, which reads nothing",
         weightText(attention::sinkShare(config, sequence.attention, cell.head, cell.query)),
         theme.secondary);
}

/// Says what the head was planted to do, and what the detectors find.
void whatItDoes(Rows& rows, const Look& look, const Snapshot& snapshot, const SequenceSnapshot& sequence,
                Index head) {
  rows.section(fmt::format("WHAT HEAD {} DOES", head));
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
  const attention::HeadProfile& profile = sequence.profiles[static_cast<std::size_t>(head)];
  if (!label.detector) {
    const std::string perhaps = fewRowsText(profile, look.labelThreshold);
    text += perhaps.empty() ? "No detector scores above what the mask alone forces." : perhaps;
  } else if (label.detector->fallbackLabelThreshold) {
    text += "Is nearly uniform: entropy is " + weightText(label.score) + " of the maximum.";
  } else {
    const attention::DetectorScore& score = profile[label.detector->name];
    text += fmt::format("Observed: {}, {} of the weight over {}, {} above uniform attention.",
                        attention::describe(label), weightText(score.raw), countedText(score.rows, "row"),
                        weightText(score.above()));
  }
  rows.hint(text);
}

/// "it → because".
std::vector<Span> pairOf(const Theme& theme, const SequenceSnapshot& sequence, const Cell& cell) {
  return {{tokenName(sequence.queries, cell.query), theme.query},
          {" → ", theme.faint},
          {tokenName(sequence.keys, cell.key), theme.key}};
}

/// Says what is selected while the receipt previews another cell, else what its weight was before the last
/// change. Otherwise it only takes its place, so that what is below doesn't move away from the pointer.
void selectedLine(Rows& rows, const SequenceSnapshot& sequence, const Cell& selected, bool previews,
                  const std::optional<WeightBefore>& before) {
  const Theme& theme = rows.theme();
  if (!previews && before && !rows.view().present)
    return rows.line(Type::small,
                     {{"before the last change", theme.secondary},
                      {weightText(before->weight), theme.secondary, nullptr, true}},
                     "receipt.before");
  if (!previews) return rows.line(Type::small, {{" "}});
  std::vector<Span> words{{fmt::format("selected: head {}, ", selected.head), theme.secondary}};
  for (const Span& span : pairOf(theme, sequence, selected)) words.push_back(span);
  const float weight = sequence.probabilities().at(selected.head, selected.query, selected.key);
  words.push_back({weightText(weight), 0, nullptr, true});
  rows.line(Type::small, words, "receipt.selected");
}

void receipt(Rows& rows, Scene& scene, const Snapshot& snapshot, const SequenceSnapshot& sequence,
             ReceiptPointer& pointer, const std::optional<WeightBefore>& before) {
  View& view = rows.view();
  const Theme& theme = rows.theme();
  const Cell selected = selectedCell(scene, snapshot), cell = view.previewed(selected);
  const bool previews = cell != selected;
  const ScoreReceipt explained = attention::explainScore(snapshot.config, sequence.mask, sequence.attention,
                                                         cell.head, cell.query, cell.key);
  rows.inWindow([&] { rows.section("RECEIPT", layerPrefix(snapshot.setup) + headName(cell.head)); });
  std::vector<Span> title = pairOf(theme, sequence, cell);
  if (previews) title.push_back({"hover", theme.secondary, nullptr, true, Span::Kind::badge});
  rows.line(Type::hero, title, "receipt.title");
  rows.inWindow([&] {
    rows.hint(fmt::format("query {} reads key {} through {}", cell.query, cell.key,
                          kvName(snapshot.config.kvHeadOf(cell.head))));
  });
  const std::string q = "q" + loweredDigits(cell.query), k = "k" + loweredDigits(cell.key);
  pointer.dim = std::exchange(pointer.nextDim, -1);
  if (pointer.dim >= 0) view.redraw(2);
  vectorLine(rows, pointer, {"bars.q", q, explained.q, theme.query});
  vectorLine(rows, pointer, {"bars.k", k, explained.k, theme.key});
  vectorLine(rows, pointer, {"bars.product", q + "∘" + k, explained.product, theme.secondary});
  terms(rows, snapshot, explained);
  Index others = 0;
  for (Index key = 0; key < std::ssize(sequence.keys); ++key)
    others += key != cell.key && visible(sequence, cell, key);
  rows.inWindow([&] { rows.section("OUTPUT OF THE HEAD", "Σ weight · v"); });
  outputLines(rows, pointer, explained, cell.key, others);
  selectedLine(rows, sequence, selected, previews, before);
  rows.inWindow([&] {
    const float entropy = attention::rowEntropy(sequence.probabilities()[cell.head].row(cell.query));
    rows.section("ROW OF “" + tokenText(sequence.queries, cell.query) + "”",
                 "entropy " + numberText(entropy, 3) + " nats");
    if (ImGui::IsItemHovered())
      hoverHelp(
          view, "entropy",
          "Entropy −Σ w·ln w of the row: 0 if one key has all the weight, ln n if n keys share it equally.");
    largestWeights(rows, scene, snapshot.config, sequence, cell);
    whatItDoes(rows, scene.look, snapshot, sequence, cell.head);
  });
}

}  // namespace

std::optional<WeightPlace> weightPlace(const Scene& scene, const Snapshot& snapshot) {
  const SequenceSnapshot* sequence = shownSequence(scene, &snapshot);
  const Cell cell = selectedCell(scene, snapshot);
  if (!sequence || cell.head >= snapshot.config.heads || cell.query >= sequence->queryLength ||
      cell.key >= sequence->keyLength)
    return std::nullopt;
  return WeightPlace{shownLayer(snapshot.setup), scene.cursor.sequence, cell,
                     tokenText(sequence->queries, cell.query), tokenText(sequence->keys, cell.key)};
}

void receiptPanel(Scene& scene, State& page, const Layout& layout) {
  rightPanel(page.view, layout, "receipt", {"heads", "cache"}, [&](Rows& rows) {
    if (const SequenceSnapshot* sequence = shownSequence(scene, page.snapshot.get()))
      return receipt(rows, scene, *page.snapshot, *sequence, page.receipt, page.before);
    rows.section("RECEIPT");
    rows.hint("Point at a cell to see its weight term by term.");
  });
}

}  // namespace headscope::app::heads_page
