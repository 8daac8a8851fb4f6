#pragma once

#include "app/shell/panels.h"

namespace headscope::app {

/// One head over the whole area, with zoom by the wheel, pan by dragging, and a click that selects a cell.
void focusView(Scene& scene, const Snapshot& snapshot, const SequenceSnapshot& sequence, View& view,
               const ImRect& area);

}  // namespace headscope::app
