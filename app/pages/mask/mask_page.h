#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "app/compute/heads/head_studies.h"
#include "app/compute/layer/snapshot.h"
#include "app/compute/mask/mask_study.h"
#include "app/kit/board.h"
#include "app/kit/shown.h"
#include "app/pages/common/page.h"
#include "app/scene/mask_rules.h"
#include "app/widgets/actions.h"
#include "app/widgets/dialog.h"
#include "app/widgets/field_controls.h"
#include "app/widgets/heat_parts.h"
#include "app/widgets/heatmap_layer.h"
#include "app/widgets/panel.h"
#include "attention/formats/masks/mask_file.h"
#include "attention/masks/code.h"
#include "attention/masks/pattern.h"

namespace headscope::app::mask_page {

/// The studio's brush and its current stroke.
struct Brush {
  PaintTool tool = PaintTool::look;
  bool visible = false;  ///< paints visible cells; masked ones otherwise
  bool erases = false;   ///< removes what was painted
  bool mirror = false;
  Index size = 1;
  float bias = 2;  ///< added to scores in the biases tab

  // During a stroke:
  bool painting = false;
  Index strokes = 0;  ///< number of strokes, so that each becomes a separate undo step
  Index fromRow = 0, fromKey = 0, lastRow = 0, lastKey = 0;
  SharedValue<attention::CellTable> cellsBefore;
  SharedTable biasesBefore;
};

/// A mask's expression while it is being typed.
struct TypedExpression {
  std::string text;  ///< as typed
  SharedLayers of;   ///< the mask shown when typing began
  std::string error;
  std::size_t caret = 0;  ///< offset of the error
  double typedAt = -1;    ///< time of the last keystroke not yet applied; −1 = none
};

/// Seconds without typing after which an expression becomes the mask.
inline constexpr double kTypingRests = 0.4;

/// The subjects of the mask studio's pictures.
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

/// The page's view state, which its panels may change.
struct State {
  explicit State(PageServices& services);

  View& view;
  std::shared_ptr<const Snapshot> snapshot;  ///< the weights shown with the masks; null before the first
  ShownSet shown;
  Shown<MaskQuestion, MaskStudy> study;
  Shown<HeadQuestion, HeadStudy> headStudy;  ///< for whichever head it was requested
  Shown<ReachQuestion, ReachStudy> reach;    ///< how tokens reach each other
  std::array<EasedTextures, static_cast<std::size_t>(Surface::gallery) + 1> surfaces;
  float mapPixels = 512;                  ///< longer side of a map in pixels; set by the panels
  int maskFactor = 1, weightsFactor = 1;  ///< cells pooled into one, per side; set by the page

  Camera camera;  ///< shared by all maps
  Brush brush;
  TypedExpression expression;
  std::string renaming;        ///< a layer's new name while it is being typed
  Index renamed = -1;          ///< the layer whose name was being typed in the last frame; −1 = none
  Index dragged = -1;          ///< the layer being dragged; −1 = none
  int addAs = 0;               ///< in the gallery: 0 = AND, 1 = OR, 2 = replace everything
  int saveConvention = 0;      ///< for the next file saved
  int markKind = 0;            ///< what clicks on the token chips mark
  Index token = -1;            ///< the token a menu was opened on; −1 = actions apply to the selected key
  Index markFrom = -1;         ///< start of a dragged span
  bool wipe = false;           ///< compare: one picture with a wipe instead of two side by side
  bool compareWeights = true;  ///< compare the weights instead of the masks

