#pragma once

#include "app/pages/model/model_state.h"

namespace headscope::app::model_page {

/// Why the word at a place can't be replaced; "" where it can.
std::string cannotChange(const State& page, Index token);
/// Opens a box for another word in place of one that was written.
void openTokenEdit(State& page, Index token);
/// That box, over the word that it replaces.
void tokenEditBox(View& view, Writing& writing, const ImRect& word);

}  // namespace headscope::app::model_page
