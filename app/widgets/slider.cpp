#include <fmt/core.h>

#include <charconv>
#include <cstdlib>

#include "app/platform/track.h"
#include "app/platform/ui_state.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app {

namespace {

/// The user's input to a slider in this frame.
struct Touch {
  enum class Kind { none, moved, stepped, typed } kind = Kind::none;
  float position = 0;  ///< moved: 0 to 1 along the track
  int steps = 0;       ///< stepped
  std::string text;    ///< typed
};

struct SliderPlace {
  float labelEnd, trackFrom, trackTo, right, y;
};

SliderPlace placeOf(const View& view, ImVec2 from, float width, float height) {
  const float right = from.x + width;
  const float trackFrom = from.x + std::min(view.px(112), width * 0.36f);
  return {trackFrom - view.px(6), trackFrom, right - view.px(62), right, from.y + height / 2};
}

/// A slider's value on its track, and the reachable part of the track, 0 to 1.
struct Position {
  float value, lowest = 0, highest = 1;
};

void paintSlider(const View& view, const SliderSpec& spec, const SliderPlace& at, float left,
                 const Position& position, const std::string& shown, bool lit) {
  Canvas list = *ImGui::GetWindowDrawList();
  const Theme& theme = *view.theme;
  const bool enabled = spec.disabledReason.empty(), adjusted = view.wasAdjusted(spec.name);
  paintFitted(view, list, view.fonts->text, ImVec2(left, at.y), at.labelEnd - left,
              enabled ? theme.text : theme.faint, spec.label);
  const auto on = [&](float share) { return at.trackFrom + share * (at.trackTo - at.trackFrom); };
  const float x = on(position.value), half = view.px(1.5f);
  // The unreachable part is a hairline, so that the scale doesn't move.
  list.AddLine(ImVec2(at.trackFrom, at.y), ImVec2(at.trackTo, at.y), theme.line);
  list.AddRectFilled(ImVec2(on(position.lowest), at.y - half), ImVec2(on(position.highest), at.y + half),
                     theme.line, half);
  list.AddRectFilled(ImVec2(on(position.lowest), at.y - half), ImVec2(x, at.y + half),
                     enabled ? theme.secondary : theme.faint, half);
  const float knob = view.px(lit ? 8 : 7);
  if (drawsMark(list, "knob", ImVec2(x - knob, at.y - knob), ImVec2(x + knob, at.y + knob))) {
    list.AddCircleFilled(ImVec2(x, at.y), knob, enabled ? theme.knob : theme.faint, 24);
    if (theme.light) list.AddCircle(ImVec2(x, at.y), knob, enabled ? theme.secondary : theme.faint, 24, 1.2f);
  }
  const std::uint32_t ink = adjusted ? theme.warning : enabled ? theme.text : theme.faint;
  if (adjusted) list.AddCircle(ImVec2(x, at.y), view.px(10), theme.warning, 24, view.px(1.5f));
  paintText(list, view.fonts->mono, ImVec2(at.right, at.y), ink, shown, Align::right);
}

/// Shows a text field over the value being typed. Returns true if Enter was pressed.
bool typeField(View& view, const SliderPlace& at, float height, std::string& text) {
  ImGui::SetCursorScreenPos(ImVec2(at.trackTo + view.px(8), at.y - height / 2 + view.px(2)));
  ImGui::PushItemWidth(at.right - at.trackTo - view.px(8));
  compat::pushFont(view.fonts->mono);
  if (view.controls.typed.justOpened) ImGui::SetKeyboardFocusHere();
  std::array<char, 32> buffer{};
  text.copy(buffer.data(), buffer.size() - 1);
  const bool entered =
      ImGui::InputText("##typed", buffer.data(), buffer.size(),
                       ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
  text = buffer.data();
  ImGui::PopFont();
  ImGui::PopItemWidth();
  const bool left = !view.controls.typed.justOpened && ImGui::IsItemDeactivated();
  view.controls.typed.justOpened = false;
  if (left && !entered) view.controls.typed.control.clear();
  return entered;
}

int touchedSteps(const View& view, bool arrows, bool wheel) {
  int steps = 0;
  for (const InputEvent& event : view.input.events) {
    if (event.kind == InputEvent::Kind::wheel && wheel) steps += event.y > 0 ? 1 : event.y < 0 ? -1 : 0;
    if (!arrows || event.kind != InputEvent::Kind::key || !event.down || ImGui::GetIO().WantTextInput)
      continue;
    if (event.key == Key::right || event.key == Key::up) ++steps;
    if (event.key == Key::left || event.key == Key::down) --steps;
  }
  return steps;
}

std::string joinedLines(const std::string& first, const std::string& second) {
  return first + (first.empty() || second.empty() ? "" : "\n") + second;
}

bool pressesEnter(const View& view) {
  return std::any_of(view.input.events.begin(), view.input.events.end(), [](const InputEvent& event) {
    return event.kind == InputEvent::Kind::key && event.down && event.key == Key::enter;
  });
}

Touch touchSlider(View& view, const SliderSpec& spec, const Position& position, const std::string& shown) {
  const float width = ImGui::GetContentRegionAvail().x, height = view.px(28);
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const SliderPlace at = placeOf(view, from, width, height);
  const bool typing = view.controls.typed.control == spec.name;
  Touch touch;
  ImGui::PushID(spec.name.c_str());
  compat::invisibleButton("track", ImVec2(typing ? at.trackTo - from.x : width, height));
  noteTabStopKind(TabStopKind::slider);
  const bool entered = uiState().focus.isAt(ImGui::GetItemID()) && pressesEnter(view);
  trackItem(spec.name);
  track(spec.name + ".track", ImVec2(at.trackFrom, from.y), ImVec2(at.trackTo, from.y + height));
  track(spec.name + ".value", ImVec2(at.trackTo + view.px(8), from.y), ImVec2(at.right, from.y + height));
  const bool hovered = ImGui::IsItemHovered(), enabled = spec.disabledReason.empty();
  const bool overTrack = hovered && ImGui::GetIO().MousePos.x >= at.trackFrom - view.px(10);
  const bool turned = enabled && wheelTurns(view, spec.name);
  if (overTrack && enabled) view.controls.arrowsFrame = ImGui::GetFrameCount();
  paintSlider(view, spec, at, from.x, position, typing ? "" : shown,
              enabled && (hovered || ImGui::IsItemActive()));
  const float mouse = ImGui::GetIO().MousePos.x;
  if (hovered && !enabled) tooltip(view, spec.disabledReason);
  if (enabled) {
    const bool onValue = mouse > at.trackTo + view.px(8);
    if (hovered && mouse < at.labelEnd) hoverHelp(view, spec.name, spec.help, spec.label);
    if (hovered && !ImGui::IsItemActive() && (onValue || (overTrack && !spec.limitedBy.empty())))
      tooltip(view, joinedLines(onValue ? spec.limits + " — double-click to type" : "", spec.limitedBy));
    if (ImGui::IsItemActive() && ImGui::GetIO().MouseClickedPos[0].x <= at.trackTo + view.px(8) &&
        ImGui::GetIO().MouseClickedPos[0].x >= at.trackFrom - view.px(10)) {
      touch.kind = Touch::Kind::moved;
      touch.position = std::clamp((mouse - at.trackFrom) / (at.trackTo - at.trackFrom), 0.0f, 1.0f);
    } else if ((hovered && ImGui::IsMouseDoubleClicked(0)) || (entered && !typing)) {
      view.controls.typed = {spec.name, shown, true};
    } else if (const int steps = overTrack || turned ? touchedSteps(view, overTrack, turned) : 0;
               steps != 0) {
      touch.kind = Touch::Kind::stepped;
      touch.steps = steps;
    }
    if (typing && typeField(view, at, height, view.controls.typed.text)) {
      touch.kind = Touch::Kind::typed;
      touch.text = view.controls.typed.text;
      view.controls.typed.control.clear();
    }
  }
  ImGui::PopID();
  ImGui::SetCursorScreenPos(from);
  ImGui::Dummy(ImVec2(width, height));
  if (touch.kind == Touch::Kind::moved || touch.kind == Touch::Kind::stepped) {
    view.controls.continuousEdit = spec.name;
    if (view.controls.refusal.control == spec.name) view.controls.refusal = {};
  }
  return touch;
}

/// Shows a refusal below the slider, over other content, so that nothing moves under the pointer.
void showRefusal(const View& view, const std::string& control) {
  if (view.controls.refusal.control != control) return;
  const std::string& reason = view.controls.refusal.reason;
  Canvas list = *ImGui::GetForegroundDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, pad = view.px(9), indent = view.px(10);
  ImFont* font = view.fonts->small;
  const float height = font->CalcTextSizeA(compat::sizeOf(font), FLT_MAX, width - indent - 2 * pad,
                                           reason.data(), reason.data() + reason.size())
                           .y;
  const ImVec2 to(at.x + width, at.y + height + 2 * pad);
  list.AddRectFilled(at, to, view.theme->raised, view.px(6));
  compat::rectOutline(list, at, to, view.theme->line, view.px(6), 1);
  list.AddRectFilled(ImVec2(at.x + pad, at.y + pad), ImVec2(at.x + pad + view.px(3), to.y - pad),
                     view.theme->error, view.px(1.5f));
  paintParagraph(list, font, ImVec2(at.x + pad + indent, at.y + pad), width - indent - 2 * pad,
                 view.theme->error, reason);
  track("refusal." + control, at, to);
}

/// Returns the position of `value` on the track, 0 to 1.
float positionOn(const Track& track, float value) {
  const auto low = static_cast<float>(track.low), high = static_cast<float>(track.high);
  if (track.scale == Scale::logarithmic)
    return std::clamp(std::log(std::max(value, low) / low) / std::log(high / low), 0.0f, 1.0f);
  const float share = std::clamp((value - low) / (high - low), 0.0f, 1.0f);
  return track.scale == Scale::cubic ? std::cbrt(share) : share;
}

/// Returns the position of stop `i`: on the track if there is one, otherwise evenly spaced.
float positionOf(const Track& track, std::span<const Index> stops, std::size_t i) {
  if (track.low < track.high) return positionOn(track, static_cast<float>(stops[i]));
  return static_cast<float>(i) / static_cast<float>(std::max<std::size_t>(stops.size() - 1, 1));
}

std::size_t stopAt(const Track& track, std::span<const Index> stops, float position) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < stops.size(); ++i)
    if (std::abs(positionOf(track, stops, i) - position) <
        std::abs(positionOf(track, stops, best) - position))
      best = i;
  return best;
}

