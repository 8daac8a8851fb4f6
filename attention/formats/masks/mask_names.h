#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attention/formats/masks/mask_file.h"
#include "attention/formats/tensor_reader.h"

namespace headscope::attention {

/// What masks are laid over.
struct MaskSizes {
  Index batch = 1, heads = 1, queries = 0, keys = 0;
  bool batched = false;  ///< whether x has an axis for the batch
};

/// One shape that a mask may have, a letter for each axis: b the batch, h the heads, B batch · heads, n
/// queries, m keys, 1 one. What an axis is missing for, or 1, is the same for all.
struct MaskShape {
  std::string_view axes;
  MaskConvention truths;  ///< what true means in it
  std::string_view who;   ///< who reads it so; empty for Headscope's own
};

/// What a program calls a mask, and how that program reads it.
struct MaskName {
  const char* name;
  std::vector<MaskShape> shapes;
  bool integers;  ///< whether whole numbers 0 and 1 are truths, too
};

/// The mask tensors that attend reads: Headscope's own `mask`, and those of PyTorch and Hugging Face.
const std::vector<MaskName>& maskNames();

/// How many positions an axis has.
Index sizeOf(char axis, const MaskSizes& sizes);
/// The form that a tensor of this shape has; null for none.
const MaskShape* formOf(const MaskName& mask, const Shape& shape, const MaskSizes& sizes);
/// "[3, 3] or [4, 3, 3]".
std::string expectedShapes(const MaskName& mask, const MaskSizes& sizes);

}  // namespace headscope::attention
