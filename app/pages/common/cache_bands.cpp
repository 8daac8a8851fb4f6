#include "app/pages/common/cache_bands.h"

#include <fmt/core.h>

#include "app/compute/plots/plot_data.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"
#include "app/widgets/panel.h"

namespace headscope::app {

namespace {

constexpr std::uint32_t opaque(std::uint32_t hex) {
  return 0xFF000000u | ((hex & 0xFF) << 16) | (hex & 0xFF00) | (hex >> 16);
}

/// Fills a rectangle with diagonal lines.
void hatch(Canvas list, const ImRect& area, std::uint32_t color, float space) {
  if (area.GetWidth() <= 0 || area.GetHeight() <= 0) return;
  list.PushClipRect(area.Min, area.Max, true);
  const float height = area.GetHeight();
  const float first = std::floor((area.Min.x - height) / space) * space;
  for (const float x : placesBetween(first, area.Max.x, space))
    list.AddLine(ImVec2(x, area.Max.y), ImVec2(x + height, area.Min.y), color);
  list.PopClipRect();
}

/// Outlines one band's slots from token `from` up to `to`; a single outline if the columns are thin.
void slotOutlines(const View& view, Canvas list, const BandPlan& plan, Index from, Index to, float top,
                  float bottom, std::uint32_t color) {
  if (from >= to) return;
  const float gap = columnGap(view, plan);
  if (gap == 0) {
    compat::rectOutline(list, ImVec2(plan.x(from), top), ImVec2(plan.x(to), bottom), color, 0, 1);
    return;
  }
  for (Index token = from; token < to; ++token)
    compat::rectOutline(list, ImVec2(std::round(plan.x(token)), top),
                        ImVec2(std::round(plan.x(token + 1)) - gap, bottom), color, 0, 1);
}

/// Outlines and hatches one group's bands that only MHA would store; a single area if they are thin.
void paintMissingBands(const View& view, Canvas list, const BandPlan& plan, const ImRect& area) {
  const CacheColors colors = cacheColors(*view.theme);
  const float gap = std::max(1.0f, std::round(view.px(3)));
  const Index missing = plan.group() - 1;
  const float each = area.GetHeight() / static_cast<float>(missing);
  const bool parts = each >= view.px(12);
  for (Index i = 0; i < (parts ? missing : 1); ++i) {
    const float from = std::round(area.Min.y + each * static_cast<float>(i)) + 1;
    const float to = parts ? std::round(area.Min.y + each * static_cast<float>(i + 1)) - gap : area.Max.y;
    hatch(list, ImRect(area.Min.x, from, plan.x(plan.now), to), colors.voidHatch, view.px(8));
    slotOutlines(view, list, plan, 0, plan.tokens, from, to, colors.voidLine);
  }
}

void paintVoidReason(const View& view, Canvas list, const BandPlan& plan, Index kvHead, const ImRect& area) {
  const Index missing = plan.group() - 1, first = kvHead * plan.group(), last = first + missing;
  const float room = area.GetWidth() - view.px(28);
  ImFont* font = view.fonts->title;
  std::string why = fmt::format("{} MHA would store; here heads {}–{} share KV {}",
                                countedText(missing, "band"), first, last, kvHead);
  if (area.GetHeight() < lineHeight(font) * 4 || textWidth(font, why) > room) {
    font = view.fonts->text;
    why =
        firstFitting(font,
                     {fmt::format("heads {}–{} have none of their own: they read KV {}", first, last, kvHead),
                      fmt::format("share KV {}", kvHead)},
                     room);
  }
  if (area.GetHeight() < lineHeight(font) * 1.3f) return;
  const float y = area.GetCenter().y, x = area.Min.x + view.px(14), width = textWidth(font, why);
  // The middle of an empty cache shows the text on how to fill it.
  if (plan.now == 0 && std::abs(y - plan.cells.GetCenter().y) < view.px(32)) return;
  list.AddRectFilled(ImVec2(x - view.px(8), y - lineHeight(font) * 0.8f),
                     ImVec2(x + width + view.px(8), y + lineHeight(font) * 0.8f), view.theme->background);
  paintText(list, font, ImVec2(x, y), view.theme->secondary, why);
  track(fmt::format("void.{}", kvHead), area.Min, area.Max);
}

}  // namespace

CacheColors cacheColors(const Theme& theme) {
  const auto tint = [](std::uint32_t low, std::uint32_t middle, std::uint32_t high) {
    return render::Tint{unpacked(opaque(low)), unpacked(opaque(high)), unpacked(opaque(middle))};
  };
  if (theme.light)
    return {tint(0xd3e9fa, 0x5b9fd6, 0x0a3d6b),
            tint(0xd6f3e1, 0x55ab7c, 0x0c4a28),
            opaque(0xc3cad3),
            opaque(0xdfe4ea),
            opaque(0xd9dee5),
            opaque(0xfff1e2)};
  return {tint(0x0e3650, 0x2580bb, 0xb5e2ff),
          tint(0x0f4426, 0x2f9a5f, 0xe2fbec),
          opaque(0x323d4a),
          opaque(0x222b36),
          opaque(0x27313c),
          opaque(0x1c1611)};
}

float columnGap(const View& view, const BandPlan& plan) {
  return plan.column() >= view.px(6) ? std::max(1.0f, std::round(view.px(3))) : 0;
}

std::vector<BandPlace> restingBands(const BandPlan& plan, Index pictured) {
  std::vector<BandPlace> bands;
  for (Index g = 0; g < std::min(plan.kvHeads, pictured); ++g)
    bands.push_back({g, plan.keysTop(g), plan.band});
  return bands;
}

void paintBandPictures(const View& view, Canvas list, const EasedTextures& textures, const BandPlan& plan,
                       std::span<const BandPlace> bands, Index tokenGrain) {
  const CacheColors colors = cacheColors(*view.theme);
  for (const bool values : {false, true}) {
    render::HeatmapStyle style;
    style.background = unpacked(view.theme->background);
    style.maskedHatch = style.deadHatch = style.background;
    style.gap = 0;
    style.tint = values ? colors.value : colors.key;
    std::vector<HeatmapTile> tiles;
    for (const BandPlace& band : bands) {
      const float top = std::round(band.top + (values ? band.height : 0));
      const float bottom = top + std::round(band.height);
      HeatmapTile tile;
      tile.range = {-1, 1};
      tile.view.target = {plan.cells.Min.x, top, plan.x(plan.tokens), bottom};
      tile.view.clip = {plan.cells.Min.x, top, plan.x(plan.now), bottom};
      tile.view.layer = static_cast<int>(2 * band.kvHead + values);
      tile.view.rows = static_cast<float>(textures.current().rows());
      tile.view.cols = static_cast<float>(plan.tokens) / static_cast<float>(tokenGrain);
      tiles.push_back(tile);
    }
    view.heatmaps->draw(list, textures, style, std::move(tiles));
  }
}

void paintBandColumns(const View& view, Canvas list, const BandPlan& plan, const BandPlace& band) {
  const float gap = columnGap(view, plan), top = band.top, bottom = top + 2 * band.height;
  for (Index token = 1; token <= plan.now && gap > 0; ++token) {
    const float x = std::round(plan.x(token));
    list.AddRectFilled(ImVec2(x - gap, top), ImVec2(x, bottom), view.theme->background);
  }
  for (const float from : {top, top + band.height})
    slotOutlines(view, list, plan, plan.now, plan.tokens, std::round(from),
                 std::round(from + band.height) - 1, cacheColors(*view.theme).emptySlot);
}

namespace {

/// Calls paint(kv head, area) for each visible area of bands that only MHA would store.
template <class Paint>
void forEachVoid(const View& view, const BandPlan& plan, const Paint& paint) {
  const float gap = std::max(1.0f, std::round(view.px(3)));
  for (Index g = 0; g < plan.kvHeads && plan.group() > 1; ++g) {
    const float top = plan.keysTop(g) + 2 * plan.band + gap, bottom = plan.groupBottom(g) - gap;
    const ImRect whole(plan.cells.Min.x, top, plan.cells.Max.x, bottom);
    if (whole.GetHeight() < view.px(3) || top >= plan.cells.Max.y || bottom <= plan.cells.Min.y) continue;
    paint(g, whole);
  }
}

}  // namespace

void paintVoids(const View& view, Canvas list, const BandPlan& plan) {
  forEachVoid(view, plan, [&](Index, const ImRect& whole) { paintMissingBands(view, list, plan, whole); });
}

void paintVoidReasons(const View& view, Canvas list, const BandPlan& plan) {
  forEachVoid(view, plan, [&](Index kvHead, const ImRect& whole) {
    // Centred in the visible part.
    paintVoidReason(view, list, plan, kvHead,
                    ImRect(whole.Min.x, std::max(whole.Min.y, plan.cells.Min.y), whole.Max.x,
                           std::min(whole.Max.y, plan.cells.Max.y)));
  });
}

}  // namespace headscope::app
