#pragma once

#include <vector>

#include "attention/core/tensor.h"

namespace headscope::attention {

/// Returns the rows of the corners of the convex hull of points [n, 2], counter-clockwise with y upwards,
/// without points on an edge (Andrew 1979, monotone chain). Points in one place have one corner, points on a
/// line have two. Points that aren't finite are skipped.
std::vector<Index> convexHull(const Matrix& points);

/// Returns the distance of a place from the hull with these corners; 0 inside and on its edge. ∞ if there are
/// no corners.
double distanceOutside(const Matrix& points, const std::vector<Index>& corners, float x, float y);

}  // namespace headscope::attention
