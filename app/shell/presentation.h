#pragma once

#include <vector>

#include "app/platform/ui.h"
#include "app/shell/stage_state.h"
#include "app/widgets/actions.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// The lecturer's tools while a window is presented.
class Presentation {
 public:
  Presentation(Ui& ui, View& view, const ActionTable& actions) : ui_(ui), view_(view), actions_(actions) {}

  StageState& state() { return state_; }
  const StageState& state() const { return state_; }
  /// Call before a frame of width × height pixels. A resting pointer is hidden together with what it
  /// highlights; outside a presentation nothing is dark or frozen.
  void prepare(int width, int height);
  /// Call when a key triggered `action`: shows the key, and lights a darkened screen.
  void note(const Action& action);
  std::vector<Action> actions();

 private:
  void nextExample();
  void nextKind(const Scene& scene);

  Ui& ui_;
  View& view_;
  const ActionTable& actions_;
  StageState state_;
};

}  // namespace headscope::app
