#pragma once

#include <string>

#include "attention/masks/cell_table.h"
#include "attention/masks/code_dialect.h"
#include "attention/masks/expression.h"
#include "attention/masks/geometry.h"

namespace headscope::attention {

/// Returns complete, runnable code that builds this mask over this geometry:
/// flexAttention: mask_mod(b, h, q_idx, kv_idx), True = visible, in plain tensor operations (no control flow
/// on its arguments), with the create_block_mask call as a comment.
/// pytorch: attn_mask, boolean [heads, n, m], or [n, m] if all heads share a mask, True = visible as for
/// scaled_dot_product_attention; a comment gives the MultiheadAttention convention (True = masked).
/// numpy: the same as an array named `visible`.
/// Patterns become formulas; marks, paintings and files become lists. Returns the errors of compileMask(), or
/// an Error if the mask is too large for code.
Result<std::string> maskCode(MaskCode language, const MaskLayers& layers, const MaskGeometry& geometry,
                             const MaskSources& sources = {});

}  // namespace headscope::attention
