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

void alibiNotes(const Scene& scene, View& view) {
  const std::vector<float> slopes = attention::alibiSlopes(scene.setup.model.heads);
  const auto head =
      static_cast<std::size_t>(std::min<Index>(scene.cursor.cell.head, scene.setup.model.heads - 1));
  hint(view, fmt::format("ALiBi subtracts slope · |i − j| from each score. Head {} has slope {}; slopes "
                         "range from {} to {}.",
                         head, numberText(slopes[head], 3), numberText(slopes.front(), 3),
                         numberText(slopes.back(), 3)));
}

/// Draws each bucket's number as a bar, highlighting the bucket of the crosshair's pair.
void bucketBars(const Scene& scene, const attention::BucketBias& bias, View& view) {
  const attention::Matrix values = attention::t5Values(bias, scene.setup.model.heads);
  const Index head = std::min<Index>(scene.cursor.cell.head, values.rows() - 1);
  const Index query = view.hover.query >= 0 ? view.hover.query : scene.cursor.cell.query;
  const Index key = view.hover.key >= 0 ? view.hover.key : scene.cursor.cell.key;
  const Index lit = attention::t5Bucket(bias, query - key);
  const float most = std::max(1e-6f, values.row(head).cwiseAbs().maxCoeff());
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = view.px(64), middle = at.y + height / 2;
  const float each = width / static_cast<float>(bias.buckets);
  Canvas list = *ImGui::GetWindowDrawList();
  list.AddLine(ImVec2(at.x, middle), ImVec2(at.x + width, middle), view.theme->line);
  for (Index bucket = 0; bucket < bias.buckets; ++bucket) {
    const float x = at.x + each * static_cast<float>(bucket);
    const float y = middle - values(head, bucket) / most * height / 2;
    list.AddRectFilled(ImVec2(x, std::min(y, middle)),
                       ImVec2(x + std::max(1.0f, each - 1), std::max(y, middle) + 1),
                       bucket == lit ? view.theme->text : view.theme->faint);
  }
  ImGui::Dummy(ImVec2(width, height + view.px(4)));
  hint(view, fmt::format("Distance {} falls into bucket {} of {}, which adds {}. Values are drawn from a "
                         "normal distribution with the weight seed; a trained model learns them.",
                         query - key, lit, bias.buckets, numberText(values(head, lit), 3)));
}

void t5Controls(Scene& scene, const Snapshot* snapshot, View& view) {
  ModelSetup& model = scene.setup.model;
  static const std::vector<Index> kBuckets{4, 8, 16, 32, 64, 128};
  std::vector<Index> distances;
  for (Index d = 16; d <= kMaxTokens; d *= 2)
    if (d > model.t5Buckets / 2) distances.push_back(d);
  if (std::find(distances.begin(), distances.end(), model.t5Distance) == distances.end())
    distances.insert(std::upper_bound(distances.begin(), distances.end(), model.t5Distance),
                     model.t5Distance);
  if (fieldSlider(view, scene, "model.t5_buckets", {"", kBuckets}))
    model.t5Distance = std::max(model.t5Distance, std::max<Index>(16, model.t5Buckets));
  const auto refuse = [&](Index wanted) {
    return wanted > model.t5Buckets / 2
               ? ""
               : fmt::format("The nearest distances have one bucket each: expected more than {}.",
                             model.t5Buckets / 2);
  };
  fieldSlider(view, scene, "model.t5_distance", {"", distances, refuse});
  fieldSlider(view, scene, "model.t5_strength");
  if (snapshot && snapshot->config.t5) bucketBars(scene, *snapshot->config.t5, view);
}

