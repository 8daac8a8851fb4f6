#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "app/compute/heads/head_study.h"
#include "app/compute/mask/mask_study.h"
#include "app/scene/mask_painting.h"
#include "app/widgets/actions.h"
#include "app/widgets/camera.h"
#include "app/widgets/caption.h"
#include "app/widgets/heatmap_layer.h"
#include "app/widgets/layout.h"
#include "app/widgets/panel.h"
#include "app/widgets/pattern_sliders.h"
#include "attention/formats/masks/mask_file.h"

namespace headscope::app::mask_page {

/// The studio's brush and what it is doing.
struct Brush {
  PaintTool tool = PaintTool::look;
  bool visible = false;  ///< paints visible cells; masked ones otherwise
  bool erases = false;   ///< takes back what was painted
  bool mirror = false;
  Index size = 1;
  float bias = 2;  ///< what the brush adds to scores among the biases

  // While a stroke is under way:
  bool painting = false;
  Index strokes = 0;  ///< counted, so that each is a step of its own in the history
  Index fromRow = 0, fromKey = 0, lastRow = 0, lastKey = 0;
  SharedValue<attention::CellTable> cellsBefore;
  SharedTable biasesBefore;
};

/// The text of a mask while it is typed.
struct TypedExpression {
  std::string text;  ///< as it is typed
  SharedLayers of;   ///< the mask that was shown when typing began
  std::string error;
  std::size_t caret = 0;  ///< where it went wrong
  double typedAt = -1;    ///< when it was last typed in and not yet taken over
};

/// Seconds after which a typed expression becomes the mask.
inline constexpr double kTypingRests = 0.4;

/// What the mask studio's pictures are of.
enum class Surface {
  mask,
  otherMask,
  maskStrip,
  reach,
  weights,
  otherWeights,
  difference,
  bias,
  effect,
  gallery
};

/// What the mask studio shows besides the scene: free for its panels to change.
struct State {
  explicit State(View& window) : view(window) {}

  View& view;
  std::shared_ptr<const Snapshot> snapshot;  ///< the weights beside the masks; null before the first
  const MaskStudy* study = nullptr;          ///< newest answer; null before the first
  const HeadStudy* headStudy = nullptr;      ///< the same; of whichever head was asked about
  const ReachStudy* reach = nullptr;         ///< the same, of how tokens reach each other
  std::array<EasedTextures, static_cast<std::size_t>(Surface::gallery) + 1> surfaces;
  float mapPixels = 512;                  ///< longer side of a map; panels say it
  int maskFactor = 1, weightsFactor = 1;  ///< cells that were pooled into one; the page answers

  Camera camera;  ///< of all maps at once
  Brush brush;
  TypedExpression expression;
  std::string renaming;    ///< a layer's new name while it is typed
  Index renamed = -1;      ///< the layer whose name was being typed in the last frame; −1 = none
  Index dragged = -1;      ///< the layer that is dragged to another place
  int addAs = 0;           ///< in the gallery: AND, OR, in place of everything
  int saveConvention = 0;  ///< for the file that is saved
  int markKind = 0;        ///< what clicks on the token chips mark
  Index token = -1;  ///< that a menu was opened on; −1 = what is done to a token is done to the chosen key
  Index markFrom = -1;         ///< where a dragged span began
  bool wipe = false;           ///< compare: one picture with a wipe instead of two side by side
  bool compareWeights = true;  ///< compare the weights; the masks themselves otherwise

