// The experts that the text's tokens were routed to, in the chosen layer.

#include <fmt/core.h>

#include <algorithm>

#include "app/pages/model/model_state.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/panel.h"

namespace headscope::app::model_page {

namespace {

/// "expert 5 0.61, expert 2 0.39", the largest share first.
std::string sharesText(const attention::Routing& routing, Index token) {
  std::string text;
  for (Index i = 0; i < routing.shares.cols(); ++i)
    text += fmt::format("{}expert {} {}", i == 0 ? "" : ", ", routing.experts(token, i),
                        weightText(routing.shares(token, i)));
  return text;
}

/// Paints one row per expert and one column per token; the larger the share, the stronger the cell.
void paintShares(const View& view, const ImRect& area, const attention::Routing& routing, Index experts,
                 Index query) {
  Canvas list = *ImGui::GetWindowDrawList();
  const Index tokens = routing.shares.rows();
  const float wide = area.GetWidth() / static_cast<float>(tokens),
              high = area.GetHeight() / static_cast<float>(experts);
  list.AddRectFilled(area.Min, area.Max, view.theme->raised);
  const float most = std::max(routing.shares.maxCoeff(), 1e-6f);
  for (Index token = 0; token < tokens; ++token)
    for (Index i = 0; i < routing.shares.cols(); ++i) {
      const auto row = static_cast<float>(routing.experts(token, i));
      const float strength = std::clamp(routing.shares(token, i) / most, 0.1f, 1.0f);
      const ImVec2 from(area.Min.x + wide * static_cast<float>(token), area.Min.y + high * row);
      list.AddRectFilled(from, ImVec2(from.x + std::max(wide, 1.0f), from.y + std::max(high, 1.0f)),
                         faded(view.theme->text, strength));
    }
  const float left = area.Min.x + wide * static_cast<float>(query);
  compat::rectOutline(list, ImVec2(left, area.Min.y), ImVec2(left + std::max(wide, 2.0f), area.Max.y),
                      view.theme->query, 0, std::max(1.0f, view.px(1.4f)));
}

}  // namespace

void expertSection(Scene& scene, State& page) {
  const Index layer = scene.cursor.model.layer;
  const LayerSummary* const summary = page.ready() ? page.layer(layer) : nullptr;
  if (!page.model.config || page.model.config->mixture.experts == 0 || !summary) return;
  View& view = page.view;
  gap(view, 12);
  sectionTitle(view, fmt::format("EXPERTS IN LAYER {}", layer));
  const attention::Routing& routing = summary->routing;
  if (routing.shares.size() == 0) return hint(view, "This layer has one MLP for all tokens.");
  const Index tokens = routing.shares.rows(), experts = page.model.config->mixture.experts;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float high = std::clamp(view.px(10) * static_cast<float>(experts), view.px(60), view.px(200));
  const ImRect area(at.x, at.y, at.x + ImGui::GetContentRegionAvail().x, at.y + high);
  Index& query = scene.cursor.cell.query;
  const bool clicked = hitArea("model.experts", area.GetSize());
  paintShares(view, area, routing, experts, std::min(query, tokens - 1));
  if (ImGui::IsItemHovered()) {
    const float share = (ImGui::GetIO().MousePos.x - area.Min.x) / area.GetWidth();
    const Index token =
        std::clamp<Index>(static_cast<Index>(share * static_cast<float>(tokens)), 0, tokens - 1);
    tooltip(view, page.token(token) + ": " + sharesText(routing, token));
    if (clicked) query = token;
  }
  gap(view, 4);
  if (query < tokens) hint(view, page.token(query) + ": " + sharesText(routing, query));
  hint(view, fmt::format("Rows are the {} experts, columns the tokens; contrast shows the share.", experts));
}

}  // namespace headscope::app::model_page
