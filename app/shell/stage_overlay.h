#pragma once

#include <string>
#include <vector>

#include "app/shell/stage_state.h"
#include "app/widgets/actions.h"
#include "app/widgets/dialog.h"
#include "app/widgets/layout.h"

namespace headscope::app {

/// Over a page that is presented: the bar of what a lecturer does, where the mouse comes down to it, the key
/// that was pressed, the laser and the spotlight, and the dark.
void stageOverlay(const Scene& scene, View& view, StageState& stage, const Layout& layout,
                  const ActionTable& actions);

/// A key, and what it does or how what it switches is: "C", "Causal on".
struct KeyWord {
  std::string key, word;
};
/// What the bar has, for who sees it elsewhere.
std::vector<KeyWord> stageWords(const Scene& scene, const StageState& stage, const ActionTable& actions);
/// Pixels that the lecturer's notes take below a page that is presented, where there is one screen for all.
float notesHeight(const View& view, const std::string& notes, float width, float height);
void stageNotes(const View& view, const std::string& notes, const ImRect& area);
/// Whether the action is on that bar, whose keys are shown when they are pressed.
bool isOnStageBar(const std::string& action);
/// Whether its key acts while presenting alone: a letter that is typed elsewhere replaces no text.
bool isStageKey(const Action& action);
/// Seconds until any of that has to be drawn again without input.
double stageFrameIn(const StageState& stage, double now);

/// A sentence typed over the page that is presented, whose heads follow each letter. Enter closes it.
class SentenceBox : public Dialog {
 public:
  std::string name() const override { return "sentence"; }
  void draw(Scene& scene, View& view, bool opening) override;

 private:
  std::string typed_;
};

}  // namespace headscope::app
