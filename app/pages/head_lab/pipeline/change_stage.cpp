#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/pages/head_lab/map_view.h"
#include "app/pages/head_lab/pipeline/pipeline.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"
#include "app/widgets/panel.h"
#include "app/widgets/text/rich_text.h"
#include "attention/core/extremes.h"

namespace headscope::app::head_lab_page {

void stage(Scene& scene, State& page, const ImRect& area) {
  switch (scene.cursor.lab.step) {
    case Step::input:
      return inputStage(scene, page, area);
    case Step::project:
      return projectStage(scene, page, area);
    case Step::split:
    case Step::concat:
      return splitStage(scene, page, area);
    case Step::dot:
      return dotStage(scene, page, area);
    case Step::scale:
    case Step::bias:
    case Step::mask:
    case Step::softmax:
      return changeStage(scene, page, area);
    case Step::mix:
      return mixStage(scene, page, area);
    case Step::output:
      return outputStage(scene, page, area);
  }
}

void paintFormula(const View& view, ImVec2 at, const std::vector<FormulaPart>& parts, float width) {
  Canvas list = *ImGui::GetWindowDrawList();
  ImFont *font = view.fonts->hero, *mono = view.fonts->mono;
  float gap = view.px(10);
  const auto room = [&](const FormulaPart& part) {
    return std::max(scriptedWidth(view, font, part.text), textWidth(mono, part.shape)) + gap;
  };
  const auto fits = [&] {
    float needed = 0;
    for (const FormulaPart& part : parts) needed += room(part);
    return needed <= width;
  };
  if (!fits()) {
    font = view.fonts->title;
    mono = view.fonts->monoSmall;
  }
  if (!fits()) gap = view.px(4);
  const float right = at.x + width;
  const ImVec2 down(0, view.px(24));
  at.y += view.px(14);
  for (const FormulaPart& part : parts) {
    paintScripted(view, list, font, at, part.color, part.text);
    // Skip a shape that would run into the matrix.
    if (!part.shape.empty() && at.x + textWidth(mono, part.shape) <= right)
      paintText(list, mono, at + down, part.color == view.theme->text ? view.theme->secondary : part.color,
                part.shape);
    at.x += room(part);
  }
}

namespace {

using attention::Matrix;
using attention::MatrixView;

/// The room for tokens' names left of a map, in pixels.
float labelRoom(const View& view, const ImRect& area) {
  return view.px(std::clamp(area.GetWidth() / view.unit * 0.14f, 56.0f, 96.0f));
}

/// The visible cells before and after a step.
std::pair<Matrix, Matrix> changedCells(const State& page, Step step, Index headIndex,
                                       const VisibleCells& rows, const VisibleCells& cols) {
  const SequenceSnapshot& sequence = page.layer->sequence();
  const HeadParts& head = *page.head;
  const auto scores = sequence.attention.scores[headIndex];
  const auto weights = sequence.probabilities()[headIndex];
  Matrix before(rows.count, cols.count), after(rows.count, cols.count);
  for (Index i = 0; i < rows.count; ++i)
    for (Index j = 0; j < cols.count; ++j) {
      const Index row = rows.first + i, col = cols.first + j;
      const float dot = head.steps.dots(row, col), scaled = dot * head.steps.factor;
      before(i, j) = step == Step::scale     ? dot
                     : step == Step::bias    ? scaled
                     : step == Step::softmax ? scores(row, col)
                                             : head.steps.unmasked(row, col);
      after(i, j) = step == Step::scale     ? scaled
                    : step == Step::bias    ? head.steps.unmasked(row, col)
                    : step == Step::softmax ? weights(row, col)
                                            : scores(row, col);
      // Masked cells keep their hatching after the softmax.
      if (step == Step::softmax && scores(row, col) == -INFINITY) after(i, j) = -INFINITY;
    }
  return {std::move(before), std::move(after)};
}

/// Draws both titles, and the arrow between the pictures.
void changeTitles(const Scene& scene, const State& page, const ImRect& area, const MapView& left,
                  const MapView& right) {
  const View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const std::vector<Step> steps = stepsOf(page);
  const auto here = std::find(steps.begin(), steps.end(), scene.cursor.lab.step);
  // If the step before does nothing, name the one before that.
  const bool idle = here[-1] == Step::scale && page.head->steps.factor == 1;
  const float each = left.cells.GetWidth();
  std::string was = "after " + stepTitle(page, here[idle ? -2 : -1]);
  if (textWidth(view.fonts->title, was) > each) was = "before";
  const std::string shape = shapeText(page.layer->x.rows(), page.layer->keySource().rows());
  const auto title = [&](const MapView& map, std::uint32_t color, const std::string& text) {
    const ImVec2 at(map.cells.Min.x, area.Min.y + view.px(14));
    paintText(list, view.fonts->title, at, color, fitted(view.fonts->title, text, each));
    paintText(list, view.fonts->mono, at + ImVec2(0, view.px(24)), theme.secondary, shape);
  };
  title(left, theme.secondary, was);
  title(right, theme.text, stepTitle(page, scene.cursor.lab.step));
  paintText(list, view.fonts->hero, (left.cells.GetCenter() + right.cells.GetCenter()) / 2, theme.secondary,
            "→", Align::center);
}

}  // namespace

void changeStage(Scene& scene, State& page, const ImRect& area) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  const LayerParts& layer = *page.layer;
  const SequenceSnapshot& sequence = layer.sequence();
  const HeadParts& head = *page.head;
  const Step step = scene.cursor.lab.step;
  const Index n = layer.x.rows(), m = layer.keySource().rows();
  const float labels = labelRoom(view, area);
  const bool tight = area.GetWidth() < view.px(425);
  const float space = view.px(tight ? 30 : 44);
  ImRect place(area.Min + ImVec2(labels, view.px(64)), area.Max - ImVec2(0, view.px(84)));
  place.Max.x -= (place.GetWidth() + space) / 2;
  MapView left = tokenMap(scene, page, "before", place, n, m, {tight ? 8.0f : 12.0f, 37, 48});
  MapView right = left;
  right.name = "after";
  right.cells.TranslateX(std::round(left.cells.GetWidth() + space));
  const auto [before, after] = changedCells(page, step, head.question.head, left.rows, left.cols);
  const Stage from = step == Step::softmax                                ? Stage::scores
                     : step == Step::mask && head.steps.biased.size() > 0 ? Stage::biased
                                                                          : Stage::dots;
  const Stage to = step == Step::scale  ? Stage::dots
                   : step == Step::bias ? Stage::biased
                   : step == Step::mask ? Stage::scores
                                        : Stage::weights;
  const auto setRange = [&](MapView& map, Stage stage, float factor) {
    const StagePicture& picture = head.picture(stage);
    std::tie(map.low, map.high) = std::minmax({picture.low * factor, picture.high * factor});
  };
  const float scaling = head.steps.factor;
  setRange(left, from, (step == Step::bias || step == Step::mask) && from == Stage::dots ? scaling : 1);
  setRange(right, to, step == Step::scale ? scaling : 1);
  right.weights = step == Step::softmax;
  paintMap(scene, page, left, before);
  paintMap(scene, page, right, after);
  rowNames(page, left, sequence.queries, labels);
  columnNames(page, left, sequence.keys);
  columnNames(page, right, sequence.keys);
  Canvas list = *ImGui::GetWindowDrawList();
  changeTitles(scene, page, area, left, right);
  axisTitles(page, left);
  paintText(
      list, view.fonts->small, area.GetBL() - ImVec2(0, view.px(6)), theme.faint,
      fitted(view.fonts->small, visiblePartText(left.rows, n, left.cols, m, "columns"), area.GetWidth()));
  chooseCell(scene, page, hitMap(left));
  chooseCell(scene, page, hitMap(right, &sequence.queries, &sequence.keys));
}

