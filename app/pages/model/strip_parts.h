#pragma once

#include "app/pages/model/model_state.h"

namespace headscope::app {

/// Why the word at a place can't be replaced; "" where it can.
std::string cannotChange(const ModelState& page, Index token);
/// Opens a box for another word in place of one that was written.
void openTokenEdit(ModelState& page, Index token);
/// That box, over the word that it replaces.
void tokenEditBox(ModelState& page, const ImRect& word);

}  // namespace headscope::app
