#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/compute/cost/cost_terms.h"
#include "app/compute/cost/cost_words.h"
#include "app/pages/cost/cost_state.h"
#include "app/platform/track.h"
#include "app/scene/text/byte_text.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app {

namespace {

/// A figure that says its terms when it is pointed at.
void unfold(const View& view, const std::string& name, const ImRect& area, const std::string& terms) {
  track(name, area.Min, area.Max);
  if (ImGui::IsWindowHovered() && area.Contains(ImGui::GetIO().MousePos)) tooltipBeside(view, terms, area);
}

using attention::ModelShape;

void turn(CostSetup& cost, CostFactor::Turns what, bool up) {
  const auto twice = [up](Index value, Index most) {
    return std::clamp<Index>(up ? value * 2 : value / 2, 1, most);
  };
  if (what == CostFactor::Turns::tokens) cost.tokens = twice(cost.tokens, kMaxCostTokens);
  if (what == CostFactor::Turns::batch) cost.batch = twice(cost.batch, kMaxCostBatch);
  if (what == CostFactor::Turns::format)
    cost.format =
        static_cast<attention::NumberFormat>(std::clamp(static_cast<int>(cost.format) + (up ? -1 : 1), 0, 5));
}

/// Pointer units from one value of a dragged factor to the next.
constexpr float kDragUnits = 22;
constexpr int kMostTurns = 40;  ///< from 1 token to kMaxCostTokens

/// While a factor is held, each kDragUnits to the right are a turn up from what it was, to the left down.
void dragFactor(Scene& scene, CostState& page, const std::string& name, CostFactor::Turns what) {
  const float x = ImGui::GetIO().MousePos.x;
  if (ImGui::IsItemActivated()) page.dragged = {scene.cost, x};
  if (!ImGui::IsItemActive() || what == CostFactor::Turns::nothing) return;
  CostSetup cost = page.dragged.from;
  const auto turns = static_cast<int>(std::trunc((x - page.dragged.x) / page.view.px(kDragUnits)));
  for (int i = 0; i < std::abs(turns) && i < kMostTurns; ++i) turn(cost, what, turns > 0);
  scene.cost.tokens = cost.tokens;
  scene.cost.batch = cost.batch;
  scene.cost.format = cost.format;
  page.view.controls.continuousEdit = name;
}

void bracket(const View& view, Canvas list, float from, float to, float y, const std::string& text) {
  const std::uint32_t color = view.theme->secondary;
  list.AddLine(ImVec2(from, y), ImVec2(to, y), color);
  list.AddLine(ImVec2(from, y - view.px(6)), ImVec2(from, y), color);
  list.AddLine(ImVec2(to, y - view.px(6)), ImVec2(to, y), color);
  paintText(list, view.fonts->mono, ImVec2((from + to) / 2, y + view.px(18)), view.theme->text, text,
            Align::center);
}

/// The factors side by side with signs between them, in two lines where one is too short: those of a token,
/// and how many there are. Returns how far the second line is below the first.
float product(Scene& scene, CostState& page, const ImRect& area, bool small) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  const CostFigures& figures = page.figures;
  Canvas list = *ImGui::GetWindowDrawList();
  ImFont* numbers = small ? view.fonts->monoTitle : view.fonts->monoHero;
  const std::vector<CostFactor> factors = costFactors(figures);
  const std::string total = exactBytes(figures.cost.total);
  float resultWidth = std::max(textWidth(numbers, total), view.px(small ? 200 : 300)), room = 0;
  std::vector<float> widths;
  const float least = view.px(14) * static_cast<float>(factors.size());
  const auto measure = [&] {
    widths.clear();
    room = area.GetWidth() - resultWidth;
    for (const CostFactor& factor : factors) {
      widths.push_back(std::max(textWidth(numbers, factor.value), textWidth(view.fonts->text, factor.label)) +
                       view.px(8));
      room -= widths.back();
    }
  };
  measure();
  if (room < least) {  // smaller numbers before a second line
    numbers = view.fonts->mono;
    resultWidth = textWidth(numbers, total) + view.px(8);
    measure();
  }
  // Widths first; what is left is shared by the signs.
  const float sign = std::clamp(room / static_cast<float>(factors.size()), view.px(14), view.px(64));
  const bool breaks = room < least;
  float y = area.Min.y, labelY = y + view.px(small ? 24 : 30);
  const float firstLabelY = labelY;
  float x = area.Min.x, split = x, second = x, end = x;
  const auto paintSign = [&](const char* text) {
    paintText(list, numbers, ImVec2(x + sign / 2, y), theme.faint, text, Align::center);
    x += sign;
  };
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const CostFactor& factor = factors[i];
    const bool turns = i > 0 && !factor.perToken && factors[i - 1].perToken;
    if (turns && breaks) {
      x = area.Min.x;
      y += view.px(small ? 90 : 104);
      labelY += view.px(small ? 90 : 104);
    }
    if (i > 0) paintSign("×");
    if (turns) second = x;
    const float middle = x + widths[i] / 2;
    ImGui::SetCursorScreenPos(ImVec2(x, y - view.px(16)));
    const std::string name = "factor." + factor.name;
    compat::invisibleButton(name.c_str(), ImVec2(widths[i], labelY + view.px(12) - y + view.px(16)));
    trackItem(name);
    const bool hovered = ImGui::IsItemHovered();
    if (hovered || ImGui::IsItemActive())
      list.AddRectFilled(ImGui::GetItemRectMin(), ImGui::GetItemRectMax(), theme.raised, view.px(5));
    dragFactor(scene, page, name, factor.turns);
    // Below the brackets: what the factors are called, and what they make, stays in sight.
    if (hovered)
      tooltipBeside(view, factor.help, ImRect(x, y - view.px(16), x + widths[i], labelY + view.px(52)));
    if (factor.turns != CostFactor::Turns::nothing && wheelTurns(view, name))
      for (const InputEvent& event : view.input.events)
        if (event.kind == InputEvent::Kind::wheel && event.y != 0) {
          turn(scene.cost, factor.turns, event.y > 0);
          view.controls.continuousEdit = name;
        }
    paintText(list, numbers, ImVec2(middle, y), theme.text, factor.value, Align::center);
    if (factor.name == "keys_values") {
      const float left = middle - textWidth(view.fonts->text, factor.label) / 2;
      const float keys = paintText(list, view.fonts->text, ImVec2(left, labelY), theme.key, "keys");
      const float comma =
          paintText(list, view.fonts->text, ImVec2(left + keys, labelY), theme.secondary, ", ");
      paintText(list, view.fonts->text, ImVec2(left + keys + comma, labelY), theme.value, "values");
    } else {
      paintText(list, view.fonts->text, ImVec2(middle, labelY), theme.secondary, factor.label, Align::center);
    }
    x += widths[i];
    if (factor.perToken) split = x;
    end = x;
  }
  const float firstBracketY = firstLabelY + view.px(22), bracketY = labelY + view.px(22);
  const ModelShape& shape = figures.shape;
  if (shape.window == 0)
    bracket(view, list, area.Min.x, split, firstBracketY,
            figures.cost.perToken < 1024 ? exactBytes(figures.cost.perToken) + " per token"
                                         : exactBytes(figures.cost.perToken) + " = " +
                                               fourDigitBytes(figures.cost.perToken) + " per token");
  else
    bracket(view, list, area.Min.x, split, firstBracketY,
            exactBytes(figures.cost.perToken / attention::asSize(shape.layers)) + " per token and layer");
  bracket(view, list, second, end, bracketY,
          countText(attention::saturatingTimes(shape.window > 0
                                                   ? attention::cachedTokens(shape, figures.request.tokens)
                                                   : static_cast<std::uint64_t>(figures.request.tokens),
                                               static_cast<std::uint64_t>(figures.request.batch))) +
              " cached");
  paintSign("=");
  const float half = x + view.px(4), most = area.Max.x - half;
  paintFitted(view, list, numbers, ImVec2(half, y), most, theme.text, total);
  unfold(view, "cost.total",
         ImRect(half, y - view.px(14), half + std::min(resultWidth, most), y + view.px(14)),
         cacheTerms(figures));
  if (!figures.tooLarge() && figures.cost.total >= 1024)
    paintFitted(view, list, view.fonts->text, ImVec2(half, labelY), most, theme.secondary,
                "= " + fourDigitBytes(figures.cost.total));
  const std::uint64_t wasted = figures.cost.reserved - figures.cost.total;
  const std::string reserved = fourDigitBytes(figures.cost.reserved);
  const std::string pages = figures.cost.reserved >= attention::kTooManyBytes ? "reserved: " + reserved
                            : figures.shape.window > 0 ? fmt::format("{} in blocks of {}; windows free none",
                                                                     reserved, figures.request.block)
                            : small ? fmt::format("{} in blocks of {}", reserved, figures.request.block)
                                    : fmt::format("Blocks of {}: {} reserved, {} wasted",
                                                  figures.request.block, reserved, fourDigitBytes(wasted));
  paintFitted(view, list, view.fonts->text, ImVec2(half, bracketY + view.px(18)), most, theme.secondary,
              pages);
  unfold(view, "cost.reserved", ImRect(half, bracketY + view.px(8), half + most, bracketY + view.px(28)),
         reservedTerms(figures));
  return y - area.Min.y;
}

}  // namespace

