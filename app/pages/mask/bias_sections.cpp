#include <fmt/core.h>

#include "app/pages/mask/mask_page.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"
#include "app/widgets/plot.h"
#include "attention/core/positions.h"

namespace headscope::app::mask_page {

namespace {

void biasPositionChoice(Scene& scene, View& view) {
  // Only the kinds that add to the scores. Sinusoids and RoPE act on the embeddings and on Q and K.
  static const std::vector<Choice> kBiases{
      {"None", "", "none"}, {"ALiBi", "", "alibi"}, {"T5 buckets", "", "t5"}};
  PositionKind& position = scene.setup.model.position;
  int chosen = position == PositionKind::alibi ? 1 : position == PositionKind::t5 ? 2 : 0;
  if (segmented(view, "bias_position", kBiases, chosen, fieldAt("model.position").help))
    position = chosen == 1 ? PositionKind::alibi : chosen == 2 ? PositionKind::t5 : PositionKind::sinusoidal;
}

void alibiNotes(Rows& rows, const Scene& scene) {
  const std::vector<float> slopes = attention::alibiSlopes(scene.setup.model.heads);
  const auto head =
      static_cast<std::size_t>(std::min<Index>(scene.cursor.cell.head, scene.setup.model.heads - 1));
  rows.hint(fmt::format(
      "ALiBi subtracts slope · |i − j| from each score. Head {} has slope {}; slopes "
      "range from {} to {}.",
      head, numberText(slopes[head], 3), numberText(slopes.front(), 3), numberText(slopes.back(), 3)));
}

/// Draws values from −most to most as bars around a middle line: the selected one bright, the hovered one
/// less.
void signedBars(Rows& rows, const attention::Vector& values, float most, Index selected, Index hovered) {
  const ImRect area = rows.area("", 64);
  const float each = area.GetWidth() / static_cast<float>(values.size()), middle = area.GetCenter().y;
  Canvas list = *ImGui::GetWindowDrawList();
  list.AddLine(ImVec2(area.Min.x, middle), ImVec2(area.Max.x, middle), rows.theme().line);
  for (Index i = 0; i < values.size(); ++i) {
    const float x = area.Min.x + each * static_cast<float>(i);
    const float y = middle - values[i] / most * area.GetHeight() / 2;
    list.AddRectFilled(ImVec2(x, std::min(y, middle)),
                       ImVec2(x + std::max(1.0f, each - 1), std::max(y, middle) + 1),
                       i == selected  ? rows.theme().text
                       : i == hovered ? rows.theme().secondary
                                      : rows.theme().faint);
  }
}

/// Draws each bucket's number as a bar, and says which one the pair of query and key falls into.
void bucketBars(Rows& rows, const Scene& scene, const attention::BucketBias& bias) {
  const attention::Matrix values = attention::t5Values(bias, scene.setup.model.heads);
  const Cell &selected = scene.cursor.cell, cell = rows.view().previewed(selected);
  const Index head = std::min<Index>(selected.head, values.rows() - 1);
  const auto bucketOf = [&](const Cell& of) { return attention::t5Bucket(bias, of.query - of.key); };
  const Index bucket = bucketOf(cell);
  signedBars(rows, values.row(head), std::max(1e-6f, values.row(head).cwiseAbs().maxCoeff()),
             bucketOf(selected), bucket);
  rows.hint(
      fmt::format("Distance {} falls into bucket {} of {}, which adds {}. Values are drawn from a "
                  "normal distribution with the weight seed; a trained model learns them.",
                  cell.query - cell.key, bucket, bias.buckets, numberText(values(head, bucket), 3)));
  if (cell != selected)
    rows.hint(
        fmt::format("Selected: distance {}, bucket {}", selected.query - selected.key, bucketOf(selected)),
        "receipt.selected");
}

void t5Controls(Rows& rows, Scene& scene, const Snapshot* snapshot) {
  ModelSetup& model = scene.setup.model;
  static const std::vector<Index> kBuckets{4, 8, 16, 32, 64, 128};
  std::vector<Index> distances;
  for (Index d = 16; d <= kMaxTokens; d *= 2)
    if (d > model.t5Buckets / 2) distances.push_back(d);
  if (std::find(distances.begin(), distances.end(), model.t5Distance) == distances.end())
    distances.insert(std::upper_bound(distances.begin(), distances.end(), model.t5Distance),
                     model.t5Distance);
  if (rows.slider(scene, "model.t5_buckets", {"", kBuckets}))
    model.t5Distance = std::max(model.t5Distance, std::max<Index>(16, model.t5Buckets));
  const auto refuse = [&](Index wanted) {
    return wanted > model.t5Buckets / 2
               ? ""
               : fmt::format("The nearest distances have one bucket each: expected more than {}.",
                             model.t5Buckets / 2);
  };
  rows.slider(scene, "model.t5_distance", {"", distances, refuse});
  rows.slider(scene, "model.t5_strength");
  if (snapshot && snapshot->config.t5) bucketBars(rows, scene, *snapshot->config.t5);
}

/// Draws c·tanh(s/c) with the range of the head's own scores marked.
void capCurve(Rows& rows, const Scene& scene, const SequenceSnapshot& sequence) {
  const View& view = rows.view();
  const Theme& theme = rows.theme();
  const float cap = scene.setup.model.softcap;
  const auto head = static_cast<std::size_t>(
      std::min<Index>(scene.cursor.cell.head, std::ssize(sequence.pictures.maxScore) - 1));
  const float low = sequence.pictures.minScore[head], high = sequence.pictures.maxScore[head];
  const float range = std::max({2 * cap, std::abs(low), std::abs(high)});
  const ImRect area = rows.area("", 110);
  Canvas list = *ImGui::GetWindowDrawList();
  const auto at = [&](float score, float value) {
    return ImVec2(area.Min.x + area.GetWidth() * (score / range + 1) / 2,
                  area.Min.y + area.GetHeight() * (1 - value / (1.15f * cap)) / 2);
  };
  list.AddLine(at(-range, 0), at(range, 0), theme.line);
  list.AddLine(at(0, 1.15f * cap), at(0, -1.15f * cap), theme.line);
  for (const float end : {cap, -cap})
    paintDashed(list, {at(-range, end), at(range, end)}, Dash::dashed, theme.faint, 1, view.unit);
  std::vector<ImVec2> points;
  for (int i = 0; i <= 96; ++i) {
    const float score = range * (static_cast<float>(i) / 48 - 1);
    points.push_back(at(score, cap * std::tanh(score / cap)));
  }
  paintDashed(list, points, Dash::solid, theme.text, std::max(1.5f, view.px(1.5f)), view.unit);
  rows.hint("c·tanh(s/c) keeps scores within ±" + numberText(cap, 3) +
            "; this head's capped scores range from " + numberText(low, 3) + " to " + numberText(high, 3) +
            ".");
}

void additiveControls(Rows& rows, Scene& scene) {
  const attention::Matrix& additive = scene.setup.mask.additive->values;
  const bool any = additive.size() > 0 && !additive.isZero(0);
  rows.hint(any ? "Values from " + numberText(additive.minCoeff(), 3) + " to " +
                      numberText(additive.maxCoeff(), 3) + " are added to every head's scores."
                : "No values yet. Paint them on the map with the brush, or load a matrix.");
  rows.action("additive_load", "Load file…", "mask.open");
  ImGui::SameLine();
  if (button(rows.view(), "additive_clear", "Clear", any ? "" : "Nothing to clear"))
    scene.setup.mask.additive = {};
}

}  // namespace

void biasSections(Rows& rows, Scene& scene, const Snapshot* snapshot) {
  const Cell& selected = scene.cursor.cell;
  const bool buckets = scene.setup.model.position == PositionKind::t5;
  rows.section("POSITION BIAS", receiptNote("", buckets && rows.view().previewed(selected) != selected));
  biasPositionChoice(scene, rows.view());
  const PositionKind position = scene.setup.model.position;
  if (position == PositionKind::alibi) alibiNotes(rows, scene);
  if (position == PositionKind::t5) t5Controls(rows, scene, snapshot);
  if (scene.setup.weights.source == WeightSource::planted &&
      (position == PositionKind::alibi || position == PositionKind::t5))
    rows.hint("Planted offset heads need sinusoids, which these biases replace.");
  rows.section("SOFT-CAP", scene.setup.model.softcap > 0 ? "c·tanh(s/c)" : "off");
  rows.slider(scene, "model.softcap");
  const SequenceSnapshot* sequence = shownSequence(scene, snapshot);
  if (scene.setup.model.softcap > 0 && sequence) capCurve(rows, scene, *sequence);
  rows.section("ADDITIVE MATRIX");
  additiveControls(rows, scene);
}

namespace {

/// A bar per head: the mean share of its rows' weight that moves to other keys.
void headBars(Rows& rows, Scene& scene, const SequenceSnapshot& sequence) {
  const Theme& theme = rows.theme();
  const attention::Matrix& moved = sequence.other->comparison.movedMass;
  const Index queries = std::max<Index>(1, sequence.queryLength);
  for (Index head = 0; head < moved.rows(); ++head) {
    const auto mean = static_cast<double>(moved.row(head).head(queries).mean());
    const std::uint32_t ink = head == scene.cursor.cell.head ? theme.text : theme.secondary;
    if (rows.bar(fmt::format("moved.{}", head), std::to_string(head), mean, percentText(mean),
                 {.ink = ink,
                  .color = ink,
                  .label = 34,
                  .height = moved.rows() <= 16   ? 22.0f
                            : moved.rows() <= 32 ? 15.0f
                                                 : 10.0f}))
      scene.cursor.cell.head = head;
  }
}

/// Draws the moved share of each row of the shown head as a bar chart: the selected row in colour, the
/// hovered one brighter than the others.
void rowProfile(Rows& rows, Scene& scene, const SequenceSnapshot& sequence, Index head) {
  const ImRect area = rows.area("", 54);
  hitArea("row_profile", area);
  Canvas list = *ImGui::GetWindowDrawList();
  list.AddLine(ImVec2(area.Min.x, area.Max.y), area.Max, rows.theme().line);
  const float each = area.GetWidth() / static_cast<float>(sequence.queryLength);
  for (Index row = 0; row < sequence.queryLength; ++row) {
    const float x = area.Min.x + each * static_cast<float>(row);
    const float tall = area.GetHeight() * sequence.other->comparison.movedMass(head, row);
    list.AddRectFilled(ImVec2(x, area.Max.y - std::max(1.0f, tall)),
                       ImVec2(x + std::max(1.0f, each - 1), area.Max.y),
                       row == scene.cursor.cell.query   ? rows.theme().query
                       : row == rows.view().hover.query ? rows.theme().text
                                                        : rows.theme().faint);
  }
  if (!ImGui::IsItemHovered()) return;
  const auto row = static_cast<Index>((ImGui::GetIO().MousePos.x - area.Min.x) / each);
  rows.view().nextHover.query = std::clamp<Index>(row, 0, sequence.queryLength - 1);
  if (ImGui::IsMouseClicked(0)) scene.cursor.cell.query = rows.view().nextHover.query;
}

}  // namespace

void compareSections(Rows& rows, Scene& scene, const Snapshot* snapshot, State& page) {
  const SequenceSnapshot* sequence = shownSequence(scene, snapshot);
  rows.section("CHANGE FROM A TO B");
  if (!sequence || !sequence->other)
    return rows.hint(scene.setup.mask.compare ? "Computing…" : "Add a second mask to see what it changes.");
  const attention::MaskComparison& comparison = sequence->other->comparison;
  const Cell& selected = scene.cursor.cell;
  const Index head = std::clamp<Index>(selected.head, 0, comparison.movedMass.rows() - 1);
  const Index query = std::clamp<Index>(rows.view().previewed(selected).query, 0, sequence->queryLength - 1);
  const bool previews = query != selected.query;
  const auto share = [](float value) { return percentText(static_cast<double>(value)); };
  const auto change = [](float nats) { return (nats > 0 ? "+" : "") + numberText(nats, 3) + " nats"; };
  const float output = comparison.outputChange(head, query);
  rows.hint("Share of each head's weight that moves: ½ Σ|B − A| per row, mean over rows");
  headBars(rows, scene, *sequence);
  rows.section(fmt::format("ROWS OF HEAD {}", head), "moved, 0 to 100 %");
  rowProfile(rows, scene, *sequence, head);
  rows.section("ROW OF " + tokenOrPosition(sequence->queries, query),
               receiptNote(fmt::format("query {}", query), previews));
  rows.pair("Weight moved", share(comparison.movedMass(head, query)));
  rows.pair("Entropy", change(comparison.entropyChange(head, query)));
  // Relative to its size; without limit if the output was zero before.
  rows.pair("Head output", std::isinf(output) ? "∞" : share(output));
  if (previews)
    rows.hint(fmt::format("Selected: {}, query {}", tokenOrPosition(sequence->queries, selected.query),
                          selected.query),
              "receipt.selected");
  rows.section(fmt::format("HEAD {}, MEAN", head));
  rows.pair("Weight moved", share(comparison.movedMass.row(head).head(sequence->queryLength).mean()));
  rows.pair("Entropy", change(comparison.entropyChange.row(head).head(sequence->queryLength).mean()));
  exportSection(rows, scene, page);
}

}  // namespace headscope::app::mask_page
