#include <fmt/core.h>

#include "app/kit/table.h"
#include "app/pages/head_lab/ablation/ablation_state.h"
#include "app/pages/head_lab/map_view.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/heat_parts.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/draw_text.h"
#include "app/widgets/text/text_box.h"
#include "attention/core/extremes.h"

namespace headscope::app::head_lab_page {

namespace {

/// A plane that shows all values and outputs.
PlaneView hullPlane(const HullStudy& study, const ImRect& area, float margin) {
  const Eigen::RowVectorXf low =
      study.values.colwise().minCoeff().cwiseMin(study.outputs.colwise().minCoeff());
  const Eigen::RowVectorXf high =
      study.values.colwise().maxCoeff().cwiseMax(study.outputs.colwise().maxCoeff());
  const float wide = std::max(high[0] - low[0], 1e-20f), tall = std::max(high[1] - low[1], 1e-20f);
  return {area, std::min((area.GetWidth() - 2 * margin) / wide, (area.GetHeight() - 2 * margin) / tall),
          ImVec2((low[0] + high[0]) / 2, (low[1] + high[1]) / 2)};
}

std::vector<ImVec2> cornersOf(const HullStudy& study, const PlaneView& plane) {
  std::vector<ImVec2> corners;
  for (auto corner = study.corners.rbegin(); corner != study.corners.rend(); ++corner)
    corners.push_back(plane.pixel(study.values(*corner, 0), study.values(*corner, 1)));
  return corners;
}

void paintHull(const View& view, const HullStudy& study, const PlaneView& plane) {
  Canvas list = *ImGui::GetWindowDrawList();
  const Theme& theme = *view.theme;
  const std::vector<ImVec2> corners = cornersOf(study, plane);
  if (corners.size() >= 3)
    list.AddConvexPolyFilled(corners.data(), static_cast<int>(corners.size()), faded(theme.value, 0.10f));
  for (std::size_t i = 0; i < corners.size() && corners.size() >= 2; ++i)
    list.AddLine(corners[i], corners[(i + 1) % corners.size()], theme.value, view.px(1.5f));
}

/// The radius of a key's dot; its area grows with the weight.
float radiusOf(const View& view, float weight) {
  return view.px(2.5f + 20 * std::sqrt(std::clamp(weight, 0.0f, 1.0f)));
}

/// Draws the output's name and, as far as they fit, the values' names, largest weights first. `key`: the
/// selected one.
void paintNames(const AblationState& ablation, const PlaneView& plane, const std::vector<Index>& order,
                Index key) {
  const View& view = ablation.page.view;
  const Theme& theme = *view.theme;
  const HullStudy& study = *ablation.hull;
  const SequenceSnapshot& sequence = study.question.layer->sequence();
  const auto at = [&](Index j) { return plane.pixel(study.values(j, 0), study.values(j, 1)); };
  const auto seen = [&](Index j) { return study.visible[static_cast<std::size_t>(j)]; };
  const auto radius = [&](Index j) { return seen(j) ? radiusOf(view, study.weights[j]) : view.px(3.5f); };
  const ImVec2 out =
      plane.pixel(study.outputs(study.question.query, 0), study.outputs(study.question.query, 1));
  PointNames names(view, plane.area);
  names.paintAxes(fmt::format("PC 1 · {}", percentText(study.plane.firstShare)),
                  fmt::format("PC 2 · {} of the values' variance", percentText(study.plane.secondShare)));
  for (const Index j : order) names.keepClear(at(j), std::min(radius(j), view.px(6)));
  names.keepClear(out, view.px(8));
  // A name may cover a large disc only if no other place is free.
  for (const Index j : order) names.keepOffDisc(at(j), radius(j));
  const std::vector<ImVec2> corners = cornersOf(study, plane);
  for (std::size_t i = 0; i < corners.size(); ++i)
    names.keepOff(corners[i], corners[(i + 1) % corners.size()]);
  const std::string& outName = sequence.queries[static_cast<std::size_t>(study.question.query)].text;
  // If the output lies on the disc of a value that dominates it, the name goes next to that disc.
  float clear = view.px(9);
  for (const Index j : order)
    if (const float away = std::hypot(at(j).x - out.x, at(j).y - out.y); away < radius(j))
      clear = std::max(clear, away + radius(j));
  names.paint(out, clear, fitted(view.fonts->mono, "output of " + outName, view.px(180)), theme.query);
  for (const Index j : order)
    names.paint(at(j), radius(j),
                fitted(view.fonts->mono, sequence.keys[static_cast<std::size_t>(j)].text, view.px(110)),
                !seen(j)   ? theme.secondary
                : j == key ? theme.key
                           : theme.text);
}

/// Draws values and output with their names. Returns the hovered key; −1 = none.
Index paintPoints(const Scene& scene, const AblationState& ablation, const PlaneView& plane) {
  const View& view = ablation.page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const HullStudy& study = *ablation.hull;
  const SequenceSnapshot& sequence = study.question.layer->sequence();
  const Index key = scene.cursor.cell.key;
  const ImVec2 out =
      plane.pixel(study.outputs(study.question.query, 0), study.outputs(study.question.query, 1));
  std::vector<Index> order;
  for (Index j = 0; j < sequence.keyLength; ++j) order.push_back(j);
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return attention::descends(study.weights[a], study.weights[b]); });
  // A line from the output to each contributing value, as strong as its weight.
  for (const Index j : order)
    if (study.weights[j] > 0.005f)
      list.AddLine(out, plane.pixel(study.values(j, 0), study.values(j, 1)),
                   faded(theme.value, 0.15f + 0.6f * study.weights[j]), view.px(1 + 3 * study.weights[j]));
  Index pointed = -1;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  float nearest = view.px(16);
  for (const Index j : order) {
    const ImVec2 at = plane.pixel(study.values(j, 0), study.values(j, 1));
    const float radius = radiusOf(view, study.weights[j]);
    const bool seen = study.visible[static_cast<std::size_t>(j)];
    const std::uint32_t color = j == key ? theme.key : theme.value;
    if (seen) {
      list.AddCircleFilled(at, radius, faded(color, 0.55f), 32);
      list.AddCircle(at, radius, color, 32, view.px(1.2f));
    } else {
      list.AddCircle(at, view.px(3.5f), theme.faint, 16, view.px(1.2f));
    }
    if (j == view.hover.key && j != key) {
      const ImVec2 half = ImVec2(1, 1) * (seen ? radius : view.px(3.5f));
      paintGhost(view, list, "ghost", {at - half, at + half}, theme.key);
    }
    track(fmt::format("hull.value.{}", j), ImVec2(at.x - 3, at.y - 3), ImVec2(at.x + 3, at.y + 3));
    const float away = std::hypot(at.x - mouse.x, at.y - mouse.y);
    if (away < nearest) {
      nearest = away;
      pointed = j;
    }
  }
  // The output is a diamond, so that it differs from values by more than colour.
  const float r = view.px(8);
  const ImVec2 diamond[] = {{out.x, out.y - r}, {out.x + r, out.y}, {out.x, out.y + r}, {out.x - r, out.y}};
  list.AddConvexPolyFilled(diamond, 4, theme.query);
  list.AddPolyline(diamond, 4, theme.background, ImDrawFlags_Closed, view.px(1.5f));
  track("hull.output", ImVec2(out.x - r, out.y - r), ImVec2(out.x + r, out.y + r));
  paintNames(ablation, plane, order, key);
  return pointed;
}

