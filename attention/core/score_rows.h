#pragma once

#include "attention/kernels/score_rows.h"

namespace headscope::attention {

// The kernels' statistics of a row of scores or weights.
using kernels::largestOf;
using kernels::markRow;
using kernels::RowExtremes;
using kernels::SeenKeys;
using kernels::seenKeys;

}  // namespace headscope::attention
