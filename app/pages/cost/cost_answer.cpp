#include <fmt/core.h>

#include "app/pages/cost/cost_page.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/draw_text.h"

namespace headscope::app::cost_page {

void showTerms(const View& view, const std::string& name, const ImRect& area, const std::string& terms,
               float clearTo) {
  track(name, area.Min, area.Max);
  if (!ImGui::IsWindowHovered() || !area.Contains(ImGui::GetIO().MousePos)) return;
  tooltipBeside(view, terms, ImRect(area.Min, ImVec2(area.Max.x, std::max(area.Max.y, clearTo))));
}

namespace {

/// The next larger or smaller format of the same engines.
int steppedFormat(int format, bool up) {
  constexpr int kFirst = attention::kRoundedFormats, kAll = attention::kNumberFormats.size();
  const bool blocks = format >= kFirst;
  return std::clamp(format + (up ? -1 : 1), blocks ? kFirst : 0, (blocks ? kAll : kFirst) - 1);
}

void turn(CostSetup& cost, CostFactor::Turns what, bool up) {
  const auto twice = [up](Index value, Index most) {
    return std::clamp<Index>(up ? value * 2 : value / 2, 1, most);
  };
  if (what == CostFactor::Turns::tokens) cost.tokens = twice(cost.tokens, kMaxCostTokens);
  if (what == CostFactor::Turns::batch) cost.batch = twice(cost.batch, kMaxCostBatch);
  if (what == CostFactor::Turns::format)
    cost.format = static_cast<attention::NumberFormat>(steppedFormat(static_cast<int>(cost.format), up));
}

/// Pointer distance per step of a dragged factor, in layout units.
constexpr float kDragUnits = 22;
constexpr int kMaxTurns = 40;  ///< enough steps from 1 token to kMaxCostTokens

/// While a factor is held, each kDragUnits to the right steps its initial value up, and to the left down.
void dragFactor(Scene& scene, State& page, const std::string& name, CostFactor::Turns what) {
  const float x = ImGui::GetIO().MousePos.x;
  if (ImGui::IsItemActivated()) page.dragged = {scene.cost, x};
  if (!ImGui::IsItemActive() || what == CostFactor::Turns::nothing) return;
  CostSetup cost = page.dragged.from;
  const auto turns = static_cast<int>(std::trunc((x - page.dragged.x) / page.view.px(kDragUnits)));
  for (int i = 0; i < std::abs(turns) && i < kMaxTurns; ++i) turn(cost, what, turns > 0);
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

/// The place of a factor: its number at `y`, its label at `labelY`, its tooltip below `helpY`.
struct FactorPlace {
  float x, width, y, labelY, helpY;
};

/// Draws a factor, which can be changed by dragging or with the wheel.
void paintFactor(Scene& scene, State& page, ImFont* numbers, const CostFactor& factor,
                 const FactorPlace& at) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const ImVec2 corner(at.x, at.y - view.px(16));
  const std::string name = "factor." + factor.name;
  hitArea(name, corner, ImVec2(at.width, at.labelY + view.px(12) - corner.y));
  const bool hovered = ImGui::IsItemHovered();
  if (hovered || ImGui::IsItemActive())
    list.AddRectFilled(ImGui::GetItemRectMin(), ImGui::GetItemRectMax(), theme.raised, view.px(5));
  dragFactor(scene, page, name, factor.turns);
  if (hovered) tooltipBeside(view, factor.help, ImRect(corner, ImVec2(at.x + at.width, at.helpY)));
  if (factor.turns != CostFactor::Turns::nothing && wheelTurns(view, name))
    for (const InputEvent& event : view.input.events)
      if (event.kind == InputEvent::Kind::wheel && event.y != 0) {
        turn(scene.cost, factor.turns, event.y > 0);
        view.controls.continuousEdit = name;
      }
  const float middle = at.x + at.width / 2;
  paintText(list, numbers, ImVec2(middle, at.y), theme.text, factor.value, Align::center);
  if (factor.name != "keys_values")
    return void(paintText(list, view.fonts->text, ImVec2(middle, at.labelY), theme.secondary, factor.label,
                          Align::center));
  float x = middle - textWidth(view.fonts->text, factor.label) / 2;
  x += paintText(list, view.fonts->text, ImVec2(x, at.labelY), theme.key, "keys");
  x += paintText(list, view.fonts->text, ImVec2(x, at.labelY), theme.secondary, ", ");
  paintText(list, view.fonts->text, ImVec2(x, at.labelY), theme.value, "values");
}

/// The labels of the brackets below the factors: the bytes per token, and the tokens.
std::string perTokenText(const CostFigures& figures) {
  const std::uint64_t bytes = figures.cost.perToken;
  if (figures.shape.window != 0)
    return exactBytes(bytes / attention::asSize(figures.shape.layers)) + " per token and layer";
  return exactBytes(bytes) + (bytes < 1024 ? "" : " = " + fourDigitBytes(bytes)) + " per token";
}
std::string cachedTokensText(const CostFigures& figures) {
  const std::uint64_t tokens = figures.shape.window > 0
                                   ? attention::cachedTokens(figures.shape, figures.request.tokens)
                                   : static_cast<std::uint64_t>(figures.request.tokens);
  return countText(attention::saturatingMultiply(tokens, static_cast<std::uint64_t>(figures.request.batch))) +
         " cached";
}
std::string reservedText(const CostFigures& figures, bool brief) {
  const std::string reserved = fourDigitBytes(figures.cost.reserved);
  if (figures.cost.reserved >= attention::kTooManyBytes) return "reserved: " + reserved;
  if (brief) return fmt::format("{} in blocks of {}", reserved, figures.request.block);
  return fmt::format("Blocks of {}: {} reserved, {} wasted", figures.request.block, reserved,
                     fourDigitBytes(figures.cost.reserved - figures.cost.total));
}

/// How the factors stand side by side with signs between them: in the largest figures that fit, and on two
/// lines if one is too short, the factors of a token above the number of tokens.
struct ProductPlan {
  std::vector<CostFactor> factors;
  std::vector<float> widths;
  ImFont* numbers = nullptr;
  float sign = 0, result = 0;  ///< widths
  bool breaks = false;

