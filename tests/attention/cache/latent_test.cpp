#include <gtest/gtest.h>

#include <cmath>

#include "attention/cache/kv_cache.h"
#include "attention/core/attention.h"
#include "attention/core/positions.h"
#include "attention/core/result.h"
#include "tests/attention/core/attention_reference.h"

namespace headscope::attention::test {
namespace {

TEST(Latent, ErrorFallsWithSizeAndVanishesAtFullSize) {
  const Linear keys{gaussianMatrix(12, 16, 1), {}}, values{gaussianMatrix(12, 16, 2), {}};
  const Matrix x = gaussianMatrix(9, 16, 3);
  const Matrix k = keys.apply(x), v = values.apply(x);
  double before = 1e9;
  for (Index latent = 1; latent <= 16; ++latent) {
    const Matrix p = latentDirections(keys, values, latent);
    EXPECT_EQ(p.cols(), latent);
    EXPECT_LE((p.transpose() * p - Matrix::Identity(latent, latent)).cwiseAbs().maxCoeff(), 1e-5f);
    const Matrix again = x * p * p.transpose();
    const double weights =
        static_cast<double>((keys.weight - keys.weight * p * p.transpose()).squaredNorm() +
                            (values.weight - values.weight * p * p.transpose()).squaredNorm());
    EXPECT_LE(weights, before);
    before = weights;
    if (latent < 16) continue;
    EXPECT_LE((keys.apply(again) - k).cwiseAbs().maxCoeff(), 1e-4f);
    EXPECT_LE((values.apply(again) - v).cwiseAbs().maxCoeff(), 1e-4f);
  }
}

TEST(Latent, FindsTheTrueRank) {
  // Maps that depend on only three directions of sixteen.
  const Matrix three = gaussianMatrix(3, 16, 4);
  const Linear keys{gaussianMatrix(10, 3, 5) * three, {}}, values{gaussianMatrix(10, 3, 6) * three, {}};
  const Matrix x = gaussianMatrix(5, 16, 7), p = latentDirections(keys, values, 3);
  EXPECT_LE((keys.apply(x * p * p.transpose()) - keys.apply(x)).cwiseAbs().maxCoeff(), 1e-3f);
}

TEST(Latent, HasAtMostAsManyDirectionsAsOutputs) {
  const Linear keys{gaussianMatrix(3, 16, 1), {}}, values{gaussianMatrix(2, 16, 2), {}};
  const Matrix x = gaussianMatrix(5, 16, 3), p = latentDirections(keys, values, 9);
  EXPECT_EQ(p.cols(), 5);
  EXPECT_LE((p.transpose() * p - Matrix::Identity(5, 5)).cwiseAbs().maxCoeff(), 1e-5f);
  EXPECT_LE((values.apply(x * p * p.transpose()) - values.apply(x)).cwiseAbs().maxCoeff(), 1e-4f);
  // The directions are the same whether there are fewer outputs than inputs or, padded with zeros, more.
  Linear padded{Matrix::Zero(20, 16), {}};
  padded.weight.topRows(3) = keys.weight;
  const Matrix first = latentDirections(keys, values, 2), same = latentDirections(padded, values, 2);
  EXPECT_LE((first * first.transpose() - same * same.transpose()).cwiseAbs().maxCoeff(), 1e-4f);
}

/// A layer with 9 tokens, 4 query heads over 2 kv heads of size 6, and biases.
struct RotatedLayer {
  Index kvHeads = 2, headDim = 6, tokens = 9;
  Projections maps{{gaussianMatrix(24, 10, 1), gaussianMatrix(24, 1, 2)},
                   {gaussianMatrix(12, 10, 3), gaussianMatrix(12, 1, 4)},
                   {gaussianMatrix(12, 10, 5), {}},
                   {}};
  Matrix x = gaussianMatrix(9, 10, 6), table = ropeTable(0, 9, 6, 100);
};

TEST(Latent, HeadsShareRotaryKeysUnderOneRotation) {
  const RotatedLayer layer;
  for (const Index rotaryDim : {2, 4, 8}) {
    const LatentMaps maps = latentMaps(layer.maps, 2, 6, layer.table, 5, rotaryDim);
    EXPECT_EQ(maps.numbersPerToken(), 5 + rotaryDim);
    const Matrix& u = maps.rotary;
    EXPECT_LE((u.transpose() * u - Matrix::Identity(rotaryDim, rotaryDim)).cwiseAbs().maxCoeff(), 1e-5f);
    // A token caches rotaryDim numbers, as pairs rotated by their frequency's angle. Each head reads from
    // them what it would read from its own key, projected and then rotated.
    const Matrix shared = layer.maps.k.apply(layer.x) * u;
    Stack heads = splitHeads(readLatent(maps, layer.maps, layer.x).rotaryKeys, 2);
    for (Index g = 0; g < 2; ++g) applyRope(heads[g], layer.table);
    for (Index token = 0; token < layer.tokens; ++token) {
      Eigen::RowVectorXf cached = shared.row(token);
      for (Index i = 0; i < rotaryDim; i += 2) {
        Index pair = 0;
        u.col(i).cwiseAbs().maxCoeff(&pair);
        const double angle =
            static_cast<double>(token) * std::pow(100.0, -2.0 * static_cast<double>(pair % 3) / 6);
        const auto c = static_cast<float>(std::cos(angle)), s = static_cast<float>(std::sin(angle));
        cached.segment(i, 2) << shared(token, i) * c - shared(token, i + 1) * s,
            shared(token, i + 1) * c + shared(token, i) * s;
      }
      const Eigen::RowVectorXf read = cached * u.transpose();
      for (Index g = 0; g < 2; ++g)
        EXPECT_LE((heads[g].row(token) - read.segment(6 * g, 6)).cwiseAbs().maxCoeff(), 1e-4f);
    }
  }
}

TEST(Latent, PlainAndRotaryPartsRestoreTheFullKey) {
  const RotatedLayer layer;
  const Matrix k = layer.maps.k.apply(layer.x), v = layer.maps.v.apply(layer.x);
  for (const Index rotaryDim : {0, 4, 12}) {
    const LatentRead read =
        readLatent(latentMaps(layer.maps, 2, 6, layer.table, 10, rotaryDim), layer.maps, layer.x);
    EXPECT_LE((read.plainKeys + read.rotaryKeys - k).cwiseAbs().maxCoeff(), 1e-4f) << rotaryDim;
    EXPECT_LE((read.values - v).cwiseAbs().maxCoeff(), 1e-4f);
    const Matrix& none = rotaryDim == 0 ? read.rotaryKeys : read.plainKeys;
    if (rotaryDim != 4) {
      EXPECT_LE(none.cwiseAbs().maxCoeff(), 1e-4f) << rotaryDim;
    }
  }
}

TEST(Latent, FastestPairsKeepTheirRotationFirst) {
  // All pairs are equal except for their frequency.
  Linear alike{Matrix::Zero(6, 10), {}};
  for (Index row = 0; row < 6; ++row) alike.weight(row, row) = 1;
  const Matrix u = rotaryDirections(alike, alike, 1, 6, ropeTable(0, 9, 6, 100), 2);
  EXPECT_NEAR(u.row(0).norm(), 1, 1e-5f);
  EXPECT_NEAR(u.row(3).norm(), 1, 1e-5f);
}

TEST(Latent, RefusesInvalidArguments) {
  const Linear keys{gaussianMatrix(4, 8, 1), {}}, values{gaussianMatrix(4, 8, 2), {}};
  EXPECT_THROW(latentDirections(keys, values, 0), std::invalid_argument);
  EXPECT_THROW(latentDirections(keys, values, 9), std::invalid_argument);
  EXPECT_THROW(latentDirections(keys, {gaussianMatrix(4, 7, 2), {}}, 2), std::invalid_argument);
  const Matrix table = ropeTable(0, 3, 4, 100);
  EXPECT_THROW(rotaryDirections(keys, keys, 1, 4, table, 3), std::invalid_argument);
  EXPECT_THROW(rotaryDirections(keys, keys, 1, 4, table, 6), std::invalid_argument);
  EXPECT_THROW(rotaryDirections(keys, keys, 2, 4, table, 2), std::invalid_argument);
}

}  // namespace
}  // namespace headscope::attention::test
