#pragma once

#include "app/labs/model/model_page.h"

namespace headscope::app {

/// Why the word at a place can't be replaced; "" where it can.
std::string cannotChange(const ModelPage& page, Index token);
/// Opens a box for another word in place of one that was written.
void openTokenEdit(ModelPage& page, Index token);
/// That box, over the word that it replaces.
void tokenEditBox(ModelPage& page, const ImRect& word);

}  // namespace headscope::app
