#include <fmt/core.h>

#include "app/compute/plots/plot_data.h"
#include "app/pages/cache/cache_page.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app::cache_page {

namespace {

void headline(const Scene& scene, const State& page, const DecodeState& state, Board& board) {
  const attention::AttentionConfig& config = page.snapshot->config;
  const CacheBytes bytes = bytesPerToken(scene, config);
  const auto now = static_cast<std::uint64_t>(state.now);
  const auto all = [now](std::uint64_t token) {
    return fourDigitBytes(attention::saturatingMultiply(token, now));
  };
  const std::string filled =
      layerPrefix(page.snapshot->setup) + countText(now) + " of " + tokenCountText(state.tokens);
  const bool shared = config.kvHeads != config.heads;
  std::string work;
  if (const CacheField* field = shownField(scene, page); field && state.now > 0) {
    const StepWork step = stepWork(scene, state, *field);
    work = fmt::format(" · {}, {}× more without the cache", flopsText(step.with),
                       fixedText(step.without / step.with, 1));
  }
  const std::string updating = page.catchingUp ? " · updating" : "", own = fourDigitBytes(bytes.own);
  const std::string brief = filled + " · +" + own + " per step";
  board.headline(
      {"cache.bytes",
       all(bytes.own),
       {shareText(config, bytes)},
       {filled + " in the cache" + (shared ? " · as MHA " + all(bytes.mha) : "") + " · each step adds " +
            own + (shared ? ", MHA's " + fourDigitBytes(bytes.mha) : "") + work + updating,
        brief + work + updating, brief + updating}});
}

void bracket(const View& view, Canvas list, float from, float to, float y, const std::string& text,
             std::uint32_t color) {
  if (to - from < 4) return;
  list.AddLine(ImVec2(from, y), ImVec2(to, y), color, 1.5f);
  list.AddLine(ImVec2(from, y), ImVec2(from, y + view.px(7)), color, 1.5f);
  list.AddLine(ImVec2(to, y), ImVec2(to, y + view.px(7)), color, 1.5f);
  // As much as fits: "decode: one column per step", "decode", or nothing.
  for (const std::string_view words :
       {std::string_view(text), std::string_view(text).substr(0, text.find(':'))})
    if (textWidth(view.fonts->text, words) <= to - from) {
      track("cache.bracket." + text.substr(0, text.find(':')), ImVec2(from, y - view.px(20)), ImVec2(to, y));
      paintText(list, view.fonts->text, ImVec2(from + 1, y - view.px(11)), color, words);
      return;
    }
}

/// "4 tokens at once" or "4 tokens, 2 at a time".
std::string prefillText(const DecodeState& state) {
  return tokenCountText(state.prefill) +
         (state.chunk < state.prefill ? fmt::format(", {} at a time", state.chunk) : " at once");
}

void brackets(const View& view, Canvas list, const FieldPlace& place, const DecodeState& state, float y) {
  const Theme& theme = *view.theme;
  const float gap = place.column() > view.px(6) ? view.px(3) : 0;
  const Index filled = std::min(place.prefill, place.now);
  if (filled > 0)
    bracket(view, list, place.x(0), place.x(place.prefill) - gap, y,
            "prefill: " + (filled == place.prefill ? prefillText(state)
                                                   : fmt::format("{} of {}", filled, place.prefill)),
            theme.secondary);
  // Without a causal mask there is nothing to decode.
  if (place.now > place.prefill && state.reason.empty())
    bracket(view, list, place.x(place.prefill), place.x(place.now) - gap, y, "decode: one column per step",
            theme.text);
  if (const Index from = std::max(place.now, filled > 0 ? place.prefill : 0); from < place.tokens)
    bracket(view, list, place.x(from), place.x(place.tokens) - gap, y,
            "not yet: " + countedText(place.tokens - place.now, "empty slot"), theme.faint);
}

/// The step between columns labelled with their token; a power of two.
Index labelStep(const View& view, const FieldPlace& place) {
  return powerOfTwoStep(place.column(), view.px(46), place.tokens);
}

/// The selected key's column, −1 if it isn't in the cache yet.
Index selectedColumn(const Scene& scene, const FieldPlace& place) {
  return scene.cursor.cell.key < place.now ? scene.cursor.cell.key : -1;
}

bool isDecoding(const Scene& scene, const State& page, const FieldPlace& place) {
  return (scene.cursor.decoding || page.filling >= 0) && place.now > 0;
}

/// Draws the tokens below their columns, thinned; dragging along them moves the playhead.
void tokenAxis(Scene& scene, State& page, const FieldPlace& place, const ImRect& area) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const SequenceSnapshot& sequence = *shownSequence(scene, page.snapshot.get());
  hitArea("cache.axis", area);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const auto under = [&] {
    return static_cast<Index>(std::floor((mouse.x - place.cells.Min.x) / place.column()));
  };
  const bool canMove = decodeState(scene, page).reason.empty();
  if (ImGui::IsItemActive() && canMove) {
    page.play.on = false;
    jumpDecode(scene, page,
               std::clamp<Index>(under() + 1, std::min<Index>(place.prefill, place.tokens), place.tokens));
  }
  // If the page itself scrolls, the wheel scrolls it first.
  const bool turns = wheelTurns(view, "cache.axis") || ImGui::GetScrollMaxY() <= 0;
  if (ImGui::IsItemHovered() && canMove && turns)
    for (const InputEvent& event : view.input.events)
      if (event.kind == InputEvent::Kind::wheel && event.y != 0)
        moveDecode(scene, page, event.y > 0 ? DecodeMove::forward : DecodeMove::back);
  const bool decoding = isDecoding(scene, page, place);
  const float y = area.GetCenter().y;
  const Index every = labelStep(view, place), selected = selectedColumn(scene, place);
  for (Index token = 0; token < place.tokens; token += every) {
    if (decoding && token == place.now - 1) continue;
    // Near the handle, only the handle's own token is shown.
    const float room = place.column() * static_cast<float>(every) - view.px(6);
    if (decoding && every > 1 && std::abs(token - (place.now - 1)) < every) continue;
    const std::string text = fitted(view.fonts->mono, sequence.keys[asSize(token)].text, room);
    paintText(list, view.fonts->mono, ImVec2(place.x(token) + place.column() / 2, y),
              token == selected                              ? theme.key
              : token < place.now || token == view.hover.key ? theme.text
                                                             : theme.faint,
              text, Align::center);
  }
}

