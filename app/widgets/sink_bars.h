#pragma once

#include <functional>

#include "app/widgets/heat_tile.h"

namespace headscope::app {

/// Returns the width that large bars need right of a tile. In a grid, bars are in the gap between tiles.
float sinkBarsRoom(const View& view);
/// Returns the width of slim bars in that gap.
float sinkBarsGap(const View& view);
enum class SinkBars { large, slim };
/// Paints the share of each row's softmax that a head's sink takes, as bars right of the tile; the row's
/// weights sum to one minus it. Large bars have the heading "sink". When several rows share a pixel, only one
/// is drawn. Hovering a bar shows its share.
void paintSinkBars(const View& view, Canvas list, const HeatTile& tile, Index rows,
                   const std::function<float(Index row)>& share, SinkBars size = SinkBars::large);

}  // namespace headscope::app
