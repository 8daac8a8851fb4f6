#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/platform/canvas.h"
#include "app/platform/fonts.h"
#include "app/platform/input_queue.h"
#include "app/platform/preferences.h"
#include "app/scene/scene.h"
#include "app/widgets/text/text_edit.h"
#include "attention/core/result.h"
#include "attention/formats/merged_file.h"
#include "render/colormap.h"

namespace headscope::app {

/// Colours by meaning, packed for ImGui (0xAABBGGRR). Everywhere, query is orange, key is blue and value is
/// green; red is only for errors.
struct Theme {
  bool light = false;
  std::uint32_t background, panel, raised, line;
  std::uint32_t text, secondary, faint;
  std::uint32_t query, key, value;
  std::uint32_t error, warning;
  std::uint32_t knob;                   ///< slider knobs and other draggable things
  std::array<std::uint32_t, 8> groups;  ///< kv groups, in turn
};

const Theme& darkTheme();
const Theme& lightTheme();
/// The same with a contrast of at least 7:1, for lecture halls, projectors and anyone who prefers it.
const Theme& strongTheme(bool light);

/// Returns the colour of a kv group.
std::uint32_t groupColor(const Theme& theme, std::int64_t kvHead);

/// Returns the colour with its alpha multiplied by `alpha`.
std::uint32_t faded(std::uint32_t color, float alpha);
std::uint32_t mixed(std::uint32_t a, std::uint32_t b, float t);
std::uint32_t packed(const render::Color& color);
render::Color unpacked(std::uint32_t color);
/// Returns the relative luminance in 0..1 (WCAG 2, https://www.w3.org/TR/WCAG22/#dfn-relative-luminance).
float luminance(const render::Color& color);
/// Returns black or white, whichever is more readable on `color`.
std::uint32_t inkOn(const render::Color& color);

/// Kinds of colour vision: normal, lacking one kind of cone, or without colour.
enum class ColourVision { normal, protanopia, deuteranopia, tritanopia, greyscale };
inline constexpr std::array<std::string_view, 5> kColourVisionNames{
    "Normal", "No red cones", "No green cones", "No blue cones", "Greyscale"};

/// Returns the colour as seen with that vision (Machado, Oliveira and Fernandes 2009, severity 1, on linear
/// sRGB).
render::Color seenBy(ColourVision vision, const render::Color& color);

/// Returns the distance of two colours in CIE 1976 L*a*b*; about 2.3 is just noticeable side by side.
float colourDifference(const render::Color& a, const render::Color& b);

/// Returns the smallest difference between any two colours of the list.
float leastDifference(ColourVision vision, const std::vector<render::Color>& colors);
/// Returns the smallest difference between any two colours at least a quarter of the colormap's range apart.
float leastStep(ColourVision vision, render::Colormap colormap);

class Dialog;
class Glossary;
class HeatmapLayer;
struct Drawing;
struct FigureRequest;

/// The hovered place, which every picture shows dashed; −1 = none. It never enters the scene.
struct Crosshair {
  Index head = -1, query = -1, key = -1;
  bool operator==(const Crosshair&) const = default;
};

/// A slider's value while it is being typed.
struct TypedValue {
  std::string control;  ///< "" = nothing is being typed
  std::string text;
  bool justOpened = false;
};

/// The reason for rejecting a value, shown next to its control.
struct Refusal {
  std::string control, reason;
};

/// A control whose value was adjusted because another was moved; it shows this for a while.
struct AdjustedControl {
  std::string control;
  double at;
};
inline constexpr double kAdjustedSeconds = 1.5;

/// Seconds that the pointer must rest on a label before its help appears.
inline constexpr double kHelpDelay = 0.6;

/// The control whose label the pointer rests on.
struct RestingPointer {
  std::string control;
  double since = -kHelpDelay;
  int frame = -1;  ///< last frame in which it did
};

/// State that controls keep between frames.
struct ControlState {
  TypedValue typed;
  Refusal refusal;
  std::vector<AdjustedControl> adjusted;
  std::string continuousEdit;  ///< the control being dragged or typed in, in this frame
  std::string wheelTaker;      ///< the control that was clicked and is still hovered: the wheel changes it
  RestingPointer resting;
  int arrowsFrame = -2;    ///< last frame in which the pointer was over a slider that takes the arrow keys
  int keyTakenFrame = -1;  ///< last frame in which the focused control took the key
};

/// The sentence in the status line: what was just done, or the last failure.
struct Messages {
  std::string notice, error;
  double noticeAt = 0;
  bool outlastsEdits = false;  ///< the notice is about what is shown, not about the last edit

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
  /// Call after the document was changed.
  void clearAfterEdit() {
    if (!outlastsEdits) notice.clear();
    error.clear();
  }
};

/// Seconds that a PointerMessage stays visible.
inline constexpr double kPointerMessageSeconds = 2.5;

/// A control that gets the keyboard focus once it is drawn.
struct RevealedControl {
  std::string name, label;  ///< both empty = none
  int frames = 0;           ///< drawn since without it
};

/// A message about what was just done, shown where it was requested.
struct PointerMessage {
  std::string text;
  ImVec2 at;  ///< the pointer's position at that time
  double since = -kPointerMessageSeconds;
};

/// The longest transition between two views of a talk, in seconds.
inline constexpr double kWalkSeconds = 0.5;

/// Thumbnails of scenes as shown to the hall, painted off screen between frames.
struct ScenePictures {
  /// Returns the texture, bottom row first; nothing until it is painted, which this call requests.
  std::optional<unsigned> of(const std::shared_ptr<const Scene>& scene);
  /// Returns the first requested scene that isn't painted yet; null if none.
  std::shared_ptr<const Scene> wanted() const;

