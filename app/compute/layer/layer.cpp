#include "app/compute/layer/snapshot.h"

namespace headscope::app {

ComputedLayer::ComputedLayer(Workers& workers, Resources& resources)
    : answer_(workers,
              [this, &resources](const Setup& setup, std::stop_token stop) -> attention::Result<Snapshot> {
                attention::Result<Snapshot> computed =
                    compute_ ? compute_(setup, resources, stop) : computeSnapshot(setup, resources, stop);
                if (computed.ok() && prepare_) prepare_(*computed, stop);
                return computed;
              }) {}

void ComputedLayer::forget() {
  answer_.forget();
  taken_.reset();
  snapshot_.reset();
}

bool ComputedLayer::take() {
  const auto answer = answer_.current();
  if (!answer || answer == taken_) return false;
  taken_ = answer;
  if (answer->value.ok()) {
    snapshot_ = std::shared_ptr<const Snapshot>(answer, &*answer->value);
    return true;
  }
  auto failed = std::make_shared<Snapshot>();
  failed->setup = answer->request;
  failed->error = PlacedError{Place::memory, answer->value.error().message};
  snapshot_ = std::move(failed);
  return true;
}

namespace {
Index inside(Index value, Index low, Index high) {
  return std::clamp(value, low, std::max(low, high));
}
}  // namespace

void CursorFit::apply(Cursor& cursor, const Snapshot& snapshot, bool decodes) {
  if (snapshot.sequences.empty()) return;
  const auto last = static_cast<Index>(snapshot.sequences.size()) - 1;
  cursor.sequence = inside(sequence_.of(cursor.sequence), 0, last);
  const SequenceSnapshot& sequence = snapshot.sequences[static_cast<std::size_t>(cursor.sequence)];
  const Index heads = snapshot.config.heads;
  cursor.focus = inside(focus_.of(cursor.focus), -1, heads - 1);
  // The cache processes the prefill at once, so there is no earlier step.
  const Index first = std::min(snapshot.setup.prefill, sequence.queryLength);
  cursor.step = inside(step_.of(cursor.step), first, sequence.queryLength);
  const Cell& wanted = cell_.of(cursor.cell);
  // Tokens not yet in the cache can't be selected.
  const bool decoding = decodes && cursor.decoding && snapshot.causal;
  const Index queries = decoding ? cursor.step : sequence.queryLength;
  const Index keys = decoding ? cursor.step : sequence.keyLength;
  cursor.cell = {inside(wanted.head, 0, heads - 1), inside(wanted.query, 0, queries - 1),
                 inside(wanted.key, 0, keys - 1)};
  if (!cursor.keyChosen && queries > 0)
    cursor.cell.key = std::max<Index>(
        0, strongestKey(sequence.probabilities()[cursor.cell.head].row(cursor.cell.query), keys));
  sequence_.fitted = cursor.sequence;
  focus_.fitted = cursor.focus;
  step_.fitted = cursor.step;
  cell_.fitted = cursor.cell;
}

}  // namespace headscope::app
