#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/scene/history.h"

namespace headscope::app {

/// The scene being worked on, with its undo history and its file. The scene opened before it stays one undo
/// away, with its own file.
class Document {
 public:
  explicit Document(Scene scene)
      : scene_(std::move(scene)), history_(scene_, std::make_shared<SceneFile>(SceneFile{"", scene_})) {}

  Scene& scene() { return scene_; }
  const Scene& scene() const { return scene_; }
  /// The file of the scene. Opening another scene switches to another object; undoing that switches back.
  const std::shared_ptr<SceneFile>& file() const { return history_.file(); }
  const std::filesystem::path& path() const { return file()->path; }
  std::string name() const { return sceneName(path()); }
  /// Whether the scene differs from what was opened or saved last.
  bool dirty() const { return !file()->holds(scene_); }
  /// Everything that closing would lose; the current scene comes last.
  std::vector<UnsavedScene> unsaved() const;

  /// Replaces the scene as an undoable step.
  void open(Scene scene, SceneFile file);
  /// Like open(), but if there is a talk, a scene without one opens inside it: the talk and its file stay.
  void openInTalk(Scene scene, SceneFile file);
  /// Like openInTalk(), with the contents of `path`, or with a scene to begin with if `path` is empty.
  void open(Scene scene, std::filesystem::path path, std::optional<attention::ContentMark> content = {});

  /// Removes the talk; the scene continues without a file. The talk is one undo away.
  void closeTalk();

  /// Call after each frame. Records what changed since `before` as a step: at once, or if `edit` names a
  /// control being dragged or typed in, when that ends. `held` is whether a button is down, `now` the time in
  /// seconds. Returns whether anything changed.
  bool note(const Scene& before, const std::string& edit, bool held, double now);
  /// Records the current scene as a step.
  void record();
  /// Seconds until a pending edit becomes a step; infinity if there is none.
  double secondsToStep(double now) const;

  void undo();
  void redo();
  bool canUndo() const { return history_.canUndo() || history_.differs(scene_); }
  bool canRedo() const { return history_.canRedo(); }
  std::size_t undoSteps() const { return history_.undoSteps(); }
  const std::vector<History::Step>& steps() const { return history_.steps(); }
  /// Goes to any of steps(), as repeated undo or redo would.
  void goTo(std::size_t step);

  /// The name to show for a scene of that file; "untitled" without a file.
  static std::string sceneName(const std::filesystem::path& path) {
    return path.empty() ? "untitled" : path.filename().string();
  }

 private:
  Scene scene_;
  History history_;
  std::string edit_;  ///< the control whose edit is not in the history yet
  double editedAt_ = 0;
};

}  // namespace headscope::app
