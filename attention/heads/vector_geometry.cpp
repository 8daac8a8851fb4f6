#include "attention/heads/vector_geometry.h"

#include <fmt/core.h>

#include <cmath>

#include "attention/core/decompositions.h"
#include "attention/core/parallel.h"
#include "attention/core/result.h"

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

namespace {

using Row = Eigen::RowVectorXd;

/// Removes the component along `other` and normalises the rest. Returns false if nothing remains.
bool straighten(Row& direction, const Row* other) {
  if (other) direction -= direction.dot(*other) * *other;
  const double length = direction.norm();
  if (length < 1e-12) return false;
  direction /= length;
  return true;
}

/// Returns a unit direction orthogonal to `other`.
Row anyDirection(Index dim, const Row* other) {
  for (Index d = 0; d < dim; ++d) {
    Row direction = Row::Unit(dim, d);
    if (straighten(direction, other)) return direction;
  }
  return Row::Zero(dim);  // a single dimension has no second direction
}

void pointUp(Row& direction) {
  Index at = 0;
  direction.cwiseAbs().maxCoeff(&at);
  if (direction[at] < 0) direction = -direction;
}

}  // namespace

Plane principalPlane(const Eigen::Ref<const Matrix>& points) {
  require(points.rows() > 0 && points.cols() > 0, "a plane needs at least one point");
  const Index dim = points.cols();
  const Index n = dim > kMaxPlanePoints ? std::min(points.rows(), kMaxPlanePoints) : points.rows();
  const Row mean = points.cast<double>().colwise().mean();
  Eigen::MatrixXd centred(n, dim);
  for (Index i = 0; i < n; ++i) centred.row(i) = points.row(i * points.rows() / n).cast<double>() - mean;
  // Both products have the same eigenvalues; use the smaller one.
  const bool byPoints = n < dim;
  const SymmetricEigen solved =
      symmetricEigen(gramInDouble(byPoints ? Eigen::MatrixXd(centred.transpose()) : centred));
  const Index last = solved.values.size() - 1;
  const double total = std::max(centred.squaredNorm(), 1e-300);
  Plane plane;
  plane.mean = mean.cast<float>();
  Row found[2];
  double shares[2] = {0, 0};
  for (Index c = 0; c < 2; ++c) {
    const Row* other = c == 1 ? &found[0] : nullptr;
    bool has = c <= last && solved.values[last - c] > total * 1e-12;
    if (has) {
      const Eigen::VectorXd vector = solved.vectors.col(last - c);
      found[c] = byPoints ? Row(vector.transpose() * centred) : Row(vector.transpose());
      has = straighten(found[c], other);
    }
    if (has) {
      shares[c] = solved.values[last - c] / total;
      pointUp(found[c]);
    } else {
      found[c] = anyDirection(dim, other);
    }
  }
  plane.first = found[0].cast<float>();
  plane.second = found[1].cast<float>();
  plane.firstShare = shares[0];
  plane.secondShare = shares[1];
  return plane;
}

Plane planeOfDimensions(Index dim, Index first, Index second) {
  require(first >= 0 && second >= 0 && first < dim && second < dim,
          "the plane's dimensions are " + std::to_string(first) + " and " + std::to_string(second) +
              ", expected two below " + std::to_string(dim));
  Plane plane;
  plane.mean = Eigen::RowVectorXf::Zero(dim);
  plane.first = Eigen::RowVectorXf::Unit(dim, first);
  plane.second = Eigen::RowVectorXf::Unit(dim, second);
  return plane;
}

Matrix onPlane(const Plane& plane, const Eigen::Ref<const Matrix>& points) {
  Matrix places(points.rows(), 2);
  for (Index i = 0; i < points.rows(); ++i) {
    const Eigen::RowVectorXf from = points.row(i) - plane.mean;
    places(i, 0) = from.dot(plane.first);
    places(i, 1) = from.dot(plane.second);
  }
  return places;
}

std::optional<Vector> shortestStep(const Matrix& slopes, const Vector& least, std::stop_token stop) {
  require(slopes.rows() == least.size(), fmt::format("{} limits for {} slopes", least.size(), slopes.rows()));
  constexpr int kSweeps = 2000;
  constexpr float kClose = 1e-3f;
  const Vector squares = slopes.rowwise().squaredNorm();
  const float tiny = 1e-9f * std::max(squares.size() ? squares.maxCoeff() : 0.0f, 1e-12f);
  Vector step = Vector::Zero(slopes.cols()), pull = Vector::Zero(least.size());
  for (int sweep = 0; sweep < kSweeps && !stop.stop_requested(); ++sweep) {
    float missing = 0;
    for (Index row = 0; row < least.size(); ++row) {
      const float lacks = least[row] - slopes.row(row).dot(step);
      missing = std::max(missing, lacks);
      if (squares[row] <= tiny) {
        if (lacks > kClose) return std::nullopt;
        continue;
      }
      // A row that was pulled too far, for others pull as well, lets go.
      const float by = std::max(-pull[row], lacks / squares[row]);
      pull[row] += by;
      step += by * slopes.row(row).transpose();
    }
    if (!step.allFinite()) return std::nullopt;
    if (missing <= kClose) return step;
  }
  return std::nullopt;
}

