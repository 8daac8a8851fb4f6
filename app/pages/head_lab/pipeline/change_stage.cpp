#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/pages/head_lab/map_view.h"
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
  float x = at.x;
  for (const FormulaPart& part : parts) {
    paintScripted(view, list, font, ImVec2(x, at.y + view.px(14)), part.color, part.text);
    // Skip a shape that would run into the matrix.
    if (!part.shape.empty() && x + textWidth(mono, part.shape) <= at.x + width)
      paintText(list, mono, ImVec2(x, at.y + view.px(38)),
                part.color == view.theme->text ? view.theme->secondary : part.color, part.shape);
    x += room(part);
  }
}

namespace {

using attention::Matrix;
using attention::MatrixView;

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
  const float y = area.Min.y + view.px(14), each = left.cells.GetWidth();
  std::string was = "after " + stepTitle(page, here[idle ? -2 : -1]);
  if (textWidth(view.fonts->title, was) > each) was = "before";
  const std::string shape = shapeText(page.layer->x.rows(), page.layer->keySource().rows());
  const auto title = [&](float x, std::uint32_t color, const std::string& text) {
    paintText(list, view.fonts->title, ImVec2(x, y), color, fitted(view.fonts->title, text, each));
    paintText(list, view.fonts->mono, ImVec2(x, y + view.px(24)), theme.secondary, shape);
  };
  title(left.cells.Min.x, theme.secondary, was);
  title(right.cells.Min.x, theme.text, stepTitle(page, scene.cursor.lab.step));
  const float middle = (left.cells.Max.x + right.cells.Min.x) / 2;
  paintText(list, view.fonts->hero, ImVec2(middle, left.cells.GetCenter().y), theme.secondary, "→",
            Align::center);
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
  const float labels = view.px(std::clamp(area.GetWidth() / view.unit * 0.14f, 56.0f, 96.0f));
  const float space = view.px(page.presents ? 30 : 44), top = area.Min.y + view.px(64);
  const float wide = (area.GetWidth() - labels - space) / 2, x0 = area.Min.x + labels;
  MapView left = tokenMap(scene, page, "before", ImRect(x0, top, x0 + wide, area.Max.y - view.px(84)), n, m,
                          {page.presents ? 8.0f : 12.0f, 37, 48});
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
      list, view.fonts->small, ImVec2(area.Min.x, area.Max.y - view.px(6)), theme.faint,
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

float paintStrip(Scene& scene, State& page, const ImRect& area, float top, const Strip& strip,
                 VisibleCells rows, float rowHigh, float labels) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  const attention::AttentionConfig& config = page.layer->config();
  const Cell cell = selectedCell(scene, page);
  const Marked row =
      strip.ofQueries ? Marked{cell.query, view.hover.query} : Marked{cell.key, view.hover.key};
  const Index count = strip.heads->count(),
              lit = count == config.heads ? cell.head : config.kvHeadOf(cell.head);
  Canvas list = *ImGui::GetWindowDrawList();
  const float left = area.Min.x + labels, width = area.GetWidth() - labels;
  const Index shown = std::min<Index>(count, std::max<Index>(1, static_cast<Index>(width / view.px(26))));
  const VisibleCells window = windowOf(count, shown, lit);
  const float space = view.px(window.count > 16 ? 3 : 8);
  const float each =
      (width - space * static_cast<float>(window.count - 1)) / static_cast<float>(window.count);
  float most = 1e-6f;
  for (Index h = 0; h < count; ++h) most = std::max(most, attention::largestFinite((*strip.heads)[h]));
  const float bottom = top + rowHigh * static_cast<float>(rows.count);
  for (Index h = window.first; h < window.end(); ++h) {
    const float x = std::round(left + (each + space) * static_cast<float>(h - window.first));
    const Index group = count == config.heads ? config.kvHeadOf(h) : h;
    list.AddRectFilled(ImVec2(x, top - view.px(7)), ImVec2(x + each, top - view.px(4)),
                       groupColor(theme, group));
    MapView map{fmt::format("{}.{}", strip.name, h),
                strip.ink,
                ImRect(x, top, std::round(x + each), bottom),
                rows,
                {0, config.headDim},
                h == lit ? row : Marked{},
                {},
                strip.ink == Ink::query ? theme.query
                : strip.ink == Ink::key ? theme.key
                                        : theme.value,
                0,
                -most,
                most};
    const Matrix values =
        attention::poolByMagnitude((*strip.heads)[h].middleRows(rows.first, rows.count), rows.count,
                                   std::max<Index>(2, static_cast<Index>(each / view.px(2))));
    map.cols.count = values.cols();
    paintMap(scene, page, map, values);
    if (h != lit)
      list.AddRectFilled(map.cells.Min, map.cells.Max, faded(theme.background, 0.45f));
    else
      paintMark(view, list, "chosen head", {ImVec2(x - 1, top - 1), ImVec2(map.cells.Max.x + 1, bottom + 1)},
                theme.text);
    const MapHit hit = hitMap(map);
    if (hit.clicked && count == config.heads) scene.cursor.cell.head = h;
    const std::string label = std::to_string(h);
    if (textWidth(view.fonts->monoSmall, label) < each)
      paintText(list, view.fonts->monoSmall, ImVec2(x + each / 2, top - view.px(16)),
                h == lit ? theme.text : theme.secondary, label, Align::center);
    if (h == window.first)
      rowNames(
          page,
          MapView{"", strip.ink, map.cells, rows, {0, 1}, row, {}, strip.ofQueries ? theme.query : theme.key},
          strip.ofQueries ? page.layer->sequence().queries : page.layer->sequence().keys, labels);
  }
  return bottom;
}

}  // namespace