namespace {

/// Heads side by side: the same numbers, split into slices or concatenated.
struct Strip {
  const char* name;
  Ink ink;
  const attention::Stack* heads;
  bool ofQueries;
};

/// Draws the heads of a strip side by side in `area`, with their numbers above it and the rows' names in
/// `labels` pixels left of it.
void paintStrip(Scene& scene, State& page, const ImRect& area, const Strip& strip, VisibleCells rows,
                float labels) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  const attention::AttentionConfig& config = page.layer->config();
  const SequenceSnapshot& sequence = page.layer->sequence();
  const Cell cell = selectedCell(scene, page);
  const Marked row =
      strip.ofQueries ? Marked{cell.query, view.hover.query} : Marked{cell.key, view.hover.key};
  const Index count = strip.heads->count();
  const bool ofQueryHeads = count == config.heads;
  const Index lit = ofQueryHeads ? cell.head : config.kvHeadOf(cell.head);
  Canvas list = *ImGui::GetWindowDrawList();
  const VisibleCells window =
      windowOf(count, std::max<Index>(1, static_cast<Index>(area.GetWidth() / view.px(26))), lit);
  const float space = view.px(window.count > 16 ? 3 : 8);
  const float each =
      (area.GetWidth() - space * static_cast<float>(window.count - 1)) / static_cast<float>(window.count);
  float most = 1e-6f;
  for (Index h = 0; h < count; ++h) most = std::max(most, attention::largestFinite((*strip.heads)[h]));
  for (Index h = window.first; h < window.end(); ++h) {
    MapView map{fmt::format("{}.{}", strip.name, h), strip.ink, area, rows, {0, config.headDim}, {}, {}};
    map.cells.Min.x = std::round(area.Min.x + (each + space) * static_cast<float>(h - window.first));
    map.cells.Max.x = std::round(map.cells.Min.x + each);
    map.rowColor = inkColor(theme, strip.ink);
    map.low = -most;
    map.high = most;
    if (h == lit) map.row = row;
    const ImVec2 corner = map.cells.GetTL();
    list.AddRectFilled(corner - ImVec2(0, view.px(7)), corner + ImVec2(each, -view.px(4)),
                       groupColor(theme, ofQueryHeads ? config.kvHeadOf(h) : h));
    const Matrix values =
        attention::poolByMagnitude((*strip.heads)[h].middleRows(rows.first, rows.count), rows.count,
                                   std::max<Index>(2, static_cast<Index>(each / view.px(2))));
    map.cols.count = values.cols();
    paintMap(scene, page, map, values);
    if (h != lit) {
      list.AddRectFilled(map.cells.Min, map.cells.Max, faded(theme.background, 0.45f));
    } else {
      ImRect box = map.cells;
      box.Expand(1);
      paintMark(view, list, "chosen head", box, theme.text);
    }
    if (hitMap(map).clicked && ofQueryHeads) scene.cursor.cell.head = h;
    const std::string label = std::to_string(h);
    if (textWidth(view.fonts->monoSmall, label) < each)
      paintText(list, view.fonts->monoSmall, corner + ImVec2(each / 2, -view.px(16)),
                h == lit ? theme.text : theme.secondary, label, Align::center);
    if (h != window.first) continue;
    map.name.clear();
    map.cols = {0, 1};
    map.row = row;
    map.rowColor = strip.ofQueries ? theme.query : theme.key;
    rowNames(page, map, strip.ofQueries ? sequence.queries : sequence.keys, labels);
  }
}

}  // namespace

