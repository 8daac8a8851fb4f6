// Each head's contribution to a layer's output, and the plane and hull of its values.

#include <gtest/gtest.h>

#include "attention/cache/kv_cache.h"
#include "attention/heads/head_steps.h"
#include "attention/heads/head_views.h"
#include "attention/heads/vector_geometry.h"
#include "tests/attention/core/textbook.h"

namespace headscope::attention::test {
namespace {

AttentionConfig sharedConfig() {
  AttentionConfig config;
  config.modelDim = 24;
  config.heads = 6;
  config.kvHeads = 2;
  config.headDim = 4;
  return config;
}

struct SharedLayer {
  AttentionConfig config = sharedConfig();
  Projections projections = xavierProjections(config, true, 3);
  Matrix x = Matrix::Random(9, 24);
  AttentionResult result = attend(config, projections, x, x, {});
  HeadShares shares() const {
    return headShares({result.headOutput,
                       [this](Index head) -> Matrix { return projections.o.weight.middleCols(head * 4, 4); },
                       projections.o.bias, result.output, 9});
  }
};

TEST(HeadShares, AddUpToTheOutput) {
  const SharedLayer layer;
  const HeadShares shares = layer.shares();
  // A sum of heads · headDim products of floats.
  EXPECT_LT(shares.gap, 24 * 1.2e-7 * shares.largest * 2);
  EXPECT_GT(shares.largest, 0);
  for (Index i = 0; i < 9; ++i) {
    EXPECT_NEAR(shares.part.col(i).sum() + shares.biasPart[i], 1, 1e-5);
    EXPECT_NEAR(shares.whole[i], layer.result.output.row(i).norm(), 1e-5);
    EXPECT_GT(shares.biasAmount[i], 0);
  }
}

TEST(HeadShares, MatchTheChangeFromSwitchingOffTheHead) {
  const SharedLayer layer;
  const HeadShares shares = layer.shares();
  for (Index head = 0; head < 6; ++head) {
    for (const bool mean : {false, true}) {
      Stack heads = layer.result.headOutput;
      HeadSwitch how;
      if (mean) {
        how.mean = {head};
      } else {
        how.scale.assign(6, 1);
        how.scale[static_cast<std::size_t>(head)] = 0;
      }
      switchHeads(heads, how, 9);
      const Matrix without = layer.projections.o.apply(mergeHeads(heads));
      const Vector change = rowChanges(layer.result.output, without);
      for (Index i = 0; i < 9; ++i)
        EXPECT_NEAR(change[i], mean ? shares.byMean(head, i) : shares.byZero(head, i), 1e-5);
    }
  }
}

TEST(HeadShares, ReportAmountAndDirection) {
  const SharedLayer layer;
  const HeadShares shares = layer.shares();
  const Matrix map = layer.projections.o.weight.middleCols(8, 4);
  const Eigen::RowVectorXf share = layer.result.headOutput[2].row(5) * map.transpose(),
                           whole = layer.result.output.row(5);
  EXPECT_NEAR(shares.amount(2, 5), share.norm(), 1e-5);
  EXPECT_NEAR(shares.cosine(2, 5), share.dot(whole) / share.norm() / whole.norm(), 1e-5);
  Matrix wrong = layer.result.output.leftCols(23);
  EXPECT_THROW(
      headShares({layer.result.headOutput, [&](Index) { return map; }, layer.projections.o.bias, wrong, 9}),
      std::invalid_argument);
}

TEST(SwitchHeads, LeavesOtherHeadsUnchanged) {
  const SharedLayer layer;
  Stack heads = layer.result.headOutput;
  switchHeads(heads, {}, 9);
  switchHeads(heads, {{1, 1, 0, 1, 1, 1}, {4}}, 5);
  for (const Index head : {0, 1, 3, 5}) EXPECT_TRUE(heads[head] == layer.result.headOutput[head]);
  EXPECT_TRUE(heads[2].isZero(0));
  const Eigen::RowVectorXf mean = layer.result.headOutput[4].topRows(5).colwise().mean();
  for (Index row = 0; row < 9; ++row) EXPECT_TRUE(heads[4].row(row) == mean) << "of the first rows, in all";
}

TEST(PrincipalPlane, FollowsTheWidestDirections) {
  Matrix points = Matrix::Zero(40, 7);
  for (Index i = 0; i < 40; ++i) {
    const float t = static_cast<float>(i) - 19.5f;
    points(i, 2) = 3 * t;
    points(i, 5) = i % 2 == 0 ? 4.0f : -4.0f;
    points.row(i).array() += 1;
  }
  const Plane plane = principalPlane(points);
  EXPECT_NEAR(plane.first[2], 1, 2e-3);
  EXPECT_NEAR(std::abs(plane.second[5]), 1, 2e-3);
  EXPECT_NEAR(plane.first.dot(plane.second), 0, 1e-6);
  EXPECT_NEAR(plane.firstShare + plane.secondShare, 1, 1e-6) << "there are no other directions";
  EXPECT_NEAR(plane.mean[0], 1, 1e-6);
  const Matrix places = onPlane(plane, points);
  EXPECT_NEAR((places.row(3) - places.row(8)).norm(), (points.row(3) - points.row(8)).norm(), 1e-3)
      << "distances on the plane are those of the points, which lie in it";
}

TEST(PrincipalPlane, ExistsForAnyPoints) {
  const Plane one = principalPlane(Matrix::Constant(1, 5, 2.0f));
  EXPECT_NEAR(one.first.norm(), 1, 1e-6);
  EXPECT_NEAR(one.second.norm(), 1, 1e-6);
  EXPECT_NEAR(one.first.dot(one.second), 0, 1e-6);
  EXPECT_EQ(one.firstShare, 0);
  EXPECT_EQ(principalPlane(Matrix::Random(6, 1)).second.norm(), 0) << "one dimension has no second";
  const Matrix wide = Matrix::Random(5, 60), high = Matrix::Random(60, 5);
  EXPECT_NEAR(principalPlane(wide).first.norm(), 1, 1e-6);
  EXPECT_NEAR(principalPlane(high).first.norm(), 1, 1e-6);
  EXPECT_THROW(principalPlane(Matrix(0, 4)), std::invalid_argument);
  EXPECT_THROW(planeOfDimensions(4, 0, 4), std::invalid_argument);
  EXPECT_TRUE(onPlane(planeOfDimensions(60, 3, 7), wide).col(1) == wide.col(7));
}

TEST(ConvexHull, EnclosesAllPointsTightly) {
  Matrix points(7, 2);
  points << 0, 0, 4, 0, 4, 4, 0, 4, 2, 2, 2, 0, 4, 4;
  const std::vector<Index> corners = convexHull(points);
  EXPECT_EQ(corners.size(), 4u) << "neither inside, nor on an edge, nor twice";
  EXPECT_EQ(distanceOutside(points, corners, 1, 3), 0);
  EXPECT_EQ(distanceOutside(points, corners, 4, 2), 0);
  EXPECT_NEAR(distanceOutside(points, corners, 7, 2), 3, 1e-9);
  EXPECT_NEAR(distanceOutside(points, corners, 7, 8), 5, 1e-9);
}

TEST(ConvexHull, DegeneratesToLineOrPoint) {
  Matrix line(4, 2);
  line << 0, 0, 1, 1, 3, 3, 2, 2;
  EXPECT_EQ(convexHull(line).size(), 2u);
  EXPECT_NEAR(distanceOutside(line, convexHull(line), 2.5f, 2.5f), 0, 1e-9);
  EXPECT_NEAR(distanceOutside(line, convexHull(line), 4, 3), 1, 1e-9);
  EXPECT_EQ(convexHull(Matrix::Ones(3, 2)).size(), 1u);
  EXPECT_TRUE(convexHull(Matrix(0, 2)).empty());
}

TEST(ConvexHull, ContainsEveryWeightedMean) {
  const Matrix points = Matrix::Random(30, 2);
  const std::vector<Index> corners = convexHull(points);
  for (int round = 0; round < 50; ++round) {
    Vector weights = (Vector::Random(30).array() + 1).pow(4);
    weights /= weights.sum();
    const Eigen::RowVectorXf mean = weights.transpose() * points;
    EXPECT_LT(distanceOutside(points, corners, mean[0], mean[1]), 1e-6);
  }
}

}  // namespace
}  // namespace headscope::attention::test
