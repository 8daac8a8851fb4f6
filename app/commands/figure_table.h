#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/compute/figures/picture_file.h"

namespace headscope::app {

using TableValue = std::variant<std::monostate, bool, Index, float, double, std::string>;

/// The numbers of a figure, a row for each of their places.
struct FigureTable {
  std::vector<std::pair<std::string, std::string>> definitions;  ///< of columns that need one
  std::vector<std::string> columns;
  std::vector<std::vector<TableValue>> rows;
};

/// The most rows of a table, which take about 350 B each; a larger one is an error.
inline constexpr Index kMostTableRows = 1'000'000;

/// Computes the scene's layer and returns the numbers of one of its figures: heads, head or mask, a row for
/// each cell; or cache, as the chosen view of the Cache page shows it. Returns an Error if there is nothing
/// to show.
attention::Result<FigureTable> layerTable(const Scene& scene, PictureKind what);

}  // namespace headscope::app
