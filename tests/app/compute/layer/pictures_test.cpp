#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "app/compute/cache/cache_studies.h"
#include "app/compute/layer/snapshot.h"
#include "render/heatmap.h"
#include "tests/app/compute/layer/snapshot_support.h"
#include "tests/app/scene/random_scene.h"

namespace headscope::app {
namespace {

using attention::AttentionResult;
using attention::Matrix;
using attention::Stack;
using render::kDeadCell;
using render::kMaskedCell;
using test::Dice;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// Heads with random scores, some of them masked; every fifth row sees nothing.
AttentionResult randomResult(Dice& dice, Index heads, Index rows, Index cols) {
  AttentionResult result;
  result.scores = Stack(heads, rows, cols);
  result.weights = Stack(heads, rows, cols);
  result.lse = Matrix::Zero(heads, rows);
  for (Index head = 0; head < heads; ++head)
    for (Index row = 0; row < rows; ++row) {
      const bool dead = dice.oneIn(5);
      if (dead) result.lse(head, row) = kMaskedCell;
      for (Index col = 0; col < cols; ++col) {
        const bool masked = dead || dice.oneIn(3);
        result.scores[head](row, col) = masked ? kMaskedCell : static_cast<float>(dice.real(-9, 9));
        result.weights[head](row, col) = masked ? 0.0F : static_cast<float>(dice.real(0, 1));
      }
    }
  return result;
}

/// The expected value of one cell of a head, as described in render/heatmap.h.
float markedCell(const AttentionResult& result, Index head, Quantity quantity, Index row, Index col) {
  if (result.lse(head, row) == kMaskedCell) return kDeadCell;
  if (result.scores.at(head, row, col) == kMaskedCell) return kMaskedCell;
  return quantity == Quantity::weights ? result.weights.at(head, row, col) : result.scores.at(head, row, col);
}

/// The largest value of a block: numbers before dead rows before masked cells, which is also their order as
/// floats.
float pooledCell(const AttentionResult& result, Index head, Quantity quantity, int factor, Index row,
                 Index col) {
  float most = kMaskedCell;
  for (Index r = row * factor; r < std::min((row + 1) * factor, result.weights.rows()); ++r)
    for (Index c = col * factor; c < std::min((col + 1) * factor, result.weights.cols()); ++c)
      most = std::max(most, markedCell(result, head, quantity, r, c));
  return most;
}

void expectPicture(const AttentionResult& result, Index head, Quantity quantity, int factor,
                   const attention::MatrixView& picture) {
  ASSERT_EQ(picture.rows(), (result.weights.rows() + factor - 1) / factor);
  ASSERT_EQ(picture.cols(), (result.weights.cols() + factor - 1) / factor);
  for (Index row = 0; row < picture.rows(); ++row)
    for (Index col = 0; col < picture.cols(); ++col)
      ASSERT_EQ(picture(row, col), pooledCell(result, head, quantity, factor, row, col))
          << "head " << head << " at " << row << ", " << col << " by " << factor;
}

TEST(Pictures, MarksMaskedCellsAndDeadRowsAtEveryLevel) {
  Dice dice(1);
  for (const auto& [rows, cols] :
       {std::pair<Index, Index>{1, 1}, {7, 5}, {48, 48}, {49, 3}, {2, 130}, {513, 40}}) {
    const AttentionResult result = randomResult(dice, 3, rows, cols);
    const HeadPictures pictures = drawPictures(result, result.weights, {});
    for (const PictureLevel& level : pictures.levels)
      for (const Quantity quantity : {Quantity::weights, Quantity::scores})
        for (Index head = 0; head < 3; ++head)
          expectPicture(result, head, quantity, level.factor, level.of(quantity)[head]);
  }
}

TEST(Pictures, LevelsHalveInSize) {
  Dice dice(2);
  for (const auto& [rows, cols] :
       {std::pair<Index, Index>{1, 1}, {48, 1}, {49, 49}, {512, 512}, {513, 1}, {1, 2048}}) {
    const AttentionResult result = randomResult(dice, 1, rows, cols);
    const HeadPictures pictures = drawPictures(result, result.weights, {});
    ASSERT_FALSE(pictures.levels.empty());
    const Index longer = std::max(rows, cols);
    int factor = pictures.levels.front().factor;
    EXPECT_EQ(factor == 1, longer <= HeadPictures::kFinest) << longer << " cells are pooled by " << factor;
    for (const PictureLevel& level : pictures.levels) {
      EXPECT_EQ(level.factor, factor);
      factor *= 2;
      EXPECT_LE(std::max(level.weights.rows(), level.weights.cols()), HeadPictures::kFinest);
    }
    const PictureLevel& coarsest = pictures.levels.back();
    EXPECT_LE(std::max(coarsest.weights.rows(), coarsest.weights.cols()), HeadPictures::kCoarsest);
    for (float pixels = 1; pixels < 1200; pixels *= 1.3F) {
      const PictureLevel& chosen = pictures.levelFor(pixels);
      const auto size = static_cast<float>(std::max(chosen.weights.rows(), chosen.weights.cols()));
      EXPECT_TRUE(size <= pixels || &chosen == &coarsest) << "cells smaller than a pixel";
      EXPECT_TRUE(&chosen == &pictures.levels.front() || 2 * size > pixels - 2) << "a finer level would fit";
    }
  }
}

TEST(Pictures, RangesIgnoreNonFiniteValues) {
  Dice dice(3);
  AttentionResult result = randomResult(dice, 3, 6, 6);
  result.scores[1].setConstant(kMaskedCell);
  result.weights[1].setZero();
  result.lse.row(1).setConstant(kMaskedCell);
  result.scores[2].setConstant(2.5F);
  result.scores[2](0, 0) = kNaN;
  result.scores[2](1, 1) = std::numeric_limits<float>::infinity();
  const HeadPictures pictures = drawPictures(result, result.weights, {});
  EXPECT_EQ(pictures.minScore[1], 0);
  EXPECT_EQ(pictures.maxScore[1], 0);
  EXPECT_EQ(pictures.maxWeight[1], 0);
  EXPECT_EQ(pictures.minScore[2], 2.5F);
  EXPECT_EQ(pictures.maxScore[2], 2.5F);
  EXPECT_LT(pictures.minScore[0], pictures.maxScore[0]);
  EXPECT_EQ(pictures.maxWeight[0], result.weights[0].maxCoeff());
}

TEST(Pictures, PoolingKeepsNan) {
  Dice dice(4);
  AttentionResult result = randomResult(dice, 1, 600, 600);
  result.lse(0, 300) = 0;
  result.scores[0](300, 17) = result.weights[0](300, 17) = kNaN;
  const HeadPictures pictures = drawPictures(result, result.weights, {});
  for (const PictureLevel& level : pictures.levels)
    for (const Quantity quantity : {Quantity::weights, Quantity::scores})
      EXPECT_TRUE(std::isnan(level.of(quantity).at(0, 300 / level.factor, 17 / level.factor)))
          << level.factor;
}

TEST(Pictures, DrawsOneHeadAtAnySize) {
  Dice dice(5);
  const AttentionResult result = randomResult(dice, 2, 33, 20);
  for (const int factor : {1, 2, 3, 4, 7, 40})
    for (const Quantity quantity : {Quantity::weights, Quantity::scores}) {
      const Matrix picture =
          drawHead(result, quantity == Quantity::scores ? result.scores : result.weights, 1, factor);
      expectPicture(result, 1, quantity, factor, {picture.data(), picture.rows(), picture.cols()});
    }
}

TEST(Pictures, StopsBetweenHeads) {
  Dice dice(6);
  std::stop_source stop;
  stop.request_stop();
  const AttentionResult result = randomResult(dice, 2, 100, 100);
  drawPictures(result, result.weights, stop.get_token());
}

/// Random keys [kvHeads, m, headDim] and as many random values.
AttentionResult randomCache(Dice& dice, Index kvHeads, Index keys, Index headDim, float size) {
  AttentionResult result;
  result.k = result.v = Stack(kvHeads, keys, headDim);
  for (Stack* stack : {&result.k, &result.v})
    for (Index i = 0; i < stack->size(); ++i)
      stack->data()[i] = static_cast<float>(dice.real(-1, 1)) * size * (stack == &result.v ? 3.0F : 1.0F);
  return result;
}

float largest(const Stack& stack, Index kvHead, Index key) {
  return stack[kvHead].row(key).cwiseAbs().maxCoeff();
}

TEST(CachePicture, ShowsTheLargestValueOfEveryKey) {
  Dice dice(7);
  for (const Index headDim : {1, 8, 24, 25, 32, 100, 512})
    for (const float size : {1.0F, 1e30F, 1e-30F, 1e-42F}) {
      const AttentionResult result = randomCache(dice, 3, 5, headDim, size);
      const Stack picture = cachePicture(result, cacheGrain(result, 24, 5));
      ASSERT_EQ(picture.count(), 6);
      ASSERT_EQ(picture.cols(), 5);
      ASSERT_LE(picture.rows(), headDim);
      for (const Stack* from : {&result.k, &result.v}) {
        const Index offset = from == &result.v;
        float most = 0;
        for (Index i = 0; i < from->size(); ++i) most = std::max(most, std::abs(from->data()[i]));
        for (Index kvHead = 0; kvHead < 3; ++kvHead)
          for (Index key = 0; key < 5; ++key) {
            const attention::MatrixView strip = picture[2 * kvHead + offset];
            ASSERT_TRUE(strip.allFinite());
            ASSERT_LE(strip.cwiseAbs().maxCoeff(), 1.0F);
            ASSERT_FLOAT_EQ(strip.col(key).cwiseAbs().maxCoeff(), largest(*from, kvHead, key) / most)
                << headDim << " " << size;
          }
      }
    }
}

TEST(CachePicture, KeepsTheOrderOfDimensions) {
  AttentionResult result;
  result.k = result.v = Stack(1, 2, 48);
  result.k[0](1, 47) = -2;
  result.v[0](0, 0) = 1;
  const Stack picture = cachePicture(result, {2, 1});
  EXPECT_EQ(picture.at(0, picture.rows() - 1, 1), -1.0F) << "with its sign";
  EXPECT_EQ(picture.at(1, 0, 0), 1.0F);
  EXPECT_EQ(picture[0].cwiseAbs().sum() + picture[1].cwiseAbs().sum(), 2.0F) << "all else is zero";
}

TEST(CachePicture, ZerosStayZeroAndNoCacheIsEmpty) {
  AttentionResult zeros;
  zeros.k = zeros.v = Stack(2, 3, 4);
  EXPECT_EQ(cachePicture(zeros, {})[0].sum(), 0.0F);
  EXPECT_TRUE(cachePicture({}, {}).empty());
}

}  // namespace
}  // namespace headscope::app
