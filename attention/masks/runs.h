#pragma once

#include <algorithm>

#include "attention/core/mask.h"

namespace headscope::attention {

// The algebra of rows. All take and give KeyRuns as core/mask.h defines them; `out` may not be an input.

/// Adds [begin, end) behind the last run, joined to it where they touch or overlap; nothing where begin ≥
/// end. begin must not lie before the last run's begin.
void appendRun(KeyRuns& runs, Index begin, Index end);
/// The same for what of [begin, end) lies in [0, keys).
inline void appendWithin(KeyRuns& runs, Index begin, Index end, Index keys) {
  appendRun(runs, std::max<Index>(begin, 0), std::min(end, keys));
}
/// Brings runs in any order, overlapping or empty, into the form above.
void sortRuns(KeyRuns& runs);

void unite(const KeyRuns& a, const KeyRuns& b, KeyRuns& out);
void intersect(const KeyRuns& a, const KeyRuns& b, KeyRuns& out);
void subtract(const KeyRuns& a, const KeyRuns& b, KeyRuns& out);
/// What of [0, keys) is not in `a`.
void complement(const KeyRuns& a, Index keys, KeyRuns& out);

/// How many keys there are in all runs.
Index keysIn(const KeyRuns& runs);

}  // namespace headscope::attention