void splitStage(Scene& scene, State& page, const ImRect& area) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  const attention::AttentionResult& result = page.layer->sequence().attention;
  const attention::AttentionConfig& config = page.layer->config();
  const Index n = page.layer->x.rows(), m = page.layer->keySource().rows();
  const float labels = labelRoom(view, area);
  const bool joins = scene.cursor.lab.step == Step::concat;
  const std::vector<Strip> strips = joins
                                        ? std::vector<Strip>{{"concat", Ink::value, &result.headOutput, true}}
                                        : std::vector<Strip>{{"split.q", Ink::query, &result.q, true},
                                                             {"split.k", Ink::key, &result.k, false},
                                                             {"split.v", Ink::value, &result.v, false}};
  const float head = view.px(48);
  const float high = area.GetHeight() / static_cast<float>(strips.size()) - head;
  ImRect place(area.Min + ImVec2(labels, 0), area.Max);
  Canvas list = *ImGui::GetWindowDrawList();
  for (const Strip& strip : strips) {
    const Index total = strip.ofQueries ? n : m;
    const VisibleCells rows = windowOf(total, std::min<Index>(cellsThatFit(view, high, 8), 48),
                                       strip.ofQueries ? scene.cursor.cell.query : scene.cursor.cell.key);
    const auto count = static_cast<float>(rows.count);
    const std::string title = joins                     ? "concat: " + countedText(config.heads, "head")
                              : strip.ink == Ink::query ? "Q"
                              : strip.ink == Ink::key   ? "K"
                                                        : "V";
    ImVec2 at = place.Min + ImVec2(0, view.px(10));
    at.x += paintText(list, view.fonts->title, at, inkColor(theme, strip.ink), title) + view.px(12);
    paintText(list, view.fonts->mono, at, theme.secondary,
              fmt::format("{} × {}", strip.heads->count(), shapeText(total, config.headDim)));
    ImRect cells = place;
    cells.Min.y += head - view.px(6);
    cells.Max.y =
        cells.Min.y + count * std::max(2.0f, std::floor(std::min(high / count, view.px(joins ? 30 : 18))));
    paintStrip(scene, page, cells, strip, rows, labels);
    place.Min.y += high + head;
  }
}

