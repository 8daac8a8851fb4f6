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
/// that is not on screen is an std::runtime_error that lists the ones that are. Steps return the driver, and
/// all but press(), pushKey(), frames() and wait() end as draw() does.
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
  UiDriver& draw() {
    app_.draw();
    return *this;
  }
  UiDriver& frames(int count);
  /// Another scene, or what an action does, drawn as by draw().
  UiDriver& show(const app::Scene& scene);
  UiDriver& request(const std::string& action);
  UiDriver& wait(double seconds) { return frames(static_cast<int>(seconds * 60 + 0.5)); }
  /// Draws the frame that is read.
  render::Image screenshot();
  /// The part of it that a control takes.
  render::Image screenshot(const std::string& control);
  UiDriver& resize(int width, int height, float scale = 1);

  /// Where a control is now, after scrolling its panel so that it can be seen.
  ImRect find(const std::string& name);
  bool has(const std::string& name) const;
  /// Whether a control is there and inside the part of its panel that is on screen, without scrolling.
  bool visible(const std::string& name);
  /// The names of the controls of this frame that begin with `prefix`.
  std::vector<std::string> names(const std::string& prefix = "") const;

  /// The side panel, by the wheel.
  UiDriver& scrollToTop();
  UiDriver& moveTo(float x, float y);
  /// Away from everything that answers to the pointer.
  UiDriver& park();
  UiDriver& hover(const std::string& name) { return hoverAt(name, 0.5f, 0.5f); }
  UiDriver& hoverAt(const std::string& name, float fx, float fy);
  UiDriver& press(int button = 0);
  UiDriver& release(int button = 0);
  UiDriver& click(const std::string& name) { return clickAt(name, 0.5f, 0.5f); }
  UiDriver& clickAt(const std::string& name, float fx, float fy);
  UiDriver& shiftClick(const std::string& name) {
    hover(name);
    notTooSoonAfterTheLastPress();
    for (const bool down : {true, false}) pushButton(0, down, {.shift = true});
    return draw();
  }
  /// Where nothing is, so that a text box lets go of the keyboard.
  UiDriver& clickAway();
  UiDriver& doubleClick(const std::string& name);
  /// From one place inside a control to another (0 to 1 across it; may leave it), in several moves.
  UiDriver& dragAcross(const std::string& name, ImVec2 from, ImVec2 to);
  UiDriver& wheel(const std::string& name, float steps);
  UiDriver& wheelAt(const std::string& name, float fx, float fy, float steps, app::Mods mods = {});
  /// The wheel with Ctrl, which turns a slider.
  UiDriver& turn(const std::string& name, float steps) { return wheelAt(name, 0.5f, 0.5f, steps, kCtrl); }

  /// Drags a slider's knob to a fraction of its track, from the middle; below 0 and above 1 go past its ends.
  UiDriver& dragTo(const std::string& slider, float fraction);
  /// Double-clicks a slider's value, types and presses Enter.
  UiDriver& typeValue(const std::string& slider, std::string_view text);
  /// Opens a dropdown and takes one of its choices.
  UiDriver& choose(const std::string& dropdown, const std::string& choice);

  /// Characters as a keyboard sends them: the key where there is one, the character, the key again. A line
  /// break is Enter.
  UiDriver& type(std::string_view utf8);
  /// Clicks into a text box and replaces all that is in it.
  UiDriver& replaceText(const std::string& box, std::string_view utf8);
  /// Down and up, as separate events.
  UiDriver& key(app::Key key, app::Mods mods = {});
  UiDriver& chord(app::Mods mods, app::Key pressed) { return key(pressed, mods); }
  /// The events alone, without a frame, for chords that are faster than the screen.
  UiDriver& pushKey(app::Key key, app::Mods mods, bool down);
  UiDriver& drop(const std::vector<std::string>& paths);

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
