#pragma once

#include <cmath>

#include "attention/core/random.h"
#include "attention/models/session.h"

// What the tests of hybrids share.

namespace headscope::attention::test {

/// A request for all that a pass can keep.
inline PassRequest wholePass() {
  PassRequest request;
  request.weights = request.projections = request.hidden = request.between = request.mlp = true;
  request.logits = LogitRows::all;
  return request;
}

/// What sums in another order may differ by.
inline double tolerance(const Matrix& logits) {
  return 1e-4 * double{logits.cwiseAbs().maxCoeff()};
}

inline const std::vector<Index> kIds{3, 11, 0, 7, 7, 18, 4, 2, 3, 11, 5};

inline Matrix gaussian(Index rows, Index cols, std::uint64_t seed) {
  Matrix values(rows, cols);
  Random random(seed);
  for (float& value : values.reshaped()) value = 0.7F * random.gaussian();
  return values;
}

inline double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

}  // namespace headscope::attention::test
