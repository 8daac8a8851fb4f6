#pragma once

#include <string>
#include <vector>

#include "app/widgets/view.h"

namespace headscope::app {

/// What tokens are to the heads that are shown.
struct ChipRoles {
  Index realLength;  ///< tokens before the padding
  bool areQueries, areKeys;
  Index writtenFrom = -1;  ///< from here on a model wrote them; −1: none
};

/// Tokens as chips in a box of their own, so that a long text leaves room for the controls below. Pointing at
/// one lights its row (queries) and its column (keys), a click chooses it. Tests know them as NAME.POSITION.
void tokenChips(View& view, const std::string& name, const std::vector<attention::Token>& tokens,
                const ChipRoles& roles, Cursor& cursor);

/// The height that they take in a box of `width`.
float tokenChipsHeight(const View& view, const std::vector<attention::Token>& tokens, float width);

}  // namespace headscope::app
