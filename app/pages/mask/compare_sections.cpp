#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/pages/mask/mask_state.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app::mask_page {

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