std::size_t nearestStop(std::span<const Index> stops, Index value) {
  const auto above = std::lower_bound(stops.begin(), stops.end(), value);
  if (above == stops.end()) return stops.size() - 1;
  const auto at = static_cast<std::size_t>(above - stops.begin());
  return at > 0 && value - stops[at - 1] < *above - value ? at - 1 : at;
}

/// Takes a typed whole number if it is allowed; otherwise a refusal stays next to the slider.
void takeTyped(View& view, const SliderSpec& spec, std::string text, std::span<const Index> stops,
               Index& value, const std::function<std::string(Index)>& refuse) {
  text = plainNumber(text);
  long long number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool tooLarge = parsed.ec == std::errc::result_out_of_range;
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) {
    view.controls.refusal = {spec.name,
                             (tooLarge ? text + " is too large" : "\"" + text + "\" is not a whole number") +
                                 "; expected " + spec.limits + "."};
    return;
  }
  const auto wanted = static_cast<Index>(number);
  view.controls.refusal = {};
  if (std::binary_search(stops.begin(), stops.end(), wanted)) {
    value = wanted;
    return;
  }
  const std::string reason =
      refuse ? refuse(wanted) : fmt::format("{} is not between {}.", wanted, spec.limits);
  if (reason.empty())
    value = wanted;
  else
    view.controls.refusal = {spec.name, reason};
}

}  // namespace

