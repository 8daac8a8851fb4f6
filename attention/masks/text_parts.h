#pragma once

#include "attention/masks/program.h"

namespace headscope::attention {

/// A part of a text's structure that is the default of an argument. Exactly one of the three is set.
struct TextPart {
  Index (*count)(const MaskGeometry&) = nullptr;
  std::vector<Index> TextStructure::*positions = nullptr;
  KeyRuns TextStructure::*spans = nullptr;
};

namespace text_parts {

extern const TextPart keyLength, half, prefix, treePrefix, gridHeight, gridWidth;  ///< counts
extern const TextPart documents, globals, parents, querySegments;                  ///< positions
extern const TextPart images, keySegments;                                         ///< spans

}  // namespace text_parts
}  // namespace headscope::attention