void inputStage(Scene& scene, State& page, const ImRect& area) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  const LayerParts& layer = *page.layer;
  const Cell cell = selectedCell(scene, page);
  const Index n = layer.x.rows(), d = layer.x.cols();
  const float labels = labelRoom(view, area);
  ImRect place(area.Min + ImVec2(labels, view.px(64)), area.Max - ImVec2(0, view.px(40)));
  const VisibleCells rows =
      windowOf(n, std::min<Index>(cellsThatFit(view, place.GetHeight(), 12), 48), cell.query);
  const auto count = static_cast<float>(rows.count);
  place.Max.y = place.Min.y + count * std::floor(std::min(place.GetHeight() / count, view.px(30)));
  const Matrix values = attention::poolByMagnitude(layer.x.middleRows(rows.first, rows.count), rows.count,
                                                   static_cast<Index>(place.GetWidth() / view.px(3)));
  MapView map{"input", Ink::stream, place, rows, {0, values.cols()}, {cell.query, view.hover.query}, {}};
  map.rowColor = theme.query;
  map.high = largestOf(page.head->picture(Stage::x));
  map.low = -map.high;
  paintMap(scene, page, map, values);
  rowNames(page, map, layer.sequence().queries, labels);
  paintFormula(view, area.Min + ImVec2(labels, 0), {{"X", shapeText(n, d), theme.text}}, area.GetWidth());
  Canvas list = *ImGui::GetWindowDrawList();
  paintText(list, view.fonts->small, place.GetBL() + ImVec2(0, view.px(14)), theme.secondary,
            values.cols() < d ? fmt::format("{} dimensions; each line shows the largest of about {}", d,
                                            (d + values.cols() / 2) / values.cols())
                              : countedText(d, "dimension"));
  const MapHit hit = hitMap(map);
  if (hit.row < 0) return;
  view.nextHover.query = hit.row;
  if (hit.clicked) scene.cursor.cell.query = hit.row;
}

}  // namespace headscope::app::head_lab_page
