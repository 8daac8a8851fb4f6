#pragma once

#include "app/scene/scene.h"
#include "attention/masks/plain_rules.h"

namespace headscope::app {

// The most common masks, as switches over a list of layers.

using attention::layerOf;
using attention::layersOf;
using attention::PlainRules;

/// The first layer that is just `kind`, on or off: combined by AND, for all heads and lines, not negated.
/// Null if there is none.
const attention::Layer* plainLayer(const attention::MaskLayers& layers, attention::PatternKind kind);
bool hasRule(const attention::MaskLayers& layers, attention::PatternKind kind);
/// Turns the plain layer on or off. Adds one if it is to be on and there is none.
void setRule(attention::MaskLayers& layers, attention::PatternKind kind, bool on);
/// Applies the usual mask after cross-attention was turned on or off: a plain causal layer is off with
/// cross-attention and on without it.
void followCross(Setup& setup);

/// A layer's name, or the title of its pattern.
std::string layerTitle(const attention::Layer& layer);

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
