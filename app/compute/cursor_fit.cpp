#include "app/compute/cursor_fit.h"

#include <algorithm>

namespace headscope::app {

void CursorFit::Wanted::fit(Index& value, Index low, Index high) {
  if (!seen || value != fitted) wanted = value;
  seen = true;
  value = fitted = std::clamp(wanted, low, std::max(low, high));
}

void CursorFit::apply(Cursor& cursor, const Snapshot& snapshot) {
  if (snapshot.sequences.empty()) return;
  sequence_.fit(cursor.sequence, 0, static_cast<Index>(snapshot.sequences.size()) - 1);
  const SequenceSnapshot& sequence = snapshot.sequences[static_cast<std::size_t>(cursor.sequence)];
  focus_.fit(cursor.focus, -1, snapshot.config.heads - 1);
  head_.fit(cursor.cell.head, 0, snapshot.config.heads - 1);
  const bool decodes = snapshot.causal;
  step_.fit(cursor.step, 1, sequence.queryLength);
  // What is not in the cache yet can't be looked at.
  const Index queries = cursor.decoding && decodes ? cursor.step : sequence.queryLength;
  const Index keys =
      cursor.decoding && decodes ? std::min(cursor.step, sequence.keyLength) : sequence.keyLength;
  query_.fit(cursor.cell.query, 0, queries - 1);
  key_.fit(cursor.cell.key, 0, keys - 1);
}

}  // namespace headscope::app
