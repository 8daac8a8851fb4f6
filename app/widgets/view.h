#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/compute/head_study.h"
#include "app/compute/mask_study.h"
#include "app/platform/fonts.h"
#include "app/platform/imgui_compat.h"
#include "app/platform/input_queue.h"
#include "app/scene/mask_painting.h"
#include "app/scene/scene.h"
#include "app/widgets/actions.h"
#include "app/widgets/theme.h"
#include "attention/formats/mask_file.h"

namespace headscope::app {

class HeatmapLayer;
struct MapScreen;

/// What the person prefers everywhere, whatever the scene.
struct Preferences {
  bool light = false;
  float textSize = 1;  ///< 0.75 to 2
  bool reducedMotion = false;
  bool operator==(const Preferences&) const = default;
};

/// A (query, key) place that is lit in every picture; −1 = none of it.
struct Crosshair {
  Index head = -1, query = -1, key = -1;
  bool operator==(const Crosshair&) const = default;
};

/// The part of a focused head that is on screen, in cells.
struct Camera {
  float row = 0, col = 0;
  float zoom = 1;  ///< 1 = the whole head
  bool operator==(const Camera&) const = default;
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

/// Seconds the pointer rests on a label before its help is shown.
inline constexpr double kHelpDelay = 0.6;

/// The control whose label the pointer rests on.
struct RestingPointer {
  std::string control;
  double since = -kHelpDelay;
  int frame = -1;  ///< the last in which it did
};

/// A question that covers the window until it is answered.
enum class Dialog {
  none,
  shortcuts,
  palette,
  openScene,
  saveScene,
  openWeights,
  openMapFile,
  openTable,
  table,
  discard,
  gallery,
  openMask,
  saveMask,
  maskConvention
};

/// The studio's brush and what it is doing.
struct Brush {
  PaintTool tool = PaintTool::look;
  bool visible = false;  ///< paints visible cells; masked ones otherwise
  bool erases = false;   ///< takes back what was painted
  bool mirror = false;
  Index size = 1;
  float bias = 2;  ///< what the brush adds to scores in the room of biases

  // While a stroke is under way:
  bool painting = false;
  Index strokes = 0;  ///< counted, so that each is a step of its own in the history
  Index fromRow = 0, fromKey = 0, lastRow = 0, lastKey = 0;
  SharedValue<attention::CellTable> cellsBefore;
  SharedTable biasesBefore;
};

/// A mask file that was opened, until it is said what its numbers mean.
struct PendingMask {
  std::string path;
  std::vector<attention::MaskConvention> conventions;  ///< those its numbers can be read under
  attention::MaskConvention chosen = attention::MaskConvention::visible;
};

/// Seconds after which a typed expression becomes the mask.
inline constexpr double kTypingRests = 0.4;

/// What the mask studio shows besides the scene.
struct StudioView {
  const MaskStudy* study = nullptr;       ///< newest answer; null before the first
  const HeadStudy* headStudy = nullptr;   ///< the same; of whichever head was asked about
  const ReachStudy* reach = nullptr;      ///< the same, of how tokens reach each other
  float mapPixels = 512;                  ///< longer side of a map in the studio; panels say it
  int maskFactor = 1, weightsFactor = 1;  ///< cells that were pooled into one; the session answers
  bool galleryFilled = false;             ///< the gallery's thumbnails are on the GPU
  Brush brush;
  std::string search;        ///< in the gallery
  std::string expression;    ///< as it is typed
  std::string expressionOf;  ///< the canonical text that was shown when typing began
  std::string expressionError;
  std::size_t expressionCaret = 0;  ///< where it went wrong
  double expressionTyped = -1;      ///< when it was last typed in and not yet taken over
  int addAs = 0;                    ///< in the gallery: AND, OR, in place of everything
  std::string renaming;             ///< a layer's new name while it is typed
  Index renamed = -1;               ///< the layer whose name was being typed in the last frame; −1 = none
  Index dragged = -1;               ///< the layer that is dragged to another place
  int saveConvention = 0;           ///< for the file that is saved
  int markKind = 0;                 ///< what clicks on the token chips mark
  Index markFrom = -1;              ///< where a dragged span began
  bool wipe = false;                ///< compare: one picture with a wipe instead of two side by side
  bool compareWeights = true;       ///< compare the weights; the masks themselves otherwise
  PendingMask pending;
};

/// How the window looks right now, beyond the scene: passing, never saved, free for panels to change.
struct View {
  const Theme* theme = &darkTheme();
  const Fonts* fonts = nullptr;
  float unit = 1;  ///< pixels per layout unit: monitor scale × text size
  FrameInput input;
  double time = 0;  ///< seconds since start
  Preferences preferences;

  Crosshair hover;      ///< as drawn: what was pointed at in the last frame
  Crosshair nextHover;  ///< what is pointed at in this one
  Camera camera;
  bool present = false;  ///< side panels away, heads large
  bool drawer = false;   ///< narrow windows: the receipt is pulled out
  Dialog dialog = Dialog::none;
  TypedValue typed;
  double scrolledAt = -1;  ///< when the side panel last moved under the pointer
  Refusal refusal;
  RestingPointer resting;
  std::string continuousEdit;  ///< the control that is being dragged or typed in, in this frame
  bool playing = false;        ///< the decode steps by itself
  double playedAt = 0;

  std::vector<Action> requests;  ///< for the session, after the panels
  std::string requestedPath;     ///< what a file dialog answered
  std::string notice;            ///< a sentence in the status line: what was just done
  std::string error;             ///< the last thing that failed
  double noticeAt = 0;

  StudioView studio;
  MapScreen* map = nullptr;  ///< what the map page shows besides the scene

  HeatmapLayer* heatmaps = nullptr;
  // How large heads are drawn, for choosing what to upload: panels say what they need, the session answers
  // with the number of cells that were pooled into one.
  float gridPixels = 256;  ///< longer side of one map in the grid
  Index decodedRows = -1;  ///< while decoding: rows from here on are not there yet; −1 = all are
  float focusCell = 8;     ///< one cell of the focused head
  int gridFactor = 1, focusFactor = 1;

  // For the status line; the session fills them.
  bool showTimings = true;  ///< and the memory limit: off where pictures have to come out the same every time
  double drawSeconds = 0;   ///< what the last frame took to draw
  double busySeconds = 0;
  std::size_t undoSteps = 0, gpuBytes = 0;
  std::uint64_t memoryLimit = 0;
  bool dirty = false, catchingUp = false, canUndo = false, canRedo = false;
  std::string sceneName;

  float px(float units) const { return units * unit; }
  void request(Action action) { requests.push_back(action); }
  /// Whether `key` was pressed in this frame while nobody is typing text.
  bool pressed(Key key, Mods mods = {}) const;
};

}  // namespace headscope::app