/// Draws c·tanh(s/c) with the range of the head's own scores marked.
void capCurve(const Scene& scene, const SequenceSnapshot& sequence, View& view) {
  const float cap = scene.setup.model.softcap;
  const auto head = static_cast<std::size_t>(
      std::min<Index>(scene.cursor.cell.head, static_cast<Index>(sequence.pictures.maxScore.size()) - 1));
  const float low = sequence.pictures.minScore[head], high = sequence.pictures.maxScore[head];
  const float range = std::max({2 * cap, std::abs(low), std::abs(high)});
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = view.px(110);
  Canvas list = *ImGui::GetWindowDrawList();
  const auto x = [&](float score) { return at.x + width * (score / range + 1) / 2; };
  const auto y = [&](float score) { return at.y + height * (1 - score / (1.15f * cap)) / 2; };
  list.AddLine(ImVec2(at.x, y(0)), ImVec2(at.x + width, y(0)), view.theme->line);
  list.AddLine(ImVec2(x(0), at.y), ImVec2(x(0), at.y + height), view.theme->line);
  for (const float end : {cap, -cap})
    paintDashed(list, {ImVec2(at.x, y(end)), ImVec2(at.x + width, y(end))}, Dash::dashed, view.theme->faint,
                1, view.unit);
  std::vector<ImVec2> points;
  for (int i = 0; i <= 96; ++i) {
    const float score = range * (static_cast<float>(i) / 48 - 1);
    points.emplace_back(x(score), y(cap * std::tanh(score / cap)));
  }
  paintDashed(list, points, Dash::solid, view.theme->text, std::max(1.5f, view.px(1.5f)), view.unit);
  ImGui::Dummy(ImVec2(width, height + view.px(4)));
  hint(view, "c·tanh(s/c) keeps scores within ±" + numberText(cap, 3) +
                 "; this head's capped scores range from " + numberText(low, 3) + " to " +
                 numberText(high, 3) + ".");
}

void additiveControls(Scene& scene, View& view) {
  const attention::Matrix& additive = scene.setup.mask.additive->values;
  const bool any = additive.size() > 0 && !additive.isZero(0);
  if (any)
    hint(view, "Values from " + numberText(additive.minCoeff(), 3) + " to " +
                   numberText(additive.maxCoeff(), 3) + " are added to every head's scores.");
  else
    hint(view, "No values yet. Paint them on the map with the brush, or load a matrix.");
  if (button(view, "additive_load", "Load file…")) view.request("mask.open");
  ImGui::SameLine(0, view.px(8));
  if (button(view, "additive_clear", "Clear", any ? "" : "Nothing to clear")) scene.setup.mask.additive = {};
}

}  // namespace

void biasSections(Rows& rows, Scene& scene, const Snapshot* snapshot) {
  View& view = rows.view();
  rows.section("POSITION BIAS");
  biasPositionChoice(scene, view);
  const PositionKind position = scene.setup.model.position;
  if (position == PositionKind::alibi) alibiNotes(scene, view);
  if (position == PositionKind::t5) t5Controls(scene, snapshot, view);
  if (scene.setup.weights.source == WeightSource::planted &&
      (position == PositionKind::alibi || position == PositionKind::t5))
    rows.hint("Planted offset heads need sinusoids, which these biases replace.");
  rows.section("SOFT-CAP", scene.setup.model.softcap > 0 ? "c·tanh(s/c)" : "off");
  rows.slider(scene, "model.softcap");
  const SequenceSnapshot* sequence = shownSequence(scene, snapshot);
  if (scene.setup.model.softcap > 0 && sequence) capCurve(scene, *sequence, view);
  rows.section("ADDITIVE MATRIX");
  additiveControls(scene, view);
}

namespace {

/// The change of the output relative to its size, as text; "∞" if the output was zero before.
std::string changeText(float change) {
  return std::isinf(change) ? "∞" : percentText(static_cast<double>(change));
}

/// Draws a bar per head: the mean share of its rows' weight that moves to other keys.
void headBars(Scene& scene, const SequenceSnapshot& sequence, View& view) {
  const attention::Matrix& moved = sequence.other->comparison.movedMass;
  const Index rows = std::max<Index>(1, sequence.queryLength);
  Canvas list = *ImGui::GetWindowDrawList();
  const float width = ImGui::GetContentRegionAvail().x;
  const float height = view.px(moved.rows() <= 16 ? 22 : moved.rows() <= 32 ? 15 : 10);
  for (Index head = 0; head < moved.rows(); ++head) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const std::string name = fmt::format("moved.{}", head);
    if (hitArea(name, ImVec2(width, height))) scene.cursor.cell.head = head;
    const bool lit = head == scene.cursor.cell.head || ImGui::IsItemHovered();
    const float mean = moved.row(head).head(rows).mean(), y = at.y + height / 2, half = height * 0.28f;
    const float from = at.x + view.px(34), to = at.x + width - view.px(62);
    if (height > view.px(12))
      paintText(list, view.fonts->monoSmall, ImVec2(at.x, y), lit ? view.theme->text : view.theme->secondary,
                std::to_string(head));
    list.AddRectFilled(ImVec2(from, y - half), ImVec2(to, y + half), view.theme->raised, half);
    if (mean > 0)
      list.AddRectFilled(ImVec2(from, y - half),
                         ImVec2(from + std::max(2 * half, mean * (to - from)), y + half),
                         lit ? view.theme->text : view.theme->secondary, half);
    if (height > view.px(12))
      paintText(list, view.fonts->monoSmall, ImVec2(at.x + width, y),
                lit ? view.theme->text : view.theme->secondary, percentText(static_cast<double>(mean)),
                Align::right);
  }
}

