#include <fmt/core.h>

#include "app/pages/cost/cost_page.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/field_controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/plot.h"

namespace headscope::app::cost_page {

namespace {

/// Room for two lines of notes, so that plots side by side align.
constexpr std::size_t kNoteLines = 2;

/// Draws one plot with its title, the choice of what it shows, and its notes. `titleRoom`: width that the
/// title leaves on the right.
void onePlot(Scene& scene, State& page, int which, const ImRect& area, float titleRoom) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const CostPlot shown = which == 0   ? memoryPlot(scene.cost, page.figures, page.catalogue)
                         : which == 1 ? workPlot(scene.cost, page.figures)
                                      : rooflinePlot(page.figures);
  paintFitted(view, list, view.fonts->title, ImVec2(area.Min.x, area.Min.y + view.px(10)),
              area.GetWidth() - titleRoom, theme.text, shown.title);
  if (which == 2 && ImGui::IsWindowHovered() &&
      ImRect(area.Min, ImVec2(area.Max.x - titleRoom, area.Min.y + view.px(42)))
          .Contains(ImGui::GetIO().MousePos))
    tooltip(view, timeTerms(page.figures));
  const float below = area.Min.y + view.px(33);
  if (which == 2 || view.figure) {
    const bool cache = scene.cost.memory == MemoryPlot::cache, prefill = scene.cost.work == WorkPlot::prefill;
    const std::string unit = which == 2   ? shown.unit
                             : which == 0 ? (cache ? "Cache in GiB" : "n² matrices in GiB")
                                          : (prefill ? "FLOPs of a prefill" : "FLOPs of a decode step");
    paintFitted(view, list, view.fonts->text, ImVec2(area.Min.x, below), area.GetWidth(), theme.secondary,
                unit);
  } else {
    ImGui::SetCursorScreenPos(ImVec2(area.Min.x - view.px(2), below - view.px(13)));
    fieldChoice(view, scene, which == 0 ? "cost.memory_plot" : "cost.work_plot");
  }
  const float noteLine = view.px(17);
  // In a wide plot the notes go next to the axis title.
  const bool beside = area.GetWidth() > view.px(700);
  const float wide = area.GetWidth() - (beside ? view.px(300) : 0);
  std::vector<std::string> notes = shown.notes;
  if (view.present)
    std::erase_if(notes, [&](const std::string& note) { return textWidth(view.fonts->small, note) > wide; });
  const auto lines = static_cast<float>(beside ? notes.size() : std::max(notes.size(), kNoteLines));
  const float foot = area.Max.y - noteLine * (lines - (beside ? 1 : 0));
  const std::optional<double> pointed = drawPlot(view, std::string(kPlotNames[asSize(which)]),
                                                 ImRect(area.Min.x, below + view.px(18), area.Max.x, foot),
                                                 shown.plot, which == 2 ? std::nullopt : page.tokensLit);
  if (pointed && which != 2) page.nextTokensLit = pointed;
  for (std::size_t i = 0; i < notes.size(); ++i)
    paintFitted(view, list, view.fonts->small,
                ImVec2(area.Min.x, area.Max.y - noteLine * (lines - static_cast<float>(i) - 0.5f)), wide,
                theme.secondary, notes[i]);
}

}  // namespace

void plots(Scene& scene, State& page, Board& board) {
  board.oneOf("plot_tab", kPlotTabs, kPlotNames, page.plotTab, 48, {170, 300, 1},
              [&scene, &page](int which, const ImRect& area, float taken) {
                onePlot(scene, page, which, area, taken);
              });
  board.leaves(1);
}

