#include <fmt/core.h>

#include <numeric>

#include "app/kit/control_line.h"
#include "app/pages/common/cache_bands.h"
#include "app/pages/heads/heads_page.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/field_controls.h"
#include "app/widgets/paint.h"

namespace headscope::app::heads_page {

/// How far the KV cache is filled.
struct StripState {
  Index tokens = 0;    ///< the final number of tokens
  Index now = 0;       ///< tokens in the cache now
  std::string reason;  ///< why it can't be decoded, or ""
};

namespace {

/// Width left of the bands for the names of their kv heads, in layout units.
constexpr float kBandNames = 48;
/// Heights up to which the panel is a single line, or nothing but bands, in layout units.
constexpr float kOneLine = 50, kLow = 80;

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

/// Outlines the selected column and the newest one; the hovered one dashed.
void paintOutlines(const Scene& scene, const View& view, Canvas list, const BandPlan& plan,
                   const StripState& state, Index key) {
  const auto column = [&](Index j) {
    return ImRect(ImVec2(plan.x(j), plan.cells.Min.y), ImVec2(plan.x(j + 1), plan.cells.Max.y));
  };
  const auto outline = [&](Index j, std::uint32_t color) {
    paintMark(view, list, "column", column(j), color);
  };
  const Index over = view.hover.key;
  if (over >= 0 && over < plan.tokens && over != key)
    paintGhost(view, list, "ghost", column(over), view.theme->key);
  if (key >= 0 && key < plan.tokens) outline(key, view.theme->key);
  if (scene.cursor.decoding && state.reason.empty()) outline(state.now - 1, view.theme->query);
}

/// Draws the keys' tokens below the columns, thinned so that they don't overlap.
void paintKeys(const Scene& scene, const View& view, const BandPlan& plan, const StripState& state,
               const std::vector<attention::Token>& keys, Index key, float y) {
  Canvas list = *ImGui::GetWindowDrawList();
  ImFont* font = view.fonts->monoSmall;
  const float longest = view.px(90),
              pitch = std::max(view.px(42), longestLabel(view, keys, longest) + view.px(8));
  const Index step = std::max<Index>(1, static_cast<Index>(std::ceil(pitch / plan.column())));
  for (Index j = 0; j < plan.tokens; j += step) {
    const bool newest = scene.cursor.decoding && j == state.now - 1;
    const float room = std::min(plan.x(j + step) - view.px(6), plan.cells.Max.x) - plan.x(j);
    const std::string& word = keys[static_cast<std::size_t>(j)].text;
    if (step > 1 && room < std::min(textWidth(font, word), longest)) continue;
    paintText(list, font, ImVec2(plan.x(j) + view.px(2), y),
              newest          ? view.theme->query
              : j == key      ? view.theme->key
              : j < state.now ? view.theme->secondary
                              : view.theme->faint,
              fitted(font, word, room));
  }
}

/// The layout of the bands in `area`, whose bottom line shows the keys' tokens. If not all bands fit, shows
/// those around the selected head's. In a low area, all space is for the bands that are stored.
BandPlan stripPlan(const Scene& scene, const Snapshot& snapshot, const View& view, const StripState& state,
                   const ImRect& area) {
  const attention::AttentionConfig& config = snapshot.config;
  BandPlan plan;
  plan.cells = ImRect(area.Min.x + view.px(kBandNames), area.Min.y, area.Max.x, area.Max.y - view.px(18));
  plan.tokens = std::max<Index>(shownSequence(scene, &snapshot)->attention.k.rows(), 1);
  plan.now = state.now;
  plan.kvHeads = config.kvHeads;
  const bool low = area.GetHeight() < view.px(kLow);
  plan.heads = low ? config.kvHeads : config.heads;
  const float least = view.px(low ? 4 : 8),
              most = low ? view.px(31) : std::max(least, plan.cells.GetHeight());
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

/// The visible kv heads, "KV 0–9 of 64 · "; "" if all are visible.
std::string stripShare(const BandPlan& plan) {
  const Index first = (plan.firstHead + plan.group() - 1) / plan.group(),
              last = std::max(first, (plan.firstHead + slotsInSight(plan) - 1) / plan.group());
  if (first == 0 && last == plan.kvHeads - 1) return {};
  return fmt::format("{} of {} · ", first == last ? kvName(first) : fmt::format("{}–{}", kvName(first), last),
                     plan.kvHeads);
}

/// Draws K and V of the visible kv heads, and what MHA would store in addition.
void cacheStrips(Scene& scene, State& page, const SequenceSnapshot& sequence, const StripState& state,
                 const BandPlan& plan, const ImRect& area) {
  View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  page.pictures.cacheGrain = cacheGrain(sequence.attention, static_cast<Index>(plan.band),
                                        std::max<Index>(16, static_cast<Index>(plan.cells.GetWidth())));
  list.PushClipRect(plan.cells.Min, plan.cells.Max, true);
  paintVoids(view, list, plan);
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
  const Index key = scene.cursor.cell.key;
  paintOutlines(scene, view, list, plan, state, key);
  paintVoidReasons(view, list, plan);
  const float keysAt = plan.cells.Max.y + view.px(9), bottom = plan.cells.Max.y + view.px(18);
  paintKeys(scene, view, plan, state, sequence.keys, key, keysAt);
  track("cache.strips", plan.cells.Min, plan.cells.Max);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (!ImGui::IsWindowHovered() || !ImRect(plan.cells.Min, ImVec2(plan.cells.Max.x, bottom)).Contains(mouse))
    return;
  view.nextHover.key =
      std::clamp<Index>(static_cast<Index>((mouse.x - plan.cells.Min.x) / plan.column()), 0, plan.tokens - 1);
  if (!ImGui::IsMouseClicked(1)) return;
  offerForToken(scene, page, false, view.nextHover.key);
  view.menu.emplace_back("picture.save_cache");
}

StripState stateOf(const Scene& scene, const Snapshot& snapshot, const SequenceSnapshot& sequence) {
  StripState state;
  state.tokens = sequence.keyLength;
  state.now = scene.cursor.decoding ? std::clamp<Index>(scene.cursor.step, 1, state.tokens) : state.tokens;
  if (isCross(snapshot.setup)) {
    state.reason = "Cross-attention caches the context once; decoding adds nothing";
    state.now = state.tokens;
  } else if (!snapshot.causal) {
    state.reason = "Decoding needs a causal mask: without it, earlier tokens see later ones";
    state.now = state.tokens;
  }
  return state;
}

void stepButtons(const Scene& scene, View& view, const Playback& play, const StripState& state, ImVec2 at) {
  ImGui::SetCursorScreenPos(at);
  const auto action = [&](const char* name, const char* label, const char* id) {
    if (name != std::string("decode.back")) ImGui::SameLine(0, view.px(2));
    if (button(view, name, label, state.reason, true)) view.request(id);
  };
  action("decode.back", "◀", "decode.back");
  action("decode.play", play.on ? "Pause" : "▶ Play", "decode.play");
  action("decode.forward", "▶", "decode.forward");
  if (scene.cursor.decoding && state.reason.empty()) action("decode.leave", "All", "decode.toggle");
}

std::string decodeStepText(const Scene& scene, const StripState& state) {
  if (!scene.cursor.decoding || !state.reason.empty())
    return (state.tokens == 1 ? "" : "all ") + tokenCountText(state.tokens);
  return fmt::format("step {} of {}", state.now, state.tokens);
}

/// Sliders for the step and the prefill, side by side.
void decodeSliders(Scene& scene, View& view, Playback& play, const StripState& state, ImVec2 at,
                   float width) {
  const float each = std::min((width - view.px(24)) / 2, view.px(420));
  std::vector<Index> stops(static_cast<std::size_t>(std::max<Index>(state.tokens, 1)));
  std::iota(stops.begin(), stops.end(), 1);
  Index prefill = std::min(scene.setup.prefill, stops.back());
  const auto place = [&](float x) { return ImRect(x, at.y, x + each, at.y + view.px(30)); };
  controlsIn("step", place(at.x), [&] {
    Index step = state.now;
    SliderSpec steps = sliderSpec(fieldAt("cursor.step"), {state.reason});
    steps.track = {1, static_cast<double>(std::max<Index>(state.tokens, 2))};
    const auto reachable = std::span<const Index>(stops).subspan(static_cast<std::size_t>(prefill - 1));
    if (!slider(view, steps, reachable, step)) return;
    scene.cursor.decoding = true;
    scene.cursor.step = step;
    play.on = false;
  });
  controlsIn("prefill", place(at.x + each + view.px(24)), [&] {
    if (slider(view, sliderSpec(fieldAt("prefill"), {state.reason}), stops, prefill))
      scene.setup.prefill = prefill;
  });
}

/// A kind of attention and what its cache takes.
struct KindBytes {
  const char* label;
  double bytes;
  bool current;
};

/// Bytes in the cache now under MHA, GQA, MQA and latent attention of this configuration.
std::vector<KindBytes> kindBytes(const Snapshot& snapshot, const StripState& state, Index bytesPerValue) {
  const attention::AttentionConfig& config = snapshot.config;
  // An intermediate number of groups, if the heads can be grouped; otherwise 0.
  const AttentionKind kind = kindOf(snapshot.setup.model);
  Index gqa = kind == AttentionKind::gqa ? config.kvHeads : kvHeadsFor(AttentionKind::gqa, config.heads);
  if (gqa == 1) gqa = 0;
  const auto bytes = [&](Index kvHeads) { return cacheBytes(snapshot, kvHeads, state.now, bytesPerValue); };
  std::vector<KindBytes> kinds{{"MHA", bytes(config.heads), kind == AttentionKind::mha},
                               {"GQA", bytes(gqa), kind == AttentionKind::gqa},
                               {"MQA", bytes(1), kind == AttentionKind::mqa}};
  // With only one or two heads, a latent may take more bytes than the keys and values it replaces.
  if (const double latent = latentCacheBytes(snapshot, state.now, bytesPerValue); latent <= kinds[0].bytes)
    kinds.push_back({"MLA", latent, false});
  return kinds;
}

/// What kinds of attention cache, with the current kind highlighted, and how exact the cached decode is.
void costs(Rows& rows, Scene& scene, const Snapshot& snapshot, const SequenceSnapshot& sequence,
           const StripState& state) {
  const View& view = rows.view();
  const Theme& theme = rows.theme();
  const attention::AttentionConfig& config = snapshot.config;
  const Index bytesPerValue = scene.look.cacheBytes;
  rows.section(scene.cursor.decoding && state.reason.empty() ? fmt::format("BYTES AT STEP {}", state.now)
                                                             : "CACHE BYTES");
  ImGui::SameLine(rows.width() - view.px(56));
  rows.choice(scene, "look.cache_bytes");
  // The scale doesn't change while the cache grows: it ends at MHA's bytes for all tokens.
  const double most = std::max(cacheBytes(snapshot, config.heads, state.tokens, bytesPerValue), 1.0);
  for (const KindBytes& kind : kindBytes(snapshot, state, bytesPerValue))
    rows.bar("", kind.label, kind.bytes / most, kind.bytes == 0 ? "–" : fourDigitBytes(kind.bytes),
             {.ink = kind.current ? theme.text : theme.secondary,
              .color = kind.current ? theme.query : theme.faint,
              .font = kind.current ? view.fonts->bold : view.fonts->text,
              .value = 88,
              .height = 20});
  rows.line(Type::text, {{shareText(config, bytesPerToken(scene, config))}});
  rows.line(Type::small, {{cacheFormula(snapshot, state.tokens, bytesPerValue), theme.secondary}});
  if (const DecodeCheck& check = sequence.decode; check.applies)
    rows.hint(fmt::format("Cached decode = full pass: max |Δ| {}, prefill {} + {}",
                          numberText(check.maxDifference, 2), check.prefill,
                          countedText(check.steps, "step")));
}

/// The one-line form for low windows: buttons, step, bytes.
void cacheLine(Scene& scene, State& page, const StripState& state, const ImRect& area) {
  View& view = page.view;
  const Snapshot& snapshot = *page.snapshot;
  Canvas list = *ImGui::GetWindowDrawList();
  const float y = area.GetCenter().y;
  paintText(list, view.fonts->smallBold, ImVec2(area.Min.x, y), view.theme->faint, "KV CACHE");
  stepButtons(scene, page.view, page.play, state, ImVec2(area.Min.x + view.px(80), y - view.px(14)));
  const float x = ImGui::GetItemRectMax().x + view.px(18);
  const auto bytes = [&](Index tokens) {
    return bytesText(cacheBytes(snapshot, snapshot.config.kvHeads, tokens, scene.look.cacheBytes));
  };
  std::string cost = decodeStepText(scene, state) + " · " + bytes(state.now);
  if (!isCross(snapshot.setup)) cost += " · +" + bytes(1) + " per token";
  const float costWidth = textWidth(view.fonts->small, cost);
  paintFitted(view, list, view.fonts->small, ImVec2(area.Max.x, y), std::max(0.0f, area.Max.x - x),
              view.theme->secondary, cost, Align::right);
  const float room = area.Max.x - costWidth - view.px(24) - x;
  if (room > view.px(360))
    decodeSliders(scene, page.view, page.play, state, ImVec2(x, y - view.px(15)), room);
}

/// The form for windows with space: strips on the left, what they cost on the right.
void wholeStrip(Scene& scene, State& page, const SequenceSnapshot& sequence, const StripState& state,
                const ImRect& area) {
  View& view = page.view;
  const Snapshot& snapshot = *page.snapshot;
  const float costWidth = std::min(view.px(330), area.GetWidth() * 0.32f);
  const ImRect left(area.Min, ImVec2(area.Max.x - costWidth - view.px(28), area.Max.y));
  const float y = left.Min.y + view.px(12);
  Canvas list = *ImGui::GetWindowDrawList();
  const float title = paintSpaced(list, view.fonts->smallBold, ImVec2(left.Min.x, y), view.theme->faint,
                                  "KV CACHE", view.px(1.2f));
  stepButtons(scene, view, page.play, state, ImVec2(left.Min.x + title + view.px(16), y - view.px(14)));
  const float slidersAt = ImGui::GetItemRectMax().x + view.px(16);
  const auto plan = [&](float below) {
    const ImRect strips(ImVec2(left.Min.x, left.Min.y + view.px(below)), left.Max);
    return std::pair(stripPlan(scene, snapshot, view, state, strips), strips);
  };
  const std::string step = stripShare(plan(34).first) + decodeStepText(scene, state);
  const float room = left.Max.x - textWidth(view.fonts->text, step) - view.px(20) - slidersAt;
  // The sliders go on the title's line if it is long enough, otherwise below it.
  const bool oneLine = room > view.px(380);
  decodeSliders(scene, view, page.play, state,
                oneLine ? ImVec2(slidersAt, y - view.px(15)) : ImVec2(left.Min.x, y + view.px(13)),
                oneLine ? room : left.GetWidth());
  paintText(list, view.fonts->text, ImVec2(left.Max.x, y), view.theme->secondary, step, Align::right);
  const auto [bands, strips] = plan(oneLine ? 34 : 54);
  cacheStrips(scene, page, sequence, state, bands, strips);
  const ImRect right(area.Max.x - costWidth, area.Min.y, area.Max.x, area.Max.y + view.px(12));
  controlsIn("costs", right, [&] {
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(view.px(6), 0));
    Rows rows(view);
    costs(rows, scene, snapshot, sequence, state);
    ImGui::PopStyleVar();
  });
}

}  // namespace

void cachePanel(Scene& scene, State& page, const Layout& layout) {
  View& view = page.view;
  const Snapshot* snapshot = page.snapshot.get();
  const SequenceSnapshot* sequence = shownSequence(scene, snapshot);
  if (!layout.showCache) return;
  Canvas(*ImGui::GetBackgroundDrawList())
      .AddLine(layout.cache.Min, ImVec2(layout.cache.Max.x, layout.cache.Min.y), view.theme->line);
  if (beginPanel(view, "cache", layout.cache, 0, 0, ImGuiWindowFlags_NoScrollWithMouse)) {
    ImRect area = layout.cache;
    const bool oneLine = area.GetHeight() < view.px(kOneLine);
    const bool low = !oneLine && area.GetHeight() < view.px(kLow);
    area.Expand(ImVec2(-view.px(low ? 12 : 22), oneLine ? 0 : -view.px(low ? 2 : 12)));
    Canvas list = *ImGui::GetWindowDrawList();
    if (!sequence) {
      paintText(list, view.fonts->smallBold, ImVec2(area.Min.x, area.Min.y + view.px(11)), view.theme->faint,
                "KV CACHE");
    } else if (const StripState state = stateOf(scene, *snapshot, *sequence); low) {
      cacheStrips(scene, page, *sequence, state, stripPlan(scene, *snapshot, view, state, area), area);
    } else if (oneLine) {
      cacheLine(scene, page, state, area);
      if (ImGui::IsWindowHovered() && ImGui::IsMouseClicked(1)) view.menu = {"picture.save_cache"};
    } else {
      wholeStrip(scene, page, *sequence, state, area);
    }
  }
  endPanel();
}

}  // namespace headscope::app::heads_page
