#pragma once

#include <string>
#include <vector>

#include "app/shell/stage_state.h"
#include "app/widgets/actions.h"
#include "app/widgets/dialog.h"
#include "app/widgets/layout.h"

namespace headscope::app {

/// Draws over a presented page: the lecturer's bar when the mouse is near it, the last key pressed, the
/// laser, the spotlight, and the darkened screen.
void stageOverlay(const Scene& scene, View& view, StageState& stage, const Layout& layout,
                  const ActionTable& actions);

/// A key and its effect, or the state of what it switches: "C", "Causal on".
struct KeyHint {
  std::string key, word;
};
/// Returns the contents of the bar, to show them elsewhere.
std::vector<KeyHint> stageWords(const Scene& scene, const StageState& stage, const ActionTable& actions);
/// Returns the height in pixels of the lecturer's notes below a presented page, when a single screen serves
/// everyone.
float notesHeight(const View& view, const std::string& notes, float width, float height);
void stageNotes(const View& view, const std::string& notes, const ImRect& area);
/// Whether the action is on the bar. The bar's keys are shown when pressed.
bool isOnStageBar(const std::string& action);
/// Whether the action's key works only while presenting, so that a letter typed elsewhere replaces no text.
bool isStageKey(const Action& action);
/// Returns the seconds until any of this must be redrawn without input.
double stageFrameIn(const StageState& stage, double now);

/// A box to type a sentence over the presented page; the heads follow each letter. Enter closes it.
class SentenceBox : public Dialog {
 public:
  std::string name() const override { return "sentence"; }
  void draw(Scene& scene, View& view, bool opening) override;

 private:
  std::string typed_;
};

}  // namespace headscope::app
