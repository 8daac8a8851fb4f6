#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "app/labs/cache/cache_page.h"
#include "app/platform/track.h"
#include "app/scene/byte_text.h"
#include "app/widgets/paint.h"
#include "app/widgets/panel.h"

namespace headscope::app {

namespace {

/// The field's own tones: values by lightness with zero in the middle, and what is not there.
struct FieldColors {
  render::Tint key, value;
  std::uint32_t emptySlot, voidHatch, voidLine, playhead;
};

constexpr std::uint32_t opaque(std::uint32_t hex) {
  return 0xFF000000u | ((hex & 0xFF) << 16) | (hex & 0xFF00) | (hex >> 16);
}

FieldColors colorsOf(const Theme& theme) {
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

/// Diagonal lines inside a rectangle.
void hatch(ImDrawList& list, const ImRect& area, std::uint32_t color, float space) {
  if (area.GetWidth() <= 0 || area.GetHeight() <= 0) return;
  list.PushClipRect(area.Min, area.Max, true);
  const float height = area.GetHeight();
  const float first = std::floor((area.Min.x - height) / space) * space;
  for (float x = first; x < area.Max.x; x += space)
    list.AddLine(ImVec2(x, area.Max.y), ImVec2(x + height, area.Min.y), color);
  list.PopClipRect();
}

/// The columns' gaps, or none where columns are too thin for them.
float gapOf(const View& view, const FieldPlace& place) {
  return place.column() >= view.px(6) ? std::max(1.0f, std::round(view.px(3))) : 0;
}

/// One band's slots, from token `from` on, as outlines; one outline where columns are thin.
void slotOutlines(const View& view, ImDrawList& list, const FieldPlace& place, Index from, Index to,
                  float top, float bottom, std::uint32_t color) {
  if (from >= to) return;
  const float gap = gapOf(view, place);
  if (gap == 0) {
    compat::rectOutline(list, ImVec2(place.x(from), top), ImVec2(place.x(to), bottom), color, 0, 1);
    return;
  }
  for (Index token = from; token < to; ++token)
    compat::rectOutline(list, ImVec2(std::round(place.x(token)), top),
                        ImVec2(std::round(place.x(token + 1)) - gap, bottom), color, 0, 1);
}

/// Where a band is drawn: at rest its own place, otherwise somewhere between two.
struct BandPlace {
  Index kvHead = 0;
  float top = 0, height = 0;  ///< of its keys; the values lie right below
  bool leaving = false;       ///< as it was before the kv heads changed
};

/// The bands of one picture, all at rest.
std::vector<BandPlace> restingBands(const FieldPlace& place, Index pictured) {
  std::vector<BandPlace> bands;
  for (Index g = 0; g < std::min(place.kvHeads, pictured); ++g)
    bands.push_back({g, place.keysTop(g), place.band});
  return bands;
}

/// Bands on their way onto the one they merge with, or out of the one they were in; those that end up on top
/// come last.
std::vector<BandPlace> glidingBands(const View& view, const CachePage& page, const FieldPlace& place,
                                    Index pictured) {
  const FieldPlace before = withKvHeads(view, place, place.moment.fromKvHeads);
  const bool merging = before.kvHeads > place.kvHeads, arrived = pictured == place.kvHeads;
  if (!merging && !arrived) return restingBands(before, pictured);
  if (merging && arrived && page.leaving.kvHeads != before.kvHeads) return restingBands(place, pictured);
  const FieldPlace& many = merging ? before : place;
  const FieldPlace& few = merging ? place : before;
  const float way = merging ? place.moment.glide : 1 - place.moment.glide;
  std::vector<BandPlace> bands;
  for (Index g = many.kvHeads - 1; g >= 0; --g) {
    const Index onto = g * many.group() / few.group();
    const bool stays = merging && onto * few.group() == g * many.group();
    const auto between = [way](float from, float to) { return from + (to - from) * way; };
    bands.push_back({stays && arrived ? onto : g, between(many.keysTop(g), few.keysTop(onto)),
                     between(many.band, few.band), merging && arrived && !stays});
  }
  return bands;
}

void paintPictures(const View& view, ImDrawList& list, CachePage& page, const FieldPlace& place,
                   std::span<const BandPlace> bands, bool leaving) {
  const FieldColors colors = colorsOf(*view.theme);
  const CacheField& field = *page.field->value;
  const Index rows = leaving ? page.leaving.rows : field.picture.rows(),
              colFactor = leaving ? page.leaving.colFactor : field.colFactor;
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
      tile.view.target = {place.cells.Min.x, top, place.x(place.tokens), bottom};
      tile.view.clip = {place.cells.Min.x, top, place.x(place.now), bottom};
      tile.view.layer = static_cast<int>(2 * band.kvHead + values);
      tile.view.rows = static_cast<float>(rows);
      tile.view.cols = static_cast<float>(place.tokens) / static_cast<float>(colFactor);
      tiles.push_back(tile);
    }
    view.heatmaps->draw(list, leaving ? page.leaving.textures : page.textures, style, std::move(tiles));
  }
}

/// Lines between a band's columns, what came earlier a little darker than the newest, and what is still
/// coming as dark as it is.
void paintColumns(const View& view, ImDrawList& list, const FieldPlace& place, const BandPlace& band,
                  bool decoding) {
  const float gap = gapOf(view, place);
  const std::uint32_t back = view.theme->background;
  const float top = band.top, bottom = top + 2 * band.height;
  if (decoding && place.now > 1)
    list.AddRectFilled(ImVec2(place.cells.Min.x, top), ImVec2(place.x(place.now - 1), bottom),
                       faded(back, 0.2f));
  for (const ComingColumns& each : place.moment.coming)
    if (const Index to = std::min(each.to, place.now); each.from < to)
      list.AddRectFilled(ImVec2(place.x(each.from), top), ImVec2(place.x(to), bottom),
                         faded(back, 1 - each.light));
  for (Index token = 1; token <= place.now && gap > 0; ++token) {
    const float x = std::round(place.x(token));
    list.AddRectFilled(ImVec2(x - gap, top), ImVec2(x, bottom), back);
  }
  for (const float from : {top, top + band.height})
    slotOutlines(view, list, place, place.now, place.tokens, std::round(from),
                 std::round(from + band.height) - 1, colorsOf(*view.theme).emptySlot);
}

void paintBands(const View& view, ImDrawList& list, CachePage& page, const FieldPlace& place, bool decoding) {
  const bool pictured = page.field && page.field->value && !page.textures.empty() && place.now > 0;
  const Index kvHeads = pictured ? page.field->request.snapshot->config.kvHeads : 0;
  if (pictured && place.moment.fromKvHeads > 0) {
    // One after the other, since they cover each other.
    for (const BandPlace& band : glidingBands(view, page, place, kvHeads)) {
      paintPictures(view, list, page, place, {&band, 1}, band.leaving);
      paintColumns(view, list, place, band, decoding);
    }
    return;
  }
  if (pictured) paintPictures(view, list, page, place, restingBands(place, kvHeads), false);
  for (const BandPlace& band : restingBands(place, place.kvHeads))
    paintColumns(view, list, place, band, decoding);
}

/// What MHA would store and this doesn't: a hatched band for each, and why.
void paintVoids(const View& view, ImDrawList& list, const FieldPlace& place, bool small) {
  if (place.group() < 2) return;
  const FieldColors colors = colorsOf(*view.theme);
  const float gap = std::max(1.0f, std::round(view.px(3)));
  for (Index g = 0; g < place.kvHeads; ++g) {
    const float top = place.keysTop(g) + 2 * place.band + gap, bottom = place.groupBottom(g) - gap;
    const Index missing = place.group() - 1;
    const float each = (bottom - top) / static_cast<float>(missing);
    if (bottom - top < view.px(3)) continue;
    const bool parts = each >= view.px(12);
    for (Index i = 0; i < (parts ? missing : 1); ++i) {
      const float from = std::round(top + each * static_cast<float>(i)) + 1;
      const float to = parts ? std::round(top + each * static_cast<float>(i + 1)) - gap : bottom;
      hatch(list, ImRect(place.cells.Min.x, from, place.x(place.now), to), colors.voidHatch, view.px(8));
      slotOutlines(view, list, place, 0, place.tokens, from, to, colors.voidLine);
    }
    const Index first = g * place.group(), last = first + place.group() - 1;
    std::string why = small ? fmt::format("no band of their own: heads {}–{} share KV {}", first, last, g)
                            : fmt::format("{} band{} MHA would store: heads {}–{} share KV {} instead",
                                          missing, missing == 1 ? "" : "s", first, last, g);
    ImFont* font = small ? view.fonts->text : view.fonts->title;
    if (bottom - top < lineHeight(font) * 1.3f) continue;
    if (textWidth(font, why) > place.cells.GetWidth() - view.px(28)) why = fmt::format("share KV {}", g);
    const float y = (top + bottom) / 2, x = place.cells.Min.x + view.px(14), width = textWidth(font, why);
    list.AddRectFilled(ImVec2(x - view.px(8), y - lineHeight(font) * 0.8f),
                       ImVec2(x + width + view.px(8), y + lineHeight(font) * 0.8f), view.theme->background);
    paintText(list, font, ImVec2(x, y), view.theme->secondary, why);
    track(fmt::format("void.{}", g), ImVec2(place.cells.Min.x, top), ImVec2(place.cells.Max.x, bottom));
  }
}

/// What the newest query reads: bars as long as the weights, a row for each head, or the largest of a group.
void paintReads(const View& view, ImDrawList& list, const SequenceSnapshot& sequence,
                const FieldPlace& place) {
  if (place.readsHeight() < 1 || place.now < 1) return;
  const Theme& theme = *view.theme;
  const attention::Stack& weights = sequence.probabilities();
  const attention::Stack& scores = sequence.attention.scores;
  const Index query = place.now - 1;
  if (weights.count() < place.heads || query >= weights.rows()) return;
  const float gap = gapOf(view, place);
  const Index rows = place.readRows ? place.group() : 1, share = place.readRows ? 1 : place.group();
  const auto perPixel =
      std::max<Index>(1, static_cast<Index>(std::floor(1 / std::max(place.column(), 1e-3f))));
  const float height = std::max(1.0f, place.reads - (place.reads >= view.px(4) ? view.px(1.5f) : 0));
  for (Index g = 0; g < place.kvHeads; ++g)
    for (Index row = 0; row < rows; ++row) {
      const float top = std::round(place.groupTop(g) + place.reads * static_cast<float>(row));
      for (Index key = 0; key < place.now; key += perPixel) {
        float weight = 0;
        bool seen = false;
        for (Index k = key; k < std::min(key + perPixel, place.now); ++k)
          for (Index h = g * place.group() + row; h < g * place.group() + row + share; ++h) {
            weight = std::max(weight, weights.at(h, query, k));
            seen = seen || scores.at(h, query, k) != -std::numeric_limits<float>::infinity();
          }
        if (!seen) continue;
        const float x = std::round(place.x(key)),
                    wide = std::max(1.0f, place.column() * static_cast<float>(perPixel) - gap);
        list.AddRectFilled(ImVec2(x, top), ImVec2(x + wide, top + height),
                           faded(theme.query, theme.light ? 0.14f : 0.10f));
        if (weight > 0)
          list.AddRectFilled(ImVec2(x, top),
                             ImVec2(x + std::max(weight > 0.005f ? 1.0f : 0.0f, wide * weight), top + height),
                             theme.query);
      }
    }
}

void paintLabels(const Scene& scene, const View& view, ImDrawList& list, const CachePage& page,
                 const FieldPlace& place, float left, float right) {
  const Theme& theme = *view.theme;
  const CacheBytes bytes = bytesPerToken(scene, page.snapshot->config);
  const std::uint64_t band =
      bytes.own * static_cast<std::uint64_t>(place.now) / static_cast<std::uint64_t>(place.kvHeads);
  float lastLabel = -1e9f, lastReads = -1e9f;
  for (Index g = 0; g < place.kvHeads; ++g) {
    const float readsMiddle = place.groupTop(g) + place.readsHeight() / 2;
    const float keys = place.keysTop(g) + place.band / 2, values = keys + place.band,
                middle = place.keysTop(g) + place.band;
    const bool first = g == 0;
    if (place.readsHeight() >= view.px(7) && readsMiddle - lastReads >= view.px(20)) {
      const Index from = g * place.group(), to = from + place.group() - 1;
      const std::string heads = from == to ? fmt::format("q {}", from) : fmt::format("q {}–{}", from, to);
      // Never closer to the K below it than its own height.
      if (keys - readsMiddle >= lineHeight(view.fonts->mono)) {
        paintText(list, view.fonts->mono, ImVec2(place.cells.Min.x - view.px(14), readsMiddle), theme.query,
                  heads, Align::right);
        lastReads = readsMiddle;
      }
      // Not where the bytes of the band stand too close below.
      if ((place.group() > 1 || first) &&
          middle + view.px(place.group() == 1 ? 6 : 0) - readsMiddle >= lineHeight(view.fonts->text))
        paintText(list, view.fonts->text, ImVec2(right, readsMiddle), theme.query, "weights now");
    }
    if (middle - lastLabel < view.px(22)) continue;
    lastLabel = middle;
    const float badge = paintBadge(view, list, ImVec2(left, middle), groupColor(theme, g), kvName(g));
    track(fmt::format("band.{}", g), ImVec2(place.cells.Min.x, place.keysTop(g)),
          ImVec2(place.cells.Max.x, place.keysTop(g) + 2 * place.band));
    const float letters = place.cells.Min.x - view.px(14);
    if (place.band >= view.px(12) && letters - textWidth(view.fonts->bold, "K") > left + badge) {
      paintText(list, view.fonts->bold, ImVec2(letters, keys), theme.key, "K", Align::right);
      paintText(list, view.fonts->bold, ImVec2(letters, values), theme.value, "V", Align::right);
    }
    paintText(
        list, view.fonts->mono,
        ImVec2(right, place.group() == 1 && first && place.readsHeight() >= view.px(7) ? middle + view.px(6)
                                                                                       : middle),
        theme.secondary, fourDigitBytes(band));
  }
}

}  // namespace