  EasedTextures& surface(Surface which) { return surfaces[static_cast<std::size_t>(which)]; }
};

// The parts of the mask studio.

/// The layers that the studio edits: the first mask's or, while comparing, possibly the second's.
const SharedLayers& shownLayers(const Scene& scene);
/// The same for editing; copies the layers if they are shared.
attention::MaskLayers& editedLayers(Scene& scene);
/// The text on which the ranges of the patterns' sliders depend.
MaskedText maskedText(const State& page);
/// The study of the edited mask; null if there is none yet.
const StudiedMask* editedStudy(const Scene& scene, const State& page);

/// "“cat”", or the position if it is past the end.
std::string tokenOrPosition(const std::vector<attention::Token>& tokens, Index position);

// Context menus, as ids of actions.

/// For a layer of the list.
std::vector<std::string> layerMenu(const attention::MaskLayers& layers, Index at);
/// For a cell of the mask, the weights or the biases.
std::vector<std::string> cellMenu(const State& page);
/// For a token of an axis or a chip: the marks that the layers read.
std::vector<std::string> tokenMenu(Scene& scene);
/// The actions on layers, and on marks of tokens.
std::vector<Action> layerActions(State& page);
std::vector<Action> markActions(State& page);

/// A tooltip that says whether the cell is visible, and what each layer contributes.
void verdictTooltip(State& page, const StudiedMask& mask, Index query, Index key);
/// The selected layer's combination, heads and parameters.
void layerDetails(Rows& rows, Index at, Scene& scene, State& page);
/// The edited mask as an expression that can be edited.
void expressionBox(Rows& rows, Scene& scene, State& page);

/// The colour bar right of a map's title. Clicking the one for weights selects the next range.
enum class MapScale { none, weights, signedValues };

/// A picture with axes, crosshair and title.
struct MapSpec {
  const char* name = "";  ///< for tests
  Surface surface = Surface::mask;
  std::vector<std::string> titles = {};  ///< wordings, longest first
  std::string aside = "";
  render::HeatmapStyle style = {};
  ValueRange range = {};
  MapScale scale = MapScale::none;
  int factor = 1;       ///< cells pooled into one, per side
  bool paints = false;  ///< can be painted with the brush
  bool rowLabels = true;
};
/// The place of a map's cells inside `area`.
ImRect mapCells(const MapSpec& spec, const State& page, const ImRect& area);
/// Draws a map into `area` and handles hovering, zooming and painting.
PointedMap drawMap(const MapSpec& spec, Scene& scene, State& page, const ImRect& area);

/// A map of a tab, or the sentence in its place.
struct TabMap {
  MapSpec spec = {};
  std::string instead = "";  ///< "" = the map
  bool isError = false;      ///< the sentence says what is wrong
  /// Explains the cell under the pointer; may be null.
  std::function<void(Index row, Index col)> pointed = {};
  /// In a figure of this map without the others: its words and legend; else null.
  std::function<void(const ImRect& cells, ImVec2 at)> figureWords = {};
};
/// Draws maps with cells of one size, side by side or one below another, whichever makes them larger.
void drawMaps(std::vector<TabMap> maps, Scene& scene, State& page, const ImRect& area);

render::HeatmapStyle maskStyle(const View& view);
render::HeatmapStyle signedStyle(const View& view);

/// Paints with the brush on the map's cells.
void useBrush(Scene& scene, State& page, const PointedMap& map);
void brushBar(State& page, StudioTab tab, ControlLine& bar);
/// What the greys of the masks shown mean, in the window and on stage; empty if none is shown.
FigureLegend maskLegend(const Scene& scene, const State& page);

// The panels: layers on the left, the masks in the middle, their effects on the right.
void layersPanel(Scene& scene, const Snapshot* snapshot, State& page, const Layout& layout);
void studioPanel(Scene& scene, const Snapshot* snapshot, State& page, const Layout& layout);
void insightPanel(Scene& scene, const Snapshot* snapshot, State& page, const Layout& layout);

/// The selected tab's maps; without a second mask, the comparison shows the only one.
void tabMaps(Scene& scene, const Snapshot* snapshot, State& page, const ImRect& area);

/// One small picture per head; a click shows that head.
void headStrip(Board& board, Scene& scene, State& page);

/// Tokens as chips, for marking documents, prefixes, images and so on; only while a layer reads the marks.
/// Returns whether there are any.
bool marksStrip(Board& board, Scene& scene, State& page);

// Sections of the right panel.
/// The note of a section that explains the selected cell, tagged while it previews the hovered one.
std::string receiptNote(const std::string& note, bool previews);
void statisticsSection(Rows& rows, const Scene& scene, const State& page);
void blockSection(Rows& rows, Scene& scene, const State& page);
void reachSection(Rows& rows, Scene& scene, State& page);
void exportSection(Rows& rows, const Scene& scene, State& page);
void biasSections(Rows& rows, Scene& scene, const Snapshot* snapshot);
void compareSections(Rows& rows, Scene& scene, const Snapshot* snapshot, State& page);

/// A gallery of all patterns, from which to add one to the edited mask.
class Gallery : public Dialog {
 public:
  explicit Gallery(State& page) : page_(page) {}
  std::string name() const override { return "gallery"; }
  void draw(Scene& scene, View& view, bool opening) override;

