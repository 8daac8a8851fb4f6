#pragma once

#include <string>
#include <vector>

#include "app/compute/layer/snapshot.h"
#include "app/scene/lessons/lesson.h"

namespace headscope::app {

/// One array of a lesson's picture, computed.
struct ArrayFigure {
  std::string label;
  std::vector<attention::Matrix> values;  ///< one with a single row is drawn as bars; others are maps
  std::vector<std::string> words;         ///< of the first numbers of a row; may be empty
  bool result = false;                    ///< hidden until the step's question is answered
};

/// Queries and keys of two dimensions, as points in a plane. The farthest key in a query's direction has its
/// largest score.
struct PlaneFigure {
  attention::Matrix queries, keys;  ///< [n, 2], [m, 2]
  std::vector<std::string> words;   ///< of the keys
  attention::Index query = 0;       ///< the one whose direction is drawn
};

/// Returns an array of rank 1 as one row, of rank 2 as one map, of rank 3 as several; an Error for other
/// ranks and for more than 65,536 numbers.
attention::Result<std::vector<attention::Matrix>> mapsOf(const attention::Array& value);

/// Returns the queries and keys of the step's head; an Error unless it has two dimensions. `words`: of the
/// keys.
attention::Result<PlaneFigure> planeFigure(const LessonStep& step, const Snapshot& snapshot,
                                           std::vector<std::string> words);

}  // namespace headscope::app
