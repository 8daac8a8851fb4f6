#include <algorithm>

#include "app/pages/cache/cache_state.h"
#include "attention/cache/model_cost.h"

namespace headscope::app::cache_page {

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
