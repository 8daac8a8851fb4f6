#pragma once

#include <vector>

#include "app/scene/scene.h"

namespace headscope::app {

/// Undo and redo as a list of scenes. Setup, Look, MapSetup and CostSetup count as a change; where the person
/// looks (the Cursor) neither makes a step nor is taken back by one.
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
    if (canUndo()) restore(scene, --current_);
  }
  void redo(Scene& scene) {
    if (canRedo()) restore(scene, ++current_);
  }
  std::size_t undoSteps() const { return current_; }

 private:
  static constexpr std::size_t kMaxSteps = 500;
  void restore(Scene& scene, std::size_t index) const {
    scene.setup = states_[index].setup;
    scene.look = states_[index].look;
    scene.map = states_[index].map;
    scene.cost = states_[index].cost;
  }

  std::vector<Scene> states_;
  std::size_t current_ = 0;
};

}  // namespace headscope::app
