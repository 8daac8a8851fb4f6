#pragma once

#include "attention/masks/lookup.h"

namespace headscope::attention {

/// Which document `position` lies in; `starts` ascend from 0.
std::size_t documentOf(const std::vector<Index>& starts, Index position);

/// Each position's document, and where each document begins, for rules whose lists hold the starts.
extern const LookupTable kDocument, kDocumentStart;

}  // namespace headscope::attention
