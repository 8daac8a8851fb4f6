#pragma once

#include "attention/masks/lookup.h"

namespace headscope::attention {

/// Returns the index of the document that contains `position`; `starts` ascend from 0.
std::size_t documentOf(const std::vector<Index>& starts, Index position);

/// Each position's document, and each document's first position, for rules whose lists hold these.
extern const LookupTable kDocument, kDocumentStart;

}  // namespace headscope::attention
