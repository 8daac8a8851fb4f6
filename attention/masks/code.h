#pragma once

#include <string>

#include "attention/masks/cell_table.h"
#include "attention/masks/code_dialect.h"
#include "attention/masks/expression.h"
#include "attention/masks/geometry.h"

namespace headscope::attention {

/// Code that builds this mask over this geometry and runs as it stands:
/// flexAttention: mask_mod(b, h, q_idx, kv_idx), True = visible, plain tensor operations (no control flow on
/// its arguments), and the create_block_mask call as a comment; pytorch: attn_mask, boolean [heads, n, m] or
/// [n, m] when all heads are alike, True = visible as scaled_dot_product_attention takes it, with the
/// MultiheadAttention convention (True = masked) named beside it; numpy: the same as an array named
/// `visible`. Patterns stay formulas; what comes from marks, paintings and files stands in it as lists. Same
/// errors as compileMask.
Result<std::string> maskCode(MaskCode language, const MaskLayers& layers, const MaskGeometry& geometry,
                             const MaskSources& sources = {});

}  // namespace headscope::attention
