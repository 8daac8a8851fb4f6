#pragma once

#include <string>

#include "app/scene/scene.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// Why what is planted would find no room in a layer of these sizes, or "".
std::string plantedRefusal(const Setup& setup, const ModelSetup& model);

/// MHA, GQA or MQA; `locked` says why none of them can be chosen.
void kindChoice(Setup& setup, View& view, const std::string& locked);

}  // namespace headscope::app
