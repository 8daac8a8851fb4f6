#pragma once

#include "app/compute/layer/snapshot.h"
#include "app/pages/common/page.h"
#include "app/pages/map/map_job.h"
#include "app/platform/imgui_compat.h"
#include "app/widgets/panel.h"
#include "app/widgets/view.h"
#include "render/heatmap.h"

namespace headscope::app::map_page {

/// The visible tiles on the GPU: one texture array with a layer per tile, within a budget. A tile is uploaded
/// once, and again only when it changes.
class Textures {
 public:
  static constexpr std::size_t kBudget = std::size_t{64} << 20;
  static constexpr int kMaxUploads = 16;  ///< per frame, if `quick`

  /// Starts a frame. Unless `quick`, all missing tiles are uploaded in it.
  void beginFrame(bool quick);
  /// The layer that holds a tile, uploading it if needed. Nothing if it isn't there and can't be in this
  /// frame because all layers are in use or the frame's uploads are used up. Throws std::runtime_error if no
  /// graphics memory is available.
  std::optional<int> layerOf(const TileKey& key, const Tile& tile);

  const render::HeatmapTextures& textures() const { return textures_; }
  std::size_t bytes() const { return textures_.bytes(); }
  std::size_t layers() const { return slots_.size(); }
  std::size_t uploads() const { return uploads_; }  ///< tiles uploaded so far
  /// Whether a tile was put off to the next frame.
  bool unfinished() const { return putOff_; }

 private:
  struct Slot {
    TileKey key;
    std::uint64_t revision = 0, usedAt = 0;  ///< 0 = never
  };
  void allocate();
  Slot* freeSlot();

  render::HeatmapTextures textures_;
  std::vector<Slot> slots_;
  std::map<TileKey, std::size_t> slotOf_;
  std::vector<float> padded_;
  std::uint64_t frame_ = 0;
  std::size_t uploads_ = 0;
  int leftInFrame_ = 0;
  bool putOff_ = false;
};

/// The mapping between cells and pixels, used for everything drawn over the map. Uses double because at
/// 131,072 tokens a float is too coarse to place single cells.
struct MapWindow {
  ImRect area;               ///< in pixels
  Index n = 1, m = 1;        ///< queries and keys
  double row = 0, col = 0;   ///< the cell at the area's top left, fractional; negative if there is a margin
  double cellsPerPixel = 1;  ///< vertically
  double wide = 1;           ///< width of a cell divided by its height
  double closest = 0;        ///< the smallest possible cellsPerPixel

  float x(double col_) const { return area.Min.x + static_cast<float>((col_ - col) * wide / cellsPerPixel); }
  float y(double row_) const { return area.Min.y + static_cast<float>((row_ - row) / cellsPerPixel); }
  double colAt(float x_) const { return col + static_cast<double>(x_ - area.Min.x) * cellsPerPixel / wide; }
  double rowAt(float y_) const { return row + static_cast<double>(y_ - area.Min.y) * cellsPerPixel; }
  /// The part of the area that shows cells.
  ImRect cells() const;
  double cellPixels() const { return 1 / cellsPerPixel; }
  /// The finest level whose pixels cover at least one screen pixel, so that none is skipped.
  int level() const;
  /// The next finer level, whose pixels cover half to one screen pixel; they are pooled while drawing.
  int finerLevel() const { return level() > 0 ? level() - 1 : 0; }
};

/// Cells per pixel when the whole head is shown.
double wholeZoom(const ImRect& area, Index n, Index m);

/// The whole head, stretched over the area.
MapWindow wholeWindow(const ImRect& area, Index n, Index m);
/// Clamps the cursor to the head, and the zoom between cell and whole head; returns the resulting window.
MapWindow mapWindow(MapCursor& cursor, const View& view, const ImRect& area, Index n, Index m);

/// Multiplies cells per pixel by `factor`, keeping the cell at `about` in place.
void zoomMap(MapCursor& cursor, const MapWindow& window, double factor, ImVec2 about);
void panMap(MapCursor& cursor, const MapWindow& window, float dx, float dy);
/// Centres a cell, zoomed in enough to read its tokens.
void goToCell(MapCursor& cursor, const View& view, Index query, Index key);

/// "1 pixel = 64 × 64 cells" or "1 cell = 12 pixels".
std::string zoomText(const MapWindow& window);

/// The step, one of 1, 2, 5, 10, … cells, that keeps labels at least `room` pixels apart.
Index labelStep(const MapWindow& window, float room);

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

/// How the map's weights look: as on the other pages, except for what was chosen on the map.
Look mapLook(const Scene& scene);
/// The values at the two ends of the colormap.
ValueRange shownRange(const State& page, const Look& look);

/// Draws the visible tiles, with coarser ones in place of missing ones, and records what is missing.
void drawTiles(const Scene& scene, State& page, Canvas list, const MapWindow& window);
/// Draws the whole head into `area` from the overview's single tile. Returns false if it isn't ready.
bool drawWhole(const Scene& scene, State& page, Canvas list, const ImRect& area);

/// The token's text, "" if the map has none.
std::string tokenAt(const std::vector<attention::Token>& tokens, Index at);
/// Draws token numbers and texts along both axes, thinned so that they don't overlap. The selected query and
/// key keep theirs, in their colours, and the hovered ones if there is room.
void paintMapAxes(const View& view, Canvas list, const MapWindow& window, const MapText& text, Index litQuery,
                  Index litKey);
/// While presenting: how much of the head is shown.
std::vector<CaptionPart> captionOf(const State& page);

// The panels: controls on the left, the head in the rest of the window.
void controls(Scene& scene, State& page, const Layout& layout);
void mapPanel(Scene& scene, State& page, const Layout& layout);

/// The head whose map is shown.
Index shownHead(const Scene& scene);

inline constexpr float kMapLeft = 132, kMapTop = 50,
                       kMapBottom = 66;  ///< space for the axes, in layout units

/// The cell that an entry in the go-to box means, starting at the marked cell. The entry is "QUERY, KEY",
/// each a number or a part of a token. In self-attention a single one means both.
struct Destination {
  Index query = 0, key = 0;
};
attention::Result<Destination> findPlace(const std::string& line, const MapSnapshot& state,
                                         const MapCursor& from);

/// One long head that can be panned and zoomed like a map.
class Page : public app::Page {
 public:
  static constexpr std::uint64_t kTileBudget = std::uint64_t{256} << 20;

  explicit Page(PageServices& services);

  std::vector<Action> actions() override;
  bool take(const Scene& scene) override;
  void prepare(Scene& scene) override;
  void draw(Scene& scene, const Layout& layout) override;
  void ask(const Scene& scene) override;
  void leave() override;
  Index heads(const Scene& scene) const override;
  std::vector<CaptionPart> caption(const Scene&) const override { return captionOf(page_); }
  PageStatus status(const Scene& scene) const override;
  std::optional<std::string> error(const Scene& scene) const override;
  double nextFrameIn() const override;
  std::size_t gpuBytes() const override { return textures_.bytes(); }
  bool open(const NamedFile& file, const Requester& requester, const Outcome& outcome) override;

  const State& state() const { return page_; }
  State& state() { return page_; }

 private:
  void copyPlace(const Scene& scene);
  void openFile(const std::filesystem::path& path, Scene& scene) const;

  PageServices& services_;
  TileCache cache_;
  Textures textures_;
  State page_;
  Job job_;  // last member: destroyed first, so its work ends before the data it uses
};

}  // namespace headscope::app::map_page
