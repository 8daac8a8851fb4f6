#include "attention/masks/text_parts.h"

#include <algorithm>

namespace headscope::attention::text_parts {

constinit const TextPart keyLength{
    "key length", [](const MaskGeometry& at) { return std::clamp<Index>(at.keyLength, 0, at.keys); }};
constinit const TextPart half{"half", [](const MaskGeometry& at) { return std::max<Index>(1, at.keys / 2); }};
constinit const TextPart prefix{"prefix", [](const MaskGeometry& at) {
                                  return std::clamp<Index>(at.structure.prefixLength, 0, at.keys);
                                }};
constinit const TextPart treePrefix{"tree prefix", [](const MaskGeometry& at) {
                                      return std::clamp<Index>(at.structure.treePrefix, 0, at.keys);
                                    }};
constinit const TextPart gridHeight{"grid height", [](const MaskGeometry& at) {
                                      return std::clamp<Index>(at.structure.gridHeight, 1, kMaxMaskCount);
                                    }};
constinit const TextPart gridWidth{"grid width", [](const MaskGeometry& at) {
                                     return std::clamp<Index>(at.structure.gridWidth, 1, kMaxMaskCount);
                                   }};

constinit const TextPart documents{"documents", nullptr, &TextStructure::documentStarts};
constinit const TextPart globals{"globals", nullptr, &TextStructure::globals};
constinit const TextPart parents{"parents", nullptr, &TextStructure::parents};
constinit const TextPart querySegments{"query segments", nullptr, &TextStructure::querySegments};

constinit const TextPart images{"images", nullptr, nullptr, &TextStructure::images};
constinit const TextPart keySegments{"key segments", nullptr, nullptr, &TextStructure::keySegments};

}  // namespace headscope::attention::text_parts
