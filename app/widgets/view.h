#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/platform/canvas.h"
#include "app/platform/fonts.h"
#include "app/platform/input_queue.h"
#include "app/platform/preferences.h"
#include "app/scene/scene.h"
#include "app/widgets/text/text_edit.h"
#include "app/widgets/theme.h"
#include "attention/core/result.h"

namespace headscope::app {

class Dialog;
class Glossary;
class HeatmapLayer;
struct Drawing;
struct FigureWish;

/// A (query, key) place that is lit in every picture; −1 = none of it.
struct Crosshair {
  Index head = -1, query = -1, key = -1;
  bool operator==(const Crosshair&) const = default;
};

/// A slider's value while it is typed.
struct TypedValue {
  std::string control;  ///< "" = nothing is being typed
  std::string text;
  bool justOpened = false;
};

/// Why a value that was asked for can't be, shown beside the control that was asked.
struct Refusal {
  std::string control, reason;
};

/// A control whose value gave way to another that was moved, which it shows for a while.
struct GaveWay {
  std::string control;
  double at;
};
inline constexpr double kGaveWaySeconds = 1.5;

/// Seconds the pointer rests on a label before its help is shown.
inline constexpr double kHelpDelay = 0.6;

/// The control whose label the pointer rests on.
struct RestingPointer {
  std::string control;
  double since = -kHelpDelay;
  int frame = -1;  ///< the last in which it did
};

/// What controls remember from frame to frame.
struct ControlState {
  TypedValue typed;
  Refusal refusal;
  std::vector<GaveWay> gaveWay;
  std::string continuousEdit;  ///< the control that is being dragged or typed in, in this frame
  std::string wheelTaker;      ///< the control that was clicked and is still pointed at: the wheel turns it
  RestingPointer resting;
  int arrowsFrame = -2;    ///< the last in which the pointer was over a slider that takes the arrows
  int keyTakenFrame = -1;  ///< the last in which the control that has the keyboard took the key
};

/// The sentence in the status line: what was just done, or the last thing that failed.
struct Messages {
  std::string notice, error;
  double noticeAt = 0;
  bool outlastsEdits = false;  ///< the notice is about what is shown, and not about the last edit

  void say(std::string text, double now) {
    notice = std::move(text);
    noticeAt = now;
    outlastsEdits = false;
    error.clear();
  }
  void fail(std::string text) { error = std::move(text); }
  void clear() {
    notice.clear();
    error.clear();
  }
  /// The document was changed.
  void clearAfterEdit() {
    if (!outlastsEdits) notice.clear();
    error.clear();
  }
};

/// Seconds that what was just done is said where it was asked for.
inline constexpr double kToldSeconds = 2.5;

/// What was just done, said beside the place where it was asked for.
struct Told {
  std::string text;
  ImVec2 at;  ///< where the pointer was
  double since = -kToldSeconds;
};

/// Seconds from one view of a talk to the next, at most.
inline constexpr double kWalkSeconds = 0.5;

/// Small pictures of scenes as the hall sees them, which are painted off screen between frames.
struct ScenePictures {
  /// The texture, whose first row is the lowest; nothing until it is painted, which is asked for by this.
  std::optional<unsigned> of(const std::shared_ptr<const Scene>& scene);
  /// The first that was asked for and isn't painted; null: none.
  std::shared_ptr<const Scene> wanted() const;

