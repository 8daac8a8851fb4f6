#pragma once

#include <string>

#include "app/scene/scene.h"
#include "app/widgets/actions.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// Why what is planted would find no room in a layer of these sizes, or "".
std::string plantedRefusal(const Setup& setup, const ModelSetup& model);

/// MHA, GQA or MQA; `locked` says why none of them can be chosen.
void kindChoice(Setup& setup, View& view, const std::string& locked);

/// MHA, GQA and MQA by name; where one can't be, it says why.
std::vector<Action> kindActions(View& view);

}  // namespace headscope::app