/// Draws the keys with the largest weights as bars.
void weightBars(Scene& scene, AblationState& ablation, const ImRect& area) {
  View& view = ablation.page.view;
  const Theme& theme = *view.theme;
  const HullStudy& study = *ablation.hull;
  const SequenceSnapshot& sequence = study.question.layer->sequence();
  std::vector<Index> order;
  for (Index j = 0; j < sequence.keyLength; ++j)
    if (study.visible[static_cast<std::size_t>(j)]) order.push_back(j);
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return attention::descends(study.weights[a], study.weights[b]); });
  const Cell cell = scene.cursor.cell;
  TableView table(
      view, area,
      {.columns = {{"", 120}, {""}, {"", 64}}, .rows = std::ssize(order), .least = 26, .most = 26});
  for (Index row = 0; row < std::ssize(order); ++row) {
    const Index j = order[static_cast<std::size_t>(row)];
    if (!table.row(row, fmt::format("hull.weight.{}", j), {.key = std::to_string(j)})) break;
    const std::uint32_t color = j == cell.key ? theme.key : theme.text;
    table.figure(sequence.keys[static_cast<std::size_t>(j)].text, color);
    table.bar(study.weights[j], j == cell.key ? theme.key : theme.value);
    table.figure(weightText(study.weights[j]), color);
  }
  if (view.hover.key >= 0 && view.hover.key != cell.key)
    paintGhostOf(view, fmt::format("hull.weight.{}", view.hover.key));
  if (!table.hovered()) return;
  view.nextHover.key = order[static_cast<std::size_t>(table.hovered()->row)];
  if (table.clicked()) choose(scene.cursor, {cell.head, cell.query, view.nextHover.key});
}

