#pragma once

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/platform/imgui_compat.h"
#include "app/platform/ui.h"
#include "app/scene/scene.h"
#include "app/widgets/actions.h"
#include "app/widgets/dialog.h"
#include "app/widgets/panel.h"
#include "app/widgets/view.h"
#include "render/picture.h"

namespace headscope::app {

/// Seconds without mouse input until the pointer and the stage's bar are hidden while presenting.
inline constexpr double kPointerRests = 2;
/// Seconds that a pressed key is shown while presenting.
inline constexpr double kKeyShown = 1;

/// The presentation's state: the lecturer's tools over the page, and the last key pressed.
struct StageState {
  double movedAt = -std::numeric_limits<double>::infinity();  ///< last mouse input, in View::time
  std::string key;                                            ///< action id of the last key pressed
  double keyAt = -std::numeric_limits<double>::infinity();
  int width = 0, height = 0;  ///< size of the window in the last frame
  bool blank = false;         ///< the screen is dark, so that people listen
  bool notes = false;         ///< the notes are shown over the page
  bool lecturer = false;      ///< the lecturer has a separate window
  double since = 0;           ///< when presenting began, in View::time
  bool frozen = false;        ///< the window keeps its picture regardless of changes
  bool laser = false, spotlight = false, magnifies = false;
  float magnified = 1;  ///< current magnification, moving towards the one that `magnifies` implies
  struct Spot {
    ImVec2 at;
    double time;
  };
  std::vector<Spot> trail;  ///< the laser's recent positions, oldest first
  bool pen = false;         ///< the mouse draws
  bool drawing = false;     ///< a stroke is being drawn, the scene's last one
  std::size_t example = 0;  ///< index of the next example text
};

/// Dims a presented page outside a disc around the pointer if the spotlight is on. Call before drawing what
/// stands over the page, such as its tooltips, which stay bright.
void stageSpotlight(const View& view, const StageState& stage);
/// Draws over a presented page: the lecturer's bar when the mouse is near it, the last key pressed, the
/// laser, and the darkened screen.
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

/// Draws the page's pen strokes on the pictures and words they belong to, and lets the mouse draw while the
/// pen is on.
void stagePen(View& view, Scene& scene, StageState& stage);
/// Whether the scene's page has pen strokes.
bool hasPen(const Scene& scene);
void erasePen(Scene& scene);

/// The lecturer's tools while a window is presented.
class Presentation {
 public:
  Presentation(Ui& ui, View& view, const ActionTable& actions) : ui_(ui), view_(view), actions_(actions) {}

  StageState& state() { return state_; }
  const StageState& state() const { return state_; }
  /// Call before a frame of width × height pixels. A resting pointer is hidden together with what it
  /// highlights; outside a presentation nothing is dark or frozen.
  void prepare(int width, int height);
  /// Call when a key triggered `action`: shows the key.
  void note(const Action& action);
  /// Lights a dark screen. Returns whether it was dark.
  bool light() { return std::exchange(state_.blank, false); }
  std::vector<Action> actions();

 private:
  void nextExample();
  void nextKind(const Scene& scene);

  Ui& ui_;
  View& view_;
  const ActionTable& actions_;
  StageState state_;
};

/// A picture in the lecturer's window: a texture, bottom row first, and its size.
struct LecturerPicture {
  unsigned texture = 0;
  float width = 16, height = 9;
};

/// The contents of the lecturer's window.
struct LecturerState {
  std::string title;  ///< "View 3 of 12 · Eight heads"; "" = no talk
  std::string notes;
  std::string clock, elapsed;           ///< "14:05", "12:34"
  std::optional<LecturerPicture> hall;  ///< what the hall sees; nothing before the first frame
  bool blank = false, frozen = false;   ///< the hall's screen is dark, or keeps its picture
  bool hasNext = false;
  std::optional<LecturerPicture> next;  ///< nothing until it is painted
  std::vector<KeyHint> keys;            ///< the keys that work here
};

/// Returns "1:02:03" or "12:34".
std::string elapsedText(double seconds);
/// Draws the hall's picture, the next view, notes, clock and keys over a window of that size.
void lecturerView(View& view, const LecturerState& state, float width, float height);

/// A fade from one view of a talk to the next. The old picture stays until the new view is computed, then
/// fades out over it. Common content doesn't move, and no intermediate numbers are shown.
class ViewFade {
 public:
  static constexpr double kMinSeconds = 0.1;  ///< shorter fades become cuts
  static constexpr double kMaxWaiting = 0.6;  ///< seconds until it fades even if the view isn't ready

  /// Whether that action moves from one view to another.
  static bool walks(const std::string& action);
  /// Keeps a copy of the bound framebuffer (width × height pixels), to fade out over `seconds`.
  void begin(int width, int height, double now, double seconds);
  void stop() { picture_ = {}; }
  bool active() const { return !picture_.empty(); }
  /// Draws over everything else. `ready` = the next view is computed.
  void draw(View& view, bool ready);

 private:
  render::Picture picture_;
  double beganAt_ = 0, readyAt_ = -1, seconds_ = 0;
};

}  // namespace headscope::app
