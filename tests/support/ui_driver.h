#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/pages/heads/heads_page.h"
#include "app/pages/map/map_page.h"
#include "app/pages/mask/mask_page.h"
#include "app/platform/imgui_compat.h"
#include "app/session/headless.h"

namespace headscope::test {

inline constexpr app::Mods kCtrl{.ctrl = true};
inline constexpr app::Mods kCtrlShift{.ctrl = true, .shift = true};

/// Uses the program without a window as a person would. All input goes through the input queue, controls are
/// found by the names they are tracked under, and a frame lasts 1/60 s. Preferences go to a temporary folder.
/// Throws std::runtime_error, listing the controls on screen, if a control isn't there. Steps return the
/// driver; all but press(), pushKey(), frames() and wait() end like draw().
class UiDriver {
 public:
  explicit UiDriver(int width = 1600, int height = 900, float scale = 1,
                    std::span<const app::PageRow> rows = app::pageTable(),
                    const app::Limits& limits = app::defaultLimits());

  app::Session& session() { return app_.session(); }
  app::View& view() { return session().view(); }
  app::heads_page::State& heads() { return session().page<app::heads_page::Page>().state(); }
  app::mask_page::State& mask() { return session().page<app::mask_page::Page>().state(); }
  const app::map_page::State& map() { return session().page<app::map_page::Page>().state(); }
  /// The name of the open dialog; "" = none.
  std::string dialog() { return view().dialog ? view().dialog->name() : ""; }
  /// The scene as JSON, so that a failing test shows which field differs.
  std::string sceneText() { return textOf(session().scene()); }
  static std::string textOf(const app::Scene& scene);
  const app::Scene& scene() { return session().scene(); }
  const app::Snapshot& snapshot();
  const app::SequenceSnapshot& sequence();
  app::HeadlessApp& app() { return app_; }

  /// Runs frames and computations until nothing changes any more.
  UiDriver& draw() {
    app_.draw();
    return *this;
  }
  UiDriver& frames(int count);
  /// Sets another scene, or performs an action, and draws as draw() does.
  UiDriver& show(const app::Scene& scene);
  UiDriver& request(const std::string& action);
  UiDriver& wait(double seconds) { return frames(static_cast<int>(seconds * 60 + 0.5)); }
  /// Draws one frame and returns its picture.
  render::Image screenshot();
  /// The part of the picture that a control covers.
  render::Image screenshot(const std::string& control);
  UiDriver& resize(int width, int height, float scale = 1);

  /// The place of a control, after scrolling its panel until it is visible.
  ImRect find(const std::string& name);
  bool has(const std::string& name) const;
  /// Whether a text of the last frame, which must have been watched (uiState().watches), contains this one.
  bool says(std::string_view text) const;
  /// Whether a control lies inside the visible part of its panel, without scrolling.
  bool visible(const std::string& name);
  /// The names of this frame's controls that begin with `prefix`.
  std::vector<std::string> names(const std::string& prefix = "") const;

  /// Scrolls the side panel up with the wheel.
  UiDriver& scrollToTop();
  UiDriver& moveTo(float x, float y);
  /// Moves the pointer away from everything that reacts to it.
  UiDriver& park();
  UiDriver& hover(const std::string& name) { return hoverAt(name, 0.5f, 0.5f); }
  UiDriver& hoverAt(const std::string& name, float fx, float fy);
  UiDriver& press(int button = 0);
  UiDriver& release(int button = 0);
  UiDriver& click(const std::string& name) { return clickAt(name, 0.5f, 0.5f); }
  UiDriver& clickAt(const std::string& name, float fx, float fy);
  UiDriver& shiftClick(const std::string& name) {
    hover(name);
    waitOutDoubleClick();
    for (const bool down : {true, false}) pushButton(0, down, {.shift = true});
    return draw();
  }
  /// Clicks on an empty place, so that a text box loses the keyboard focus.
  UiDriver& clickAway();
  UiDriver& doubleClick(const std::string& name);
  /// Drags from one place inside a control to another, in several moves. Places are 0 to 1 across it, and may
  /// lie outside.
  UiDriver& dragAcross(const std::string& name, ImVec2 from, ImVec2 to);
  UiDriver& wheel(const std::string& name, float steps);
  UiDriver& wheelAt(const std::string& name, float fx, float fy, float steps, app::Mods mods = {});
  /// Turns a slider by the wheel with Ctrl.
  UiDriver& turn(const std::string& name, float steps) { return wheelAt(name, 0.5f, 0.5f, steps, kCtrl); }

  /// Drags a slider's knob by its middle to a fraction of its track; below 0 and above 1 go past its ends.
  UiDriver& dragTo(const std::string& slider, float fraction);
  /// Double-clicks a slider's value, types `text` and presses Enter.
  UiDriver& typeValue(const std::string& slider, std::string_view text);
  /// Opens a dropdown and selects one of its choices.
  UiDriver& choose(const std::string& dropdown, const std::string& choice);

  /// Types characters as a keyboard sends them: key down if there is one, the character, key up. A line break
  /// is Enter.
  UiDriver& type(std::string_view utf8);
  /// Clicks into a text box and replaces its whole content.
  UiDriver& replaceText(const std::string& box, std::string_view utf8);
  /// Presses and releases a key, as separate events.
  UiDriver& key(app::Key key, app::Mods mods = {});
  UiDriver& chord(app::Mods mods, app::Key pressed) { return key(pressed, mods); }
  /// Queues a key event without drawing a frame, for chords faster than the screen.
  UiDriver& pushKey(app::Key key, app::Mods mods, bool down);
  UiDriver& drop(const std::vector<std::string>& paths);

 private:
  struct Container {
    ImRect visible;
    ImVec2 wheelAt;  ///< a place where the wheel scrolls and changes no slider
    bool scrolls = false;
  };
  ImRect require(const std::string& name);
  Container containerOf(const std::string& name, const ImRect& rect);
  void pushMove(float x, float y);
  void pushButton(int button, bool down, app::Mods mods = {});
  void waitOutDoubleClick();

  int width_, height_;
  app::HeadlessApp app_;
  ImVec2 mouse_{-1, -1};
  ImVec2 pressedAt_{-1000, -1000};
  double pressedTime_ = -1;
};

/// The number of pixels that differ by more than `steps` of 255 between two pictures of the same size, inside
/// `area` or in all of the picture.
int pixelsApart(const render::Image& a, const render::Image& b, std::optional<ImRect> area = std::nullopt,
                int steps = 0);

}  // namespace headscope::test
