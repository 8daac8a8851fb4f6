#pragma once

#include "app/scene/scene.h"
#include "app/shell/stage_state.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// Draws the page's pen strokes on the pictures and words they belong to, and lets the mouse draw while the
/// pen is on.
void stagePen(View& view, Scene& scene, StageState& stage);
/// Whether the scene's page has pen strokes.
bool hasPen(const Scene& scene);
void erasePen(Scene& scene);

}  // namespace headscope::app
