#pragma once

#include "app/compute/cost/cost_figures.h"
#include "app/compute/figures/drawing.h"
#include "app/compute/layer/resources.h"
#include "app/compute/layer/snapshot.h"
#include "app/compute/map/map_source.h"

namespace headscope::app {

// Pictures of what was computed, without furniture. Pure, for any thread.

/// How they are drawn, apart from the scene's Look.
struct DrawingOptions {
  bool dark = false;
  double aspect = 1.6;  ///< width over height that many heads are laid out for
};

/// The head that a scene has in sight: the focused one, else the cell's.
Index pictureHead(const Scene& scene, Index heads);

/// One head of the sequence in sight with its tokens, its numbers where cells have room for them, what it is
/// seen to do and the raw score of that. While decoding, the rows there are. The snapshot has sequences.
Drawing headDrawing(const Scene& scene, const Snapshot& snapshot, Index head, const DrawingOptions& options);
/// All heads side by side.
Drawing headsDrawing(const Scene& scene, const Snapshot& snapshot, const DrawingOptions& options);
/// Keys and values of every kv head, and the bytes they take.
Drawing cacheDrawing(const Scene& scene, const Snapshot& snapshot, const DrawingOptions& options);
/// The same as the page Cache shows its growth: bands in MHA's slots, values with their sign, the tokens
/// there are, and the bytes after each of them.
Drawing growthDrawing(const Scene& scene, const Snapshot& snapshot, const DrawingOptions& options);
/// What the scene's room of the page Cache shows, computed anew: four shapes, precision and eviction as
/// pictures of one head with their figures, paging as tokens over the schedule's steps. Errors: what those
/// studies refuse.
attention::Result<Drawing> cacheViewDrawing(const Scene& scene, const Snapshot& snapshot,
                                            Resources& resources, const DrawingOptions& options);
/// The mask of one head over the tokens of the sequence in sight.
Drawing maskDrawing(const Scene& scene, const Snapshot& snapshot, Index head, const DrawingOptions& options);
/// What the page Cost says of a model: the bytes, the product that makes them, what a GPU holds, and the
/// plots.
Drawing costDrawing(const CostSetup& setup, const CostFigures& figures, const CostCatalogue& catalogue,
                    const DrawingOptions& options);

/// What of a long head is drawn, and how many cells become one.
attention::MapPart mapPart(const MapCursor& cursor, Index queries, Index keys);
/// That part of one long head, exactly, however long it takes.
Drawing mapDrawing(const Scene& scene, MapHead head, const DrawingOptions& options);

}  // namespace headscope::app
