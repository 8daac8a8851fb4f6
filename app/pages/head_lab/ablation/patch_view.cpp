#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/pages/head_lab/ablation/ablation_state.h"
#include "app/pages/head_lab/map_view.h"
#include "app/platform/track.h"
#include "app/widgets/paint.h"
#include "app/widgets/panel.h"
#include "app/widgets/text/text_box.h"
#include "app/widgets/text/token_labels.h"

namespace headscope::app::head_lab_page {

namespace {

/// Draws a pattern with its tokens; both patterns share the crosshair.
void pattern(Scene& scene, AblationState& ablation, const ImRect& area, const char* name,
             const std::string& title, const attention::Matrix& weights, const SequenceSnapshot& sequence) {
  View& view = ablation.page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  const Index n = weights.rows(), m = weights.cols();
  paintText(list, view.fonts->title, ImVec2(area.Min.x, area.Min.y + view.px(12)), view.theme->text,
            fitted(view.fonts->title, title, area.GetWidth()));
  const float labels = std::min(longestLabel(view, sequence.queries, view.px(90)) * 1.27f, view.px(110)) +
                       view.px(14),
              top = view.px(54), foot = view.px(64);
  const float wide = area.GetWidth() - labels, high = area.GetHeight() - top - foot;
  if (wide < view.px(40) || high < view.px(40)) return;
  const auto last = [](Index size) { return size - 1; };
  const Index query = std::min(view.hover.query >= 0 ? view.hover.query : scene.cursor.cell.query, last(n));
  const Index key = std::min(view.hover.key >= 0 ? view.hover.key : scene.cursor.cell.key, last(m));
  MapView map;
  map.name = name;
  map.rows = windowOf(n, static_cast<Index>(high / view.px(5)), query);
  map.cols = windowOf(m, static_cast<Index>(wide / view.px(5)), key);
  float size = std::min(
      {wide / static_cast<float>(map.cols.count), high / static_cast<float>(map.rows.count), view.px(40)});
  if (size >= 4) size = std::floor(size);
  const ImVec2 at(std::round(area.Min.x + labels), std::round(area.Min.y + top));
  map.cells = ImRect(at, ImVec2(at.x + size * static_cast<float>(map.cols.count),
                                at.y + size * static_cast<float>(map.rows.count)));
  map.litRow = query;
  map.litCol = key;
  map.rowColor = view.theme->query;
  map.colColor = view.theme->key;
  map.weights = true;
  paintMap(scene, ablation.page, map,
           weights.block(map.rows.first, map.cols.first, map.rows.count, map.cols.count));
  const MapHit hit = hitMap(map);
  if (hit.row >= 0) {
    view.nextHover.query = hit.row;
    view.nextHover.key = hit.col;
    if (hit.clicked) {
      scene.cursor.cell.query = hit.row;
      scene.cursor.cell.key = hit.col;
    }
  }
  rowNames(ablation.page, map, sequence.queries, labels);
  columnNames(ablation.page, map, sequence.keys);
  axisTitles(ablation.page, map);
  const float bar = view.px(90);
  if (area.Min.x + textWidth(view.fonts->title, title) + view.px(20) + bar < map.cells.Max.x)
    mapScale(scene, ablation.page, map, ImVec2(map.cells.Max.x, area.Min.y + view.px(20)), bar);
}

/// The pattern with masked cells marked, as in all pictures of heads.
attention::Matrix hatched(const SequenceSnapshot& sequence, Index head) {
  attention::Matrix weights = sequence.attention.weights[head];
  const attention::MatrixView scores = sequence.attention.scores[head];
  for (Index i = 0; i < weights.size(); ++i)
    if (scores.data()[i] == -std::numeric_limits<float>::infinity()) weights.data()[i] = scores.data()[i];
  return weights;
}

/// Draws how far each token's output moves.
void changes(const Scene& scene, const AblationState& ablation, const ImRect& area) {
  const View& view = ablation.page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const PatchStudy& study = *ablation.patch;
  const SequenceSnapshot& sequence = study.question.layer->sequence();
  float y = area.Min.y + view.px(12);
  paintText(list, view.fonts->title, ImVec2(area.Min.x, y), theme.text,
            fitted(view.fonts->title, "Change in the output", area.GetWidth()));
  y += view.px(26);
  const float heads = area.Max.x - view.px(90);
  paintText(list, view.fonts->small, ImVec2(heads, y), theme.secondary, "‖Δ head‖ / ‖head‖", Align::right);
  paintText(list, view.fonts->small, ImVec2(area.Max.x, y), theme.secondary, "output", Align::right);
  y += view.px(8);
  const Index n = sequence.queryLength;
  const float line =
      std::clamp((area.Max.y - y) / static_cast<float>(std::max<Index>(n, 1)), view.px(18), view.px(28));
  const Index lit =
      std::clamp<Index>(view.hover.query >= 0 ? view.hover.query : scene.cursor.cell.query, 0, n - 1);
  const auto room = std::max<Index>(1, static_cast<Index>((area.Max.y - y) / line));
  const VisibleCells rows = windowOf(n, room, lit);
  const float most = std::max(study.change.head(n).maxCoeff(), 1e-3f), names = view.px(110);
  for (Index i = rows.first; i < rows.end(); ++i) {
    const float middle = y + (static_cast<float>(i - rows.first) + 0.5f) * line;
    const std::uint32_t color = i == lit ? theme.text : theme.secondary;
    paintText(
        list, view.fonts->mono, ImVec2(area.Min.x + names - view.px(10), middle),
        i == lit ? theme.query : theme.secondary,
        fitted(view.fonts->mono, sequence.queries[static_cast<std::size_t>(i)].text, names - view.px(10)),
        Align::right);
    const float wide = std::max(0.0f, heads - view.px(80) - area.Min.x - names);
    list.AddRectFilled(
        ImVec2(area.Min.x + names, middle - view.px(5)),
        ImVec2(area.Min.x + names + std::max(1.0f, wide * study.change[i] / most), middle + view.px(5)),
        theme.value);
    paintText(list, view.fonts->mono, ImVec2(heads, middle), color,
              cellText(static_cast<double>(study.headChange[i])), Align::right);
    paintText(list, view.fonts->mono, ImVec2(area.Max.x, middle), color,
              cellText(static_cast<double>(study.change[i])), Align::right);
    track(fmt::format("patch.change.{}", i), ImVec2(area.Min.x, middle - line / 2),
          ImVec2(area.Max.x, middle + line / 2));
  }
}

}  // namespace

void patchView(Scene& scene, AblationState& ablation, const ImRect& area) {
  View& view = ablation.page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const float box = view.px(62);
  ImGui::SetCursorScreenPos(area.Min);
  ImGui::BeginChild("patch.box", ImVec2(std::min(area.GetWidth(), view.px(900)), box), false,
                    ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoScrollbar);
  textBox(view, "patch.text", scene.cursor.lab.patchText, 1,
          "Another text with the same number of tokens, to take the pattern from.");
  compat::endChild();
  const float y = area.Min.y + view.px(50);
  const bool failed = !ablation.patch.problem().empty() && !scene.cursor.lab.patchText.empty();
  if (failed)
    paintText(list, view.fonts->text, ImVec2(area.Min.x, y), theme.error,
              fitted(view.fonts->text, ablation.patch.problem(), area.GetWidth()));
  if (scene.cursor.lab.patchText.empty())
    return emptyMessage(view, area, "Type another text",
                        "Patching gives a head its attention pattern from another text of the same length, "
                        "while it keeps reading this text's values.",
                        "Use these words in reverse", "lab.patch_sample");
  if (!ablation.patch) return;
  const PatchStudy& study = *ablation.patch;
  const Index head = study.question.head;
  if (!failed)
    paintText(
        list, view.fonts->text, ImVec2(area.Min.x, y), theme.secondary,
        fitted(view.fonts->text, "Output = weights on the other text · V of this text.", area.GetWidth()));
  const float top = area.Min.y + box + view.px(14), space = view.px(28),
              each = (area.GetWidth() - 2 * space) / 3;
  const SequenceSnapshot& here = study.question.layer->sequence();
  const attention::Matrix own = hatched(here, head);
  const attention::Matrix others = hatched(study.sequence(), head);
  pattern(scene, ablation, ImRect(area.Min.x, top, area.Min.x + each, area.Max.y), "patch.own",
          fmt::format("Head {} on this text", head), own, here);
  pattern(scene, ablation, ImRect(area.Min.x + each + space, top, area.Min.x + 2 * each + space, area.Max.y),
          "patch.other", "… on the other text", others, study.sequence());
  changes(scene, ablation, ImRect(area.Max.x - each, top, area.Max.x, area.Max.y));
}

}  // namespace headscope::app::head_lab_page