float costAnswer(CostState& page, const ImRect& area, bool small) {
  View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  const CostFigures& figures = page.figures;
  ImFont* display = small ? view.fonts->displaySmall : view.fonts->display;
  const float y = area.Min.y + view.px(small ? 40 : 54);
  const std::string answer = figures.shape.decodes ? fourDigitBytes(figures.cost.total) : "0 B";
  const float width = paintText(list, display, ImVec2(area.Min.x, y), view.theme->text, answer);
  unfold(view, "cost.answer", ImRect(area.Min.x, y - view.px(26), area.Min.x + width, y + view.px(26)),
         cacheTerms(figures));
  const float x = area.Min.x + width + view.px(small ? 22 : 34), room = area.Max.x - x;
  paintFitted(view, list, small ? view.fonts->title : view.fonts->hero,
              ImVec2(x, y - view.px(small ? 11 : 14)), room, view.theme->text, costSentence(figures));
  paintFitted(view, list, view.fonts->text, ImVec2(x, y + view.px(small ? 12 : 16)), room,
              view.theme->secondary, costExplanation(figures));
  track("cost.sentence", ImVec2(x, y - view.px(24)), ImVec2(area.Max.x, y + view.px(26)));
  return y + view.px(small ? 30 : 44);
}

float costProduct(Scene& scene, CostState& page, const ImRect& area, bool small) {
  const View& view = page.view;
  if (!page.figures.shape.decodes) return area.Min.y;
  const float top = area.Min.y + view.px(small ? 22 : 48);
  const float further = product(scene, page, ImRect(area.Min.x, top, area.Max.x, area.Max.y), small);
  return top + further + view.px(small ? 78 : 92);
}

}  // namespace headscope::app
