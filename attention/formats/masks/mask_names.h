#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attention/formats/masks/mask_file.h"
#include "attention/formats/tensor_reader.h"

namespace headscope::attention {

/// The sizes that masks apply to.
struct MaskSizes {
  Index batch = 1, heads = 1, queries = 0, keys = 0;
  bool batched = false;  ///< whether x has a batch axis
};

/// A shape that a mask may have, one letter per axis: b batch, h heads, B batch · heads, n queries, m keys, 1
/// for size one. The mask is the same along any axis that is missing or 1.
struct MaskShape {
  std::string_view axes;
  MaskConvention truths;  ///< the meaning of true in this shape
  std::string_view who;   ///< the program that reads it this way; empty for Headscope
};

/// A mask tensor's name in a program, and how that program interprets it.
struct MaskName {
  const char* name;
  std::vector<MaskShape> shapes;
  bool integers;  ///< whether integers 0 and 1 are allowed as booleans
};

/// The mask tensors that attend reads: Headscope's `mask`, and those of PyTorch and Hugging Face.
const std::vector<MaskName>& maskNames();

/// Returns the size of an axis.
Index sizeOf(char axis, const MaskSizes& sizes);
/// Returns the form that matches a tensor's shape, or null.
const MaskShape* formOf(const MaskName& mask, const Shape& shape, const MaskSizes& sizes);
/// Lists the possible shapes: "[3, 3] or [4, 3, 3]".
std::string expectedShapes(const MaskName& mask, const MaskSizes& sizes);

}  // namespace headscope::attention