namespace {

constexpr double kGiga = 1e9;

/// A segment of the ruler, from left to right.
struct Segment {
  std::string label;
  double bytes;
  std::uint32_t color;
  std::string terms;
};

std::vector<Segment> segmentsOf(const View& view, const CostFigures& figures) {
  const Theme& theme = *view.theme;
  std::vector<Segment> segments;
  const std::uint32_t grey = theme.light ? theme.secondary : mixed(theme.line, theme.secondary, 0.35f);
  segments.push_back(
      {"weights", static_cast<double>(figures.cost.weightsPerGpu), grey, weightsTerms(figures)});
  const double cache = figures.serving.memory.cache;
  const std::string terms = cachePerGpuTerms(figures);
  if (figures.shape.isLatent() || !costLayers(figures).empty()) {
    segments.push_back({figures.shape.isLatent() ? "latent" : "cache", cache, theme.key, terms});
  } else {
    segments.push_back({"K", cache / 2, theme.key, terms});
    segments.push_back({"V", cache / 2, theme.value, terms});
  }
  segments.push_back(
      {"activations", figures.serving.memory.activations, theme.faint, activationTerms(figures)});
  return segments;
}

/// Whether a machine is on the scale of the chosen one: some share their memory and leave less of it to the
/// GPU, so a scale with both would not be in the order of the sizes that are sold.
bool isAlike(const State& page, const attention::Machine& machine) {
  return machine.usableShare == page.figures.machine.usableShare;
}

/// Where the smallest card that fits has its line across the bar; the bar's end if none does.
float firstFit(const State& page, const ImRect& bar, double most) {
  double least = most;
  for (const attention::Machine& machine : page.catalogue.machines)
    if (isAlike(page, machine) && page.figures.gpuBytes() <= machine.usableBytes())
      least = std::min(least, machine.usableBytes());
  return std::round(bar.Min.x + static_cast<float>(least / most) * bar.GetWidth());
}

void paintSegments(const View& view, Canvas list, const CostFigures& figures, const ImRect& bar, double most,
                   float end) {
  float x = bar.Min.x;
  const std::vector<Segment> segments = segmentsOf(view, figures);
  for (const Segment& segment : segments) {
    const float width = static_cast<float>(segment.bytes / most) * bar.GetWidth();
    const ImRect part(x, bar.Min.y, std::min(x + width, bar.Max.x), bar.Max.y);
    x += width;
    if (part.GetWidth() <= 0.5f) continue;
    list.AddRectFilled(part.Min, part.Max, segment.color);
    const std::string number = fourDigitBytes(segment.bytes);
    const std::uint32_t ink = inkOn(unpacked(segment.color));
    const float name = textWidth(view.fonts->bold, segment.label),
                value = textWidth(view.fonts->mono, number);
    const float gap = view.px(7), y = bar.GetCenter().y;
    if (part.GetWidth() > name + value + gap + view.px(16)) {
      const float left = part.GetCenter().x - (name + gap + value) / 2;
      paintText(list, view.fonts->bold, ImVec2(left, y), ink, segment.label);
      paintText(list, view.fonts->mono, ImVec2(left + name + gap, y), ink, number);
    } else if (part.GetWidth() > name + view.px(6)) {
      paintText(list, view.fonts->bold, part.GetCenter(), ink, segment.label, Align::center);
    } else if (&segment == &segments.back() && end - x > name + 2 * gap)  // thin, so beside it
      paintText(list, view.fonts->text, ImVec2(x + gap, y), view.theme->secondary, segment.label);
    showTerms(view, "ruler." + segment.label, part, segment.terms);
  }
}

/// Draws the cards' capacities: bright if the model fits, grey if not. Of overlapping labels, the selected
/// card's wins, then those of cards that fit.
void paintCards(const View& view, Canvas list, const State& page, const ImRect& bar, double most,
                float firstFit) {
  const Theme& theme = *view.theme;
  const double bytes = page.figures.gpuBytes();
  std::set<std::pair<double, double>> sizes;
  for (const attention::Machine& machine : page.catalogue.machines)
    if (isAlike(page, machine)) sizes.emplace(machine.usableBytes(), machine.memoryGb);
  struct Card {
    double usable, gb;
    bool fits, chosen;
  };
  std::vector<Card> cards;
  const attention::Machine& own = page.figures.machine;
  for (const auto& [usable, gb] : sizes)
    cards.push_back({usable, gb, bytes <= usable, gb == own.memoryGb && usable == own.usableBytes()});
  std::stable_sort(cards.begin(), cards.end(), [](const Card& a, const Card& b) {
    return std::pair(a.chosen, a.fits) > std::pair(b.chosen, b.fits);
  });
  std::vector<std::pair<float, float>> taken, takenFree;
  const auto claims = [&](std::vector<std::pair<float, float>>& places, float from, float to) {
    for (const auto& [a, b] : places)
      if (from < b + view.px(8) && to > a - view.px(8)) return false;
    places.emplace_back(from, to);
    return true;
  };
  for (const Card& card : cards) {
    if (card.usable > most) continue;
    const float x = std::round(bar.Min.x + static_cast<float>(card.usable / most) * bar.GetWidth());
    ImFont* font = card.fits ? view.fonts->bold : view.fonts->mono;
    const std::string label = roundedText(card.gb) + " GB";
    const float half = textWidth(font, label) / 2, y = bar.Max.y + view.px(22);
    const float pad = card.chosen ? view.px(8) : 0;
    const float middle = std::clamp(x, bar.Min.x + half + pad, bar.Max.x - half - pad);
    const bool named = claims(taken, middle - half, middle + half);
    // Of those that fit, a line without a name would say nothing.
    if (card.fits && !named) continue;
    const float top = card.fits ? bar.Min.y - view.px(4) : bar.Max.y - view.px(4);
    list.AddRectFilled(ImVec2(x - view.px(card.fits ? 1 : 0.5f), top),
                       ImVec2(x + view.px(card.fits ? 1 : 0.5f), bar.Max.y + view.px(10)),
                       card.fits ? theme.text : theme.secondary);
    if (!named) continue;
    if (card.chosen)
      list.AddRectFilled(ImVec2(middle - half - pad, y - view.px(12)),
                         ImVec2(middle + half + pad, y + view.px(12)), theme.raised, view.px(5));
    paintText(list, font, ImVec2(middle, y), card.fits ? theme.text : theme.secondary, label, Align::center);
    if (!card.fits) continue;
    const std::string free = fourDigitBytes(card.usable - bytes) + " free";
    const float room = textWidth(view.fonts->text, free) / 2;
    const float at = std::clamp(middle, bar.Min.x + room, bar.Max.x - room);
    if (claims(takenFree, at - room, at + room))
      paintText(list, view.fonts->text, ImVec2(at, y + view.px(22)), theme.secondary, free, Align::center);
  }
  const bool anyFits = std::any_of(cards.begin(), cards.end(), [](const Card& card) { return card.fits; });
  const std::string tooSmall =
      anyFits ? "too small at " + countedText(page.figures.request.tensorParallel, "GPU")
      : page.figures.tooLarge()
          ? "No GPU holds this."
          : fmt::format("Needs {:.0f} of the largest GPUs",
                        std::ceil(bytes * static_cast<double>(page.figures.request.tensorParallel) /
                                  sizes.rbegin()->first));
  if (firstFit - bar.Min.x > textWidth(view.fonts->text, tooSmall) + view.px(90) || !anyFits)
    paintText(list, view.fonts->text, ImVec2(bar.Min.x, bar.Max.y + view.px(44)), theme.secondary, tooSmall);
}

void tile(Scene& scene, State& page, const GpuChoice& choice, const ImRect& area) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const std::string name = fmt::format("gpus.{}", choice.gpus);
  const bool clicked = hitArea(name, area);
  const bool enabled = choice.reason.empty(), hovered = ImGui::IsItemHovered();
  const bool chosen = choice.gpus == page.figures.request.tensorParallel;
  if (clicked && enabled) scene.cost.gpus = choice.gpus;
  if (chosen || (hovered && enabled)) list.AddRectFilled(area.Min, area.Max, theme.raised, view.px(8));
  compat::rectOutline(list, area.Min, area.Max, chosen ? theme.text : theme.line, view.px(8),
                      view.px(chosen ? 1.6f : 1));
  if (hovered) tooltipBeside(view, enabled ? holdsTerms(choice.memory) : choice.reason, area);
  const float pad = view.px(area.GetWidth() < view.px(100) ? 5 : 14);
  const float left = area.Min.x + pad, right = area.Max.x - pad;
  const bool low = area.GetHeight() < view.px(60);  // one line instead of two
  const float y = low ? area.GetCenter().y : area.Min.y + view.px(21);
  std::string title = countedText(choice.gpus, "GPU");
  std::string fits = choice.fitsGb ? roundedText(*choice.fitsGb) + " GB" : "none";
  float word = textWidth(view.fonts->bold, fits);
  if (enabled && left + textWidth(view.fonts->bold, title) + view.px(8) > right - word) {
    // Only in the smallest windows; the labels above show that cards are measured in GB.
    title = fmt::format("{}×", choice.gpus);
    if (choice.fitsGb) fits = roundedText(*choice.fitsGb);
    word = textWidth(view.fonts->bold, fits);
  }
  const float titleWidth =
      paintText(list, view.fonts->bold, ImVec2(left, y), enabled ? theme.text : theme.faint, title);
  if (!enabled) {
    paintFitted(view, list, view.fonts->text, ImVec2(right, y), right - left - titleWidth - view.px(8),
                theme.faint, "uneven split", Align::right);
    return;
  }
  paintText(list, view.fonts->bold, ImVec2(right, y), choice.fitsGb ? theme.text : theme.secondary, fits,
            Align::right);
  const float room = right - word - left - titleWidth - view.px(14);
  const std::string needs = firstFitting(view.fonts->text, {"needs cards with", "with", ""}, room);
  paintText(list, view.fonts->text, ImVec2(right - word - view.px(6), y), theme.secondary, needs,
            Align::right);
  if (low) return;
  const double bytes = choice.memory.needed();
  const float below = area.Min.y + view.px(45);
  const std::string each = fourDigitBytes(bytes) + (choice.gpus > 1 && bytes < 0x1p63 ? " each" : "");
  const float eachWidth = paintText(list, view.fonts->mono, ImVec2(left, below), theme.secondary, each);
  const float beside = right - left - eachWidth - view.px(8);
  if (choice.copies > 1 && beside > view.px(50))
    paintFitted(view, list, view.fonts->small, ImVec2(right, below), beside, theme.secondary,
                page.figures.shape.isLatent() ? "latent on each"
                : choice.copies == 2          ? "each kv head twice"
                                              : fmt::format("each kv head {}×", choice.copies),
                Align::right);
}

}  // namespace