void splitStage(Scene& scene, State& page, const ImRect& area) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  const attention::AttentionResult& result = page.layer->sequence().attention;
  const attention::AttentionConfig& config = page.layer->config();
  const Index n = page.layer->x.rows(), m = page.layer->keySource().rows();
  const float labels = view.px(std::clamp(area.GetWidth() / view.unit * 0.14f, 56.0f, 96.0f));
  const bool joins = scene.cursor.lab.step == Step::concat;
  const std::vector<Strip> strips = joins
                                        ? std::vector<Strip>{{"concat", Ink::value, &result.headOutput, true}}
                                        : std::vector<Strip>{{"split.q", Ink::query, &result.q, true},
                                                             {"split.k", Ink::key, &result.k, false},
                                                             {"split.v", Ink::value, &result.v, false}};
  const float head = view.px(48);
  const float high = area.GetHeight() / static_cast<float>(strips.size()) - head;
  float top = area.Min.y;
  Canvas list = *ImGui::GetWindowDrawList();
  for (const Strip& strip : strips) {
    const Index total = strip.ofQueries ? n : m;
    const VisibleCells rows = windowOf(total, std::min<Index>(cellsThatFit(view, high, 8), 48),
                                       strip.ofQueries ? scene.cursor.cell.query : scene.cursor.cell.key);
    const float each =
        std::max(2.0f, std::floor(std::min(high / static_cast<float>(rows.count), view.px(joins ? 30 : 18))));
    const bool q = strip.ink == Ink::query;
    const std::string title = joins                   ? "concat: " + countedText(config.heads, "head")
                              : q                     ? "Q"
                              : strip.ink == Ink::key ? "K"
                                                      : "V";
    const float used = paintText(list, view.fonts->title, ImVec2(area.Min.x + labels, top + view.px(10)),
                                 inkColor(theme, strip.ink), title);
    paintText(list, view.fonts->mono, ImVec2(area.Min.x + labels + used + view.px(12), top + view.px(10)),
              theme.secondary,
              fmt::format("{} × {}", strip.heads->count(), shapeText(total, config.headDim)));
    paintStrip(scene, page, area, top + head - view.px(6), strip, rows, each, labels);
    top += high + head;
  }
}

void inputStage(Scene& scene, State& page, const ImRect& area) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  const LayerParts& layer = *page.layer;
  const Cell cell = selectedCell(scene, page);
  const Index n = layer.x.rows(), d = layer.x.cols();
  const float labels = view.px(std::clamp(area.GetWidth() / view.unit * 0.14f, 56.0f, 96.0f));
  const float top = area.Min.y + view.px(64);
  const VisibleCells rows =
      windowOf(n, std::min<Index>(cellsThatFit(view, area.Max.y - top - view.px(40), 12), 48), cell.query);
  const float each =
      std::floor(std::min((area.Max.y - top - view.px(40)) / static_cast<float>(rows.count), view.px(30)));
  const auto columns = static_cast<Index>((area.GetWidth() - labels) / view.px(3));
  const Matrix values =
      attention::poolByMagnitude(layer.x.middleRows(rows.first, rows.count), rows.count, columns);
  MapView map{"input",
              Ink::stream,
              ImRect(area.Min.x + labels, top, area.Max.x, top + each * static_cast<float>(rows.count)),
              rows,
              {0, values.cols()},
              {cell.query, view.hover.query},
              {},
              theme.query,
              0};
  map.high = largestOf(page.head->picture(Stage::x));
  map.low = -map.high;
  paintMap(scene, page, map, values);
  rowNames(page, map, layer.sequence().queries, labels);
  paintFormula(view, ImVec2(area.Min.x + labels, area.Min.y), {{"X", shapeText(n, d), theme.text}},
               area.GetWidth());
  Canvas list = *ImGui::GetWindowDrawList();
  paintText(list, view.fonts->small, ImVec2(map.cells.Min.x, map.cells.Max.y + view.px(14)), theme.secondary,
            values.cols() < d ? fmt::format("{} dimensions; each line shows the largest of about {}", d,
                                            (d + values.cols() / 2) / values.cols())
                              : countedText(d, "dimension"));
  const MapHit hit = hitMap(map);
  if (hit.row < 0) return;
  view.nextHover.query = hit.row;
  if (hit.clicked) scene.cursor.cell.query = hit.row;
}

}  // namespace headscope::app::head_lab_page