  /// Layout units from the first line's numbers to the second's.
  static constexpr float kLine = 96;
  float height() const { return breaks ? 94 + kLine : 94; }
};

ProductPlan planProduct(const View& view, const CostFigures& figures, float width) {
  ProductPlan plan;
  plan.factors = costFactors(figures);
  const std::string total = exactBytes(figures.cost.total);
  const auto count = static_cast<float>(plan.factors.size());
  for (ImFont* numbers : {view.fonts->monoHero, view.fonts->monoTitle, view.fonts->mono}) {
    plan.numbers = numbers;
    plan.widths.clear();
    plan.result = textWidth(numbers, total) + view.px(8);
    if (numbers != view.fonts->mono) plan.result = std::max(plan.result, view.px(200));
    float room = width - plan.result;
    for (const CostFactor& factor : plan.factors) {
      plan.widths.push_back(
          std::max(textWidth(numbers, factor.value), textWidth(view.fonts->text, factor.label)) + view.px(8));
      room -= plan.widths.back();
    }
    plan.sign = std::clamp(room / count, view.px(14), view.px(64));
    plan.breaks = room < view.px(14) * count;
    if (!plan.breaks) break;
  }
  return plan;
}

void product(Scene& scene, State& page, const ProductPlan& plan, const ImRect& area) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  const CostFigures& figures = page.figures;
  Canvas list = *ImGui::GetWindowDrawList();
  const float label = view.px(28), below = label + view.px(22);
  // Tooltips leave the heading after the product visible.
  const float helpY = area.Max.y + view.px(40);
  float x = area.Min.x, y = area.Min.y + view.px(16), split = x, second = x, end = x;
  const auto paintSign = [&](const char* text) {
    paintText(list, plan.numbers, ImVec2(x + plan.sign / 2, y), theme.faint, text, Align::center);
    x += plan.sign;
  };
  for (std::size_t i = 0; i < plan.factors.size(); ++i) {
    const CostFactor& factor = plan.factors[i];
    const bool turns = i > 0 && !factor.perToken && plan.factors[i - 1].perToken;
    if (turns && plan.breaks) {
      x = area.Min.x;
      y += view.px(ProductPlan::kLine);
    }
    if (i > 0) paintSign("×");
    if (turns) second = x;
    paintFactor(scene, page, plan.numbers, factor, {x, plan.widths[i], y, y + label, helpY});
    x += plan.widths[i];
    if (factor.perToken) split = x;
    end = x;
  }
  bracket(view, list, area.Min.x, split, area.Min.y + view.px(16) + below, perTokenText(figures));
  bracket(view, list, second, end, y + below, cachedTokensText(figures));
  paintSign("=");
  const float half = x + view.px(4), most = area.Max.x - half;
  paintFitted(view, list, plan.numbers, ImVec2(half, y), most, theme.text, exactBytes(figures.cost.total));
  showTerms(view, "cost.total",
            ImRect(half, y - view.px(14), half + std::min(plan.result, most), y + view.px(14)),
            cacheTerms(figures), helpY);
  if (!figures.tooLarge() && figures.cost.total >= 1024)
    paintFitted(view, list, view.fonts->text, ImVec2(half, y + label), most, theme.secondary,
                "= " + fourDigitBytes(figures.cost.total));
  const float foot = y + below + view.px(18);
  paintFitted(
      view, list, view.fonts->text, ImVec2(half, foot), most, theme.secondary,
      firstFitting(view.fonts->text, {reservedText(figures, false), reservedText(figures, true)}, most));
  showTerms(view, "cost.reserved", ImRect(half, foot - view.px(10), half + most, foot + view.px(10)),
            reservedTerms(figures), helpY);
}

std::uint32_t kindColor(const Theme& theme, attention::CacheKind kind) {
  const std::uint32_t part = mixed(theme.panel, theme.key, 0.45f),
                      cross = mixed(theme.panel, theme.value, 0.6f);
  const std::uint32_t colors[attention::kCacheKindNames.size()] = {
      theme.key, part, part, theme.value, theme.query, cross, theme.line, theme.line};
  return colors[static_cast<std::size_t>(kind)];
}

/// Draws one cell per layer.
void layerStrip(const View& view, const CostFigures& figures, const ImRect& area) {
  Canvas list = *ImGui::GetWindowDrawList();
  const std::vector<attention::CacheKind> kinds = layerKinds(figures);
  const auto count = static_cast<float>(kinds.size());
  const float each = std::min(area.GetWidth() / count, view.px(26)), gap = each > view.px(5) ? view.px(2) : 0;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const float x = area.Min.x + each * static_cast<float>(i);
    list.AddRectFilled(ImVec2(x, area.Min.y), ImVec2(x + each - gap, area.Max.y),
                       kindColor(*view.theme, kinds[i]));
  }
  track("cost.layers", area.Min, ImVec2(area.Min.x + each * count, area.Max.y));
}

