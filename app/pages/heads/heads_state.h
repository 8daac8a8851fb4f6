#pragma once

#include "app/compute/cache/cache_picture.h"
#include "app/compute/layer/snapshot.h"
#include "app/pages/common/playback.h"
#include "app/scene/model_fit.h"
#include "app/widgets/camera.h"
#include "app/widgets/caption.h"
#include "app/widgets/heat_tile.h"
#include "app/widgets/heatmap_layer.h"
#include "app/widgets/layout.h"

namespace headscope::app::heads_page {

/// The values that the model's sliders offer, and the settings they depend on.
struct ModelStops {
  ModelSetup model;
  WeightSetup weights;
  EmbeddingSource embedding = EmbeddingSource::text;
  ChosenHeads chosen;
  std::vector<Index> heads = {}, kvHeads = {}, headDim = {}, modelDim = {};  ///< ascending
};

struct HeadSliders {
  ChosenHeads chosen;
  ModelStops stops;
};

/// The pictures of heads and cache. The panels set the sizes they are drawn at; the page sets how many cells
/// are pooled into one.
struct Pictures {
  EasedTextures grid, focus, cache;  ///< all heads; the enlarged head; keys and values
  float gridPixels = 256;            ///< longer side of one map in the grid
  float focusCell = 8;               ///< size of one cell of the enlarged head
  int gridFactor = 1, focusFactor = 1;
  CacheGrain cacheGrain, drawnCacheGrain;  ///< needed by the strips; used in their pictures
};

/// The token that an open menu is about.
struct TokenMenu {
  Index token = -1;          ///< the token it was opened on; −1 = actions apply to the selected query
  bool tokenIsQuery = true;  ///< `token` is a query, not a key
};

/// The dimension under the pointer in the receipt's vectors.
struct ReceiptPointer {
  Index dim = -1, nextDim = -1;  ///< in the last frame and in this one; −1 = none
};

/// The page's view state, which its panels may change.
struct State {
  explicit State(View& window) : view(window) {}

  View& view;
  std::shared_ptr<const Snapshot> snapshot;  ///< the snapshot drawn; null before the first
  Pictures pictures;
  Camera camera;
  HeadSliders sliders;
  ReceiptPointer receipt;
  TokenMenu menu;
  Playback play;            ///< plays the decode step by step
  bool keysTurn = true;     ///< Page Up and Page Down change the head; next to a lesson they change its step
  bool catchingUp = false;  ///< the snapshot belongs to an earlier setting
  double busySeconds = 0;   ///< how long the next snapshot has been computing
};

// The panels. `snapshot` may be null until the first computation is done.
void sidePanel(Scene& scene, State& page, const Layout& layout);
void headsPanel(Scene& scene, State& page, const Layout& layout);
void cachePanel(Scene& scene, State& page, const Layout& layout);

/// "Attention weight of head 3, 12 queries × 12 keys, causal".
std::string figureTitle(const Scene& scene, const Snapshot& snapshot, const SequenceSnapshot& sequence,
                        const std::string& of);
/// Draws the colour bar of a head (−1 = all heads) next to a figure's cells, whose top right corner is `at`.
/// `cells` [heads, n, m]: the cells as drawn, factor × factor pooled into one.
void paintHeadsLegend(const View& view, Canvas list, const Look& look, const Snapshot& snapshot,
                      const SequenceSnapshot& sequence, Index head, const attention::Stack& cells, int factor,
                      ImVec2 at, float height);
void receiptPanel(Scene& scene, State& page, const Layout& layout);

/// The hovered cell; parts that aren't hovered come from the selected cell.
Cell litCell(const Scene& scene, const Snapshot& snapshot, const SequenceSnapshot& sequence,
             const View& view);
/// While presenting: one sentence, about the enlarged head's cell, the decode step, or the axes.
std::vector<CaptionPart> captionOf(const Scene& scene, const Snapshot& snapshot,
                                   const SequenceSnapshot& sequence, const View& view);

/// Handles a right click on a cell or a head's title: selects the cell and opens its menu.
void offerForCell(Scene& scene, View& view, TokenMenu& menu, const Cell& cell);
/// The same for a token of an axis or of the KV cache.
void offerForToken(Scene& scene, State& page, bool query, Index at);
/// Highlights the hovered token of an axis; a right click opens its menu.
void pointAtLabels(Scene& scene, State& page, const HeatTile& tile, const AxisLabels& labels);

/// Draws one enlarged head with its axes and numbers.
void focusView(Scene& scene, State& page, const SequenceSnapshot& sequence, const ImRect& area,
               bool besideReceipt);

// Sections of the side panel.
void inputSection(Scene& scene, const Snapshot* snapshot, View& view);
void modelSection(Scene& scene, State& page);
void weightsSection(Scene& scene, const Snapshot* snapshot, View& view);
void maskSection(Scene& scene, const Snapshot* snapshot, View& view);
void moreSection(Scene& scene, View& view);

}  // namespace headscope::app::heads_page
