#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/compute/figures/grid_drawing.h"
#include "app/compute/model/lens_map.h"
#include "app/compute/model/patch_grid.h"

namespace headscope::app {

// Grids and bars that show why a model prefers one answer.

/// Returns a token's word by its id.
using WordOf = std::function<std::string(Index id)>;

GridFigure patchFigure(const PatchGridQuestion& question, const PatchGrid& grid,
                       const std::vector<KeptPatch>& kept);
/// `byKey`: one bar per head and attended token instead of one per head.
BarFigure attributionFigure(const PairStudy& pair, const AttributionStudy& study, bool byKey,
                            const WordOf& word);
GridFigure lensFigure(const LensQuestion& question, const LensMap& map, const WordOf& word);
/// Returns "logit of “Ben” − logit of “Anna”".
std::string differenceTitle(const PairStudy& pair, const WordOf& word);
/// Returns the title of a grid that patches such pieces into the other text: "Output of each head".
std::string pieceWords(attention::Piece piece, bool byToken);

}  // namespace headscope::app
