#pragma once

#include "attention/core/tensor.h"

namespace headscope::attention {

/// A plane through points: where their mean lies, and two orthogonal directions of length 1.
struct Plane {
  Eigen::RowVectorXf mean, first, second;  ///< [dim]
  double firstShare = 0, secondShare = 0;  ///< of the points' variance, 0 … 1

  bool empty() const { return mean.size() == 0; }
};

/// Points [n, dim] as they lie on a plane through their mean along their first two principal components
/// (Pearson 1901), each with its largest number positive. Where the points span fewer directions, the others
/// are any that are orthogonal. Of more than kMostPlanePoints points in as many dimensions the components
/// are those of so many, evenly chosen. Throws std::invalid_argument without points or dimensions.
Plane principalPlane(const Eigen::Ref<const Matrix>& points);
inline constexpr Index kMostPlanePoints = 512;

/// The plane of two of the dimensions, through the origin. Throws std::invalid_argument for others.
Plane planeOfDimensions(Index dim, Index first, Index second);

/// [n, 2]: how far along both directions the points lie from the plane's mean.
Matrix onPlane(const Plane& plane, const Eigen::Ref<const Matrix>& points);

}  // namespace headscope::attention
