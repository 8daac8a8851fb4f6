#include "app/pages/cache/cache_page.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/field_controls.h"
#include "app/widgets/paint.h"

namespace headscope::app::cache_page {

namespace {

constexpr float kStepSide = 30;  ///< of a transport button, in layout units

/// Draws a transport button's icon from triangles and bars, because fonts don't draw these at matching sizes.
void paintIcon(const View& view, Canvas list, ImVec2 middle, DecodeMove move, std::uint32_t color) {
  const float half = view.px(6), bar = view.px(2);
  const bool left = move == DecodeMove::first || move == DecodeMove::back;
  const float way = left ? -1.0f : 1.0f;
  list.AddTriangleFilled(ImVec2(middle.x - way * half * 0.7f, middle.y - half),
                         ImVec2(middle.x - way * half * 0.7f, middle.y + half),
                         ImVec2(middle.x + way * half * 0.8f, middle.y), color);
  if (move == DecodeMove::first || move == DecodeMove::last) {
    const float x = middle.x + way * half;
    list.AddRectFilled(ImVec2(x - bar / 2, middle.y - half), ImVec2(x + bar / 2, middle.y + half), color);
  }
}

bool iconButton(View& view, const char* name, DecodeMove move, ImVec2 from, const std::string& disabledReason,
                const char* help) {
  const float side = view.px(kStepSide);
  const bool clicked = hitArea(name, from, ImVec2(side, side));
  const bool enabled = disabledReason.empty(), hovered = ImGui::IsItemHovered();
  Canvas list = *ImGui::GetWindowDrawList();
  const ImVec2 to(from.x + side, from.y + side);
  list.AddRectFilled(from, to, hovered && enabled ? view.theme->line : view.theme->raised, view.px(7));
  compat::rectOutline(list, from, to, view.theme->line, view.px(7), 1);
  paintIcon(view, list, ImVec2((from.x + to.x) / 2, (from.y + to.y) / 2), move,
            enabled ? view.theme->text : view.theme->faint);
  if (hovered && !enabled) tooltip(view, disabledReason);
  if (hovered && enabled) hoverHelp(view, name, help);
  return clicked && enabled;
}

bool playButton(View& view, bool playing, ImVec2 from, float width, const std::string& disabledReason) {
  const bool clicked = hitArea("cache.play", from, ImVec2(width, view.px(kStepSide)));
  const bool enabled = disabledReason.empty(), hovered = ImGui::IsItemHovered();
  Canvas list = *ImGui::GetWindowDrawList();
  const ImVec2 to(from.x + width, from.y + view.px(kStepSide));
  const std::uint32_t face = enabled ? view.theme->text : view.theme->raised;
  list.AddRectFilled(from, to, hovered && enabled ? mixed(face, view.theme->background, 0.12f) : face,
                     view.px(7));
  const std::uint32_t ink = enabled ? view.theme->background : view.theme->faint;
  const float y = (from.y + to.y) / 2, x = from.x + view.px(20);
  if (playing) {
    for (const float side : {-3.5f, 3.5f})
      list.AddRectFilled(ImVec2(x + view.px(side - 2), y - view.px(6)),
                         ImVec2(x + view.px(side + 2), y + view.px(6)), ink);
  } else {
    paintIcon(view, list, ImVec2(x, y), DecodeMove::forward, ink);
  }
  paintText(list, view.fonts->bold, ImVec2(x + view.px(14), y), ink, playing ? "Pause" : "Play");
  if (hovered && !enabled) tooltip(view, disabledReason);
  if (hovered && enabled)
    hoverHelp(view, "cache.play", "Space plays and pauses. Arrows step by one, with Shift by ten.");
  return clicked && enabled;
}

/// The buttons that step through the decode and play it, at the end of the line.
void stepButtons(Scene& scene, State& page, ControlLine& line, bool jumps) {
  View& view = page.view;
  DecodeState state = decodeState(scene, page);
  if (scene.cursor.cacheView == CacheView::paging) state.reason.clear();
  struct Step {
    const char* name;
    DecodeMove move;
    const char* help;
  };
  static constexpr std::array<Step, 4> kSteps{{{"cache.first", DecodeMove::first, "Empty the cache (Home)."},
                                               {"cache.back", DecodeMove::back, "Remove one token (←)."},
                                               {"cache.forward", DecodeMove::forward, "Add one token (→)."},
                                               {"cache.last", DecodeMove::last, "Fill the cache (End)."}}};
  // If there is no space for the buttons to either end, only keys go there.
  const auto shown = std::span(kSteps).subspan(jumps ? 0 : 1, jumps ? 4 : 2);
  const float each = view.px(kStepSide + 6), play = view.px(92 + 10);
  const float steps = play + static_cast<float>(shown.size()) * each;
  const std::string speed = roundedText(scene.cost.cache.speed, 3);
  const std::string pace =
      jumps ? firstFitting(view.fonts->mono, {speed + " steps/s", speed + "/s"}, line.room() - steps) : "";
  const float width = steps + textWidth(view.fonts->mono, pace);
  line.part(
      "cache.steps", width / view.unit,
      [&] {
        const ImVec2 at = ImGui::GetCursorScreenPos();
        if (playButton(view, page.play.on, at, view.px(92), state.reason))
          moveView(scene, page, DecodeMove::play);
        float x = at.x + play;
        for (const Step& step : shown) {
          if (iconButton(view, step.name, step.move, ImVec2(x, at.y), state.reason, step.help))
            moveView(scene, page, step.move);
          x += each;
        }
        paintText(*ImGui::GetWindowDrawList(), view.fonts->mono,
                  ImVec2(at.x + width, at.y + view.px(kStepSide / 2)), view.theme->text, pace, Align::right);
      },
      true);
}

}  // namespace

void transport(Scene& scene, State& page, Board& board) {
  board.controls([&scene, &page](ControlLine& line) {
    const std::string path = "cursor.cache_view";
    const CacheView before = scene.cursor.cacheView;
    const bool tabs = line.room() >= page.view.px(440 + 320);
    if (tabs) {
      line.buttons(scene, path, 440);
    } else {
      const Field& field = fieldAt(path);
      int chosen = static_cast<int>(chosenIn(field, scene));
      if (line.list("cache_view", choicesOf(field), chosen, field.help)) choose(field, scene, chosen);
    }
    if (scene.cursor.cacheView != before) page.play.on = false;
    // The other views show all steps at once.
    if (before == CacheView::growth || before == CacheView::paging) stepButtons(scene, page, line, tabs);
  });
}

namespace {

/// Eases from 0 to 1 over `length` seconds, smooth at both ends.
float eased(double since, double length) {
  const auto t = static_cast<float>(std::clamp(since / length, 0.0, 1.0));
  return t * t * (3 - 2 * t);
}

}  // namespace

float FieldMoment::light(Index token) const {
  for (const ComingColumns& each : coming)
    if (token >= each.from && token < each.to) return each.light;
  return 1;
}

void FieldMotion::observe(const Shown& shown, double time, bool ease) {
  const bool same = shown_ && shown_->tokens == shown.tokens && shown_->heads == shown.heads;
  if (!ease || !same) {
    reset();
    shown_ = shown;
    return;
  }
  if (shown.kvHeads != shown_->kvHeads) {
    fromKvHeads_ = shown_->kvHeads;
    glidesAt_ = time;
  }
  std::erase_if(arrivals_, [&](const Arrival& each) { return time >= each.at + kStepSeconds; });
  if (shown.now != shown_->now) {
    // A playhead that wasn't visible appears without moving.
    const bool there = shown.decoding && shown_->decoding && shown_->now > 0 && shown.now > 0;
    stepFrom_ = playheadAt(time);
    stepAt_ = there ? time : -1;
    for (Arrival& each : arrivals_) each.to = std::min(each.to, shown.now);
    if (shown.decoding && shown.now > shown_->now) arrivals_.push_back({shown_->now, shown.now, time});
  }
  shown_ = shown;
}

bool FieldMotion::moving(double time) const {
  return gliding(time) || (stepAt_ >= 0 && time < stepAt_ + kStepSeconds) ||
         std::any_of(arrivals_.begin(), arrivals_.end(),
                     [&](const Arrival& each) { return time < each.at + kStepSeconds; });
}

float FieldMotion::playheadAt(double time) const {
  if (!shown_) return 0;
  const auto to = static_cast<float>(std::max<Index>(shown_->now, 1) - 1);
  return stepAt_ < 0 ? to : stepFrom_ + (to - stepFrom_) * eased(time - stepAt_, kStepSeconds);
}

FieldMoment FieldMotion::at(double time) const {
  FieldMoment moment;
  moment.playhead = playheadAt(time);
  for (const Arrival& each : arrivals_)
    if (time < each.at + kStepSeconds)
      moment.coming.push_back({each.from, each.to, eased(time - each.at, kStepSeconds)});
  if (!gliding(time)) return moment;
  moment.fromKvHeads = fromKvHeads_;
  moment.glide = eased(time - glidesAt_, kGlideSeconds);
  return moment;
}

DecodeState decodeState(const Scene& scene, const State& page) {
  const SequenceSnapshot* sequence = shownSequence(scene, page.snapshot.get());
  return sequence ? decodeState(scene, page, *sequence) : DecodeState();
}

DecodeState decodeState(const Scene& scene, const State& page, const SequenceSnapshot& sequence) {
  DecodeState state;
  state.tokens = sequence.keyLength;
  state.prefill = std::min(page.snapshot->setup.prefill, state.tokens);
  state.now = state.tokens;
  const Index chunk = scene.cost.cache.chunk, whole = std::max<Index>(state.prefill, 1);
  state.chunk = chunk > 0 ? std::min(chunk, whole) : whole;
  if (isCross(page.snapshot->setup)) {
    state.reason = "Cross-attention caches the context once; decoding adds nothing.";
  } else if (!page.snapshot->causal) {
    state.reason = "Decoding needs a causal mask: here an earlier token sees a later one.";
    state.turnsOn = true;
  }
  if (!state.reason.empty()) return state;
  if (page.filling >= 0)
    state.now = std::min(page.filling, state.prefill);
  else if (scene.cursor.decoding)
    state.now = std::clamp(scene.cursor.step, state.prefill, state.tokens);
  const Index last = std::max<Index>(state.now - 1, 0);
  state.before = state.now > state.prefill ? last : last / state.chunk * state.chunk;
  return state;
}

const CacheField* shownField(const Scene& scene, const State& page) {
  const SequenceSnapshot* shown = shownSequence(scene, page.snapshot.get());
  if (!shown || !page.field || page.field.request().snapshot != page.snapshot) return nullptr;
  const CacheField& field = *page.field;
  const bool ofLine =
      shown == &page.snapshot->sequences[static_cast<std::size_t>(page.field.request().sequence)];
  return ofLine && std::ssize(field.flops) == shown->keyLength ? &field : nullptr;
}

StepWork stepWork(const Scene& scene, const DecodeState& state, const CacheField& field) {
  StepWork work;
  for (Index token = state.before; token < state.now; ++token)
    work.with += field.flops[static_cast<std::size_t>(token)];
  work.without = field.uncachedFlops[static_cast<std::size_t>(state.now - 1)];
  const auto layers = static_cast<double>(scene.cost.cache.layers);
  return {work.with * layers, work.without * layers};
}

void jumpDecode(Scene& scene, State& page, Index tokens) {
  const DecodeState state = decodeState(scene, page);
  if (!state.reason.empty() || state.tokens == 0) return;
  Cursor& cursor = scene.cursor;
  tokens = std::clamp<Index>(tokens, 0, state.tokens);
  cursor.decoding = true;
  page.filling = tokens < state.prefill ? tokens : -1;
  cursor.step = std::max(tokens, state.prefill);
  cursor.cell.query = std::max<Index>(0, tokens - 1);
}

namespace {

Index forwardFrom(const DecodeState& state) {
  if (state.now >= state.prefill) return std::min(state.now + 1, state.tokens);
  return std::min((state.now / state.chunk + 1) * state.chunk, state.prefill);
}

}  // namespace

void moveDecode(Scene& scene, State& page, DecodeMove move) {
  const DecodeState state = decodeState(scene, page);
  if (!state.reason.empty() || state.tokens == 0) return;
  const bool played = page.play.on;
  page.play.on = move == DecodeMove::play && !played;
  page.play.since = page.view.time;
  if (move == DecodeMove::first) jumpDecode(scene, page, 0);
  if (move == DecodeMove::last) jumpDecode(scene, page, state.tokens);
  if (move == DecodeMove::back) jumpDecode(scene, page, state.before);
  if (move == DecodeMove::forward) jumpDecode(scene, page, forwardFrom(state));
  // At the end, Play starts again after the prefill.
  if (page.play.on && state.now >= state.tokens) jumpDecode(scene, page, state.prefill);
}

void moveView(Scene& scene, State& page, DecodeMove move) {
  if (scene.cursor.cacheView != CacheView::paging) return moveDecode(scene, page, move);
  const PagingStudy* study = page.paging.get();
  const Index last = study ? std::ssize(study->steps) - 1 : 0;
  const bool played = page.play.on;
  page.play.on = move == DecodeMove::play && !played;
  page.play.since = page.view.time;
  if (move == DecodeMove::first || (page.play.on && page.pagingStep >= last)) page.pagingStep = 0;
  if (move == DecodeMove::last) page.pagingStep = last;
  if (move == DecodeMove::back) page.pagingStep = std::max<Index>(0, page.pagingStep - 1);
  if (move == DecodeMove::forward) page.pagingStep = std::min(last, page.pagingStep + 1);
}

}  // namespace headscope::app::cache_page