/// Draws the plane of the values and the output; a click selects a key.
void hull(Scene& scene, AblationState& ablation, const ImRect& area) {
  View& view = ablation.page.view;
  Canvas(*ImGui::GetWindowDrawList()).AddRectFilled(area.Min, area.Max, view.theme->panel, view.px(4));
  const PlaneView plane = hullPlane(*ablation.hull, area, view.px(60));
  const bool clicked = hitArea("hull.plane", area);
  const bool hovered = ImGui::IsItemHovered();
  paintHull(view, *ablation.hull, plane);
  const Index pointed = paintPoints(scene, ablation, plane);
  if (!hovered || pointed < 0) return;
  view.nextHover.key = pointed;
  if (clicked) choose(scene.cursor, {scene.cursor.cell.head, scene.cursor.cell.query, pointed});
}

}  // namespace

void hullView(Scene& scene, AblationState& ablation, Board& board) {
  if (!ablation.hull) return;
  const HullStudy& study = *ablation.hull;
  constexpr PartWidth kWidths[] = {{260, 0.66f}, {180, 0.34f}};
  board.columns(kWidths, 32, [&](std::size_t i, Board& part) {
    if (i == 0) {
      part.picture("", {180, 400, 1},
                   [&scene, &ablation](const ImRect& area) { hull(scene, ablation, area); });
      return;
    }
    const Fonts& fonts = *board.view().fonts;
    part.words({fmt::format("Head {}: the output lies among its values", study.question.head),
                fmt::format("Head {}: a mean of values", study.question.head)},
               {"", board.theme().text});
    part.paragraph(
            fonts.text,
            !study.mixes ? "Weights here don't sum to 1 (dropout is on, or no key is visible), so the output "
                           "may lie outside the hull."
            : study.outside <= 1e-5 * std::max(study.size, 1e-30)
                ? "Weights between 0 and 1 that sum to 1 can't leave the convex hull of the visible values, "
                  "so the output lies inside."
                : fmt::format("The output lies {} outside the hull.", numberText(study.outside, 3)))
        .leaves(2);
    part.picture("", {80, 300, 1},
                 [&scene, &ablation](const ImRect& area) { weightBars(scene, ablation, area); })
        .leaves(1);
  });
}

