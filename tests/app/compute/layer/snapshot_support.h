#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/compute/layer/snapshot.h"

namespace headscope::test {

/// More than any test here needs.
inline constexpr app::Limits kRoomy{std::uint64_t{1} << 30};

/// The layers of an expression that has to be one.
attention::MaskLayers layersFrom(const std::string& expression);

/// A small model with random weights, each head with keys of its own: nothing about it is special.
app::Setup plainSetup(const std::string& text);

/// A model of these sizes, which don't follow from each other.
app::ModelSetup sizedModel(attention::Index heads, attention::Index kvHeads, attention::Index headDim,
                           attention::Index modelDim);

/// The snapshot of a Setup that can be computed; a failure of the test where it can't.
app::Snapshot computed(const app::Setup& setup);

/// The error of a Setup that can't be computed.
app::PlacedError refused(const app::Setup& setup, const app::Limits& limits = kRoomy);

/// Checks what holds for every snapshot: it is either an error, empty or computed, all shapes fit each other,
/// weights are finite, their rows sum to 1 or, where no key is visible, are 0.
void expectConsistent(const app::Snapshot& snapshot);

/// How far two scores of the same tokens may be apart when the sums were made in another order. A score is a
/// product of sums of modelDim terms, itself a sum of headDim terms: each addition is off by at most half an
/// epsilon of the product of the norms.
float scoreTolerance(const app::Snapshot& snapshot);
/// The same for weights: exp doubles what the scores are off by, once for the weight and once for the row's
/// sum.
float weightTolerance(const app::Snapshot& snapshot);
/// The same for values that the weights mix, in a head's output.
float outputTolerance(const app::Snapshot& snapshot);

/// Every number of both is the same to the bit.
bool sameBits(const attention::Stack& a, const attention::Stack& b);
bool sameBits(const attention::Matrix& a, const attention::Matrix& b);
bool sameBits(const attention::AttentionResult& a, const attention::AttentionResult& b);

}  // namespace headscope::test
