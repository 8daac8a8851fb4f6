#pragma once

#include "app/compute/layer/layer_parts.h"
#include "attention/heads/principal_plane.h"

namespace headscope::app {

/// The values that make up one query's output.
struct HullQuestion {
  std::shared_ptr<const LayerParts> layer;
  Index head = 0, query = 0;
  bool operator==(const HullQuestion&) const = default;
};

/// A head's output is a mean of its values with weights that sum to 1, so it lies inside their convex hull.
/// Shown in the plane of the values' first two principal components.
struct HullStudy {
  HullQuestion question;
  attention::Plane plane;
  attention::Matrix values;    ///< [m, 2]
  std::vector<Index> corners;  ///< of the hull of the visible values, counter-clockwise
  std::vector<bool> visible;   ///< [m] by this query
  attention::Vector weights;   ///< [m]
  attention::Matrix outputs;   ///< [n, 2] of all queries
  double outside = 0;          ///< the distance of the query's output from the hull; 0 = inside
  double size = 0;             ///< the largest |coordinate|: the scale by which to judge `outside`
  bool mixes = true;           ///< whether the weights sum to 1: some key is visible and there is no dropout
};

/// Pure.
HullStudy studyHull(const HullQuestion& question);

}  // namespace headscope::app
