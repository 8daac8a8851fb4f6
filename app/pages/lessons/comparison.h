#pragma once

#include "app/compute/layer/snapshot.h"
#include "app/widgets/view.h"

namespace headscope::app::lessons_page {

/// A row of a head's map, in one of two scenes that stand beside each other.
struct ComparedRow {
  const SequenceSnapshot* line = nullptr;
  Index head = 0, query = -1;  ///< −1: there is none
};

/// How softmax shares out 1 among the keys that a query sees, before and now; `now` is null until it may be
/// seen. Computed from the scores. Draws from `at`, the middle of its title, on.
void sharedOut(const View& view, const ComparedRow& before, const ComparedRow* now, ImVec2 at, float width);
/// Pixels that it takes.
float sharedOutHeight(const View& view);

}  // namespace headscope::app::lessons_page