namespace {

/// The pattern with masked cells marked, as in all pictures of heads.
attention::Matrix hatched(const SequenceSnapshot& sequence, Index head) {
  attention::Matrix weights = sequence.attention.weights[head];
  const attention::MatrixView scores = sequence.attention.scores[head];
  for (Index i = 0; i < weights.size(); ++i)
    if (scores.data()[i] == -std::numeric_limits<float>::infinity()) weights.data()[i] = scores.data()[i];
  return weights;
}

/// Adds a pattern with its tokens; both patterns share the crosshair.
void pattern(Scene& scene, AblationState& ablation, Board& board, const char* name, const std::string& title,
             const SequenceSnapshot& sequence) {
  board.title(title);
  board.picture("", {160, 400, 1}, [&scene, &ablation, &sequence, name](const ImRect& area) {
    State& page = ablation.page;
    const View& view = page.view;
    const float labels = rowNamesRoom(view, sequence.queries, 90);
    const ImRect space(area.Min + ImVec2(labels, view.px(34)), area.Max - ImVec2(0, view.px(64)));
    if (space.GetWidth() < view.px(40) || space.GetHeight() < view.px(40)) return;
    const attention::Matrix weights = hatched(sequence, ablation.patch->question.head);
    MapView map = tokenMap(scene, page, name, space, weights.rows(), weights.cols(), {.least = 5});
    map.weights = true;
    paintTokenMap(scene, page, map, weights, sequence, labels);
    chooseCell(scene, page, hitMap(map));
    mapScale(scene, page, map, map.cells.GetTR() - ImVec2(0, view.px(20)),
             std::min(view.px(90), map.cells.GetWidth()));
  });
}

/// Draws how far each token's output moves.
void changes(const Scene& scene, const AblationState& ablation, const ImRect& area) {
  View& view = ablation.page.view;
  const Theme& theme = *view.theme;
  const PatchStudy& study = *ablation.patch;
  const SequenceSnapshot& sequence = study.question.layer->sequence();
  const Index n = sequence.queryLength;
  const Index lit = std::clamp<Index>(scene.cursor.cell.query, 0, n - 1);
  const float most = std::max(study.change.head(n).maxCoeff(), 1e-3f);
  TableView table(view, area,
                  {.columns = {{"", 100}, {""}, {"‖Δ head‖ / ‖head‖", 80}, {"output", 90}},
                   .rows = n,
                   .inSight = lit,
                   .least = 18,
                   .most = 28});
  for (Index row = 0; row < n; ++row) {
    if (!table.row(row, fmt::format("patch.change.{}", row), {.lit = row == lit})) continue;
    table.figure(sequence.queries[static_cast<std::size_t>(row)].text, row == lit ? theme.query : 0);
    table.bar(study.change[row] / most, theme.value);
    table.figure(cellText(static_cast<double>(study.headChange[row])));
    table.figure(cellText(static_cast<double>(study.change[row])));
  }
  if (view.hover.query >= 0 && view.hover.query != lit)
    paintGhostOf(view, fmt::format("patch.change.{}", view.hover.query));
}

}  // namespace

void patchView(Scene& scene, AblationState& ablation, Board& board) {
  View& view = board.view();
  SharedText& text = scene.cursor.lab.patchText;
  board.area("", {38}, [&view, &text](const ImRect& area) {
    const float width = std::min(area.GetWidth(), view.px(900));
    controlsIn("patch.box", ImRect(area.Min, ImVec2(area.Min.x + width, area.Max.y)), [&] {
      textBox(view, "patch.text", text, 1,
              "Another text with the same number of tokens, to take the pattern from.");
    });
  });
  if (text.empty()) {
    board.picture("", {200, 300, 1}, [&view](const ImRect& area) {
      emptyMessage(view, area, "Type another text",
                   "Patching gives a head its attention pattern from another text of the same length, while "
                   "it keeps reading this text's values.",
                   "Use these words in reverse", "lab.patch_sample");
    });
    return;
  }
  const std::string problem = ablation.patch.problem();
  if (!problem.empty())
    board.words({problem}, {"", board.theme().error});
  else if (ablation.patch)
    board.words({"Output = weights on the other text · V of this text."});
  if (!ablation.patch) return;
  board.tiles(3, 28, [&](std::size_t i, Board& tile) {
    const PatchStudy& study = *ablation.patch;
    if (i == 0)
      return pattern(scene, ablation, tile, "patch.own",
                     fmt::format("Head {} on this text", study.question.head),
                     study.question.layer->sequence());
    if (i == 1) return pattern(scene, ablation, tile, "patch.other", "… on the other text", study.sequence());
    tile.title("Change in the output");
    tile.picture("", {160, 400, 1},
                 [&scene, &ablation](const ImRect& area) { changes(scene, ablation, area); });
  });
}

}  // namespace headscope::app::head_lab_page
