#include "attention/cache/latent.h"

#include <gtest/gtest.h>

#include "tests/attention/core/attention_reference.h"

namespace headscope::attention::test {
namespace {

TEST(Latent, isExactWhenItHoldsEverythingAndBetterTheLargerItIs) {
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

TEST(Latent, findsTheRankThereIs) {
  // Maps that look at three directions of sixteen alone.
  const Matrix three = gaussianMatrix(3, 16, 4);
  const Linear keys{gaussianMatrix(10, 3, 5) * three, {}}, values{gaussianMatrix(10, 3, 6) * three, {}};
  const Matrix x = gaussianMatrix(5, 16, 7), p = latentDirections(keys, values, 3);
  EXPECT_LE((keys.apply(x * p * p.transpose()) - keys.apply(x)).cwiseAbs().maxCoeff(), 1e-3f);
}

TEST(Latent, misuseIsNamed) {
  const Linear keys{gaussianMatrix(4, 8, 1), {}}, values{gaussianMatrix(4, 8, 2), {}};
  EXPECT_THROW(latentDirections(keys, values, 0), std::invalid_argument);
  EXPECT_THROW(latentDirections(keys, values, 9), std::invalid_argument);
  EXPECT_THROW(latentDirections(keys, {gaussianMatrix(4, 7, 2), {}}, 2), std::invalid_argument);
}

}  // namespace
}  // namespace headscope::attention::test
