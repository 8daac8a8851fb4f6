#pragma once

#include "app/pages/model/model_state.h"

namespace headscope::app::model_page {

/// Why a token can't be replaced; "" if it can.
std::string cannotChange(const State& page, Index token);
/// Opens a box for replacing a generated token. Does nothing if it can't be replaced.
void openTokenEdit(State& page, Index token);
/// Draws that box over the token's word.
void tokenEditBox(View& view, Writing& writing, const ImRect& word);

}  // namespace headscope::app::model_page
