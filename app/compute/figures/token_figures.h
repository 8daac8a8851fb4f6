#pragma once

#include "app/compute/figures/drawing.h"
#include "app/compute/lessons/lesson_arrays.h"
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

/// Arrays below each other, with one scale for all bars. `hidden`, for a question: without the results.
Drawing arraysDrawing(std::span<const ArrayFigure> arrays, bool hidden, double width, double height,
                      const DrawingColors& colors);
/// The keys as points, their convex hull, the keys that win a query's row, and one query's direction.
Drawing planeDrawing(const PlaneFigure& figure, double width, double height, const DrawingColors& colors);

// Parts of these drawings.

/// The smallest type that the last row of a hall can read.
inline constexpr double kLeastType = 12;
Drawing emptyDrawing(const std::string& title, double width, double height, const DrawingColors& colors);
/// A row of numbers as bars from the frame's middle; `most` is its half height.
void addBars(Drawing& drawing, const attention::Vector& numbers, const Frame& frame, float most,
             const render::Color& color);
/// The colours' scale with its caption, on a line around `y` that ends on the right.
void addScale(Drawing& drawing, double y, const render::HeatmapStyle& style, const std::string& caption,
              const DrawingColors& colors);
/// A hand from the centre, with a tip.
void addHand(Drawing& drawing, double x, double y, double radius, double radians, const render::Color& color);

}  // namespace headscope::app
