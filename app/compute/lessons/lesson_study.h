#pragma once

#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "app/compute/layer/layer_inputs.h"
#include "app/compute/layer/snapshot.h"
#include "app/compute/lessons/lesson_arrays.h"
#include "app/compute/lessons/lesson_tokens.h"
#include "app/scene/lessons/lesson.h"

namespace headscope::app {

/// One option of a question, computed.
struct OptionStudy {
  std::string text, why;  ///< with their numbers filled in
  bool holds = false;
  /// The picture of the option, with the marks of render/heatmap.h: [1, m] a row, [n, m] a map; empty = no
  /// picture. A number is repeated over the keys that the selected row can see; 0 on a key out of sight is a
  /// masked cell.
  attention::Matrix picture;
};

/// One step of a lesson, computed.
struct StepStudy {
  std::shared_ptr<const Snapshot> snapshot;
  std::shared_ptr<const Snapshot> before;     ///< of the step to compare with; null if there is none
  std::string text, ask;                      ///< with their numbers filled in
  std::shared_ptr<const TokenFigure> tokens;  ///< for a picture of tokens; otherwise null
  std::vector<ArrayFigure> arrays;            ///< for a picture of arrays; otherwise empty
  std::optional<PlaneFigure> plane;           ///< for a picture of keys in a plane
  std::vector<OptionStudy> options;
  std::string learned;                    ///< for the last step, if the lesson says so
  std::vector<std::string> failedClaims;  ///< each with the value found
};

/// Pure: computes the scenes that the step uses. Returns an Error with the step's id and the key if a scene
/// can't be computed, an expression can't be evaluated, or not exactly one option of a question holds, or
/// "stopped" if `stop` is requested.
attention::Result<std::shared_ptr<const StepStudy>> studyStep(const Lesson& lesson, std::size_t step,
                                                              Resources& resources,
                                                              std::stop_token stop = {});

/// What a step's own picture (look.picture) shows: the tokens of its text and, compared, those that read like
/// the one at look.query. Returns an Error unless the scene has a model that reads text and, for a rotation,
/// rotates queries.
attention::Result<std::shared_ptr<const TokenFigure>> tokenFigure(const LessonStep& step,
                                                                  const Snapshot& snapshot,
                                                                  std::stop_token stop = {});

struct LessonScenes;

/// Studies several steps of a lesson, computing each scene only once. The lesson and the resources must
/// outlive it. Not thread-safe.
class LessonRunner {
 public:
  LessonRunner(const Lesson& lesson, Resources& resources, std::stop_token stop = {});
  ~LessonRunner();
  attention::Result<std::shared_ptr<const StepStudy>> study(std::size_t step);
  /// Returns the picture for the list of lessons: [n, m].
  attention::Result<attention::Matrix> cover();
  /// Returns the value of an expression in a step as text, for authors of lessons.
  attention::Result<std::string> shown(std::size_t step, const attention::Expression& expression);

 private:
  attention::Result<attention::Array> value(std::size_t step, const attention::Expression& expression);

  std::unique_ptr<LessonScenes> scenes_;
};

/// A lesson and the file it came from.
struct LessonEntry {
  std::shared_ptr<const Lesson> lesson;
  std::filesystem::path path;
  bool own = false;  ///< the user's, not included in the program
  std::filesystem::file_time_type writtenAt;
};

/// All lessons, those included in the program first, sorted by number.
struct LessonLibrary {
  std::vector<LessonEntry> lessons;
  std::vector<std::string> problems;  ///< a sentence for each file that is not a valid lesson
  /// Finds a lesson by its id, or an included one by its number: "06". Null if there is none.
  const LessonEntry* find(const std::string& word) const;
  /// Returns the number of lessons included in the program.
  int shippedCount() const;
};

/// The files to read lessons from: all in the folders `shipped` and `own`, and those in `opened`.
struct LibraryQuestion {
  std::filesystem::path shipped, own;
  std::vector<std::filesystem::path> opened;
  std::filesystem::path progress;  ///< the folder where progress is stored
  int reading = 0;                 ///< changing the number makes everything be read again
  bool operator==(const LibraryQuestion&) const = default;
};

/// Reads the lessons. Invalid ones are left out and listed as problems. An id that an earlier lesson has is a
/// problem of the later one, except that the user's lesson replaces an included one.
LessonLibrary readLessons(const LibraryQuestion& question, std::stop_token stop);

}  // namespace headscope::app
