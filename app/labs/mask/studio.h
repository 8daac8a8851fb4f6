#pragma once

#include <string>

#include "app/shell/panels.h"
#include "app/widgets/camera.h"

namespace headscope::app {

// The parts of the mask studio.

/// A layer's name, or what its pattern is called.
std::string layerTitle(const attention::Layer& layer);
/// The list the studio's controls belong to: the first mask's or, while comparing, the second's.
attention::MaskLayers& editedLayers(Scene& scene);
/// The study of the mask that is edited; null before there is one.
const StudiedMask* editedStudy(const Scene& scene, const View& view);
/// Tokens along the longer side of what is shown: no window has to reach farther. At least 2.
Index reachOf(const Snapshot* snapshot, const View& view);

/// Sliders for the counts of a layer's pattern, named "NAME.PARAMETER".
void parameterSliders(attention::Layer& layer, const std::string& name, const Snapshot* snapshot, View& view);
/// Beside the pointer: whether the cell is visible, and what each layer says of it.
void verdictTooltip(const Scene& scene, View& view, const StudiedMask& mask,
                    const attention::MaskLayers& layers, Index query, Index key);
/// How the selected layer joins, its heads and its parameters.
void layerDetails(attention::Layer& layer, Index at, Scene& scene, const Snapshot* snapshot, View& view);
/// The text form of the edited mask, to read and to type.
void expressionBox(Scene& scene, View& view);
/// Every pattern there is, to add one.
void gallery(Scene& scene, View& view);
/// What an opened file's numbers mean.
void conventionQuestion(View& view);

/// The colour bar at the right of a map's title. A click on that of weights chooses the next range.
enum class MapScale { none, weights, signedValues };

/// One picture with axes, crosshair and title.
struct MapSpec {
  const char* name = "";  ///< for tests
  HeatmapLayer::Surface surface = HeatmapLayer::Surface::mask;
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
/// Draws a map into `area` and lets it be pointed at, zoomed, and painted on.
MapAnswer drawMap(const MapSpec& spec, Scene& scene, View& view, const ImRect& area);
/// `count` areas side by side whose cells come out equally large though only the first has row labels.
std::vector<ImRect> mapColumns(const View& view, const ImRect& area, int count);

render::HeatmapStyle maskStyle(const View& view);
render::HeatmapStyle signedStyle(const View& view);

/// A label with its figure at the right.
void figure(const View& view, const std::string& label, const std::string& value, std::uint32_t color);

/// Paints with the brush on the map's cells; `answer` comes from drawMap in the same frame.
void useBrush(Scene& scene, View& view, const MapAnswer& answer, bool held);
void brushBar(Scene& scene, View& view, const ImRect& area);

void maskRoom(Scene& scene, const Snapshot* snapshot, View& view, const ImRect& area);
void biasRoom(Scene& scene, const Snapshot* snapshot, View& view, const ImRect& area);
void compareRoom(Scene& scene, const Snapshot* snapshot, View& view, const ImRect& area);

/// One small picture per head; a click shows that head.
void headStrip(Scene& scene, const Snapshot* snapshot, View& view, const ImRect& area);
float headStripHeight(const Scene& scene, const View& view, float width);

/// The tokens as chips to mark documents, prefixes, images and the like on; only while a layer reads them.
void marksStrip(Scene& scene, View& view, const ImRect& area);
float marksStripHeight(Scene& scene, const View& view);

// Sections of the panel at the right.
void statisticsSection(const Scene& scene, View& view);
void blockSection(Scene& scene, View& view);
void reachSection(Scene& scene, View& view);
void takeHomeSection(Scene& scene, View& view);
void biasSections(Scene& scene, const Snapshot* snapshot, View& view);
void compareSections(Scene& scene, const Snapshot* snapshot, View& view);

}  // namespace headscope::app
