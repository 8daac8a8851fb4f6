// Grids of numbers or words, and bars around zero, as large as their area allows.

#include <fmt/core.h>

#include "app/pages/model/model_answers.h"
#include "app/platform/keyboard_focus.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"

namespace headscope::app::model_page {

using attention::asSize;

namespace {

constexpr float kMostName = 100;  ///< of a row or column, in layout units

/// The cells of a grid, and how its columns' names stand below them.
struct GridPlan {
  ImRect cells;
  float wide, high;  ///< of a cell
  bool turned;       ///< the names are too long to stand side by side
  Index first = 0;   ///< the first column shown: where words need more room than there is, the last count

  ImRect cell(Index row, Index column) const {
    const ImVec2 from(cells.Min.x + wide * static_cast<float>(column - first),
                      cells.Min.y + high * static_cast<float>(row));
    return {from, from + ImVec2(wide, high)};
  }
};

float longest(ImFont* font, const std::vector<std::string>& names, float most) {
  float width = 0;
  for (const std::string& name : names) width = std::max(width, textWidth(font, name));
  return std::min(width, most);
}

GridPlan planGrid(const View& view, const GridFigure& figure, const ImRect& area) {
  ImFont* const font = view.fonts->monoSmall;
  const auto rows = static_cast<float>(figure.values.rows());
  const float names = longest(font, figure.columns, view.px(kMostName));
  const float left = std::max(view.px(58), longest(font, figure.rows, view.px(kMostName)) + view.px(12));
  const float width = area.GetWidth() - left, word = longest(font, figure.words, view.px(kMostName));
  const auto fitting =
      figure.words.empty() ? figure.values.cols() : static_cast<Index>(width / (word + view.px(6)));
  const Index shown = std::clamp<Index>(fitting, 1, figure.values.cols());
  const auto columns = static_cast<float>(shown);
  const float room = std::max(width / columns, 1.0f);
  GridPlan plan{{area.Min + ImVec2(left, view.px(20)), {}}, room, 0, false, figure.values.cols() - shown};
  const auto fit = [&](float below) {
    plan.high = std::clamp((area.Max.y - plan.cells.Min.y - below) / rows, 1.0f, std::max(room, view.px(64)));
    plan.wide = std::min(room, 3 * plan.high);
  };
  fit(view.px(22));
  plan.turned = names + view.px(6) > plan.wide;
  if (plan.turned) fit(names * 0.87f + view.px(18));
  plan.cells.Max = plan.cells.Min + ImVec2(plan.wide * columns, plan.high * rows);
  return plan;
}

void paintNames(const View& view, const GridFigure& figure, const GridPlan& plan) {
  Canvas list = *ImGui::GetWindowDrawList();
  const Theme& theme = *view.theme;
  ImFont* const font = view.fonts->monoSmall;
  const ImRect& cells = plan.cells;
  const float left = cells.Min.x - view.px(7), above = cells.Min.y - view.px(10),
              below = cells.Max.y + view.px(10);
  const auto step = [](float cell, float needed) {
    return std::max<Index>(1, static_cast<Index>(std::ceil(needed / cell)));
  };
  for (Index row = 0; row < std::ssize(figure.rows); row += step(plan.high, view.px(13)))
    paintText(list, font, ImVec2(left, plan.cell(row, 0).GetCenter().y), theme.secondary,
              fitted(font, figure.rows[asSize(row)], view.px(kMostName)), Align::right);
  for (Index column = plan.first; column < std::ssize(figure.columns);
       column += plan.turned ? step(plan.wide, view.px(13)) : 1) {
    const std::string name = fitted(font, figure.columns[asSize(column)], view.px(kMostName));
    const ImVec2 at(plan.cell(0, column).GetCenter().x, below);
    plan.turned ? paintRotated(list, font, at, 60, theme.text, name, Align::right)
                : void(paintText(list, font, at, theme.text, name, Align::center));
  }
  paintText(list, view.fonts->small, ImVec2(left, above), theme.faint, "layer ↓", Align::right);
  paintText(list, view.fonts->small, ImVec2(cells.Min.x, above), theme.faint,
            figure.columnTitle + " →" +
                (plan.first == 0 ? ""
                                 : fmt::format("  the last {} of {}", figure.values.cols() - plan.first,
                                               figure.values.cols())));
}

/// Words, or numbers that aren't 0.00, in the largest type that all of them fit in.
void paintTexts(const View& view, const GridFigure& figure, const CellStyle& style, const GridPlan& plan) {
  Canvas list = *ImGui::GetWindowDrawList();
  const Fonts& fonts = *view.fonts;
  const float room = plan.wide - view.px(6);
  std::vector<std::string> texts = figure.words;
  for (const float value : figure.values.reshaped<Eigen::RowMajor>()) {
    if (!figure.words.empty()) break;
    const std::string text = std::isfinite(value) ? fixedText(value, 2) : "";
    texts.push_back(text == fixedText(0, 2) ? "" : text);
  }
  const auto wide = [&](ImFont* font) {
    return std::ranges::all_of(texts, [&](const auto& text) { return textWidth(font, text) <= room; });
  };
  const auto fits = [&](ImFont* font) { return lineHeight(font) * 1.3f <= plan.high && wide(font); };
  // "−.78" takes less room than "−0.78". If some still don't fit, none are shown: a gap would say nothing.
  if (figure.words.empty() && !wide(fonts.monoSmall))
    for (std::string& text : texts)
      if (const std::size_t zero = text.find('0'); zero <= 3 && text.size() > zero + 1 &&
                                                   (text[zero + 1] == '.' || text[zero + 1] == ',') &&
                                                   text.find_first_of("123456789") > zero)
        text.erase(zero, 1);
  ImFont* font = fonts.monoSmall;
  for (ImFont* const larger : {fonts.mono, fonts.monoTitle, fonts.monoHero})
    if (fits(larger)) font = larger;
  const bool shown = plan.high >= lineHeight(font) && room >= textWidth(font, "000") &&
                     (!figure.words.empty() || wide(font));
  const float gap = std::min(plan.wide, plan.high) > view.px(6) ? view.px(1) : 0;
  for (Index row = 0; row < figure.values.rows(); ++row)
    for (Index column = plan.first; column < figure.values.cols(); ++column) {
      const ImRect cell = plan.cell(row, column);
      const float value = figure.values(row, column);
      const render::Color fill =
          std::isfinite(value)
              ? colorOn(*view.theme, style.colormap, (value - style.low) / (style.high - style.low))
              : unpacked(view.theme->raised);
      list.AddRectFilled(cell.Min, cell.Max - ImVec2(gap, gap), packed(fill));
      const std::string& text = texts[asSize(row * figure.values.cols() + column)];
      if (shown && std::isfinite(value))
        paintText(list, font, cell.GetCenter(), inkOn(fill), fitted(font, text, room), Align::center);
    }
  for (const auto& [row, column] : figure.kept)
    if (row < figure.values.rows() && column >= plan.first && column < figure.values.cols())
      compat::rectOutline(list, plan.cell(row, column).Min, plan.cell(row, column).Max, view.theme->text, 0,
                          view.px(2));
}

}  // namespace

void paintGrid(View& view, const char* name, const GridFigure& figure, const CellStyle& style,
               const ImRect& area, const AtCell& at) {
  if (figure.values.size() == 0) return;
  const GridPlan plan = planGrid(view, figure, area);
  paintNames(view, figure, plan);
  paintTexts(view, figure, style, plan);
  const bool clicked = hitArea(name, plan.cells);
  noteTabStopKind(TabStopKind::picture, ImVec2(plan.wide, plan.high));
  const ImVec2 pointer = ImGui::GetIO().MousePos - plan.cells.Min;
  if (ImGui::IsItemHovered())
    at(std::min(static_cast<Index>(pointer.y / plan.high), figure.values.rows() - 1),
       std::min(plan.first + static_cast<Index>(pointer.x / plan.wide), figure.values.cols() - 1), clicked);
}

FigureLegend gridLegend(const GridFigure& figure, const CellStyle& style) {
  return {figure.caption,
          style.colormap,
          {numberText(style.low, 3), figure.aroundZero ? "0" : "", numberText(style.high, 3)}};
}

CellStyle gridStyle(const Scene& scene, const GridFigure& figure) {
  return {figure.aroundZero ? render::Colormap::diverging : scene.look.colormap, figure.low, figure.high};
}

namespace {

/// The bars that are shown, the others as one, and the sum below them.
std::vector<BarFigure::Bar> barLines(const BarFigure& figure, std::size_t most) {
  const std::size_t shown = std::min(figure.bars.size(), most);
  std::vector<BarFigure::Bar> lines(figure.bars.begin(),
                                    figure.bars.begin() + static_cast<std::ptrdiff_t>(shown));
  BarFigure::Bar rest{fmt::format("{} more together", figure.bars.size() - shown), 0,
                      figure.two ? std::optional(0.0) : std::nullopt};
  for (std::size_t i = shown; i < figure.bars.size(); ++i) {
    rest.a += figure.bars[i].a;
    if (rest.b) *rest.b += figure.bars[i].b.value_or(0);
  }
  if (shown < figure.bars.size()) lines.push_back(std::move(rest));
  lines.push_back(figure.sum);
  return lines;
}

}  // namespace

void paintBars(const View& view, const BarFigure& figure, const ImRect& area) {
  Canvas list = *ImGui::GetWindowDrawList();
  const Theme& theme = *view.theme;
  const float least = view.px(figure.two ? 30 : 22);
  const auto fit = static_cast<std::size_t>(std::max(3.0f, area.GetHeight() / least)) - 2;
  const std::vector<BarFigure::Bar> lines = barLines(figure, fit);
  const float line = std::clamp(area.GetHeight() / static_cast<float>(lines.size()), least, 1.5f * least);
  ImFont *const words = view.fonts->text, *const numbers = view.fonts->monoSmall;
  double most = 1e-9;
  float names = 0;
  for (const BarFigure::Bar& bar : lines) {
    most = std::max({most, std::abs(bar.a), std::abs(bar.b.value_or(0))});
    names = std::max(names, textWidth(words, bar.label));
  }
  names = std::min(names, area.GetWidth() * 0.34f);
  const float room = view.px(58), left = area.Min.x + names + room, right = area.Max.x - room;
  const float middle = (left + right) / 2;
  float y = area.Min.y;
  const auto part = [&](double value, float top, float high, std::uint32_t color, bool filled) {
    const float end = middle + (right - left) / 2 * static_cast<float>(value / most);
    const ImVec2 from(std::min(middle, end), top),
        to(std::max(std::max(middle, end), from.x + 1), top + high);
    filled ? list.AddRectFilled(from, to, color)
           : compat::rectOutline(list, from, to, color, 0, std::max(1.0f, view.px(1.2f)));
    paintText(list, numbers, ImVec2(value < 0 ? from.x - view.px(6) : to.x + view.px(6), top + high / 2),
              theme.text, logitText(value), value < 0 ? Align::right : Align::left);
  };
  for (std::size_t i = 0; i < lines.size(); ++i, y += line) {
    const BarFigure::Bar& bar = lines[i];
    const bool sum = i + 1 == lines.size();
    const std::uint32_t color = sum ? theme.text : theme.secondary;
    if (sum) list.AddLine(ImVec2(area.Min.x, y), ImVec2(area.Max.x, y), theme.line);
    paintFitted(view, list, sum ? view.fonts->bold : words, ImVec2(area.Min.x, y + line / 2), names, color,
                bar.label);
    const float inset = view.px(2), half = line / 2 - 1.5f * inset;
    part(bar.a, y + inset, figure.two ? half : line - 2 * inset, color, true);
    if (figure.two) part(bar.b.value_or(0), y + line / 2 + inset / 2, half, color, false);
    if (figure.two && i == 0) {
      const auto name = [&](const char* text, double value, float at) {
        const bool left = value >= 0;
        paintText(list, view.fonts->small, ImVec2(middle + view.px(left ? -6 : 6), y + at), theme.secondary,
                  text, left ? Align::right : Align::left);
      };
      name("A", bar.a, line * 0.27f);
      name("B", bar.b.value_or(0), line * 0.75f);
    }
    if (i < figure.bars.size() && i < fit && ImGui::IsWindowHovered() &&
        ImRect(area.Min.x, y, area.Max.x, y + line).Contains(ImGui::GetIO().MousePos))
      tooltip(view, bar.label + "\nadds " + logitText(bar.a) +
                        (bar.b ? " in A, " + logitText(*bar.b) + " in B" : ""));
  }
  list.AddLine(ImVec2(middle, area.Min.y), ImVec2(middle, y), theme.faint);
}

}  // namespace headscope::app::model_page
