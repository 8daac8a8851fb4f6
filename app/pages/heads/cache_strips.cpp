#include "app/pages/heads/cache_strips.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/platform/track.h"
#include "app/widgets/marks.h"
#include "app/widgets/paint.h"
#include "app/widgets/panel.h"

namespace headscope::app::heads_page {

namespace {

/// Width left of the bands for the names of their kv heads, in layout units.
constexpr float kBandNames = 48;

Index slotsInSight(const BandPlan& plan) {
  return std::max<Index>(1, static_cast<Index>(std::round(plan.cells.GetHeight() / plan.slot)));
}

/// Draws the names of the kv heads, thinned so that they don't overlap.
void paintBandNames(const View& view, Canvas list, const BandPlan& plan, float left) {
  ImFont* font = view.fonts->small;
  float last = -1e9f;
  for (Index g = 0; g < plan.kvHeads; ++g) {
    const float middle = plan.keysTop(g) + plan.band;
    // The name of a thin band is taller than the band.
    const float y = std::max(middle, plan.cells.Min.y + lineHeight(font) / 2);
    if (middle < plan.cells.Min.y || middle > plan.cells.Max.y || y - last < lineHeight(font)) continue;
    last = y;
    paintText(list, font, ImVec2(left, y), groupColor(*view.theme, g), kvName(g));
  }
}

/// Outlines the hovered column and the newest one.
void paintOutlines(const Scene& scene, const View& view, Canvas list, const BandPlan& plan,
                   const StripState& state, Index key) {
  const auto outline = [&](Index j, std::uint32_t color) {
    const ImRect column(ImVec2(plan.x(j), plan.cells.Min.y), ImVec2(plan.x(j + 1), plan.cells.Max.y));
    paintMark(view, list, "column", column, color);
  };
  if (key >= 0 && key < plan.tokens) outline(key, view.theme->key);
  if (scene.cursor.decoding && state.reason.empty()) outline(state.now - 1, view.theme->query);
}

/// Draws the keys' tokens below the columns, thinned so that they don't overlap.
void paintKeys(const Scene& scene, const View& view, const BandPlan& plan, const StripState& state,
               const std::vector<attention::Token>& keys, Index key, float y) {
  Canvas list = *ImGui::GetWindowDrawList();
  ImFont* font = view.fonts->monoSmall;
  const Index step = std::max<Index>(1, static_cast<Index>(std::ceil(view.px(42) / plan.column())));
  for (Index j = 0; j < plan.tokens; j += step) {
    const bool newest = scene.cursor.decoding && j == state.now - 1;
    const float room = std::min(plan.x(j + step) - view.px(6), plan.cells.Max.x) - plan.x(j);
    if (step > 1 && room < view.px(16)) continue;
    paintText(list, font, ImVec2(plan.x(j) + view.px(2), y),
              newest          ? view.theme->query
              : j == key      ? view.theme->key
              : j < state.now ? view.theme->secondary
                              : view.theme->faint,
              fitted(font, keys[static_cast<std::size_t>(j)].text, room));
  }
}

}  // namespace

BandPlan stripPlan(const Scene& scene, const Snapshot& snapshot, const View& view, const StripState& state,
                   const ImRect& area) {
  const attention::AttentionConfig& config = snapshot.config;
  BandPlan plan;
  plan.cells = ImRect(area.Min.x + view.px(kBandNames), area.Min.y, area.Max.x, area.Max.y - view.px(18));
  plan.tokens = std::max<Index>(shownSequence(scene, &snapshot)->attention.k.rows(), 1);
  plan.now = state.now;
  plan.kvHeads = config.kvHeads;
  // While presenting, space is scarce, so stored bands get all of it.
  plan.heads = view.present ? config.kvHeads : config.heads;
  const float least = view.px(view.present ? 4 : 8),
              most = view.present ? view.px(31) : std::max(least, plan.cells.GetHeight());
  plan.slot = std::floor(std::clamp(plan.cells.GetHeight() / static_cast<float>(plan.heads), least, most));
  const Index slots =
      std::clamp<Index>(static_cast<Index>(plan.cells.GetHeight() / plan.slot), 1, plan.heads);
  plan.cells.Max.y = plan.cells.Min.y + plan.slot * static_cast<float>(slots);
  plan.band = std::max(1.0f, std::floor((plan.slot - view.px(plan.slot > view.px(14) ? 2 : 1)) / 2));
  const Index wanted =
      config.kvHeadOf(std::clamp<Index>(scene.cursor.cell.head, 0, config.heads - 1)) * plan.group();
  plan.firstHead = std::clamp<Index>(wanted - (slots > plan.group() ? slots / 2 : 0), 0, plan.heads - slots);
  return plan;
}

std::string stripShare(const BandPlan& plan) {
  const Index first = (plan.firstHead + plan.group() - 1) / plan.group(),
              last = std::max(first, (plan.firstHead + slotsInSight(plan) - 1) / plan.group());
  if (first == 0 && last == plan.kvHeads - 1) return {};
  return fmt::format("{} of {} · ", first == last ? kvName(first) : fmt::format("{}–{}", kvName(first), last),
                     plan.kvHeads);
}

void cacheStrips(Scene& scene, State& page, const SequenceSnapshot& sequence, const StripState& state,
                 const BandPlan& plan, const ImRect& area) {
  View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  page.pictures.cacheGrain = cacheGrain(sequence.attention, static_cast<Index>(plan.band),
                                        std::max<Index>(16, static_cast<Index>(plan.cells.GetWidth())));
  list.PushClipRect(plan.cells.Min, plan.cells.Max, true);
  paintVoids(view, list, plan, true);
  const std::vector<BandPlace> bands = restingBands(plan, page.pictures.cache.current().layers() / 2);
  if (!page.pictures.cache.empty())
    paintBandPictures(view, list, page.pictures.cache, plan, bands, page.pictures.drawnCacheGrain.tokens);
  for (const BandPlace& band : bands) {
    paintBandColumns(view, list, plan, band);
    track(fmt::format("strip.{}", band.kvHead), ImVec2(plan.cells.Min.x, band.top),
          ImVec2(plan.cells.Max.x, band.top + 2 * band.height));
  }
  list.PopClipRect();
  paintBandNames(view, list, plan, area.Min.x);
  const Index key = view.hover.key >= 0 ? view.hover.key : scene.cursor.cell.key;
  paintOutlines(scene, view, list, plan, state, key);
  const float keysAt = plan.cells.Max.y + view.px(9), bottom = plan.cells.Max.y + view.px(18);
  paintKeys(scene, view, plan, state, sequence.keys, key, keysAt);
  track("cache.strips", plan.cells.Min, plan.cells.Max);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (!ImGui::IsWindowHovered() || !ImRect(plan.cells.Min, ImVec2(plan.cells.Max.x, bottom)).Contains(mouse))
    return;
  view.nextHover.key = static_cast<Index>((mouse.x - plan.cells.Min.x) / plan.column());
  if (!ImGui::IsMouseClicked(1)) return;
  offerForToken(scene, page, false, view.nextHover.key);
  view.menu.emplace_back("picture.save_cache");
}

}  // namespace headscope::app::heads_page
