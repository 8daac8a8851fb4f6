#pragma once

#include "app/compute/model/model_study.h"

namespace headscope::app {

// What studies of a model's predictions share.

/// Returns the indices of the largest values, largest first, at most `most`; NaN comes last.
std::vector<Index> largest(const Eigen::Ref<const Eigen::RowVectorXf>& values, std::size_t most);
/// Returns ln Σ exp of a row.
double logSumExp(const Eigen::Ref<const Eigen::RowVectorXf>& row);
/// softmax of every row, in place.
void toProbabilities(attention::Matrix& logits);

/// The logits of a stream's rows from `first` on: [rows, vocabulary].
using LogitPart = std::function<void(Index first, attention::Matrix& logits)>;
/// Calls `each` with the stream's logits part by part: those of all rows would be the largest matrix by far
/// for a large vocabulary. Returns "stopped" if `stop` is requested.
attention::Status forLogits(const attention::Model& model, const attention::Matrix& stream,
                            const std::stop_token& stop, const LogitPart& each);

/// Runs the first tokens of a text under `setup`, keeping only the stream and the logits asked for.
attention::Result<attention::PassResult> plainPass(const Setup& setup,
                                                   const std::vector<attention::Token>& tokens,
                                                   std::span<const Index> ids, attention::LogitRows logits,
                                                   Resources& resources, const std::stop_token& stop);

/// Says that `what`, as in "All heads would need", doesn't fit into the budget, and what to do.
attention::Error overBudget(const std::string& what, std::uint64_t needed, const MemoryBudget& memory,
                            const std::string& advice = "");

}  // namespace headscope::app
