#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "app/compute/layer/resources.h"
#include "app/compute/layer/snapshot.h"
#include "app/scene/lessons/lesson.h"

namespace headscope::app {

/// One answer of a question, computed.
struct OptionStudy {
  std::string text, why;  ///< with their numbers
  bool holds = false;
  /// What it would look like, with the marks of render/heatmap.h: [1, m] a row, [n, m] a map; empty without
  /// a picture. A number is repeated over the keys in sight of the row that is looked at, and 0 on a key out
  /// of sight is a masked cell.
  attention::Matrix picture;
};

/// One step of a lesson, computed.
struct StepStudy {
  std::shared_ptr<const Snapshot> snapshot;
  std::shared_ptr<const Snapshot> before;  ///< of the step that it is compared with; null without one
  std::string text, ask;                   ///< with their numbers
  std::vector<OptionStudy> options;
  std::vector<std::string> failedClaims;  ///< each with what was found
};

/// Pure: the scenes that the step names are computed. Errors, with the step's id and the key: a scene that
/// can't be computed, an expression that can't be evaluated, a question of which not exactly one option
/// holds; "stopped".
attention::Result<std::shared_ptr<const StepStudy>> studyStep(const Lesson& lesson, std::size_t step,
                                                              Resources& resources,
                                                              std::stop_token stop = {});

struct LessonScenes;

/// One after the other, for those who want them all: each scene is computed once. The lesson and the
/// resources outlive it; one thread at a time.
class LessonRunner {
 public:
  LessonRunner(const Lesson& lesson, Resources& resources, std::stop_token stop = {});
  ~LessonRunner();
  attention::Result<std::shared_ptr<const StepStudy>> study(std::size_t step);
  /// The picture for the list of lessons: [n, m].
  attention::Result<attention::Matrix> cover();
  /// What an expression comes to in a step, as text: for those who write lessons.
  attention::Result<std::string> shown(std::size_t step, const attention::Expression& expression);

 private:
  attention::Result<attention::Array> value(std::size_t step, const attention::Expression& expression);

  std::unique_ptr<LessonScenes> scenes_;
};

}  // namespace headscope::app