 private:
  const attention::PatternInfo* cards(View& view, bool takesFirst);
  State& page_;
  std::string search_;
};

/// Asks what the numbers in an opened file mean.
class ConventionDialog : public Dialog {
 public:
  using Chosen = std::function<void(attention::MaskConvention)>;
  ConventionDialog(std::filesystem::path file, std::vector<attention::MaskConvention> possible, Chosen chosen)
      : file_(std::move(file)), possible_(std::move(possible)), chosen_(std::move(chosen)) {}
  std::string name() const override { return "convention"; }
  void draw(Scene& scene, View& view, bool opening) override;

 private:
  std::filesystem::path file_;
  std::vector<attention::MaskConvention> possible_;
  Chosen chosen_;
};

/// The mask studio: composes, paints, compares and explains masks.
class Page : public app::Page {
 public:
  explicit Page(PageServices& services);

  std::vector<Action> actions() override;
  bool take(const Scene& scene) override;
  void prepare(Scene& scene) override;
  void draw(Scene& scene, const Layout& layout) override;
  void ask(const Scene& scene) override;
  void leave() override;
  void reset() override;
  /// Hidden while presenting, which shows the masks only.
  bool showsSide(const Scene&) const override { return !services_.view.present; }
  std::vector<CaptionPart> caption(const Scene& scene) const override;
  FigureLegend legend(const Scene& scene) const override;
  PageStatus status(const Scene& scene) const override;
  std::optional<std::string> error(const Scene& scene) const override;
  double nextFrameIn() const override;
  std::size_t gpuBytes() const override;
  bool open(const NamedFile& file, const Requester& requester, const Outcome& outcome) override;

  const State& state() const { return page_; }
  State& state() { return page_; }

 private:
  void showMasks(const Scene& scene);
  void showPair();
  void show(Surface surface, const attention::Matrix& values);
  void walk(Scene& scene);
  void toggleCell(Scene& scene);
  std::vector<Action> copyActions();
  std::vector<Action> fileActions();
  void copy(const std::string& text, const std::string& what, ImVec2 asked);
  void copyCode(const Scene& scene, attention::MaskCode language, const std::string& what);
  void inspectFile(const std::filesystem::path& path, const Requester& requester, const Outcome& outcome);
  void loadFile(const std::filesystem::path& path, const Requester& requester,
                attention::MaskConvention convention);
  void saveFile(const Scene& scene, const std::filesystem::path& path, const Outcome& outcome);

  PageServices& services_;
  State page_;
  CursorFit fit_;
  /// What the textures hold, so that they are refilled only when something else is shown: the answers, the
  /// sequence, the head, the map's pixels, whether mask B is edited, and whether weights are compared.
  using Drawn = std::tuple<std::shared_ptr<const Snapshot>, std::shared_ptr<const MaskStudy>,
                           std::shared_ptr<const HeadStudy>, std::shared_ptr<const ReachStudy>, Index, Index,
                           float, bool, bool>;
  Drawn drawn_;
  std::array<std::string, 3> told_;  ///< the problems of the answers that were reported last
};

}  // namespace headscope::app::mask_page