render::Tint cacheTint(const Theme& theme, bool values) {
  const FieldColors colors = colorsOf(theme);
  return values ? colors.value : colors.key;
}

FieldPlace withKvHeads(const View& view, FieldPlace place, Index kvHeads) {
  place.kvHeads = kvHeads;
  // Reads take 8 units of a slot that has room for them.
  place.readRows = place.slot >= view.px(36);
  place.reads = place.readRows ? view.px(8) : place.slot >= view.px(16) || place.group() > 1 ? view.px(8) : 0;
  const float ofSlot = place.readRows ? place.reads : std::max(1.0f, place.slot / 9);
  place.band = std::max(1.0f, std::floor((place.slot - ofSlot) / 2));
  if (!place.readRows && place.group() == 1) place.band = std::max(1.0f, std::floor(place.slot / 2 - 1));
  return place;
}

FieldPlace fieldPlace(const View& view, const attention::AttentionConfig& config, const DecodeState& state,
                      const ImRect& cells) {
  FieldPlace place;
  place.cells = cells;
  place.tokens = std::max<Index>(state.tokens, 1);
  place.heads = config.heads;
  place.moment.playhead = static_cast<float>(std::max<Index>(state.now, 1) - 1);
  place.now = state.now;
  place.prefill = state.prefill;
  const float fits = cells.GetHeight() / static_cast<float>(config.heads);
  place.slot = std::floor(std::min(fits, view.px(160)));
  if (place.slot < 3) place.slot = fits;
  const float used = place.slot * static_cast<float>(config.heads);
  place.cells.Min.y += std::round((cells.GetHeight() - used) / 2);
  place.cells.Max.y = place.cells.Min.y + used;
  return withKvHeads(view, place, config.kvHeads);
}

void paintField(const Scene& scene, CachePage& page, const FieldPlace& place, float labelLeft,
                float labelRight, bool small) {
  View& view = page.view;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const SequenceSnapshot& sequence = *shownSequence(scene, page.snapshot.get());
  page.bandPixels = std::max<Index>(1, static_cast<Index>(place.band));
  page.columnPixels = std::max<Index>(16, static_cast<Index>(place.cells.GetWidth()));
  const bool decoding = scene.cursor.decoding || page.filling >= 0;
  if (decoding && place.now > 0)
    list.AddRectFilled(ImVec2(place.playheadX(), place.cells.Min.y),
                       ImVec2(place.playheadX() + place.column(), place.cells.Max.y),
                       colorsOf(*view.theme).playhead);
  paintVoids(view, list, place, small);
  paintBands(view, list, page, place, decoding);
  paintReads(view, list, sequence, place);
  paintLabels(scene, view, list, page, place, labelLeft, labelRight);
  track("field", place.cells.Min, place.cells.Max);
}

}  // namespace headscope::app
