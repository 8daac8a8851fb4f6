#pragma once

#include <vector>

#include "attention/core/tensor.h"

namespace headscope::attention {

/// The corners of the convex hull of points [n, 2], by their row, counter-clockwise where y grows upwards,
/// without those on an edge (Andrew 1979, monotone chain). Points in one place or on one line have one or
/// two corners; points that aren't finite are passed over.
std::vector<Index> convexHull(const Matrix& points);

/// How far a place lies outside the hull with these corners; 0 inside and on its edge.
double distanceOutside(const Matrix& points, const std::vector<Index>& corners, float x, float y);

}  // namespace headscope::attention