  EasedTextures& surface(Surface which) { return surfaces[static_cast<std::size_t>(which)]; }
};

// The parts of the mask studio.

/// The list the studio's controls belong to: the first mask's or, while comparing, the second's.
const SharedLayers& shownLayers(const Scene& scene);
/// The same to change; a copy of its own is made for that.
attention::MaskLayers& editedLayers(Scene& scene);
/// What the sliders of its patterns go by.
MaskedText maskedText(const State& page);
/// The study of the mask that is edited; null before there is one.
const StudiedMask* editedStudy(const Scene& scene, const State& page);

// What a right click offers, as ids of actions.

/// On a layer of the list.
std::vector<std::string> layerMenu(const attention::MaskLayers& layers, Index at);
/// On a cell of the mask, the weights or the biases.
std::vector<std::string> cellMenu(const State& page);
/// On a token of an axis or a chip: what of it the layers read.
std::vector<std::string> tokenMenu(Scene& scene);
/// What is done to layers and to marks on tokens, by name.
std::vector<Action> layerActions(State& page);
std::vector<Action> markActions(State& page);

/// While presenting: what the lit query sees.
std::vector<CaptionPart> captionOf(const Scene& scene, const State& page);

/// Beside the pointer: whether the cell is visible, and what each layer says of it.
void verdictTooltip(State& page, const StudiedMask& mask, Index query, Index key);
/// How the selected layer joins, its heads and its parameters.
void layerDetails(Index at, Scene& scene, State& page);
/// The text form of the edited mask, to read and to type.
void expressionBox(Scene& scene, State& page);

/// The colour bar at the right of a map's title. A click on that of weights chooses the next range.
enum class MapScale { none, weights, signedValues };

/// One picture with axes, crosshair and title.
struct MapSpec {
  const char* name = "";  ///< for tests
  Surface surface = Surface::mask;
  std::string title, aside;
  render::HeatmapStyle style;
  ValueRange range;
  MapScale scale = MapScale::none;
  int factor = 1;       ///< cells that were pooled into one
  bool paints = false;  ///< takes the brush
  bool rowLabels = true;
};
/// What a map answered: where it was drawn, and the cell under the pointer.
struct MapAnswer {
  HeatTile tile;
  std::optional<HeatTile::RowCol> cell;
};
/// Where a map's cells go inside `area`.
ImRect mapCells(const MapSpec& spec, const State& page, const ImRect& area);
/// Draws a map into `area` and lets it be pointed at, zoomed, and painted on.
MapAnswer drawMap(const MapSpec& spec, Scene& scene, State& page, const ImRect& area);
/// `count` areas side by side whose cells come out equally large though only the first has row labels.
std::vector<ImRect> mapColumns(State& page, const ImRect& area, int count);
/// `count` areas for maps like `spec`, beside or below each other, whichever draws larger.
struct MapPlaces {
  std::vector<ImRect> areas;
  bool stacked = false;  ///< below each other: each has row labels of its own
};
MapPlaces mapPlaces(const MapSpec& spec, State& page, const ImRect& area, int count);

render::HeatmapStyle maskStyle(const View& view);
render::HeatmapStyle signedStyle(const View& view);

/// A label with its figure at the right.
void figure(const View& view, const std::string& label, const std::string& value, std::uint32_t color);

/// Paints with the brush on the map's cells; `answer` comes from drawMap in the same frame.
void useBrush(Scene& scene, State& page, const MapAnswer& answer, bool held);
void brushBar(Scene& scene, State& page, const ImRect& area);

// The panels: layers at the left, the masks in the middle, what they do at the right.
void layersPanel(Scene& scene, const Snapshot* snapshot, State& page, const Layout& layout);
void studioPanel(Scene& scene, const Snapshot* snapshot, State& page, const Layout& layout);
void insightPanel(Scene& scene, const Snapshot* snapshot, State& page, const Layout& layout);

void maskTab(Scene& scene, const Snapshot* snapshot, State& page, const ImRect& area);
void biasTab(Scene& scene, const Snapshot* snapshot, State& page, const ImRect& area);
void compareTab(Scene& scene, const Snapshot* snapshot, State& page, const ImRect& area);

/// One small picture per head; a click shows that head.
void headStrip(Scene& scene, const Snapshot* snapshot, State& page, const ImRect& area);
float headStripHeight(const Scene& scene, const View& view, float width);

/// The tokens as chips to mark documents, prefixes, images and the like on; only while a layer reads them.
void marksStrip(Scene& scene, State& page, const ImRect& area);
float marksStripHeight(Scene& scene, const State& page);

// Sections of the panel at the right.
void statisticsSection(const Scene& scene, State& page);
void blockSection(Scene& scene, State& page);
void reachSection(Scene& scene, State& page);
void exportSection(Scene& scene, State& page);
void biasSections(Scene& scene, const Snapshot* snapshot, View& view);
void compareSections(Scene& scene, const Snapshot* snapshot, State& page);

}  // namespace headscope::app::mask_page
