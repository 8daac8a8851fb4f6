#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/compute/layer/value_range.h"
#include "app/pages/map/map_job.h"
#include "app/pages/map/map_textures.h"
#include "app/pages/map/map_window.h"
#include "app/widgets/caption.h"
#include "app/widgets/layout.h"
#include "app/widgets/panel.h"

namespace headscope::app::map_page {

/// The page's view state, which its panels may change.
struct State {
  explicit State(View& window) : view(window) {}

  View& view;
  std::shared_ptr<const MapSnapshot> state;  ///< null until the first head is ready
  bool catchingUp = false;                   ///< `state` isn't the requested head yet
  Progress progress;
  TileCache* cache = nullptr;
  Textures* textures = nullptr;

  // Set by the panels, for the job:
  std::vector<TilePlace> visible, near;
  std::vector<TileKey> inView;  ///< the drawn tiles, which must not be evicted

  // As last drawn:
  std::optional<MapWindow> window;
  int level = 0;         ///< a pixel of the picture covers 2^level × 2^level cells
  bool preview = false;  ///< some of the picture isn't exact
  bool coarser = false;  ///< some of it is drawn from a coarser tile because the right one isn't ready
  float brightest = 0;   ///< the largest visible value
  std::string trouble;   ///< why nothing can be drawn

  std::string goTo, goToProblem;
  std::uint64_t goToField = 0;  ///< the head in which `goTo` was last searched
  bool goToKeeps = false;       ///< refocuses the go-to box, so that Enter repeats the search
};

/// The map's value at a cell, at the given level; nothing if it isn't ready.
struct ShownValue {
  float value = 0;
  bool preview = false;
};
std::optional<ShownValue> shownValue(State& page, Pooling pooling, int level, Index query, Index key);

/// The values at the two ends of the colormap.
ValueRange shownRange(const State& page, const Look& look);

/// Draws the visible tiles, with coarser ones in place of missing ones, and records what is missing.
void drawTiles(const Scene& scene, State& page, Canvas list, const MapWindow& window);
/// Draws the whole head into `area` from the overview's single tile. Returns false if it isn't ready.
bool drawWhole(const Scene& scene, State& page, Canvas list, const ImRect& area);

/// Draws token numbers and texts along both axes, thinned so that they don't overlap.
void paintMapAxes(const View& view, Canvas list, const MapWindow& window, const MapText& text, Index litQuery,
                  Index litKey);
/// While presenting: how much of the head is shown.
std::vector<CaptionPart> captionOf(const State& page);

// The panels: controls on the left, the head in the rest of the window.
void controls(Scene& scene, State& page, const Layout& layout);
void mapPanel(Scene& scene, State& page, const Layout& layout);

/// The head whose map is shown.
Index shownHead(const Scene& scene);

inline constexpr float kMapLeft = 132, kMapBottom = 66;  ///< space for the axes, in layout units

/// The cell that an entry in the go-to box means, starting at the marked cell. The entry is "QUERY, KEY",
/// each a number or a part of a token. In self-attention a single one means both.
struct Destination {
  Index query = 0, key = 0;
};
attention::Result<Destination> findPlace(const std::string& line, const MapSnapshot& state,
                                         const MapCursor& from);

}  // namespace headscope::app::map_page
