#include "app/compute/jobs/bytes_read.h"

#include <algorithm>

#include "attention/kernels/gemm.h"

namespace headscope::app {

namespace {

std::uint64_t bytesOf(const attention::MappedLinear& map) {
  std::uint64_t bytes = 0;
  for (const auto& piece : map.pieces) {
    const std::size_t numbers =
        static_cast<std::size_t>(map.out) / map.pieces.size() * static_cast<std::size_t>(map.in);
    bytes += attention::kernels::weightBytes(piece.type, numbers);
    if (piece.scales) bytes += numbers / attention::kernels::weightBlock(piece.type).numbers;
  }
  return bytes;
}

std::uint64_t rowBytes(const attention::MappedRows& table, attention::Index rows) {
  return attention::kernels::weightBytes(table.type, static_cast<std::size_t>(std::min(rows, table.rows)) *
                                                         static_cast<std::size_t>(table.cols));
}

}  // namespace

std::uint64_t bytesRead(const attention::Model& model, attention::Index layers, bool head,
                        attention::Index tokens) {
  const attention::ModelWeights& weights = model.weights();
  // Upper bound on the experts that the tokens can reach.
  const attention::Mixture& mixture = model.config().mixture;
  const attention::Index experts =
      tokens >= mixture.experts ? mixture.experts : std::min(tokens * mixture.used, mixture.experts);
  std::uint64_t bytes = rowBytes(weights.positions, tokens);
  for (attention::Index i = 0; i < layers; ++i) {
    const auto& layer = weights.layers[static_cast<std::size_t>(i)];
    for (const auto* map : attention::mapsOfToken(layer, experts)) bytes += bytesOf(*map);
  }
  // If the head shares the embedding matrix, the embedding rows are already counted.
  const bool tied = weights.head && !weights.head->pieces.empty() &&
                    weights.head->pieces.front().data == weights.embedding.data;
  if (head && weights.head) bytes += bytesOf(*weights.head);
  if (!(head && tied)) bytes += rowBytes(weights.embedding, tokens);
  return bytes;
}

}  // namespace headscope::app
