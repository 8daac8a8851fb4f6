// A head's scores step by step, sums written out, and slices of checkpoints' weights.

#include "attention/heads/head_steps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "attention/cache/kv_cache.h"
#include "attention/core/activations.h"
#include "attention/core/decompositions.h"
#include "attention/heads/head_views.h"
#include "attention/heads/vector_geometry.h"
#include "attention/models/checkpoint/model_weights.h"
#include "tests/attention/core/textbook.h"

namespace headscope::attention::test {
namespace {

AttentionResult smallResult(const AttentionConfig& config) {
  const Matrix x = Matrix::Random(5, config.modelDim);
  return attend(config, xavierProjections(config, true, 3), x, x, {});
}

AttentionConfig stepsConfig() {
  AttentionConfig config;
  config.modelDim = 16;
  config.heads = 4;
  config.kvHeads = 2;
  config.headDim = 4;
  return config;
}

TEST(HeadSteps, ScoresWithoutBiasAreScaledDotProducts) {
  const AttentionConfig config = stepsConfig();
  const AttentionResult result = smallResult(config);
  for (Index head = 0; head < 4; ++head) {
    const HeadSteps steps = headSteps(config, {}, result, head);
    EXPECT_EQ(steps.biased.size(), 0);
    EXPECT_FLOAT_EQ(steps.factor, 0.5f);
    EXPECT_LT((steps.dots * steps.factor - result.scores[head]).cwiseAbs().maxCoeff(), 1e-5f);
  }
}

TEST(HeadSteps, BiasesAndSoftCapGiveTheStoredScores) {
  AttentionConfig config = stepsConfig();
  config.alibi = true;
  config.softcap = 2.0f;
  config.sharpness = 3;
  const AttentionResult result = smallResult(config);
  const HeadSteps steps = headSteps(config, {}, result, 2);
  ASSERT_EQ(steps.biased.size(), 25);
  EXPECT_LT((steps.biased - result.scores[2]).cwiseAbs().maxCoeff(), 1e-5f);
  EXPECT_FLOAT_EQ(steps.unmasked(3, 1), steps.biased(3, 1));
  EXPECT_THROW(headSteps(config, {}, result, 4), std::invalid_argument);
}

TEST(PoolFarthest, KeepsValueFarthestFromZeroIgnoringMaskedCells) {
  Matrix values(2, 6);
  values << 1, -3, 2, 0, -std::numeric_limits<float>::infinity(), 4, 0, 0, 0, 0, 0, 0;
  const Matrix pooled = poolByMagnitude(values, 1, 3);
  ASSERT_EQ(pooled.cols(), 3);
  EXPECT_EQ(pooled(0, 0), -3);
  EXPECT_EQ(pooled(0, 1), 2);
  EXPECT_EQ(pooled(0, 2), 4);
  EXPECT_EQ(poolByMagnitude(values, 2, 6), values) << "what fits stays as it is";
}

TEST(WorkedSum, ShowsLargestProductsAndSumsTheRest) {
  const std::vector<float> a{1, 2, -3, 0.5f}, b{1, 1, 2, 1};
  const WorkedSum all = workedSum(a, b, 4);
  EXPECT_EQ(all.terms.size(), 4u);
  EXPECT_EQ(all.omitted, 0);
  EXPECT_DOUBLE_EQ(all.terms.back().running, all.total);
  const WorkedSum some = workedSum(a, b, 2);
  ASSERT_EQ(some.terms.size(), 2u);
  EXPECT_EQ(some.terms[0].at, 1);
  EXPECT_EQ(some.terms[1].at, 2);
  EXPECT_EQ(some.omitted, 2);
  EXPECT_DOUBLE_EQ(some.terms.back().running + some.rest, some.total);
  EXPECT_DOUBLE_EQ(some.total, -2.5);
  const WorkedSum sparse = workedSum(std::vector<float>{0, 2, 0, 0}, b, 3);
  EXPECT_EQ(sparse.terms.size(), 1u) << "products of 0 take no place where not all have one";
  EXPECT_EQ(sparse.omitted, 3);
  EXPECT_TRUE(sparse.nothingOmitted);
  EXPECT_FALSE(some.nothingOmitted);
  const WorkedSum none = workedSum(std::vector<float>{0, 0, 0, 0}, b, 3);
  EXPECT_TRUE(none.terms.empty() && none.nothingOmitted) << "all are 0";
  const WorkedSum broken = workedSum(std::vector<float>{0, 0, NAN, 0}, b, 0);
  EXPECT_FALSE(broken.nothingOmitted);
  EXPECT_THROW(workedSum(a, std::vector<float>{1}, 4), std::invalid_argument);
}

/// A map of one piece over numbers in memory.
MappedLinear mapOver(const std::vector<float>& numbers, Index out, Index in, bool transposed) {
  MappedLinear map{.out = out, .in = in, .transposed = transposed};
  map.pieces.push_back({reinterpret_cast<const std::uint8_t*>(numbers.data()), WeightType::f32});
  map.row = transposed ? out : in;
  return map;
}

TEST(WeightSlices, MatchTheRowsAndColumnsThatApplyUses) {
  const std::vector<float> numbers{1, 2, 3, 4, 5, 6};
  for (const bool transposed : {false, true}) {
    const MappedLinear map = mapOver(numbers, 3, 2, transposed);
    const Matrix whole = map.apply(Matrix::Identity(2, 2), {}).transpose();  // [out, in]
    EXPECT_EQ(weightRows(map, 1, 2), whole.middleRows(1, 2));
    EXPECT_EQ(weightColumns(map, 1, 1), whole.col(1));
    EXPECT_EQ(biasRows(map, 0, 3), Vector::Zero(3));
    EXPECT_THROW(weightRows(map, 2, 2), std::invalid_argument);
  }
}

// Properties of a head's combined maps: singular values, rank, copying.

/// I − 2·v·vᵀ/|v|² of a random v: orthogonal.
Eigen::MatrixXd reflection(Index size) {
  const Eigen::VectorXd v = Eigen::VectorXd::Random(size).normalized();
  return Eigen::MatrixXd::Identity(size, size) - 2 * v * v.transpose();
}

TEST(SingularValues, MatchTheConstructedMatrix) {
  const Eigen::Vector<double, 5> built(1e3, 7, 7, 1e-6, 0);
  for (const auto& [rows, cols] : {std::pair<Index, Index>{5, 5}, {40, 5}, {5, 40}, {9, 7}}) {
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(rows, cols);
    matrix.diagonal().head(5) = built;
    const Eigen::VectorXd found = singularValues(reflection(rows) * matrix * reflection(cols));
    ASSERT_EQ(found.size(), std::min(rows, cols));
    for (Index i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], i < 5 ? built[i] : 0, 1e-11) << rows << "×" << cols;
  }
  EXPECT_EQ(singularValues(Eigen::MatrixXd(0, 3)).size(), 0);
}

TEST(Spectrum, MatchesTheFullProduct) {
  const Matrix a = Matrix::Random(24, 6), b = Matrix::Random(24, 6);
  const Spectrum spectrum = productSpectrum(a, b);
  const Eigen::MatrixXd whole = (a * b.transpose()).cast<double>();
  const Eigen::VectorXd expected = singularValues(whole);
  ASSERT_EQ(spectrum.singular.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_NEAR(spectrum.singular[i], expected[static_cast<Index>(i)], 1e-4);
  EXPECT_EQ(spectrum.rank, 6);
}

TEST(Spectrum, RankCountsIndependentDirections) {
  Matrix a = Matrix::Random(24, 6);
  const Matrix b = Matrix::Random(24, 6);
  a.col(4) = 2 * a.col(1);
  a.col(5).setZero();
  EXPECT_EQ(productSpectrum(a, b).rank, 4);
  EXPECT_EQ(productSpectrum(Matrix::Zero(24, 6), b).rank, 0);
  EXPECT_THROW(productSpectrum(a, Matrix::Zero(24, 5)), std::invalid_argument);
}

/// Even a weak direction in a product of random maps counts. Values near float's epsilon aren't rounding
/// errors, because everything after the maps is computed in double.
TEST(Spectrum, WeakDirectionCountsTowardsRank) {
  Matrix a = Matrix::Identity(24, 6);
  a(5, 5) = 1e-8f;
  EXPECT_EQ(productSpectrum(a, Matrix::Identity(24, 6)).rank, 6);
}

TEST(CopyingScore, IsOneForCopyingAndMinusOneForNegatingHeads) {
  const Matrix v = Matrix::Random(24, 6);
  EXPECT_NEAR(copyingScore(v, v), 1, 1e-6);
  EXPECT_NEAR(copyingScore(v, -v), -1, 1e-6);
  EXPECT_EQ(copyingScore(v, Matrix::Zero(24, 6)), 0);
  Matrix half = v;
  half.rightCols(3) *= -1;
  EXPECT_LT(std::abs(copyingScore(v, half)), 1);
}

TEST(ProductPicture, KeepsValuesFarthestFromZero) {
  const Matrix a = Matrix::Random(24, 6), b = Matrix::Random(24, 6);
  const Matrix whole = a * b.transpose();
  EXPECT_LT((productPicture(a, b, 24) - whole).cwiseAbs().maxCoeff(), 1e-5f);
  const Matrix pooled = productPicture(a, b, 5);
  ASSERT_EQ(pooled.rows(), 5);
  EXPECT_FLOAT_EQ(pooled.cwiseAbs().maxCoeff(), whole.cwiseAbs().maxCoeff());
}

// Each head's contribution to a layer's output, and the plane and hull of its values.

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

TEST(ShortestStep, SatisfiesEveryRowAndIsShortest) {
  Matrix slopes(3, 2);
  slopes << 1, 0, 0, 2, 1, 1;
  Vector least(3);
  least << 1, 2, -5;
  const std::optional<Vector> step = shortestStep(slopes, least);
  ASSERT_TRUE(step.has_value());
  EXPECT_NEAR((*step)[0], 1, 2e-3);
  EXPECT_NEAR((*step)[1], 1, 2e-3) << "2·1 is enough, and the third row asks for nothing";
  least << -1, -1, -1;
  EXPECT_EQ(shortestStep(slopes, least)->norm(), 0) << "what holds already isn't changed";
  // Both rows are met with equality, which is nearer than meeting either alone would suggest.
  Matrix skew(2, 2);
  skew << 1, 0, 1, 1;
  Vector both(2);
  both << 1, 3;
  EXPECT_LT((*shortestStep(skew, both) - Eigen::Vector2f(1.5f, 1.5f)).norm(), 5e-3f);
}

TEST(ShortestStep, HasNoneWhereRowsContradict) {
  Matrix slopes(2, 1);
  slopes << 1, -1;
  Vector least(2);
  least << 1, 1;
  EXPECT_EQ(shortestStep(slopes, least), std::nullopt);
  slopes << 0, 1;
  EXPECT_EQ(shortestStep(slopes, least), std::nullopt) << "nothing moves the first row";
  EXPECT_THROW(shortestStep(slopes, Vector::Zero(3)), std::invalid_argument);
}

}  // namespace
}  // namespace headscope::attention::test
