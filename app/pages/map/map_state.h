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

/// What the map page shows besides the scene: free for its panels to change.
struct State {
  explicit State(View& window) : view(window) {}

  View& view;
  std::shared_ptr<const MapSnapshot> state;  ///< null before the first head is there
  bool catchingUp = false;                   ///< and it is not the head that is asked for
  Progress progress;
  TileCache* cache = nullptr;
  Textures* textures = nullptr;

  // What the panels answer, for the job:
  std::vector<TilePlace> visible, near;
  std::vector<TileKey> inView;  ///< what is drawn, and must not be evicted

  // As it was drawn:
  std::optional<MapWindow> window;
  int level = 0;         ///< a pixel of the picture is 2^level cells a side
  bool preview = false;  ///< something that is shown is not exact
  bool coarser = false;  ///< or a coarser picture stands in for one that is on its way
  float brightest = 0;   ///< the largest value in sight
  std::string trouble;   ///< why nothing can be drawn

  std::string goTo, goToProblem;
  std::uint64_t goToField = 0;  ///< the head that the problem is of
  bool goToKeeps = false;       ///< the go-to box takes the keyboard again: Enter repeats
};

/// A value of the map at the level that is drawn, by a cell; nothing where it is not there yet.
struct ShownValue {
  float value = 0;
  bool preview = false;
};
std::optional<ShownValue> shownValue(State& page, Pooling pooling, int level, Index query, Index key);

/// The values at the ends of the colormap.
ValueRange shownRange(const State& page, const Look& look);

/// Draws the tiles in sight at their places, coarser ones where those are not there yet, and notes what is
/// missing.
void drawTiles(const Scene& scene, State& page, Canvas list, const MapWindow& window);
/// Draws the whole head into `area` from the overview's one tile; false where it is not there.
bool drawWhole(const Scene& scene, State& page, Canvas list, const ImRect& area);

/// Tokens and their numbers along both sides, thinned until they don't touch.
void paintMapAxes(const View& view, Canvas list, const MapWindow& window, const MapText& text, Index litQuery,
                  Index litKey);
/// While presenting: how much is shown.
std::vector<CaptionPart> captionOf(const State& page);

// The panels: controls at the left, the head in the rest of the window.
void controls(Scene& scene, State& page, const Layout& layout);
void mapPanel(Scene& scene, State& page, const Layout& layout);

/// The head whose map is shown.
Index shownHead(const Scene& scene);

inline constexpr float kMapLeft = 132, kMapBottom = 66;  ///< room for them, in layout units

/// Where the go-to line leads from the marked cell: "QUERY, KEY", each a number or a part of a token; one
/// alone is both in self-attention.
struct Destination {
  Index query = 0, key = 0;
};
attention::Result<Destination> findPlace(const std::string& line, const MapSnapshot& state,
                                         const MapCursor& from);

}  // namespace headscope::app::map_page