  std::map<std::shared_ptr<const Scene>, unsigned> painted;
  std::vector<std::shared_ptr<const Scene>> shown;  ///< requested since the last frame began
  std::vector<std::shared_ptr<const Scene>> kept;   ///< whose textures stay while they aren't requested
};

/// How a page is drawn as a figure: its main part only, as when presenting but in normal type, without
/// pointers to parts of it.
struct FigureView {
  float aspect = 1.6f;     ///< width over height for laying out many pictures
  bool alone = false;      ///< draws only the requested picture, without its neighbours
  ImVec2 size{1000, 640};  ///< layout units; set by the page as it is drawn
  std::string title;       ///< for readers who can't see the figure; set by the page
};

/// The shared state that every widget draws with and reacts to. Transient and never saved; panels may change
/// it. State of a single page belongs to that page.
struct View {
  const Theme* theme = &darkTheme();
  const Fonts* fonts = nullptr;
  float unit = 1;  ///< pixels per layout unit: monitor scale × text size
  FrameInput input;
  double time = 0;                                  ///< since start, in seconds
  double walkedAt = 0, walkSeconds = kWalkSeconds;  ///< last walk() and its transition
  Preferences preferences;
  /// Where they are kept, for all windows.
  std::shared_ptr<attention::MergedFile> preferencesFile = std::make_shared<attention::MergedFile>();
  HeatmapLayer* heatmaps = nullptr;

  Crosshair hover;      ///< hovered in the last frame, as drawn
  Crosshair nextHover;  ///< hovered in this frame
  ControlState controls;
  TextEdit edit;                                  ///< for the text box that has the keyboard
  std::map<std::string, EditLayout> editLayouts;  ///< by text box name
  Messages messages;
  ImVec2 pressedAt;  ///< the pointer's position when a key or mouse button was last pressed
  PointerMessage told;
  RevealedControl reveal;
  ScenePictures pictures;
  std::shared_ptr<const Glossary> glossary;  ///< null until its file has been read
  std::vector<std::string> requests;         ///< action ids, which the session runs after the panels
  std::vector<std::string> folded;  ///< action ids that the bar has no room for, so that the menu ☰ has them
  std::vector<std::string> menu;    ///< action ids for a context menu at the pointer, which the session opens
  /// What a lesson's reader predicted for the row of the cursor's query, one weight per key; shown below the
  /// enlarged head. Empty = no prediction.
  std::vector<float> guessedRow;
  /// Asks the session for the next frame without a dialog, as a drawing.
  std::function<void(Drawing)> pictureWanted;
  std::shared_ptr<FigureRequest> figureWanted;  ///< null = none, or no longer
  std::shared_ptr<Dialog> dialog;               ///< covers the window until it is answered

  std::optional<FigureView> figure;  ///< if set, only this is shown
  bool present = false;              ///< hides the chrome and enlarges the type, for a lecture hall
  bool fullScreen = false;           ///< the window takes the whole monitor
  bool drawer = false;               ///< in narrow windows: the right panel is open
  bool showTimings = true;           ///< and the memory limit; off if pictures must be reproducible
  bool quickFrames = true;           ///< content that is slow to draw may wait for the next frame
  int framesToDraw = 3;              ///< minimum without input, while sizes settle

  float px(float units) const { return units * unit; }
  /// What a receipt previews: the hovered head, query and key; what is selected where none is hovered.
  Cell previewed(const Cell& selected) const {
    return {hover.head >= 0 ? hover.head : selected.head, hover.query >= 0 ? hover.query : selected.query,
            hover.key >= 0 ? hover.key : selected.key};
  }
  /// Call before moving to another view of a talk. Shortens the transition for quick steps: each view then
  /// stays still for half the time.
  void walk() {
    const double half = (time - walkedAt) / 2;
    walkSeconds = half < kWalkSeconds ? half : kWalkSeconds;
    walkedAt = time;
  }
  /// Sets the figure's size: that many pixels, plus the margins that panels leave around them.
  void fitFigure(ImVec2 pixels) { figure->size = ImVec2(pixels.x / unit + 48, pixels.y / unit + 32); }
  void request(std::string action) { requests.push_back(std::move(action)); }
  void say(std::string text) { messages.say(std::move(text), time); }
  /// Says it in the status line and at the place of the request: pressedAt at that time.
  void tell(std::string text, ImVec2 at) {
    told = {text, at, time};
    say(std::move(text));
  }
  void redraw(int frames = 3) { framesToDraw = framesToDraw > frames ? framesToDraw : frames; }
  /// Whether the slider under the pointer takes this arrow key.
  bool takenBySlider(Key key) const;
  /// Whether `key` was pressed in this frame and belongs to the page: no text box, dialog, open list or
  /// slider under the pointer takes it.
  bool pressed(Key key, Mods mods = {}) const;
  /// Marks that control's value as adjusted to another's; the control shows it for kAdjustedSeconds.
  void markAdjusted(std::string control);
  bool wasAdjusted(std::string_view control) const;
};

/// Sets ImGui's own colours and sizes, for the few of its widgets that are used unchanged.
void applyImGuiStyle(const View& view);

}  // namespace headscope::app
