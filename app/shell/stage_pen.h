#pragma once

#include "app/scene/scene.h"
#include "app/shell/stage_state.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// What the pen drew on the page, on the pictures and words that it belongs to, and while it is on what it
/// draws.
void stagePen(View& view, Scene& scene, StageState& stage);
/// Whether the pen drew anything on the scene's page, and the scene without that.
bool hasPen(const Scene& scene);
void erasePen(Scene& scene);

}  // namespace headscope::app
