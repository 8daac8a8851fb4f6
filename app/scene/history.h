#pragma once

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "app/scene/scene.h"

namespace headscope::app {

/// Where a scene is kept.
struct SceneFile {
  std::filesystem::path path;  ///< empty: in no file yet
  std::optional<Scene> saved;  ///< what was opened or saved last; none: no file holds the scene as it is
  bool holds(const Scene& scene) const { return saved && sameDocument(*saved, scene); }
};

/// A scene that no file holds as it is.
struct UnsavedScene {
  std::shared_ptr<SceneFile> file;  ///< that it belongs to
  std::shared_ptr<const Scene> scene;
};

/// Undo and redo as a list of documents (sameDocument), each with the file it belongs to; where the person
/// looks neither makes a step nor is taken back by one.
class History {
 public:
  explicit History(Scene scene, std::shared_ptr<SceneFile> file = std::make_shared<SceneFile>())
      : steps_{{std::make_shared<const Scene>(std::move(scene)), std::move(file)}} {}

  /// Of the current step.
  const std::shared_ptr<SceneFile>& file() const { return steps_[current_].file; }
  /// Records `scene` as a new step if it differs from the current one; what could be redone is gone then.
  void record(const Scene& scene) {
    if (differs(scene)) push(scene, file());
  }
  /// Records `scene` as a step that belongs to another file.
  void begin(const Scene& scene, std::shared_ptr<SceneFile> file) { push(scene, std::move(file)); }
  /// Before an edit: coming back to the current step shows the layer that was looked at then.
  void noteLook(const Scene& before) {
    std::shared_ptr<const Scene>& current = steps_[current_].scene;
    const Index layer = before.setup.subject.layer;
    if (differs(before) || current->setup.subject.layer == layer) return;
    Scene looked = *current;
    looked.setup.subject.layer = layer;
    current = std::make_shared<const Scene>(std::move(looked));
  }
  bool differs(const Scene& scene) const { return !sameDocument(*steps_[current_].scene, scene); }

  bool canUndo() const { return current_ > 0; }
  bool canRedo() const { return current_ + 1 < steps_.size(); }
  void undo(Scene& scene) {
    if (canUndo()) takeDocument(scene, *steps_[--current_].scene);
  }
  void redo(Scene& scene) {
    if (canRedo()) takeDocument(scene, *steps_[++current_].scene);
  }
  std::size_t undoSteps() const { return current_; }

  /// A document as it was, with the file that it belongs to.
  struct Step {
    std::shared_ptr<const Scene> scene;
    std::shared_ptr<SceneFile> file;
  };
  /// The oldest first; that at undoSteps() is the current one.
  const std::vector<Step>& steps() const { return steps_; }
  void goTo(std::size_t step, Scene& scene) {
    if (step < steps_.size()) takeDocument(scene, *steps_[current_ = step].scene);
  }

  /// Of each other file than the current step's: its last step, where the file doesn't hold that. Oldest
  /// first.
  std::vector<UnsavedScene> unsavedElsewhere() const {
    std::vector<UnsavedScene> unsaved;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const auto& [scene, file] = steps_[i];
      if (isLastOfFile(i) && file != this->file() && !file->holds(*scene)) unsaved.push_back({file, scene});
    }
    return unsaved;
  }

 private:
  static constexpr std::size_t kMaxSteps = 500;

  bool isLastOfFile(std::size_t i) const {
    return i + 1 == steps_.size() || steps_[i].file != steps_[i + 1].file;
  }
  void push(const Scene& scene, std::shared_ptr<SceneFile> file) {
    steps_.resize(current_ + 1);
    steps_.push_back({std::make_shared<const Scene>(scene), std::move(file)});
    if (steps_.size() > kMaxSteps) dropOldest();
    current_ = steps_.size() - 1;
  }
  /// What a file's work had come to is dropped last: it may be unsaved.
  void dropOldest() {
    std::size_t oldest = 0;
    while (oldest + 1 < steps_.size() && isLastOfFile(oldest)) ++oldest;
    steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(oldest + 1 < steps_.size() ? oldest : 0));
  }

  std::vector<Step> steps_;
  std::size_t current_ = 0;
};

}  // namespace headscope::app
