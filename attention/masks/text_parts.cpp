#include "attention/masks/text_parts.h"

#include "attention/masks/pattern.h"

namespace headscope::attention::text_parts {

constinit const TextPart keyLength{
    [](const MaskGeometry& at) { return std::clamp<Index>(at.keyLength, 0, at.keys); }};
constinit const TextPart half{[](const MaskGeometry& at) { return std::max<Index>(1, at.keys / 2); }};
constinit const TextPart prefix{
    [](const MaskGeometry& at) { return std::clamp<Index>(at.structure.prefixLength, 0, at.keys); }};
constinit const TextPart treePrefix{
    [](const MaskGeometry& at) { return std::clamp<Index>(at.structure.treePrefix, 0, at.keys); }};
constinit const TextPart gridHeight{
    [](const MaskGeometry& at) { return std::clamp<Index>(at.structure.gridHeight, 1, kMaxMaskCount); }};
constinit const TextPart gridWidth{
    [](const MaskGeometry& at) { return std::clamp<Index>(at.structure.gridWidth, 1, kMaxMaskCount); }};

constinit const TextPart documents{nullptr, &TextStructure::documentStarts};
constinit const TextPart globals{nullptr, &TextStructure::globals};
constinit const TextPart parents{nullptr, &TextStructure::parents};
constinit const TextPart querySegments{nullptr, &TextStructure::querySegments};

constinit const TextPart images{nullptr, nullptr, &TextStructure::images};
constinit const TextPart keySegments{nullptr, nullptr, &TextStructure::keySegments};

}  // namespace headscope::attention::text_parts
