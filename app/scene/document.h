#pragma once

#include "app/scene/scene.h"
#include "attention/formats/files/file_io.h"

namespace headscope::app {

/// The file of a scene.
struct SceneFile {
  std::filesystem::path path;  ///< empty = not in a file yet
  std::optional<Scene> saved;  ///< what was opened or saved last; nothing if no file holds the scene as it is
  std::optional<attention::ContentMark> content = {};  ///< of the file at that time; nothing if unknown
  bool holds(const Scene& scene) const { return saved && sameDocument(*saved, scene); }
};

/// A scene whose current state is in no file.
struct UnsavedScene {
  std::shared_ptr<SceneFile> file;  ///< the file it belongs to
  std::shared_ptr<const Scene> scene;
};

/// Undo and redo as a list of documents (sameDocument()), each with its file. Where the user looks is neither
/// recorded nor undone.
class History {
 public:
  explicit History(Scene scene, std::shared_ptr<SceneFile> file = std::make_shared<SceneFile>())
      : steps_{{std::make_shared<const Scene>(std::move(scene)), std::move(file)}} {}

  /// The file of the current step.
  const std::shared_ptr<SceneFile>& file() const { return steps_[current_].file; }
  /// Records `scene` as a new step if it differs from the current one. Drops the steps that could be redone.
  void record(const Scene& scene) {
    if (differs(scene)) push(scene, file());
  }
  /// Records `scene` as a step that belongs to another file.
  void begin(const Scene& scene, std::shared_ptr<SceneFile> file) { push(scene, std::move(file)); }
  /// Call before an edit: undoing it then shows the layer that was looked at before.
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

  /// A document at one step, with its file.
  struct Step {
    std::shared_ptr<const Scene> scene;
    std::shared_ptr<SceneFile> file;
  };
  /// Oldest first; the current step is at undoSteps().
  const std::vector<Step>& steps() const { return steps_; }
  void goTo(std::size_t step, Scene& scene) {
    if (step < steps_.size()) takeDocument(scene, *steps_[current_ = step].scene);
  }

  /// For each file except the current step's: its last step, if the file doesn't hold it. Oldest first.
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
  /// Drops the last step of a file only if there is no other step, since it may be unsaved.
  void dropOldest() {
    std::size_t oldest = 0;
    while (oldest + 1 < steps_.size() && isLastOfFile(oldest)) ++oldest;
    steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(oldest + 1 < steps_.size() ? oldest : 0));
  }

  std::vector<Step> steps_;
  std::size_t current_ = 0;
};

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

/// Replaces file names relative to `folder`, as a scene's file has them, by paths from the working folder.
void resolveFiles(Scene& scene, const std::filesystem::path& folder);
/// The file names in a scene and in its talk's views, as written: a model's folder other than the bundled
/// one, a picture, features, weights, queries and keys, a configuration, recorded attention, texts and masks.
std::vector<std::string> namedFiles(const Scene& scene);
/// The inverse: files in or below `folder` get relative names and move with it, others get full names.
void relativeFiles(Scene& scene, const std::filesystem::path& folder);

}  // namespace headscope::app
