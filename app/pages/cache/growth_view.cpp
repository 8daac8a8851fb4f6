#include <fmt/core.h>

#include "app/compute/plots/plot_data.h"
#include "app/pages/cache/cache_page.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app::cache_page {

namespace {

void headline(const Scene& scene, State& page, const DecodeState& state, const ImRect& area, bool small) {
  const View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const attention::AttentionConfig& config = page.snapshot->config;
  const CacheBytes bytes = bytesPerToken(scene, config);
  const auto now = static_cast<std::uint64_t>(state.now);
  const float y = area.GetCenter().y;
  ImFont* display = small ? view.fonts->displaySmall : view.fonts->display;
  const float width = paintText(list, display, ImVec2(area.Min.x, y), theme.text,
                                fourDigitBytes(attention::saturatingMultiply(bytes.own, now)));
  track("cache.bytes", ImVec2(area.Min.x, area.Min.y), ImVec2(area.Min.x + width, area.Max.y));
  const float x = area.Min.x + width + view.px(small ? 22 : 30), room = area.Max.x - x;
  paintFitted(view, list, view.fonts->hero, ImVec2(x, y - view.px(small ? 11 : 14)), room, theme.text,
              shareText(config, bytes));
  std::string rest = layerPrefix(page.snapshot->setup) +
                     fmt::format("{} of {}{}", countText(attention::asSize(state.now)),
                                 tokenCountText(state.tokens), small ? "" : " in the cache");
  if (!small && config.kvHeads != config.heads)
    rest += "  ·  as MHA " + fourDigitBytes(attention::saturatingMultiply(bytes.mha, now));
  rest += small ? " · +" + fourDigitBytes(bytes.own) + " per step"
                : "  ·  each step adds " + fourDigitBytes(bytes.own);
  if (!small && config.kvHeads != config.heads) rest += ", MHA's " + fourDigitBytes(bytes.mha);
  if (const CacheField* field = shownField(scene, page); small && field && state.now > 0) {
    const StepWork work = stepWork(scene, state, *field);
    rest += fmt::format(" · {}, {}× more without the cache", flopsText(work.with),
                        fixedText(work.without / work.with, 1));
  }
  if (page.catchingUp) rest += "  ·  updating";
  paintFitted(view, list, view.fonts->text, ImVec2(x, y + view.px(small ? 12 : 15)), room, theme.secondary,
              rest);
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
    const std::string text =
        fitted(view.fonts->mono, sequence.keys[static_cast<std::size_t>(token)].text, room);
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
  const std::string& text = sequence.keys[static_cast<std::size_t>(place.now - 1)].text;
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

void notDecodable(View& view, const DecodeState& state, const ImRect& area) {
  Canvas list = *ImGui::GetWindowDrawList();
  const float width = textWidth(view.fonts->text, state.reason), y = area.GetCenter().y;
  const std::string label = "Turn on Causal";
  const float button_ = state.turnsOn ? textWidth(view.fonts->text, label) + view.px(40) : 0;
  const float left = area.GetCenter().x - (width + button_) / 2;
  list.AddRectFilled(ImVec2(left - view.px(14), y - view.px(22)),
                     ImVec2(left + width + button_ + view.px(8), y + view.px(22)), view.theme->panel,
                     view.px(8));
  paintText(list, view.fonts->text, ImVec2(left, y), view.theme->text, state.reason);
  track("cache.reason", ImVec2(left, y - view.px(12)), ImVec2(left + width, y + view.px(12)));
  if (!state.turnsOn) return;
  ImGui::SetCursorScreenPos(ImVec2(left + width + view.px(16), y - view.px(14)));
  if (button(view, "cache.causal", label)) view.request("mask.causal");
}

}  // namespace

void growthView(Scene& scene, State& page, const ImRect& area, bool small) {
  View& view = page.view;
  const SequenceSnapshot* sequence = shownSequence(scene, page.snapshot.get());
  if (page.snapshot && page.snapshot->error) {
    paintMessage(view, area, "This can't be computed", page.snapshot->error->message,
                 page.snapshot->error->waits ? view.theme->text : view.theme->error);
    return;
  }
  if (!sequence || sequence->keyLength == 0) {
    compat::rectOutline(*ImGui::GetWindowDrawList(), ImVec2(area.Min.x, area.Min.y + view.px(60)), area.Max,
                        view.theme->line, view.px(6), 1);
    paintMessage(view, area, "Type a sentence", "Each token becomes a column of the cache.",
                 view.theme->text);
    return;
  }
  const DecodeState state = decodeState(scene, page);
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const float left = view.px(small ? 84 : 102), right = view.px(small ? 124 : 152);
  const float headHeight = view.px(small ? 58 : 76), bracketHeight = view.px(small ? 34 : 42);
  const float tokens = view.px(small ? 26 : 34),
              stairs = page.drawing.alone ? 0 : std::max(view.px(96), std::round(area.GetHeight() * 0.205f));
  headline(scene, page, state, ImRect(area.Min.x, area.Min.y, area.Max.x, area.Min.y + headHeight), small);
  const float top = area.Min.y + headHeight + bracketHeight,
              bottom = area.Max.y - stairs - tokens - view.px(8);
  if (area.GetWidth() - left - right < view.px(40) || bottom - top < view.px(12))
    return paintMessage(view, ImRect(area.Min.x, area.Min.y + headHeight, area.Max.x, area.Max.y),
                        "Not enough space for the cache", "Enlarge the window or reduce the text size.",
                        theme.secondary);
  FieldPlace place = fieldPlace(view, page.snapshot->config, state,
                                ImRect(area.Min.x + left, top, area.Max.x - right, bottom));
  const bool decoding = state.now > 0 && (scene.cursor.decoding || page.filling >= 0);
  page.drawing.motion.observe({place.tokens, place.heads, place.kvHeads, state.now, decoding}, view.time,
                              !view.preferences.reducedMotion);
  place.moment = page.drawing.motion.at(view.time);
  const float labelRight = place.cells.Max.x + view.px(14);
  paintField(scene, page, place, area.Min.x, labelRight, small);
  brackets(view, list, place, state, top - view.px(9));
  const ImRect axis(place.cells.Min.x, bottom + view.px(3), place.cells.Max.x, bottom + view.px(3) + tokens);
  const ImRect stairArea(place.cells.Min.x, axis.Max.y + view.px(small ? 8 : 12), place.cells.Max.x,
                         area.Max.y - view.px(8));
  if (!page.drawing.alone) {
    if (decoding)
      list.AddRectFilled(ImVec2(place.playheadX(), axis.Max.y),
                         ImVec2(place.playheadX() + place.column(), stairArea.Max.y),
                         view.theme->light ? 0xFFE2F1FF : 0xFF11161C);
    paintStairs(scene, page, place, stairArea, labelRight, small);
  }
  tokenAxis(scene, page, place, axis);
  paintPlayhead(scene, page, place, top - view.px(4), page.drawing.alone ? axis.Max.y : stairArea.Max.y);
  paintHandle(scene, page, place, axis);
  if (!state.reason.empty() && !view.figure)
    notDecodable(page.view, state, ImRect(place.cells.Min.x, top, place.cells.Max.x, bottom));
  if (state.now == 0) {
    paintText(list, view.fonts->hero, place.cells.GetCenter(), view.theme->secondary,
              "Press Play to fill " + prefillText(state) + ".", Align::center);
  }
}

}  // namespace headscope::app::cache_page
