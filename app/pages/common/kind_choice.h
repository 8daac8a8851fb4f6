#pragma once

#include <string>

#include "app/scene/scene.h"
#include "app/widgets/actions.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// Why the planted patterns don't fit in a layer of these sizes, or "".
std::string plantedRefusal(const Setup& setup, const ModelSetup& model);

/// A choice of MHA, GQA or MQA; `locked` says why none can be chosen, or is empty.
void kindChoice(Setup& setup, View& view, const std::string& locked);

/// Actions for MHA, GQA and MQA; an unavailable one reports why when run.
std::vector<Action> kindActions(View& view);

}  // namespace headscope::app
