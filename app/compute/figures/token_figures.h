#pragma once

#include "app/compute/figures/drawing.h"
#include "app/compute/lessons/lesson_tokens.h"

namespace headscope::app {

/// The text above its place in the vocabulary. `hidden`, for a question about the compared tokens: without
/// their ids, and with the example's place.
Drawing idsDrawing(const TokenFigure& figure, bool hidden, double width, double height,
                   const DrawingColors& colors);
/// The table, its rows near the compared tokens, and the numbers of each of these as bars.
Drawing vectorsDrawing(const TokenFigure& figure, double width, double height, const DrawingColors& colors);
/// A clock for each pair of the query's numbers, with a hand for the first and the last compared position.
/// Requires pairs.
Drawing rotationDrawing(const TokenFigure& figure, double width, double height, const DrawingColors& colors);

}  // namespace headscope::app