void gpuRuler(Scene& scene, State& page, Board& board) {
  const View& view = page.view;
  const CostFigures& figures = page.figures;
  const std::string sold =
      fmt::format("{} % of its memory is usable: {} gives {}", roundedText(figures.machine.usableShare * 100),
                  machineText(figures.machine, " "), fourDigitBytes(figures.machine.usableBytes()));
  const auto bar = [&view, &page](const ImRect& area) {
    Canvas list = *ImGui::GetWindowDrawList();
    const CostFigures& shown = page.figures;
    const ImRect bar(area.Min, ImVec2(area.Max.x, area.Max.y - view.px(66)));
    list.AddRectFilled(bar.Min, bar.Max, view.theme->panel);
    double most = 200 * kGiga;
    // The axis grows beyond the largest card if the model or the selected machine is larger.
    while (most < std::max(shown.gpuBytes() * 1.05, shown.machine.usableBytes())) most *= 2;
    const float fits = firstFit(page, bar, most);
    if (!shown.tooLarge()) paintSegments(view, list, shown, bar, most, fits);
    paintCards(view, list, page, bar, most, fits);
  };
  // They leave together: a bar says nothing without its heading.
  board.columns(std::vector<PartWidth>(1), 0, [&](std::size_t, Board& ruler) {
    ruler.title(costHolds(figures), {costShare(figures) + "  ·  " + sold, costShare(figures)},
                {"ruler.heading"});
    ruler.picture("", {board.height() < 820 ? 92.0f : 114.0f}, bar).apart(4);
  });
  board.leaves(3);
  const std::vector<PartWidth> widths(page.gpus.size());
  board.columns(widths, 10, [&](std::size_t i, Board& column) {
    column.area("", {34, 66},
                [&scene, &page, i](const ImRect& area) { tile(scene, page, page.gpus[i], area); });
  });
  board.apart(4).leaves(2);
}

}  // namespace headscope::app::cost_page
