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

/// The y below the heading after the product or the layers, which tooltips of these leave visible.
float belowHeading(const View& view, float end, bool small) {
  return end + view.px(small ? 26 : 40);
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
std::string reservedText(const CostFigures& figures, bool small) {
  const std::string reserved = fourDigitBytes(figures.cost.reserved);
  if (figures.cost.reserved >= attention::kTooManyBytes) return "reserved: " + reserved;
  if (small) return fmt::format("{} in blocks of {}", reserved, figures.request.block);
  return fmt::format("Blocks of {}: {} reserved, {} wasted", figures.request.block, reserved,
                     fourDigitBytes(figures.cost.reserved - figures.cost.total));
}

/// Draws the factors side by side with signs between them; on two lines if one is too short: the factors of a
/// token, then the number of tokens. Returns the y of the bottom.
float product(Scene& scene, State& page, const ImRect& area, bool small) {
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
  if (room < least) {  // try smaller numbers before a second line
    numbers = view.fonts->mono;
    resultWidth = textWidth(numbers, total) + view.px(8);
    measure();
  }
  // The signs share the width that the factors leave.
  const float sign = std::clamp(room / static_cast<float>(factors.size()), view.px(14), view.px(64));
  const bool breaks = room < least;
  const float label = view.px(small ? 24 : 30), below = label + view.px(22), secondLine = small ? 90 : 104;
  float y = area.Min.y, x = area.Min.x, split = x, second = x, end = x;
  const float ends = area.Min.y + view.px((breaks ? secondLine : 0) + (small ? 78 : 92));
  const float helpY = belowHeading(view, ends, small);
  const auto paintSign = [&](const char* text) {
    paintText(list, numbers, ImVec2(x + sign / 2, y), theme.faint, text, Align::center);
    x += sign;
  };
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const CostFactor& factor = factors[i];
    const bool turns = i > 0 && !factor.perToken && factors[i - 1].perToken;
    if (turns && breaks) {
      x = area.Min.x;
      y += view.px(secondLine);
    }
    if (i > 0) paintSign("×");
    if (turns) second = x;
    paintFactor(scene, page, numbers, factor, {x, widths[i], y, y + label, helpY});
    x += widths[i];
    if (factor.perToken) split = x;
    end = x;
  }
  bracket(view, list, area.Min.x, split, area.Min.y + below, perTokenText(figures));
  bracket(view, list, second, end, y + below, cachedTokensText(figures));
  paintSign("=");
  const float half = x + view.px(4), most = area.Max.x - half;
  paintFitted(view, list, numbers, ImVec2(half, y), most, theme.text, total);
  showTerms(view, "cost.total",
            ImRect(half, y - view.px(14), half + std::min(resultWidth, most), y + view.px(14)),
            cacheTerms(figures), helpY);
  if (!figures.tooLarge() && figures.cost.total >= 1024)
    paintFitted(view, list, view.fonts->text, ImVec2(half, y + label), most, theme.secondary,
                "= " + fourDigitBytes(figures.cost.total));
  const float foot = y + below + view.px(18);
  paintFitted(view, list, view.fonts->text, ImVec2(half, foot), most, theme.secondary,
              reservedText(figures, small));
  showTerms(view, "cost.reserved", ImRect(half, foot - view.px(10), half + most, foot + view.px(10)),
            reservedTerms(figures), helpY);
  return ends;
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
/// Returns the y of the bottom.
float layersByKind(const View& view, const CostFigures& figures, const std::vector<CostLayers>& lines,
                   const ImRect& area, bool small) {
  Canvas list = *ImGui::GetWindowDrawList();
  const Theme& theme = *view.theme;
  const float strip = view.px(small ? 16 : 24), row = view.px(small ? 19 : 24);
  layerStrip(view, figures, ImRect(area.Min.x, area.Min.y, area.Max.x, area.Min.y + strip));
  float y = area.Min.y + strip + view.px(small ? 14 : 22);
  float words = 0, bytes = 0;
  for (const CostLayers& line : lines) {
    words = std::max(words, textWidth(view.fonts->text, line.words));
    bytes = std::max(bytes, textWidth(view.fonts->mono, line.bytes));
  }
  const float helpY = belowHeading(view, y + row * static_cast<float>(lines.size()), small);
  const float left = area.Min.x + view.px(20), middle = left + words + view.px(20), right = middle + bytes;
  for (const CostLayers& line : lines) {
    list.AddRectFilled(ImVec2(area.Min.x, y - view.px(6)), ImVec2(area.Min.x + view.px(12), y + view.px(6)),
                       kindColor(theme, line.kind), view.px(2));
    paintText(list, view.fonts->text, ImVec2(left, y), theme.text, line.words);
    paintText(list, view.fonts->mono, ImVec2(right, y), theme.text, line.bytes, Align::right);
    if (!line.product.empty())
      paintFitted(view, list, view.fonts->text, ImVec2(right + view.px(20), y),
                  area.Max.x - right - view.px(20), theme.secondary, line.product);
    showTerms(view, "layers." + std::string(attention::kCacheKindNames[static_cast<std::size_t>(line.kind)]),
              ImRect(area.Min.x, y - row / 2, right, y + row / 2), line.help, helpY);
    y += row;
  }
  return y;
}

/// A figure that stands large above its description, and its terms.
struct LargeFigure {
  const char* name;
  std::string figure, words, terms;
  std::uint32_t color;
};

/// Draws it with its description on as many lines as needed. Returns the extra height compared to one line.
float paintLarge(const View& view, const LargeFigure& what, ImVec2 at, float width, bool small) {
  Canvas list = *ImGui::GetWindowDrawList();
  ImFont* display = small ? view.fonts->displaySmall : view.fonts->display;
  if (textWidth(display, what.figure) > width) display = view.fonts->hero;
  paintFitted(view, list, display, at, width, what.color, what.figure);
  const float line = lineHeight(view.fonts->text), top = at.y + view.px(small ? 26 : 38) - line / 2;
  const float high =
      paintParagraph(list, view.fonts->text, ImVec2(at.x, top), width, view.theme->secondary, what.words);
  const float more = std::max(0.0f, high - line);
  showTerms(view, what.name, ImRect(at.x, at.y - view.px(24), at.x + width, top + line + more + view.px(2)),
            what.terms);
  return more;
}

}  // namespace

