#pragma once

#include "attention/core/tensor.h"

namespace headscope::attention {

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

}  // namespace headscope::attention
