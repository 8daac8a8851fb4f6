#pragma once

#include <algorithm>

#include "attention/core/mask.h"

namespace headscope::attention {

// Set operations on rows. All take and return KeyRuns as defined in core/mask.h; `out` must not be an input.

/// Appends [begin, end), merged with the last run if they touch or overlap; does nothing if begin ≥ end.
/// begin must not be less than the last run's begin.
void appendRun(KeyRuns& runs, Index begin, Index end);
/// The same for the part of [begin, end) inside [0, keys).
inline void appendWithin(KeyRuns& runs, Index begin, Index end, Index keys) {
  appendRun(runs, std::max<Index>(begin, 0), std::min(end, keys));
}
/// Converts runs in any order, possibly overlapping or empty, to valid KeyRuns.
void sortRuns(KeyRuns& runs);

void unite(const KeyRuns& a, const KeyRuns& b, KeyRuns& out);
void intersect(const KeyRuns& a, const KeyRuns& b, KeyRuns& out);
void subtract(const KeyRuns& a, const KeyRuns& b, KeyRuns& out);
/// Sets `out` to the keys of [0, keys) that are not in `a`.
void complement(const KeyRuns& a, Index keys, KeyRuns& out);

}  // namespace headscope::attention
