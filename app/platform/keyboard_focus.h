#pragma once

#include <vector>

#include "app/platform/imgui_compat.h"

namespace headscope::app {

/// What a control does with the keys that it gets while it is focused.
enum class TabStopKind {
  button,   ///< Enter or Space clicks it
  slider,   ///< arrows turn it, Enter types its value
  text,     ///< takes what is typed at once
  picture,  ///< arrows move the pointer over its cells
};

/// A control that Tab reaches, as it was drawn.
struct TabStop {
  ImGuiID id = 0;
  ImGuiWindow* window = nullptr;
  ImRect area, seen;  ///< the whole, and what its panels show of it
  TabStopKind kind = TabStopKind::button;
  ImVec2 cell;  ///< picture: pixels of a cell
};

/// The control that has the keyboard. It gets what the mouse would do to it: the pointer is taken there, and
/// Enter presses the button, so that everything that the mouse reaches works with keys alone. Moving the
/// mouse takes the pointer back. On the thread of Dear ImGui, of which each context has one.
class KeyboardFocus {
 public:
  /// Before anything of a frame is drawn.
  void beginFrame();
  /// Of the item that was just drawn; see noteTabStop().
  void note(const TabStop& control);
  void noteKind(TabStopKind kind, ImVec2 cell);
  /// What was noted so far lies below a dialog.
  void cover();

  /// Whether a control has the keyboard, or will have it again when what covers it goes.
  bool on() const { return on_; }
  bool isAt(ImGuiID id) const { return on_ && id_ == id; }
  /// Null where none has it, or it isn't drawn.
  const TabStop* control() const;
  /// The same of the frame that is being drawn, once everything is.
  const TabStop* drawn() const;
  /// Where the pointer is meanwhile.
  ImVec2 place() const { return place_; }
  /// All that could have it in the last frame, in the order in which they were drawn.
  std::vector<TabStop> reachable() const;

  /// To the next control, or with −1 the one before, and round.
  void step(int by);
  /// Where an arrow leads: over the cells of a picture, else to the nearest control that way. Whether the
  /// control leaves the arrow to it.
  bool move(int right, int down);
  /// Presses the button of the mouse there, and lets go of it: 0 the left, 1 the right one.
  void press(int button);
  void release();

  /// The button that goes down or up with this frame's input; none mostly.
  struct Edge {
    int button;
    bool down;
  };
  const Edge* takeEdge();
  /// After everything is drawn: brings the control into sight, follows it where it moves, and into the list
  /// or back from it. Whether more frames are needed.
  bool follow();

 private:
  void go(const TabStop& control);
  const TabStop* among(const std::vector<TabStop>& controls) const;

  std::vector<TabStop> last_, noted_;
  std::size_t uncovered_ = 0;  ///< of noted_: from here on nothing covers them
  bool covered_ = false;
  bool on_ = false;
  ImGuiID id_ = 0, opener_ = 0;  ///< opener_: of the list that is open
  ImVec2 place_;
  ImVec2 share_;    ///< where in the control the place is, 0 to 1
  int missed_ = 0;  ///< frames that the control wasn't drawn
  Edge edge_{0, false};
  int pressing_ = 0;  ///< 2: goes down next, 1: goes up next
};

/// Notes Dear ImGui's last item as a control. All buttons are by themselves (compat::invisibleButton).
void noteTabStop();
/// What the control that was noted last does with keys; `cell` is a picture's, in pixels.
void noteTabStopKind(TabStopKind kind, ImVec2 cell = {});
/// Notes a control that is drawn later, in a panel that may be scrolled out of sight.
void noteTabStop(ImGuiID id, const ImRect& area, TabStopKind kind);

}  // namespace headscope::app
