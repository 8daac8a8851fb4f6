#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/headless.h"
#include "app/pages/heads/heads_page.h"
#include "app/pages/map/map_page.h"
#include "app/pages/mask/mask_page.h"
#include "app/platform/imgui_compat.h"

namespace headscope::test {

inline constexpr app::Mods kCtrl{.ctrl = true};
inline constexpr app::Mods kCtrlShift{.ctrl = true, .shift = true};

/// A person at the program, without a window: everything goes through the input queue, controls are found by
/// the names they are tracked under, and a frame is 1/60 s. Preferences go to a temporary folder. A control
/// that is not on screen is an std::runtime_error that lists the ones that are.
class UiDriver {
 public:
  explicit UiDriver(int width = 1600, int height = 900, float scale = 1,
                    std::span<const app::PageRow> rows = app::pageTable(),
                    const app::Limits& limits = app::defaultLimits());

  app::Session& session() { return app_.session(); }
  app::View& view() { return session().view(); }
  app::HeadsState& heads() { return session().page<app::HeadsPage>().state(); }
  app::MaskState& mask() { return session().page<app::MaskPage>().state(); }
  const app::MapState& map() { return session().page<app::MapPage>().state(); }
  /// The name of the dialog that is open; "" = none.
  std::string dialog() { return view().dialog ? view().dialog->name() : ""; }
  /// As JSON, so that a test that fails shows which field differs.
  std::string sceneText() { return textOf(session().scene()); }
  static std::string textOf(const app::Scene& scene);
  const app::Scene& scene() { return session().scene(); }
  const app::Snapshot& snapshot();
  const app::SequenceSnapshot& sequence();
  app::HeadlessApp& app() { return app_; }

  /// Frames and computations until nothing changes any more.
  void draw() { app_.draw(); }
  void frames(int count);
  void wait(double seconds) { frames(static_cast<int>(seconds * 60 + 0.5)); }
  /// Draws the frame that is read.
  render::Image screenshot();
  /// The part of it that a control takes.
  render::Image screenshot(const std::string& control);
  void resize(int width, int height, float scale = 1);

  /// Where a control is now, after scrolling its panel so that it can be seen.
  ImRect find(const std::string& name);
  bool has(const std::string& name) const;
  /// Whether a control is there and inside the part of its panel that is on screen, without scrolling.
  bool visible(const std::string& name);
  /// The names of the controls of this frame that begin with `prefix`.
  std::vector<std::string> names(const std::string& prefix = "") const;

  /// The side panel, by the wheel.
  void scrollToTop();
  void moveTo(float x, float y);
  /// Away from everything that answers to the pointer.
  void park();
  void hover(const std::string& name) { hoverAt(name, 0.5f, 0.5f); }
  void hoverAt(const std::string& name, float fx, float fy);
  void press(int button = 0);
  void release(int button = 0);
  void click(const std::string& name) { clickAt(name, 0.5f, 0.5f); }
  void clickAt(const std::string& name, float fx, float fy);
  void shiftClick(const std::string& name) {
    hover(name);
    notTooSoonAfterTheLastPress();
    for (const bool down : {true, false}) pushButton(0, down, {.shift = true});
    draw();
  }
  /// Where nothing is, so that a text box lets go of the keyboard.
  void clickAway();
  void doubleClick(const std::string& name);
  /// From one place inside a control to another (0 to 1 across it; may leave it), in several moves.
  void dragAcross(const std::string& name, ImVec2 from, ImVec2 to);
  void wheel(const std::string& name, float steps);
  void wheelAt(const std::string& name, float fx, float fy, float steps, app::Mods mods = {});
  /// The wheel with Ctrl, which turns a slider.
  void turn(const std::string& name, float steps) { wheelAt(name, 0.5f, 0.5f, steps, kCtrl); }

  /// Drags a slider's knob to a fraction of its track, from the middle; below 0 and above 1 go past its ends.
  void dragTo(const std::string& slider, float fraction);
  /// Double-clicks a slider's value, types and presses Enter.
  void typeValue(const std::string& slider, std::string_view text);
  /// Opens a dropdown and takes one of its choices.
  void choose(const std::string& dropdown, const std::string& choice);

  /// Characters as a keyboard sends them: the key where there is one, the character, the key again. A line
  /// break is Enter.
  void type(std::string_view utf8);
  /// Clicks into a text box and replaces all that is in it.
  void replaceText(const std::string& box, std::string_view utf8);
  /// Down and up, as separate events.
  void key(app::Key key, app::Mods mods = {});
  void chord(app::Mods mods, app::Key pressed) { key(pressed, mods); }
  /// The events alone, without a frame, for chords that are faster than the screen.
  void pushKey(app::Key key, app::Mods mods, bool down);
  void drop(const std::vector<std::string>& paths);

 private:
  struct Container {
    ImRect visible;
    ImVec2 wheelAt;  ///< where the wheel scrolls it and steps no slider
    bool scrolls = false;
  };
  ImRect require(const std::string& name);
  Container containerOf(const std::string& name, const ImRect& rect);
  void pushMove(float x, float y);
  void pushButton(int button, bool down, app::Mods mods = {});
  void notTooSoonAfterTheLastPress();

  int width_, height_;
  app::HeadlessApp app_;
  ImVec2 mouse_{-1, -1};
  ImVec2 pressedAt_{-1000, -1000};
  double pressedTime_ = -1;
};

/// How many pixels differ by more than `steps` of 255 between two pictures of one size, inside `area` (all of
/// them without).
int pixelsApart(const render::Image& a, const render::Image& b, std::optional<ImRect> area = std::nullopt,
                int steps = 0);

}  // namespace headscope::test