bool slider(View& view, const SliderSpec& spec, std::span<const Index> stops, Index& value,
            const std::function<std::string(Index)>& refuse) {
  const std::size_t at = nearestStop(stops, value);
  const Track& track = spec.track;
  const Position position{
      track.low < track.high ? positionOn(track, static_cast<float>(value)) : positionOf(track, stops, at),
      positionOf(track, stops, 0), stops.size() > 1 ? positionOf(track, stops, stops.size() - 1) : 1};
  const std::string shown =
      *spec.shown ? spec.shown : countText(static_cast<std::uint64_t>(std::max<Index>(value, 0)));
  const Touch touch = touchSlider(view, spec, position, shown);
  const Index before = value;
  if (touch.kind == Touch::Kind::moved) {
    // A click on the knob must not move a typed value to the nearest stop.
    const std::size_t wanted = stopAt(track, stops, touch.position);
    if (wanted != at) value = stops[wanted];
  } else if (touch.kind == Touch::Kind::stepped) {
    const auto wanted = static_cast<std::ptrdiff_t>(at) + touch.steps;
    value = stops[static_cast<std::size_t>(
        std::clamp<std::ptrdiff_t>(wanted, 0, static_cast<std::ptrdiff_t>(stops.size()) - 1))];
  } else if (touch.kind == Touch::Kind::typed) {
    takeTyped(view, spec, touch.text, stops, value, refuse);
  }
  showRefusal(view, spec.name);
  return value != before;
}

namespace {

/// Returns the value there, rounded to two significant digits so that the shown value is the one used.
float valueOn(const Track& track, float position) {
  const auto low = static_cast<float>(track.low), high = static_cast<float>(track.high);
  if (position >= 1) return high;
  const float share = track.scale == Scale::cubic ? position * position * position : position;
  const float value =
      track.scale == Scale::logarithmic ? low * std::pow(high / low, position) : low + share * (high - low);
  if (value == 0) return value;
  const float unit = std::pow(10.0f, std::floor(std::log10(std::abs(value))) - 1);
  return std::clamp(std::round(value / unit) * unit, low, high);
}

}  // namespace

bool slider(View& view, const SliderSpec& spec, const Range& range, Track track, float& value) {
  if (track.low == track.high) track = {range.low, range.high, track.scale};
  const float at = positionOn(track, value);
  const Touch touch = touchSlider(view, spec, {at}, numberText(value, value < 1 ? 3 : 2));
  const float before = value;
  if (touch.kind == Touch::Kind::moved) {
    value = valueOn(track, touch.position);
  } else if (touch.kind == Touch::Kind::stepped) {
    value = valueOn(track, std::clamp(at + 0.02f * static_cast<float>(touch.steps), 0.0f, 1.0f));
  } else if (touch.kind == Touch::Kind::typed) {
    const std::optional<double> number = typedNumber(touch.text);
    if (number && *number >= range.low && *number <= range.high) {
      value = static_cast<float>(*number);
      view.controls.refusal = {};
    } else {
      view.controls.refusal = {spec.name,
                               "\"" + touch.text + "\" is not a valid value: expected a number from " +
                                   shortNumber(range.low) + " to " + shortNumber(range.high) + "."};
    }
  }
  showRefusal(view, spec.name);
  return value != before;
}

}  // namespace headscope::app
