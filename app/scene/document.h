#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/scene/history.h"

namespace headscope::app {

/// The scene that is worked on, with what it was before and where it is kept. What was opened before stays
/// one undo away, with its own file.
class Document {
 public:
  explicit Document(Scene scene)
      : scene_(std::move(scene)), history_(scene_, std::make_shared<SceneFile>(SceneFile{"", scene_})) {}

  Scene& scene() { return scene_; }
  const Scene& scene() const { return scene_; }
  /// Where the scene is kept. Another object after another scene was opened, and the former one again when
  /// that is undone.
  const std::shared_ptr<SceneFile>& file() const { return history_.file(); }
  const std::filesystem::path& path() const { return file()->path; }
  std::string name() const { return sceneName(path()); }
  /// Whether it differs from what was opened or saved.
  bool dirty() const { return !file()->holds(scene_); }
  /// All that closing would lose: what is worked on comes last.
  std::vector<UnsavedScene> unsaved() const;

  /// Replaces the scene as a step that can be undone.
  void open(Scene scene, SceneFile file);
  /// The same, but that while there is a talk, a scene that has none opens inside it: the talk and its file
  /// stay.
  void openInTalk(Scene scene, SceneFile file);
  /// The same for what `path` holds, or for a scene to begin with.
  void open(Scene scene, std::filesystem::path path);

  /// The scene goes on without its talk, in a file of its own; the talk is one undo away.
  void closeTalk();

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
  const std::vector<History::Step>& steps() const { return history_.steps(); }
  /// To any of them, as undoing or redoing so often would.
  void goTo(std::size_t step);

  /// What a scene of that file is called: "untitled" where it has none.
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
