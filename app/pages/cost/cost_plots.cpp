#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "app/compute/cost/cost_plot.h"
#include "app/compute/cost/cost_terms.h"
#include "app/pages/cost/cost_state.h"
#include "app/platform/track.h"
#include "app/scene/text/byte_text.h"
#include "app/widgets/field_controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/plot.h"

namespace headscope::app::cost_page {

namespace {

/// Draws one plot with its title, the choice of what it shows, and its notes. `titleRoom`: width that the
/// title leaves on the right. `noteLines`: minimum number of note lines, so that plots side by side align.
void onePlot(Scene& scene, State& page, int which, const ImRect& area, float titleRoom,
             std::size_t noteLines = 0) {
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
  const auto lines = static_cast<float>(std::max(shown.notes.size(), noteLines));
  const float foot = area.Max.y - noteLine * (lines - (beside ? 1 : 0));
  const std::optional<double> pointed =
      drawPlot(view, std::string(kPlotNames[static_cast<std::size_t>(which)]),
               ImRect(area.Min.x, below + view.px(18), area.Max.x, foot), shown.plot,
               which == 2 ? std::nullopt : page.tokensLit);
  if (pointed && which != 2) page.tokensLit = pointed;
  for (std::size_t i = 0; i < shown.notes.size(); ++i)
    paintFitted(view, list, view.fonts->small,
                ImVec2(area.Min.x, area.Max.y - noteLine * (lines - static_cast<float>(i) - 0.5f)),
                area.GetWidth() - (beside ? view.px(300) : 0), theme.secondary, shown.notes[i]);
}

}  // namespace

bool plot(Scene& scene, State& page, const ImRect& area, std::string_view name) {
  const auto which = std::find(kPlotNames.begin(), kPlotNames.end(), name) - kPlotNames.begin();
  if (which == std::ssize(kPlotNames)) return false;
  onePlot(scene, page, static_cast<int>(which),
          ImRect(area.Min.x, area.Min.y, area.Max.x, area.Max.y - page.view.px(6)), 0);
  return true;
}

void plots(Scene& scene, State& page, const ImRect& area, bool small) {
  View& view = page.view;
  const std::optional<double> before = page.tokensLit;
  const bool overPlot = ImGui::IsWindowHovered() && area.Contains(ImGui::GetIO().MousePos);
  if (!overPlot) page.tokensLit.reset();
  const float bottom = area.Max.y - view.px(12);
  if (bottom - area.Min.y < view.px(120)) return;
  if (small) {
    const float tabs = view.px(300);
    ImGui::SetCursorScreenPos(ImVec2(area.Max.x - tabs, area.Min.y - view.px(4)));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
    ImGui::BeginChild(
        "plot_tabs", ImVec2(tabs, view.px(32)), false,
        ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoScrollWithMouse);
    std::vector<Choice> choices;
    for (const char* tab : kPlotTabs) choices.push_back({tab, "", ""});
    segmented(view, "plot_tab", choices, page.plotTab);
    compat::endChild();
    ImGui::PopStyleVar();
    onePlot(scene, page, page.plotTab, ImRect(area.Min.x, area.Min.y, area.Max.x, bottom),
            tabs + view.px(16));
  } else {
    const float space = view.px(48), each = (area.GetWidth() - 2 * space) / 3;
    for (int which = 0; which < 3; ++which) {
      const float left = area.Min.x + static_cast<float>(which) * (each + space);
      onePlot(scene, page, which, ImRect(left, area.Min.y, left + each, bottom), 0, 2);
    }
  }
  if (page.tokensLit != before) view.redraw(2);
}

}  // namespace headscope::app::cost_page