float bytesAnswer(State& page, const ImRect& area, bool small) {
  View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  const CostFigures& figures = page.figures;
  const Theme& theme = *view.theme;
  const LargeFigure large[] = {
      {"cost.answer", figures.shape.decodes ? fourDigitBytes(figures.cost.total) : "0 B", "KV cache",
       cacheTerms(figures), theme.text},
      {"cost.verdict", verdictText(figures), verdictReason(figures), holdsTerms(figures.serving.memory),
       figures.fits() ? theme.value : theme.query},
      {"cost.speed", speedText(figures), speedReason(figures), timeTerms(figures), theme.text}};
  // Side by side; stacked in a narrow window.
  const bool narrow = area.GetWidth() < view.px(620);
  const float gap = view.px(small ? 24 : 40);
  ImFont* display = small ? view.fonts->displaySmall : view.fonts->display;
  const float first = std::max(textWidth(display, large[0].figure), view.px(110)),
              rest = area.GetWidth() - first - 2 * gap;
  const float widths[] = {first, rest * 0.56f, rest * 0.44f};
  ImVec2 at(area.Min.x, area.Min.y + view.px(small ? 34 : 50));
  float more = 0;
  for (std::size_t i = 0; i < std::size(large); ++i) {
    if (narrow && i > 0) at.y += view.px(62) + std::exchange(more, 0);
    more = std::max(more, paintLarge(view, large[i], at, narrow ? area.GetWidth() : widths[i], small));
    if (!narrow) at.x += widths[i] + gap;
  }
  const float line = at.y + view.px(small ? 52 : 76) + more;
  ImFont* title = small ? view.fonts->bold : view.fonts->title;
  const std::string sentence = costSentence(figures);
  paintFitted(view, list, title, ImVec2(area.Min.x, line), area.GetWidth(), theme.text, sentence);
  const float after = area.Min.x + textWidth(title, sentence) + view.px(16);
  if (area.Max.x - after > view.px(120))
    paintText(list, view.fonts->text, ImVec2(after, line), theme.secondary,
              firstFitting(view.fonts->text, costExplanations(figures), area.Max.x - after));
  track("cost.sentence", ImVec2(area.Min.x, line - view.px(12)), ImVec2(area.Max.x, line + view.px(12)));
  const std::string notes = costNotes(figures);
  if (notes.empty()) return line + view.px(small ? 12 : 20);
  paintFitted(view, list, view.fonts->text, ImVec2(area.Min.x, line + view.px(24)), area.GetWidth(),
              theme.query, notes);
  showTerms(view, "cost.notes", ImRect(area.Min.x, line + view.px(14), area.Max.x, line + view.px(34)),
            notes);
  return line + view.px(small ? 36 : 44);
}

float bytesProduct(Scene& scene, State& page, const ImRect& area, bool small) {
  const View& view = page.view;
  if (!page.figures.shape.decodes) return area.Min.y;
  if (const std::vector<CostLayers> lines = costLayers(page.figures); !lines.empty())
    return layersByKind(view, page.figures, lines,
                        ImRect(area.Min.x, area.Min.y + view.px(small ? 8 : 22), area.Max.x, area.Max.y),
                        small);
  const float top = area.Min.y + view.px(small ? 22 : 44);
  return product(scene, page, ImRect(area.Min.x, top, area.Max.x, area.Max.y), small);
}

}  // namespace headscope::app::cost_page
