#pragma once

#include <filesystem>
#include <string>

#include "app/scene/history.h"

namespace headscope::app {

/// The scene that is worked on, with what it was before and where it is kept.
class Document {
 public:
  explicit Document(Scene scene) : scene_(std::move(scene)), history_(scene_), saved_(scene_) {}

  Scene& scene() { return scene_; }
  const Scene& scene() const { return scene_; }
  const std::filesystem::path& path() const { return path_; }
  std::string name() const { return path_.empty() ? "untitled" : path_.filename().string(); }
  /// Whether it differs from what was opened or saved.
  bool dirty() const { return !sameDocument(scene_, saved_); }

  /// Replaces the scene as a step that can be undone.
  void open(Scene scene, std::filesystem::path path);
  /// `scene` is in the file `path` now.
  void savedAs(const Scene& scene, std::filesystem::path path);

  /// After a frame: what changed since `before` is a step, at once or, where `edit` names a control that is
  /// being dragged or typed in, when that ends: `held` is whether a button is down, `now` the time in
  /// seconds. Returns whether anything changed.
  bool note(const Scene& before, const std::string& edit, bool held, double now);
  /// What there is now is a step.
  void record();
  /// Seconds until a step that is under way is one; infinity where none is.
  double secondsToStep(double now) const;

  void undo();
  void redo();
  bool canUndo() const { return history_.canUndo() || history_.differs(scene_); }
  bool canRedo() const { return history_.canRedo(); }
  std::size_t undoSteps() const { return history_.undoSteps(); }

 private:
  Scene scene_;
  History history_;
  Scene saved_;
  std::filesystem::path path_;
  std::string edit_;  ///< the control whose edit is not in the history yet
  double editedAt_ = 0;
};

}  // namespace headscope::app