/// Draws the newest token as a draggable handle on the playhead.
void paintHandle(const Scene& scene, State& page, const FieldPlace& place, const ImRect& area) {
  if (!isDecoding(scene, page, place)) return;
  const View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const SequenceSnapshot& sequence = *shownSequence(scene, page.snapshot.get());
  const float handle = std::max(place.column(), view.px(3)), y = area.GetCenter().y;
  const float from = place.playheadX(), to = from + handle;
  list.AddRectFilled(ImVec2(from, area.Min.y), ImVec2(to, area.Max.y), theme.query);
  const std::string& text = sequence.keys[asSize(place.now - 1)].text;
  const std::uint32_t ink = inkOn(unpacked(theme.query));
  if (labelStep(view, place) == 1) {
    paintText(list, view.fonts->bold, ImVec2((from + to) / 2, y), ink,
              fitted(view.fonts->bold, text, handle - 2), Align::center);
  } else {
    const std::string label = fmt::format("{}: {}", place.now, fitted(view.fonts->mono, text, view.px(140)));
    const float half = textWidth(view.fonts->mono, label) / 2 + view.px(8);
    const float middle = std::clamp((from + to) / 2, area.Min.x + half, area.Max.x - half);
    list.AddRectFilled(ImVec2(middle - half, area.Min.y), ImVec2(middle + half, area.Max.y), theme.query,
                       view.px(4));
    paintText(list, view.fonts->mono, ImVec2(middle, y), ink, label, Align::center);
  }
  track("cache.playhead", ImVec2(from, area.Min.y), ImVec2(to, area.Max.y));
}

/// Frames the selected column of the bands and, through everything that shares the axis, the playhead and,
/// dashed, the hovered column.
void paintPlayhead(const Scene& scene, State& page, const FieldPlace& place, float top, float bottom) {
  View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  const float width = std::max(place.column(), view.px(3));
  const float thin = std::max(1.0f, view.px(1.2f)), thick = std::max(1.5f, view.px(2));
  const auto column = [&](float left, float to, float line) {
    const float x = std::round(left);
    return ImRect(x, top + line, x + width, to - line);
  };
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (ImGui::IsWindowHovered() && mouse.x >= place.cells.Min.x && mouse.x < place.cells.Max.x &&
      mouse.y >= top && mouse.y <= bottom)
    view.nextHover.key = std::clamp<Index>(static_cast<Index>((mouse.x - place.cells.Min.x) / place.column()),
                                           0, place.tokens - 1);
  const Theme& theme = *view.theme;
  const Index key = selectedColumn(scene, place), over = view.hover.key;
  if (over >= 0 && over < place.tokens && over != key)
    paintGhost(view, list, "ghost", column(place.x(over), bottom, thin), theme.key);
  if (key >= 0)
    paintMark(view, list, "column", column(place.x(key), place.cells.Max.y, thin), theme.key, thin);
  if (isDecoding(scene, page, place))
    paintMark(view, list, "playhead", column(place.playheadX(), bottom, thick), theme.query, thick);
}

