#pragma once

#include <vector>

#include "app/widgets/actions.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// Returns every choice and switch of the document as an action, so that the action list contains them too.
std::vector<Action> fieldActions(View& view);

}  // namespace headscope::app
