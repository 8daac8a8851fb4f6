#include "attention/heads/convex_hull.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headscope::attention {

namespace {

struct Place {
  double x, y;
};

Place at(const Matrix& points, Index i) {
  return {points(i, 0), points(i, 1)};
}

/// Returns a positive number if c lies to the left of the line from a to b.
double turn(const Place& a, const Place& b, const Place& c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

double distanceToEdge(const Place& a, const Place& b, const Place& p) {
  const double dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
  const double t = length > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length, 0.0, 1.0) : 0;
  return std::hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

}  // namespace

std::vector<Index> convexHull(const Matrix& points) {
  std::vector<Index> order;
  for (Index i = 0; i < points.rows(); ++i)
    if (std::isfinite(points(i, 0)) && std::isfinite(points(i, 1))) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](Index a, Index b) {
    return points(a, 0) != points(b, 0) ? points(a, 0) < points(b, 0) : points(a, 1) < points(b, 1);
  });
  const auto same = [&](Index a, Index b) { return points.row(a) == points.row(b); };
  order.erase(std::unique(order.begin(), order.end(), same), order.end());
  if (order.size() < 3) return order;
  std::vector<Index> corners;
  // The lower chain from left to right, then the upper one back.
  for (const bool upper : {false, true}) {
    const std::size_t from = corners.size();
    for (const Index i : order) {
      while (corners.size() >= from + 2 &&
             turn(at(points, corners[corners.size() - 2]), at(points, corners.back()), at(points, i)) <= 0)
        corners.pop_back();
      corners.push_back(i);
    }
    corners.pop_back();  // the first of the next chain
    if (!upper) std::reverse(order.begin(), order.end());
  }
  return corners;
}

double distanceOutside(const Matrix& points, const std::vector<Index>& corners, float x, float y) {
  const Place p{x, y};
  double nearest = std::numeric_limits<double>::infinity();
  bool inside = corners.size() >= 3;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const Place a = at(points, corners[i]), b = at(points, corners[(i + 1) % corners.size()]);
    inside = inside && turn(a, b, p) >= 0;
    nearest = std::min(nearest, distanceToEdge(a, b, p));
  }
  return inside ? 0 : nearest;
}

}  // namespace headscope::attention
