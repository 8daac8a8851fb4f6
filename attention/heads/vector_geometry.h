#pragma once

#include <optional>
#include <span>
#include <stop_token>
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

/// A plane through points: a point on it and two orthogonal unit directions.
struct Plane {
  Eigen::RowVectorXf mean, first, second;  ///< [dim]
  double firstShare = 0, secondShare = 0;  ///< share of the points' variance, 0 … 1

  bool empty() const { return mean.size() == 0; }
};

/// Returns the plane through the mean of points [n, dim] along their first two principal components (Pearson
/// 1901), each with its largest component positive. If the points span fewer directions, the others are any
/// orthogonal ones. If both n and dim exceed kMaxPlanePoints, the components are those of an even sample of
/// that many points. Throws std::invalid_argument without points or dimensions.
Plane principalPlane(const Eigen::Ref<const Matrix>& points);
inline constexpr Index kMaxPlanePoints = 512;

/// Returns the plane of two dimensions through the origin. Throws std::invalid_argument if one doesn't exist.
Plane planeOfDimensions(Index dim, Index first, Index second);

/// Returns the points' coordinates along both directions, relative to the plane's mean: [n, 2].
Matrix onPlane(const Plane& plane, const Eigen::Ref<const Matrix>& points);

/// Returns the shortest vector d [dims] with slopes·d ≥ least in all rows to within 0.001, slopes [n, dims]
/// and least [n]: Hildreth's method (1957), one row at a time. Empty if a row of zeros asks for more than 0,
/// if 2000 sweeps don't reach it, as where rows contradict each other, or once `stop` is requested.
std::optional<Vector> shortestStep(const Matrix& slopes, const Vector& least, std::stop_token stop = {});

/// Returns the cosine similarity of each pair of heads, Σ A·B / (‖A‖·‖B‖) over all cells: [heads, heads],
/// from 0 to 1, 1 on the diagonal. All weights have the same shape [n, m] and aren't negative. Incomplete
/// once `stop` is requested.
Matrix cosineSimilarity(std::span<const Matrix> heads, std::stop_token stop = {});
/// The same by 1 − the mean over rows of the Jensen–Shannon divergence in bits (Lin 1991), for rows that sum
/// to 1. Rows in which both heads are 0 are skipped.
Matrix jensenShannonSimilarity(std::span<const Matrix> heads, std::stop_token stop = {});

/// Returns at most `most` evenly spaced rows, to limit the cost of comparing all pairs of heads.
Matrix evenlySpacedRows(const MatrixView& weights, Index most);

/// Returns the heads in an order that puts similar ones together: clusters are joined by the largest mean
/// likeness between their heads (average linkage), oriented so that the most similar ends meet. Ties keep the
/// original order.
std::vector<Index> similarityOrder(const Matrix& likeness);

}  // namespace headscope::attention