/// Replaces the product if layers cache different things: shows what each layer caches, and a line per kind.
void layersByKind(Board& board, const CostFigures& figures, const std::vector<CostLayers>& lines) {
  const View& view = board.view();
  board.picture("", {16, 24}, [&view, &figures](const ImRect& area) { layerStrip(view, figures, area); })
      .leaves(4);
  float words = 0, bytes = 0;
  for (const CostLayers& line : lines) {
    words = std::max(words, textWidth(view.fonts->text, line.words));
    bytes = std::max(bytes, textWidth(view.fonts->mono, line.bytes));
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    // Tooltips leave the other lines and the heading after them visible.
    const float clear = view.px(24 * static_cast<float>(lines.size() - i) + 26);
    const auto paint = [&view, line = lines[i], words, bytes, clear](const ImRect& area) {
      Canvas list = *ImGui::GetWindowDrawList();
      const Theme& theme = *view.theme;
      const float y = area.GetCenter().y, left = area.Min.x + view.px(20),
                  right = left + words + view.px(20) + bytes, after = right + view.px(20);
      list.AddRectFilled(ImVec2(area.Min.x, y - view.px(6)), ImVec2(area.Min.x + view.px(12), y + view.px(6)),
                         kindColor(theme, line.kind), view.px(2));
      paintText(list, view.fonts->text, ImVec2(left, y), theme.text, line.words);
      paintText(list, view.fonts->mono, ImVec2(right, y), theme.text, line.bytes, Align::right);
      if (!line.product.empty())
        paintFitted(view, list, view.fonts->text, ImVec2(after, y), area.Max.x - after, theme.secondary,
                    line.product);
      showTerms(view,
                "layers." + std::string(attention::kCacheKindNames[static_cast<std::size_t>(line.kind)]),
                ImRect(area.Min.x, area.Min.y, right, area.Max.y), line.help, area.Min.y + clear);
    };
    board.area("", {19, 24}, paint).apart(2).leaves(4);
  }
}

}  // namespace

void bytesAnswer(const State& page, Board& board) {
  const CostFigures& figures = page.figures;
  const Theme& theme = board.theme();
  const Headline large[] = {
      {"cost.answer",
       figures.shape.decodes ? fourDigitBytes(figures.cost.total) : "0 B",
       {"KV cache"},
       {},
       theme.text,
       cacheTerms(figures)},
      {"cost.verdict",
       verdictText(figures),
       {verdictReason(figures)},
       {},
       figures.fits() ? theme.value : theme.query,
       holdsTerms(figures.serving.memory)},
      {"cost.speed", speedText(figures), {speedReason(figures)}, {}, theme.text, timeTerms(figures)}};
  const PartWidth widths[] = {
      {std::max(board.figureWidth(large[0].figure), 110.0f), 0}, {140, 0.56f}, {110, 0.44f}};
  board.columns(widths, 32, [&](std::size_t i, Board& column) { column.largeFigure(large[i]); })
      .leaves(kForNamed);
  board.title(costSentence(figures), costExplanations(figures), {"cost.sentence"}).apart(4).leaves(5);
  if (const std::string notes = costNotes(figures); !notes.empty())
    board.words({notes}, {"cost.notes", theme.query, notes}).apart(2).leaves(1);
}

void bytesProduct(Scene& scene, State& page, Board& board) {
  if (!page.figures.shape.decodes) return;
  if (const std::vector<CostLayers> lines = costLayers(page.figures); !lines.empty())
    return layersByKind(board, page.figures, lines);
  const ProductPlan plan = planProduct(page.view, page.figures, page.view.px(board.width()));
  board.picture("", {plan.height()},
                [&scene, &page, plan](const ImRect& area) { product(scene, page, plan, area); });
  board.leaves(4);
}

}  // namespace headscope::app::cost_page
