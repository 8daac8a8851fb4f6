#pragma once

#include <vector>

#include "app/scene/scene.h"

namespace headscope::app {

/// Undo and redo as a list of documents (sameDocument); where the person looks neither makes a step nor is
/// taken back by one.
class History {
 public:
  explicit History(Scene scene) : states_{std::move(scene)} {}

  /// Records `scene` as a new step if it differs from the current one; what could be redone is gone then.
  void record(const Scene& scene) {
    if (!differs(scene)) return;
    states_.resize(current_ + 1);
    states_.push_back(scene);
    if (states_.size() > kMaxSteps) states_.erase(states_.begin());
    current_ = states_.size() - 1;
  }
  bool differs(const Scene& scene) const { return !sameDocument(states_[current_], scene); }

  bool canUndo() const { return current_ > 0; }
  bool canRedo() const { return current_ + 1 < states_.size(); }
  void undo(Scene& scene) {
    if (canUndo()) takeDocument(scene, states_[--current_]);
  }
  void redo(Scene& scene) {
    if (canRedo()) takeDocument(scene, states_[++current_]);
  }
  std::size_t undoSteps() const { return current_; }

 private:
  static constexpr std::size_t kMaxSteps = 500;

  std::vector<Scene> states_;
  std::size_t current_ = 0;
};

}  // namespace headscope::app
