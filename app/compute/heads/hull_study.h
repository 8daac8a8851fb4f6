#pragma once

#include "app/compute/layer/layer_parts.h"
#include "attention/heads/principal_plane.h"

namespace headscope::app {

/// The values that one query's output is mixed from.
struct HullQuestion {
  std::shared_ptr<const LayerParts> layer;
  Index head = 0, query = 0;
  bool operator==(const HullQuestion&) const = default;
};

/// A head's output is a mean of its values, weighted by weights that add up to 1, and so a point inside their
/// convex hull: all of it on the plane of the values' first two principal components.
struct HullStudy {
  HullQuestion question;
  attention::Plane plane;
  attention::Matrix values;    ///< [m, 2]
  std::vector<Index> corners;  ///< of the hull of the visible values, counter-clockwise
  std::vector<bool> visible;   ///< [m] by this query
  attention::Vector weights;   ///< [m]
  attention::Matrix outputs;   ///< [n, 2] of all queries
  double outside = 0;          ///< how far the query's output lies outside the hull
  double size = 0;             ///< the largest |coordinate|, which `outside` is small beside
  bool mixes = true;           ///< weights add up to 1: a key is visible, and there is no dropout
};

/// Pure.
HullStudy studyHull(const HullQuestion& question);

}  // namespace headscope::app