namespace {

void requireAlike(std::span<const Matrix> heads) {
  for (const Matrix& head : heads)
    require(head.rows() == heads[0].rows() && head.cols() == heads[0].cols(),
            "heads of different shapes: " + shapeText(heads[0].rows(), heads[0].cols()) + " and " +
                shapeText(head.rows(), head.cols()));
}

/// Returns Σ p·ln p over a row, with 0·ln 0 = 0.
template <class Row>
float negativeEntropy(const Row& row) {
  return (row * row.max(std::numeric_limits<float>::min()).log()).sum();
}

using Members = std::vector<Index>;

float meanBetween(const Matrix& likeness, const Members& a, const Members& b) {
  double sum = 0;
  for (const Index i : a)
    for (const Index j : b) sum += static_cast<double>(likeness(i, j));
  return static_cast<float>(sum / static_cast<double>(a.size() * b.size()));
}

/// Appends b to a, each reversed if needed so that the ends that meet are most similar.
Members joined(const Matrix& likeness, Members a, Members b) {
  float best = -1;
  bool turnA = false, turnB = false;
  for (const bool first : {false, true})
    for (const bool second : {false, true}) {
      const float meets = likeness(first ? a.front() : a.back(), second ? b.back() : b.front());
      if (!(meets > best)) continue;
      best = meets;
      turnA = first;
      turnB = second;
    }
  if (turnA) std::ranges::reverse(a);
  if (turnB) std::ranges::reverse(b);
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

Matrix cosineSimilarity(std::span<const Matrix> heads, std::stop_token stop) {
  requireAlike(heads);
  const Index count = std::ssize(heads);
  Matrix likeness = Matrix::Identity(count, count);
  if (count == 0) return likeness;
  Matrix products = Matrix::Zero(count, count), side(count, heads[0].cols());
  for (Index row = 0; row < heads[0].rows(); ++row) {
    if (stop.stop_requested()) return likeness;
    for (Index head = 0; head < count; ++head)
      side.row(head) = heads[static_cast<std::size_t>(head)].row(row);
    products += timesTransposed(side, side, stop);
  }
  for (Index a = 0; a < count; ++a)
    for (Index b = a + 1; b < count; ++b) {
      const float amount = std::sqrt(products(a, a)) * std::sqrt(products(b, b));
      likeness(a, b) = likeness(b, a) = amount > 0 ? std::clamp(products(a, b) / amount, 0.0f, 1.0f) : 0;
    }
  return likeness;
}

Matrix jensenShannonSimilarity(std::span<const Matrix> heads, std::stop_token stop) {
  requireAlike(heads);
  const Index count = std::ssize(heads);
  Matrix likeness = Matrix::Identity(count, count);
  std::vector<Vector> inner;  // Σ p·ln p of every row
  for (const Matrix& head : heads) {
    Vector each(head.rows());
    for (Index row = 0; row < each.size(); ++row) each[row] = negativeEntropy(head.row(row).array());
    inner.push_back(std::move(each));
  }
  forEach(count, stop, [&](Index a) {
    const auto first = static_cast<std::size_t>(a);
    Eigen::Array<float, 1, Eigen::Dynamic> middle(heads[first].cols());
    for (Index b = a + 1; b < count && !stop.stop_requested(); ++b) {
      const auto second = static_cast<std::size_t>(b);
      double divergence = 0;
      Index counted = 0;
      for (Index row = 0; row < heads[first].rows(); ++row) {
        middle = (heads[first].row(row).array() + heads[second].row(row).array()) / 2;
        if (middle.sum() <= 0) continue;
        divergence +=
            static_cast<double>((inner[first][row] + inner[second][row]) / 2 - negativeEntropy(middle));
        ++counted;
      }
      const double bits = counted ? divergence / static_cast<double>(counted) / std::log(2.0) : 0;
      likeness(a, b) = likeness(b, a) = static_cast<float>(std::clamp(1 - bits, 0.0, 1.0));
    }
  });
  return likeness;
}

Matrix evenlySpacedRows(const MatrixView& weights, Index most) {
  const Index rows = weights.rows(), count = std::min(rows, std::max<Index>(most, 1));
  Matrix chosen(count, weights.cols());
  for (Index i = 0; i < count; ++i) chosen.row(i) = weights.row((2 * i + 1) * rows / (2 * count));
  return chosen;
}

std::vector<Index> similarityOrder(const Matrix& likeness) {
  require(likeness.rows() == likeness.cols(),
          "a similarity matrix of heads is square, found " + shapeText(likeness.rows(), likeness.cols()));
  std::vector<Members> clusters;
  for (Index head = 0; head < likeness.rows(); ++head) clusters.push_back({head});
  while (clusters.size() > 1) {
    std::size_t first = 0, second = 1;
    float best = -1;
    for (std::size_t a = 0; a < clusters.size(); ++a)
      for (std::size_t b = a + 1; b < clusters.size(); ++b)
        if (const float mean = meanBetween(likeness, clusters[a], clusters[b]); mean > best) {
          best = mean;
          first = a;
          second = b;
        }
    clusters[first] = joined(likeness, std::move(clusters[first]), std::move(clusters[second]));
    clusters.erase(clusters.begin() + static_cast<std::ptrdiff_t>(second));
  }
  return clusters.empty() ? Members{} : clusters.front();
}

}  // namespace headscope::attention
