#include <fmt/core.h>

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

/// The layout of the bands in `area`, whose bottom line shows the keys' tokens. If not all bands fit, shows
/// those around the selected head's. While presenting, only stored bands have a slot.
BandPlan stripPlan(const Scene& scene, const Snapshot& snapshot, const View& view, const StripState& state,
                   const ImRect& area);
/// The visible kv heads, "KV 0–9 of 64 · "; "" if all are visible.
std::string stripShare(const BandPlan& plan);

/// Draws K and V of the visible kv heads, and what MHA would store in addition.
void cacheStrips(Scene& scene, State& page, const SequenceSnapshot& sequence, const StripState& state,
                 const BandPlan& plan, const ImRect& area);

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

namespace {

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

void stepButtons(Scene& scene, View& view, Playback& play, const StripState& state, ImVec2 at) {
  ImGui::SetCursorScreenPos(at);
  Cursor& cursor = scene.cursor;
  if (button(view, "decode.back", "◀", state.reason, true)) view.request("decode.back");
  ImGui::SameLine(0, view.px(2));
  if (button(view, "decode.play", play.on ? "Pause" : "▶ Play", state.reason, true))
    view.request("decode.play");
  ImGui::SameLine(0, view.px(2));
  if (button(view, "decode.forward", "▶", state.reason, true)) view.request("decode.forward");
  if (cursor.decoding && state.reason.empty()) {
    ImGui::SameLine(0, view.px(2));
    if (button(view, "decode.leave", "All", "", true)) view.request("decode.toggle");
  }
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
  std::vector<Index> stops;
  for (Index i = 1; i <= std::max<Index>(state.tokens, 1); ++i) stops.push_back(i);
  Index prefill = std::min(scene.setup.prefill, stops.back());
  ImGui::SetCursorScreenPos(at);
  ImGui::BeginChild(
      "step", ImVec2(each, view.px(30)), false,
      ImGuiWindowFlags_NoScrollWithMouse | ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoBackground);
  Index step = state.now;
  SliderSpec steps = sliderSpec(fieldAt("cursor.step"), {state.reason});
  steps.track = {1, static_cast<double>(std::max<Index>(state.tokens, 2))};
  const auto reachable = std::span<const Index>(stops).subspan(static_cast<std::size_t>(prefill - 1));
  if (slider(view, steps, reachable, step)) {
    scene.cursor.decoding = true;
    scene.cursor.step = step;
    play.on = false;
  }
  compat::endChild();
  ImGui::SetCursorScreenPos(ImVec2(at.x + each + view.px(24), at.y));
  ImGui::BeginChild(
      "prefill", ImVec2(each, view.px(30)), false,
      ImGuiWindowFlags_NoScrollWithMouse | ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoBackground);
  if (slider(view, sliderSpec(fieldAt("prefill"), {state.reason}), stops, prefill))
    scene.setup.prefill = prefill;
  compat::endChild();
}

/// Bytes in the cache now under MHA, GQA, MQA and latent attention of this configuration, with the current
/// kind highlighted. Returns the bottom of the section.
float costs(Scene& scene, const Snapshot& snapshot, View& view, const StripState& state, const ImRect& area) {
  Canvas list = *ImGui::GetWindowDrawList();
  const attention::AttentionConfig& config = snapshot.config;
  const float width = area.GetWidth();
  ImGui::SetCursorScreenPos(ImVec2(area.Min.x, area.Min.y - view.px(3)));
  ImGui::BeginChild(
      "costs", ImVec2(width, view.px(30)), false,
      ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::SetCursorScreenPos(area.Min);
  sectionTitle(view, scene.cursor.decoding && state.reason.empty()
                         ? fmt::format("BYTES AT STEP {}", state.now)
                         : "CACHE BYTES");
  ImGui::SetCursorScreenPos(ImVec2(area.Max.x - view.px(56), area.Min.y - view.px(2)));
  fieldChoice(view, scene, "look.cache_bytes");
  compat::endChild();
  // An intermediate number of groups, if the heads can be grouped; otherwise 0.
  const AttentionKind kind = kindOf(snapshot.setup.model);
  Index gqa = kind == AttentionKind::gqa ? config.kvHeads : kvHeadsFor(AttentionKind::gqa, config.heads);
  if (gqa == 1) gqa = 0;
  const auto bytes = [&](Index kvHeads, Index tokens) {
    return cacheBytes(snapshot, kvHeads, tokens, scene.look.cacheBytes);
  };
  struct Bar {
    const char* label;
    double bytes;
    bool current;
  };
  std::vector<Bar> bars{{"MHA", bytes(config.heads, state.now), kind == AttentionKind::mha},
                        {"GQA", bytes(gqa, state.now), kind == AttentionKind::gqa},
                        {"MQA", bytes(1, state.now), kind == AttentionKind::mqa}};
  // With only one or two heads, a latent may take more bytes than the keys and values it replaces.
  if (const double latent = latentCacheBytes(snapshot, state.now, scene.look.cacheBytes);
      latent <= bars[0].bytes)
    bars.push_back({"MLA", latent, false});
  // The scale doesn't change while the cache grows: it ends at MHA's bytes for all tokens.
  const double most = std::max(bytes(config.heads, state.tokens), 1.0);
  float y = area.Min.y + view.px(38);
  for (const Bar& bar : bars) {
    const float barFrom = area.Min.x + view.px(58), barTo = area.Max.x - view.px(88), half = view.px(5);
    const std::uint32_t ink = bar.current ? view.theme->text : view.theme->secondary;
    paintText(list, bar.current ? view.fonts->bold : view.fonts->text, ImVec2(area.Min.x, y), ink, bar.label);
    list.AddRectFilled(ImVec2(barFrom, y - half), ImVec2(barTo, y + half), view.theme->raised, view.px(3));
    list.AddRectFilled(ImVec2(barFrom, y - half),
                       ImVec2(barFrom + static_cast<float>(bar.bytes / most) * (barTo - barFrom), y + half),
                       bar.current ? view.theme->query : view.theme->faint, view.px(3));
    paintText(list, view.fonts->mono, ImVec2(area.Max.x, y), ink,
              bar.bytes == 0 && gqa == 0 ? "–" : fourDigitBytes(bar.bytes), Align::right);
    y += view.px(22);
  }
  paintFitted(view, list, view.fonts->bold, ImVec2(area.Min.x, y), width, view.theme->text,
              shareText(config, bytesPerToken(scene, config)));
  paintFitted(view, list, view.fonts->small, ImVec2(area.Min.x, y + view.px(19)), width,
              view.theme->secondary, cacheFormula(snapshot, state.tokens, scene.look.cacheBytes));
  return y + view.px(27);
}

void checkText(const SequenceSnapshot& sequence, const View& view, ImVec2 at, float width) {
  const DecodeCheck& check = sequence.decode;
  Canvas list = *ImGui::GetWindowDrawList();
  if (!check.applies) return;
  const std::string text =
      fmt::format("Cached decode = full pass: max |Δ| {}, prefill {} + {}",
                  numberText(check.maxDifference, 2), check.prefill, countedText(check.steps, "step"));
  paintParagraph(list, view.fonts->small, at, width, view.theme->secondary, text);
}

/// The one-line form for low windows: buttons, step, bytes.
void cacheLine(Scene& scene, State& page, const StripState& state, const ImRect& area) {
  View& view = page.view;
  const Snapshot& snapshot = *page.snapshot;
  Canvas list = *ImGui::GetWindowDrawList();
  const float y = area.GetCenter().y, width = area.GetWidth();
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
  if (room > view.px(360) && width > 0)
    decodeSliders(scene, page.view, page.play, state, ImVec2(x, y - view.px(15)), room);
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
    area.Expand(ImVec2(-view.px(layout.presents ? 12 : 22),
                       layout.cacheLine ? 0 : -view.px(layout.presents ? 2 : 12)));
    Canvas list = *ImGui::GetWindowDrawList();
    if (!sequence) {
      paintText(list, view.fonts->smallBold, ImVec2(area.Min.x, area.Min.y + view.px(11)), view.theme->faint,
                "KV CACHE");
    } else if (const StripState state = stateOf(scene, *snapshot, *sequence); layout.presents) {
      cacheStrips(scene, page, *sequence, state, stripPlan(scene, *snapshot, view, state, area), area);
    } else if (layout.cacheLine) {
      cacheLine(scene, page, state, area);
      if (ImGui::IsWindowHovered() && ImGui::IsMouseClicked(1)) view.menu = {"picture.save_cache"};
    } else {
      const float costWidth = std::min(view.px(330), area.GetWidth() * 0.32f);
      const ImRect left(area.Min.x, area.Min.y, area.Max.x - costWidth - view.px(28), area.Max.y);
      const float y = left.Min.y + view.px(12);
      const float title = paintSpaced(list, view.fonts->smallBold, ImVec2(left.Min.x, y), view.theme->faint,
                                      "KV CACHE", view.px(1.2f));
      stepButtons(scene, page.view, page.play, state,
                  ImVec2(left.Min.x + title + view.px(16), y - view.px(14)));
      const float slidersAt = ImGui::GetItemRectMax().x + view.px(16);
      const auto strips = [&](float below) {
        return ImRect(left.Min.x, left.Min.y + view.px(below), left.Max.x, left.Max.y);
      };
      const std::string step =
          stripShare(stripPlan(scene, *snapshot, view, state, strips(34))) + decodeStepText(scene, state);
      const float stepWidth = textWidth(view.fonts->text, step) + view.px(20);
      // The sliders go on the title's line if it is long enough, otherwise below it.
      const bool oneLine = left.Max.x - stepWidth - slidersAt > view.px(380);
      if (oneLine)
        decodeSliders(scene, page.view, page.play, state, ImVec2(slidersAt, y - view.px(15)),
                      left.Max.x - stepWidth - slidersAt);
      else
        decodeSliders(scene, page.view, page.play, state, ImVec2(left.Min.x, y + view.px(13)),
                      left.GetWidth());
      paintText(list, view.fonts->text, ImVec2(left.Max.x, y), view.theme->secondary, step, Align::right);
      const ImRect below = strips(oneLine ? 34 : 54);
      cacheStrips(scene, page, *sequence, state, stripPlan(scene, *snapshot, view, state, below), below);
      const ImRect right(area.Max.x - costWidth, area.Min.y, area.Max.x, area.Max.y);
      const float end = costs(scene, *snapshot, view, state, right);
      checkText(*sequence, view, ImVec2(right.Min.x, end), costWidth);
    }
  }
  endPanel();
}

}  // namespace headscope::app::heads_page