  std::map<std::shared_ptr<const Scene>, unsigned> painted;
  std::vector<std::shared_ptr<const Scene>> shown;  ///< asked for since the last frame began
};

/// A page is drawn for a figure: its main part alone, as it is presented but in ordinary type, without what
/// points at something in it.
struct FigureView {
  float aspect = 1.6f;     ///< width over height that many pictures are laid out for
  bool alone = false;      ///< the one picture that is asked for, without those beside it
  ImVec2 size{1000, 640};  ///< units that the page would like to have, which it says as it is drawn
  std::string title;       ///< for readers that can't see it; the page says it, too
};

/// What every widget draws with and answers to: passing, never saved, free for panels to change. What one
/// page alone knows is that page's own.
struct View {
  const Theme* theme = &darkTheme();
  const Fonts* fonts = nullptr;
  float unit = 1;  ///< pixels per layout unit: monitor scale × text size
  FrameInput input;
  double time = 0;                                  ///< seconds since start
  double walkedAt = 0, walkSeconds = kWalkSeconds;  ///< when walk() was called, and what it found
  Preferences preferences;
  HeatmapLayer* heatmaps = nullptr;

  Crosshair hover;      ///< as drawn: what was pointed at in the last frame
  Crosshair nextHover;  ///< what is pointed at in this one
  ControlState controls;
  TextEdit edit;                                  ///< of the text box that has the keyboard
  std::map<std::string, EditLayout> editLayouts;  ///< of text boxes, by their names
  Messages messages;
  ImVec2 pressedAt;  ///< where the pointer was when a key or a button of the mouse was last pressed
  Told told;
  ScenePictures pictures;
  std::shared_ptr<const Glossary> glossary;  ///< null until its file is read
  std::vector<std::string> requests;         ///< ids of actions, for the session, after the panels
  std::vector<std::string> menu;  ///< ids of actions: asks the session to offer them beside the pointer
  /// What a lesson's reader guessed for the row of the cursor's query, a weight for each key: shown below the
  /// head that is shown large. Empty: nothing was guessed.
  std::vector<float> guessedRow;
  /// Asks the session for the next frame that no dialog covers, as a drawing.
  std::function<void(Drawing)> pictureWanted;
  std::shared_ptr<FigureWish> figureWanted;  ///< null: none is, or no longer
  std::shared_ptr<Dialog> dialog;            ///< a question that covers the window until it is answered

  std::optional<FigureView> figure;  ///< nothing but this is shown
  bool present = false;              ///< chrome away, type for the last row
  bool fullScreen = false;           ///< the window takes the whole monitor
  bool drawer = false;               ///< narrow windows: the panel at the right is pulled out
  bool showTimings = true;  ///< and the memory limit: off where pictures have to come out the same every time
  bool quickFrames = true;  ///< what is there but takes long to draw may wait for the next frame
  int framesToDraw = 3;     ///< at least so many more, without input: ImGui settles, pictures follow sizes

  float px(float units) const { return units * unit; }
  /// Before going to another view of a talk: who goes on sooner than that takes sees each view still, for
  /// half of the time.
  void walk() {
    const double half = (time - walkedAt) / 2;
    walkSeconds = half < kWalkSeconds ? half : kWalkSeconds;
    walkedAt = time;
  }
  /// Says how large the figure's frame should be: that many pixels, and what panels leave free round them.
  void fitFigure(ImVec2 pixels) { figure->size = ImVec2(pixels.x / unit + 48, pixels.y / unit + 32); }
  void request(std::string action) { requests.push_back(std::move(action)); }
  void say(std::string text) { messages.say(std::move(text), time); }
  /// Says it in the status line, and beside the place where it was asked for: pressedAt at that time.
  void tell(std::string text, ImVec2 at) {
    told = {text, at, time};
    say(std::move(text));
  }
  void redraw(int frames = 3) { framesToDraw = framesToDraw > frames ? framesToDraw : frames; }
  /// Whether the key is an arrow that the slider under the pointer takes.
  bool takenBySlider(Key key) const;
  /// Whether `key` was pressed in this frame, and is the page's: no text box, dialog, open list or slider
  /// under the pointer takes it.
  bool pressed(Key key, Mods mods = {}) const;
  /// The value of that control followed another's; said by the control for kGaveWaySeconds.
  void gaveWay(std::string control);
  bool hasGivenWay(std::string_view control) const;
};

}  // namespace headscope::app