/// Draws the moved share of each row of the shown head as a bar chart, with the highlighted row in colour.
void rowProfile(Scene& scene, const SequenceSnapshot& sequence, View& view, Index head, Index lit) {
  const attention::Matrix& moved = sequence.other->comparison.movedMass;
  const Index rows = sequence.queryLength;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = view.px(54);
  hitArea("row_profile", ImVec2(width, height));
  Canvas list = *ImGui::GetWindowDrawList();
  list.AddLine(ImVec2(at.x, at.y + height), ImVec2(at.x + width, at.y + height), view.theme->line);
  const float each = width / static_cast<float>(rows);
  for (Index row = 0; row < rows; ++row) {
    const float x = at.x + each * static_cast<float>(row), tall = height * moved(head, row);
    list.AddRectFilled(ImVec2(x, at.y + height - std::max(1.0f, tall)),
                       ImVec2(x + std::max(1.0f, each - 1), at.y + height),
                       row == lit ? view.theme->query : view.theme->faint);
  }
  if (!ImGui::IsItemHovered()) return;
  const auto row = static_cast<Index>((ImGui::GetIO().MousePos.x - at.x) / each);
  view.nextHover.query = std::clamp<Index>(row, 0, rows - 1);
  if (ImGui::IsMouseClicked(0)) scene.cursor.cell.query = view.nextHover.query;
}

}  // namespace

void compareSections(Rows& rows, Scene& scene, const Snapshot* snapshot, State& page) {
  View& view = rows.view();
  const SequenceSnapshot* sequence = shownSequence(scene, snapshot);
  rows.section("CHANGE FROM A TO B");
  if (!sequence || !sequence->other)
    return rows.hint(scene.setup.mask.compare ? "Computing…" : "Add a second mask to see what it changes.");
  const attention::MaskComparison& comparison = sequence->other->comparison;
  const Index head = std::clamp<Index>(scene.cursor.cell.head, 0, comparison.movedMass.rows() - 1);
  const Index hovered = view.hover.query >= 0 ? view.hover.query : scene.cursor.cell.query;
  const Index query = std::clamp<Index>(hovered, 0, sequence->queryLength - 1);
  const auto share = [](float value) { return percentText(static_cast<double>(value)); };
  const auto change = [](float nats) { return (nats > 0 ? "+" : "") + numberText(nats, 3) + " nats"; };
  rows.hint("Share of each head's weight that moves: ½ Σ|B − A| per row, mean over rows");
  headBars(scene, *sequence, view);
  rows.section(fmt::format("ROWS OF HEAD {}", head), "moved, 0 to 100 %");
  rowProfile(scene, *sequence, view, head, query);
  const std::string word =
      fitted(view.fonts->smallBold, sequence->queries[static_cast<std::size_t>(query)].text, view.px(110));
  rows.section("ROW OF “" + word + "”", fmt::format("query {}", query));
  rows.pair("Weight moved", share(comparison.movedMass(head, query)));
  rows.pair("Entropy", change(comparison.entropyChange(head, query)));
  rows.pair("Head output", changeText(comparison.outputChange(head, query)));
  rows.section(fmt::format("HEAD {}, MEAN", head));
  rows.pair("Weight moved", share(comparison.movedMass.row(head).head(sequence->queryLength).mean()));
  rows.pair("Entropy", change(comparison.entropyChange.row(head).head(sequence->queryLength).mean()));
  exportSection(rows, scene, page);
}

}  // namespace headscope::app::mask_page
