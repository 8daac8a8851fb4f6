#pragma once

#include "app/compute/layer/snapshot.h"
#include "app/widgets/view.h"

namespace headscope::app::lessons_page {

/// A row of a head's map, in one of two scenes compared side by side.
struct ComparedRow {
  const SequenceSnapshot* line = nullptr;
  Index head = 0, query = -1;  ///< −1 = none
};

/// Draws how softmax divides 1 among a query's visible keys, before and now, computed from the scores. `now`
/// is null while it must not be shown. `at` is the middle of the title's left edge.
void sharedOut(const View& view, const ComparedRow& before, const ComparedRow* now, ImVec2 at, float width);
/// The height of that drawing in pixels.
float sharedOutHeight(const View& view);

}  // namespace headscope::app::lessons_page
