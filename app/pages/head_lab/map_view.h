#pragma once

#include <functional>
#include <optional>

#include "app/pages/head_lab/head_lab_state.h"
#include "app/widgets/heat_tile.h"

namespace headscope::app::head_lab_page {

/// Rows or columns of a matrix that are in sight.
struct CellsInSight {
  Index first = 0, count = 0;
  bool whole(Index total) const { return count == total; }
  Index end() const { return first + count; }
};
/// At most `most` of `total`, about `around`.
CellsInSight windowOf(Index total, Index most, Index around);
/// "rows 5–16 of 40, keys 0–11 of 40"; empty where all are in sight.
std::string partInSight(const CellsInSight& rows, Index queries, const CellsInSight& cols, Index keys,
                        const char* columns = "keys");

/// A matrix drawn cell by cell: where it is, what of it is in sight, and what is lit.
struct MapView {
  std::string name;  ///< of the place; tests call it "stage.NAME"
  Ink ink = Ink::map;
  ImRect cells;
  CellsInSight rows, cols;
  Index litRow = -1, litCol = -1;
  std::uint32_t rowColor = 0, colColor = 0;
  float low = 0, high = 1;
  bool weights = false;                                     ///< numbers are written ".88"
  std::optional<render::Colormap> colormap = std::nullopt;  ///< in place of the scene's

  /// The map as widgets know it: the cells in sight, in rows and columns of the matrix.
  HeatTile tile() const;
};

/// Draws it with its crosshair, and with numbers where cells are large enough. `values` are those in sight.
void paintMap(const Scene& scene, State& page, const MapView& map, const attention::Matrix& values);
/// Which cell of the matrix is pointed at, and whether it was clicked.
struct MapHit {
  Index row = -1, col = -1;
  bool clicked = false;
};
/// The tokens of its sides, where they have such and no names are drawn.
MapHit hitMap(const MapView& map, const std::vector<attention::Token>* rows = nullptr,
              const std::vector<attention::Token>* columns = nullptr);

/// Token names at the left of a map, right-aligned at its edge, and turned ones below it; those that would
/// touch are left out, never the lit one.
void rowNames(const State& page, const MapView& map, const std::vector<attention::Token>& tokens, float room);
void columnNames(const State& page, const MapView& map, const std::vector<attention::Token>& tokens);
/// "query ↓" over the row names, "key →" beside the column names.
void axisTitles(const State& page, const MapView& map);
/// The map's colours with the values at their ends, the bar's right end at `right`.
void mapScale(const Scene& scene, const State& page, const MapView& map, ImVec2 right, float width,
              const std::string& middle = "");
/// Numbers below a map's columns.
void columnNumbers(const State& page, const MapView& map, std::uint32_t color);

/// So many cells of `least` units fit, one at the least.
Index cellsThatFit(const View& view, float pixels, float least);
/// Pointing at a cell of queries × keys lights it everywhere, a click chooses it.
void chooseCell(Scene& scene, State& page, const MapHit& hit);

/// One factor of a formula, with its shape below.
struct FormulaPart {
  std::string text, shape;
  std::uint32_t color;
};
/// "S = Q₀ · K₀ᵀ" over "12×12 12×32 32×12".
void paintFormula(const View& view, ImVec2 at, const std::vector<FormulaPart>& parts, float width);

// The stages, one for each kind of step.
void dotStage(Scene& scene, State& page, const ImRect& area);
void mixStage(Scene& scene, State& page, const ImRect& area);
void projectStage(Scene& scene, State& page, const ImRect& area);
void outputStage(Scene& scene, State& page, const ImRect& area);
void changeStage(Scene& scene, State& page, const ImRect& area);
void splitStage(Scene& scene, State& page, const ImRect& area);
void inputStage(Scene& scene, State& page, const ImRect& area);

/// "0.88" as ".88"; whole numbers from ten on.
std::string shortNumber(float value, bool weight);

}  // namespace headscope::app::head_lab_page