/// Where the parts of the view stand that share the tokens' axis; set from top to bottom as they are painted.
struct GrowthPlace {
  std::optional<FieldPlace> field;  ///< unset if there is too little space for one
  ImRect axis;
  float top = 0, bottom = 0;  ///< of all that the playhead runs through
};

void fieldPart(Scene& scene, State& page, const ImRect& area, GrowthPlace& shown) {
  View& view = page.view;
  const DecodeState state = decodeState(scene, page);
  const bool wide = area.GetWidth() >= view.px(1000);
  shown.axis = ImRect(area.Min.x + view.px(wide ? 104 : 84), area.Max.y - view.px(28),
                      area.Max.x - view.px(wide ? 154 : 124), area.Max.y);
  const ImRect cells(shown.axis.Min.x, area.Min.y + view.px(34), shown.axis.Max.x,
                     shown.axis.Min.y - view.px(3));
  if (cells.GetWidth() < view.px(40) || cells.GetHeight() < view.px(12))
    return paintMessage(view, area, "Not enough space for the cache",
                        "Enlarge the window or reduce the text size.", view.theme->secondary);
  FieldPlace& place = shown.field.emplace(fieldPlace(view, page.snapshot->config, state, cells));
  shown.top = cells.Min.y - view.px(4);
  shown.bottom = shown.axis.Max.y;
  page.drawing.motion.observe(
      {place.tokens, place.heads, place.kvHeads, state.now, isDecoding(scene, page, place)}, view.time,
      !view.preferences.reducedMotion);
  place.moment = page.drawing.motion.at(view.time);
  Canvas list = *ImGui::GetWindowDrawList();
  paintField(scene, page, place, area.Min.x);
  brackets(view, list, place, state, cells.Min.y - view.px(9));
  tokenAxis(scene, page, place, shown.axis);
  if (state.now == 0)
    paintFitted(view, list, view.fonts->hero, place.cells.GetCenter(), cells.GetWidth(),
                view.theme->secondary, "Press Play to fill " + prefillText(state) + ".", Align::center);
}

void stairsPart(const Scene& scene, const State& page, const ImRect& area, GrowthPlace& shown) {
  if (!shown.field) return;
  const View& view = page.view;
  const FieldPlace& place = *shown.field;
  const ImRect stairs(place.cells.Min.x, area.Min.y, place.cells.Max.x, area.Max.y - view.px(8));
  shown.bottom = stairs.Max.y;
  if (isDecoding(scene, page, place))
    Canvas(*ImGui::GetWindowDrawList())
        .AddRectFilled(ImVec2(place.playheadX(), shown.axis.Max.y),
                       ImVec2(place.playheadX() + place.column(), stairs.Max.y),
                       view.theme->light ? 0xFFE2F1FF : 0xFF11161C);
  paintStairs(scene, page, place, stairs);
}

/// Why nothing can be decoded, with a button that helps if there is one.
void notDecodable(const DecodeState& state, Board& board) {
  board.controls([&view = board.view(), state](ControlLine& line) {
    if (state.turnsOn) line.action("cache.causal", "Turn on Causal", "mask.causal");
    line.words(state.reason, view.theme->text, view.fonts->text, "cache.reason");
  });
  board.words({state.reason}, {"cache.reason", board.theme().text}).onPoster();
}

}  // namespace

void growthView(Scene& scene, State& page, Board& board) {
  if (viewIsEmpty(scene, page, board, "", false)) return;
  const DecodeState state = decodeState(scene, page);
  headline(scene, page, state, board);
  if (!state.reason.empty()) notDecodable(state, board);
  const auto shown = std::make_shared<GrowthPlace>();
  board.picture("field", {200, 318, 1},
                [&scene, &page, shown](const ImRect& area) { fieldPart(scene, page, area, *shown); });
  board
      .picture("stairs", {64, 86, 0.34f},
               [&scene, &page, shown](const ImRect& area) { stairsPart(scene, page, area, *shown); })
      .leaves(kForNamed);
  // Over what shares the axis.
  board
      .area("", {},
            [&scene, &page, shown](const ImRect&) {
              if (!shown->field) return;
              paintPlayhead(scene, page, *shown->field, shown->top, shown->bottom);
              paintHandle(scene, page, *shown->field, shown->axis);
              paintVoidReasons(page.view, *ImGui::GetWindowDrawList(), *shown->field);
            })
      .apart(0);
}

}  // namespace headscope::app::cache_page
