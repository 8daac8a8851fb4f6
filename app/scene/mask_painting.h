#pragma once

#include "app/scene/scene.h"

namespace headscope::app {

enum class PaintTool { look, brush, rectangle, row, column, diagonal, line };

/// One movement of the brush over the cells, from its start to its current position. Rows and keys may lie
/// outside the matrix.
struct Stroke {
  PaintTool tool = PaintTool::brush;
  Index fromRow = 0, fromKey = 0, toRow = 0, toKey = 0;
  Index size = 1;       ///< cells across for brush and line; number of adjacent rows, columns or diagonals
  bool mirror = false;  ///< also with query and key swapped
};

/// The cells that a stroke covers in a queries × keys matrix: the runs of each row, [queries].
std::vector<attention::KeyRuns> strokeCells(const Stroke& stroke, Index queries, Index keys);

/// Makes a stroke's cells visible or masked. Grows the table to at least queries × keys.
void paint(attention::CellTable& table, const Stroke& stroke, Index queries, Index keys, bool visible);
/// Removes what was painted on a stroke's cells. Grows the table in the same way.
void erase(attention::CellTable& table, const Stroke& stroke, Index queries, Index keys);

/// Sets a stroke's cells of a matrix of score biases to `value`. Grows the matrix to at least queries × keys,
/// with zeros.
void paint(attention::Matrix& additive, const Stroke& stroke, Index queries, Index keys, float value);

/// Returns the name of the painting that a stroke on `layers` edits: the selected layer's if it is one, else
/// that of the last painted layer that is on, else a new one in a layer added at the end. Selects the layer.
std::string paintingFor(MaskSetup& mask, attention::MaskLayers& layers, Index& selected);

}  // namespace headscope::app
