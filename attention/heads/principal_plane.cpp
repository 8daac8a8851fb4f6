#include "attention/heads/principal_plane.h"

#include <cmath>

#include "attention/core/decompositions.h"
#include "attention/core/products.h"
#include "attention/core/result.h"

namespace headscope::attention {

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

}  // namespace headscope::attention
