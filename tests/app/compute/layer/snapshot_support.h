#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/compute/layer/snapshot.h"

namespace headscope::test {

/// More than any test here needs.
inline constexpr app::Limits kRoomy{std::uint64_t{1} << 30};

/// The layers of a mask expression that has to be valid.
attention::MaskLayers layersFrom(const std::string& expression);

/// A small model with random weights and a kv head for each head, without any special features.
app::Setup plainSetup(const std::string& text);

/// A model of these independent sizes.
app::ModelSetup sizedModel(attention::Index heads, attention::Index kvHeads, attention::Index headDim,
                           attention::Index modelDim);

/// The snapshot of a Setup. Fails the test if it can't be computed.
app::Snapshot computed(const app::Setup& setup);

/// The error of a Setup that can't be computed.
app::PlacedError refused(const app::Setup& setup, const app::Limits& limits = kRoomy);

/// Checks what holds for every snapshot: it is an error, empty or computed, all shapes fit each other,
/// weights are finite, and each row sums to 1, or to 0 if it sees no key.
void expectConsistent(const app::Snapshot& snapshot);

/// How far two scores of the same tokens may differ if the sums were computed in different orders. A score is
/// a product of sums of modelDim terms, and itself a sum of headDim terms; each addition is off by at most
/// half an epsilon times the product of the norms.
float scoreTolerance(const app::Snapshot& snapshot);
/// The same for weights: exp doubles the error of the scores, once for the weight and once for the row's sum.
float weightTolerance(const app::Snapshot& snapshot);
/// The same for the weighted sums of values in a head's output.
float outputTolerance(const app::Snapshot& snapshot);

/// Whether all numbers are identical bit by bit.
bool sameBits(const attention::Stack& a, const attention::Stack& b);
bool sameBits(const attention::Matrix& a, const attention::Matrix& b);
bool sameBits(const attention::AttentionResult& a, const attention::AttentionResult& b);

}  // namespace headscope::test
