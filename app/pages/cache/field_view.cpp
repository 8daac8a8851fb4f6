#include <fmt/core.h>

#include "app/pages/cache/cache_page.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"

namespace headscope::app::cache_page {

namespace {

/// Bands on their way to the band they merge into, or out of the band they split from, in drawing order: the
/// ones that end on top are last.
std::vector<BandPlace> glidingBands(const View& view, const LeavingBands& leaving, const FieldPlace& place,
                                    Index pictured) {
  const FieldPlace before = withKvHeads(view, place, place.moment.fromKvHeads);
  const bool merging = before.kvHeads > place.kvHeads, arrived = pictured == place.kvHeads;
  if (!merging && !arrived) return restingBands(before, pictured);
  if (merging && arrived && leaving.kvHeads != before.kvHeads) return restingBands(place, pictured);
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

/// Dims older columns slightly, and columns that are fading in by what they lack.
void paintLight(const View& view, Canvas list, const FieldPlace& place, const BandPlace& band,
                bool decoding) {
  const std::uint32_t back = view.theme->background;
  const auto darken = [&](Index from, Index to, float by) {
    if (from < to)
      list.AddRectFilled(ImVec2(place.x(from), band.top), ImVec2(place.x(to), band.top + 2 * band.height),
                         faded(back, by));
  };
  if (decoding) darken(0, place.now - 1, 0.2f);
  for (const ComingColumns& each : place.moment.coming)
    darken(each.from, std::min(each.to, place.now), 1 - each.light);
}

void paintBands(State& page, Canvas list, const FieldPlace& place, bool decoding) {
  const View& view = page.view;
  const auto& field = page.field;
  const LeavingBands& leaving = page.drawing.leaving;
  const bool pictured = field && !field.picture().empty() && place.now > 0;
  const Index kvHeads = pictured ? field.request().snapshot->config.kvHeads : 0;
  const auto paintOwn = [&](std::span<const BandPlace> bands) {
    paintBandPictures(view, list, field.picture(), place, bands, field->grain.tokens);
  };
  if (pictured && place.moment.fromKvHeads > 0) {
    // One at a time, because they overlap.
    for (const BandPlace& band : glidingBands(view, leaving, place, kvHeads)) {
      const auto& [textures, _, grain] = leaving;
      if (band.leaving)
        paintBandPictures(view, list, textures, place, {&band, 1}, grain);
      else
        paintOwn({&band, 1});
      paintLight(view, list, place, band, decoding);
      paintBandColumns(view, list, place, band);
    }
    return;
  }
  if (pictured) paintOwn(restingBands(place, kvHeads));
  for (const BandPlace& band : restingBands(place, place.kvHeads)) {
    paintLight(view, list, place, band, decoding);
    paintBandColumns(view, list, place, band);
  }
}

/// Draws what the newest query reads: bars as long as the weights, one row per head, or a group's largest
/// weights in one row.
void paintReads(const View& view, Canvas list, const SequenceSnapshot& sequence, const FieldPlace& place) {
  if (place.readsHeight() < 1 || place.now < 1) return;
  const Theme& theme = *view.theme;
  const attention::Stack& weights = sequence.probabilities();
  const attention::Stack& scores = sequence.attention.scores;
  const Index query = place.now - 1;
  if (weights.count() < place.heads || query >= weights.rows()) return;
  const float gap = columnGap(view, place);
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

void paintLabels(const Scene& scene, const View& view, Canvas list,
                 const std::shared_ptr<const Snapshot>& snapshot, const FieldPlace& place, float left,
                 float right) {
  const Theme& theme = *view.theme;
  const CacheBytes bytes = bytesPerToken(scene, snapshot->config);
  const std::uint64_t band =
      bytes.own * static_cast<std::uint64_t>(place.now) / static_cast<std::uint64_t>(place.kvHeads);
  const bool latent = snapshot->config.latentDim > 0;
  float lastLabel = -1e9f, lastReads = -1e9f;
  for (Index g = 0; g < place.kvHeads; ++g) {
    const float readsMiddle = place.groupTop(g) + place.readsHeight() / 2;
    const float keys = place.keysTop(g) + place.band / 2, values = keys + place.band,
                middle = place.keysTop(g) + place.band;
    const bool first = g == 0;
    if (place.readsHeight() >= view.px(7) && readsMiddle - lastReads >= view.px(20)) {
      const Index from = g * place.group(), to = from + place.group() - 1;
      const std::string heads = from == to ? fmt::format("q {}", from) : fmt::format("q {}–{}", from, to);
      // Only if it is at least its own height above the K below.
      if (keys - readsMiddle >= lineHeight(view.fonts->mono)) {
        paintText(list, view.fonts->mono, ImVec2(place.cells.Min.x - view.px(14), readsMiddle), theme.query,
                  heads, Align::right);
        lastReads = readsMiddle;
      }
      // Not if the bytes of the band below are too close.
      if ((place.group() > 1 || first) &&
          middle + view.px(place.group() == 1 ? 6 : 0) - readsMiddle >= lineHeight(view.fonts->text))
        paintText(list, view.fonts->text, ImVec2(right, readsMiddle), theme.query, "weights now");
    }
    if (middle - lastLabel < view.px(22)) continue;
    lastLabel = middle;
    const float badge = paintBadge(view, list, ImVec2(left, middle), groupColor(theme, g), kvName(g));
    const std::string name = fmt::format("band.{}", g);
    const ImVec2 corner(place.cells.Min.x, place.keysTop(g));
    const float bottom = corner.y + 2 * place.band;
    track(name, corner, ImVec2(place.cells.Max.x, bottom));
    trackTokens(name, {nullptr, &shownSequence(scene, snapshot.get())->keys,
                       ImRect(corner, ImVec2(corner.x + place.column(), bottom))});
    const float letters = place.cells.Min.x - view.px(14);
    if (place.band >= view.px(12) && letters - textWidth(view.fonts->bold, "K") > left + badge) {
      paintText(list, view.fonts->bold, ImVec2(letters, keys), theme.key, "K", Align::right);
      paintText(list, view.fonts->bold, ImVec2(letters, values), theme.value, "V", Align::right);
    }
    paintText(
        list, view.fonts->mono,
        ImVec2(right, place.group() == 1 && first && place.readsHeight() >= view.px(7) ? middle + view.px(6)
                                                                                       : middle),
        theme.secondary,
        // Keys and values of all heads come from a single entry.
        !latent ? fourDigitBytes(band)
        : first ? "of a latent"
                : "");
  }
}

}  // namespace

FieldPlace withKvHeads(const View& view, FieldPlace place, Index kvHeads) {
  place.kvHeads = kvHeads;
  // A read row takes 8 units if the slot is large enough.
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

void paintField(const Scene& scene, State& page, const FieldPlace& place, float labelLeft) {
  View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  const SequenceSnapshot& sequence = *shownSequence(scene, page.snapshot.get());
  page.drawing.bandPixels = std::max<Index>(1, static_cast<Index>(place.band));
  page.drawing.columnPixels = std::max<Index>(16, static_cast<Index>(place.cells.GetWidth()));
  const bool decoding = scene.cursor.decoding || page.filling >= 0;
  if (decoding && place.now > 0)
    list.AddRectFilled(ImVec2(place.playheadX(), place.cells.Min.y),
                       ImVec2(place.playheadX() + place.column(), place.cells.Max.y),
                       cacheColors(*view.theme).playhead);
  paintVoids(view, list, place);
  paintBands(page, list, place, decoding);
  paintReads(view, list, sequence, place);
  paintLabels(scene, view, list, page.snapshot, place, labelLeft, place.cells.Max.x + view.px(14));
  track("field", place.cells.Min, place.cells.Max);
}

}  // namespace headscope::app::cache_page
