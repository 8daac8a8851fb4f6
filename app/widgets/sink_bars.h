#pragma once

#include <functional>

#include "app/widgets/heat_tile.h"

namespace headscope::app {

/// Room that the bars take at the right of a large tile; those of tiles in a grid stand in the gap between
/// two.
float sinkBarsRoom(const View& view);
/// What slim bars take of that gap.
float sinkBarsGap(const View& view);
enum class SinkBars { large, slim };
/// What a head's sink takes of each row's softmax, as bars at the right of the tile, under the word "sink"
/// where they are large: so much is missing from the row's sum. Of rows that share a pixel one is drawn. Says
/// the share where a bar is pointed at.
void paintSinkBars(const View& view, Canvas list, const HeatTile& tile, Index rows,
                   const std::function<float(Index row)>& share, SinkBars size = SinkBars::large);

}  // namespace headscope::app
