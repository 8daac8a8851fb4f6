#pragma once

#include "app/scene/scene.h"

namespace headscope::app {

enum class PaintTool { look, brush, rectangle, row, column, diagonal, line };

/// One movement of the brush over the cells, from where it began to where it is. Rows and keys may lie beyond
/// the matrix.
struct Stroke {
  PaintTool tool = PaintTool::brush;
  Index fromRow = 0, fromKey = 0, toRow = 0, toKey = 0;
  Index size = 1;       ///< cells across: brush, line; rows, columns, diagonals side by side
  bool mirror = false;  ///< also with query and key exchanged
};

/// The cells a stroke covers in a queries × keys matrix: runs for each row, [queries].
std::vector<attention::KeyRuns> strokeCells(const Stroke& stroke, Index queries, Index keys);

/// Makes a stroke's cells visible or masked. The table grows to at least queries × keys.
void paint(attention::CellTable& table, const Stroke& stroke, Index queries, Index keys, bool visible);
/// Takes back what was painted there.
void erase(attention::CellTable& table, const Stroke& stroke, Index queries, Index keys);

/// Sets a stroke's cells of a matrix of score biases to `value`; the matrix grows to at least queries × keys,
/// with zeros.
void paint(attention::Matrix& additive, const Stroke& stroke, Index queries, Index keys, float value);

/// The painting that a stroke on `layers` goes to: the selected layer's if it is one, else that of the last
/// painted layer that is on, else a new one, for which a layer is added at the end. Returns its name.
std::string paintingFor(MaskSetup& mask, attention::MaskLayers& layers, Index& selected);

}  // namespace headscope::app
