#pragma once

#include "app/compute/cache/cache_picture.h"
#include "app/compute/layer/snapshot.h"
#include "app/pages/common/playing.h"
#include "app/scene/model_fit.h"
#include "app/widgets/camera.h"
#include "app/widgets/caption.h"
#include "app/widgets/heat_tile.h"
#include "app/widgets/heatmap_layer.h"
#include "app/widgets/layout.h"

namespace headscope::app::heads_page {

/// What the model's sliders can be set to, and what that depends on.
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

/// The pictures of heads and cache. Panels say how large they are drawn, the page answers with the number of
/// cells that were pooled into one.
struct Pictures {
  EasedTextures grid, focus, cache;  ///< all heads, the large one, keys and values
  float gridPixels = 256;            ///< longer side of one map in the grid
  float focusCell = 8;               ///< one cell of the focused head
  int gridFactor = 1, focusFactor = 1;
  CacheGrain cacheGrain, drawnCacheGrain;  ///< that the strips need, and that their pictures have
};

/// What a menu of tokens is about.
struct TokenMenu {
  Index token = -1;  ///< that it was opened on; −1 = what is done to a token is done to the chosen query
  bool tokenIsQuery = true;  ///< and of the queries' text
};

/// The dimension of the receipt's vectors that is pointed at.
struct ReceiptPointer {
  Index dim = -1, nextDim = -1;  ///< in the last frame and in this one
};

/// What the page of heads shows besides the scene: free for its panels to change.
struct State {
  explicit State(View& window) : view(window) {}

  View& view;
  std::shared_ptr<const Snapshot> snapshot;  ///< what is drawn; null before the first
  Pictures pictures;
  Camera camera;
  HeadSliders sliders;
  ReceiptPointer receipt;
  TokenMenu menu;
  Playing play;             ///< the decode steps by itself
  bool keysTurn = true;     ///< Page Up and Page Down change the head; beside a lesson they turn its steps
  bool catchingUp = false;  ///< what is drawn is of a setting before
  double busySeconds = 0;   ///< that the next has been computed for
};

// The panels. `snapshot` may be null before the first computation is done.
void sidePanel(Scene& scene, State& page, const Layout& layout);
void headsPanel(Scene& scene, State& page, const Layout& layout);
void cachePanel(Scene& scene, State& page, const Layout& layout);

/// "Attention weight of head 3, 12 queries × 12 keys, causal".
std::string figureTitle(const Scene& scene, const Snapshot& snapshot, const SequenceSnapshot& sequence,
                        const std::string& of);
/// Beside a figure's cells, whose top right corner is `at`: the colours of that head, or of all (−1).
/// `cells` [heads, n, m] as they are drawn, factor × factor pooled into one.
void paintHeadsLegend(const View& view, Canvas list, const Look& look, const Snapshot& snapshot,
                      const SequenceSnapshot& sequence, Index head, const attention::Stack& cells, int factor,
                      ImVec2 at, float height);
void receiptPanel(Scene& scene, State& page, const Layout& layout);

/// The cell that is pointed at, in as far as one is, else the one that was chosen.
Cell litCell(const Scene& scene, const Snapshot& snapshot, const SequenceSnapshot& sequence,
             const View& view);
/// One sentence on what is seen while presenting: of the large head's cell, of the decode step, else of the
/// axes.
std::vector<CaptionPart> captionOf(const Scene& scene, const Snapshot& snapshot,
                                   const SequenceSnapshot& sequence, const View& view);

/// A right click on a cell or a head's title: chooses it and offers what can be done there.
void offerForCell(Scene& scene, View& view, TokenMenu& menu, const Cell& cell);
/// The same on a token of an axis or of the KV cache.
void offerForToken(Scene& scene, State& page, bool query, Index at);
/// Tokens on the axes light up while they are pointed at, and a right click offers what can be done there.
void pointAtLabels(Scene& scene, State& page, const HeatTile& tile, const AxisLabels& labels);

/// One head large, with its axes and its numbers.
void focusView(Scene& scene, State& page, const SequenceSnapshot& sequence, const ImRect& area,
               bool besideReceipt);

// Sections of the side panel.
void inputSection(Scene& scene, const Snapshot* snapshot, View& view);
void modelSection(Scene& scene, State& page);
void weightsSection(Scene& scene, const Snapshot* snapshot, View& view);
void maskSection(Scene& scene, const Snapshot* snapshot, View& view);
void moreSection(Scene& scene, View& view);

}  // namespace headscope::app::heads_page
