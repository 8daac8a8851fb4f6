#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/compute/figures/grid_drawing.h"
#include "app/compute/model/lens_map.h"
#include "app/compute/model/patch_grid.h"

namespace headscope::app {

// What makes a model answer, as grids and bars.

/// The tokens' words by their ids.
using WordOf = std::function<std::string(Index id)>;

GridFigure patchFigure(const PatchGridQuestion& question, const PatchGrid& grid,
                       const std::vector<KeptPatch>& kept);
/// `byKey`: a bar for each head and token that it read, in place of one a head.
BarFigure attributionFigure(const PairStudy& pair, const AttributionStudy& study, bool byKey,
                            const WordOf& word);
GridFigure lensFigure(const LensQuestion& question, const LensMap& map, const WordOf& word);
/// "logit of “Ben” − “Anna”".
std::string differenceTitle(const PairStudy& pair, const WordOf& word);
/// What a grid of such pieces puts into the other text: "Output of each head".
std::string pieceWords(attention::Piece piece, bool byToken);

}  // namespace headscope::app
