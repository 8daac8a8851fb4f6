#pragma once

#include "app/platform/imgui_compat.h"

namespace headscope::app {

/// How a focused control uses keys.
enum class TabStopKind {
  button,   ///< Enter or Space clicks it
  slider,   ///< arrows change the value, Enter lets the user type it
  text,     ///< takes typed text at once
  picture,  ///< arrows move the pointer from cell to cell
};

/// A control reachable by Tab, as drawn.
struct TabStop {
  ImGuiID id = 0;
  ImGuiWindow* window = nullptr;
  ImRect area, seen;  ///< the whole control, and the part that its panels show
  TabStopKind kind = TabStopKind::button;
  ImVec2 cell;  ///< picture: size of a cell in pixels
};

/// The keyboard focus, which sends its control mouse input: the pointer moves there, and Enter presses the
/// button, so that keys alone reach everything the mouse does. Moving the mouse takes the pointer back. Each
/// Dear ImGui context has one. Use it on that context's thread.
class KeyboardFocus {
 public:
  /// Call before anything in a frame is drawn.
  void beginFrame();
  /// Notes the item just drawn; see noteTabStop().
  void note(const TabStop& control);
  void noteKind(TabStopKind kind, ImVec2 cell);
  /// Marks everything noted so far as covered by a dialog.
  void cover();

  /// Whether a control has the focus, or will get it back once nothing covers it.
  bool on() const { return on_; }
  bool isAt(ImGuiID id) const { return on_ && id_ == id; }
  /// Returns the focused control in the last frame; null if there is none or it wasn't drawn.
  const TabStop* control() const;
  /// Like control(), but for the current frame. Call after everything is drawn.
  const TabStop* drawn() const;
  /// The pointer's position meanwhile.
  ImVec2 place() const { return place_; }
  /// Returns all focusable controls of the last frame, in drawing order.
  std::vector<TabStop> reachable() const;

  /// Moves to the first control drawn in this frame whose middle is inside `area`. Returns false if there is
  /// none. Call after everything is drawn.
  bool goInto(const ImRect& area);
  /// Moves to the next control, or with −1 to the previous one, wrapping around.
  void step(int by);
  /// Handles an arrow key: moves over the cells of a picture, otherwise to the nearest control in that
  /// direction. Returns false if there is no focused control or it uses the arrow itself.
  bool move(int right, int down);
  /// Presses and releases a mouse button there: 0 = left, 1 = right.
  void press(int button);
  void release();

  /// The mouse button pressed or released with this frame's input; usually none.
  struct Edge {
    int button;
    bool down;
  };
  const Edge* takeEdge();
  /// Call after everything is drawn. Scrolls the control into view, follows it when it moves, and goes into
  /// an opened list or back. Returns whether more frames are needed.
  bool follow();

 private:
  void go(const TabStop& control);
  const TabStop* among(const std::vector<TabStop>& controls) const;

  std::vector<TabStop> last_, noted_;
  std::size_t uncovered_ = 0;  ///< index into noted_: nothing covers the controls from here on
  bool covered_ = false;
  bool on_ = false;
  ImGuiID id_ = 0, opener_ = 0;  ///< opener_: the control that opened the current list
  ImVec2 place_;
  ImVec2 share_;    ///< position within the control, 0 to 1
  int missed_ = 0;  ///< frames since the control was last drawn
  Edge edge_{0, false};
  int pressing_ = 0;  ///< 2: press next, 1: release next
};

/// Notes Dear ImGui's last item as a control. compat::invisibleButton() does so for all buttons.
void noteTabStop();
/// Sets how the last noted control uses keys; `cell` is the size of a picture's cells in pixels.
void noteTabStopKind(TabStopKind kind, ImVec2 cell = {});
/// Notes a control that is drawn later, in a panel where it may be scrolled out of view.
void noteTabStop(ImGuiID id, const ImRect& area, TabStopKind kind);

}  // namespace headscope::app
