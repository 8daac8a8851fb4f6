#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "attention/kernels/gemm_block.h"
#include "attention/kernels/linear_map.h"

namespace headscope::attention::kernels {

/// Some outputs of a map for some rows of input.
struct MapTask {
  const LinearMap* map = nullptr;
  std::size_t row = 0, rows = 0, column = 0, columns = 0;
};

/// The outputs of all maps by kGemmColumns at a time, for `rows` rows of input by multiples of `panelRows`.
/// Rows are split further where there would be fewer than two tasks a thread.
std::vector<MapTask> tasksFor(std::size_t rows, std::size_t in, std::span<const LinearMap> maps,
                              std::size_t panelRows, std::size_t threads = 1);

/// The weights of a task's outputs.
WeightColumns weightsOf(const MapTask& task, std::size_t in);

/// Of a task's outputs; null where the map has none.
const float* biasOf(const MapTask& task);

/// Where an output of a task belongs: both counted from the task's first.
float* placeOf(const MapTask& task, std::size_t row, std::size_t column);

/// From c [rows, cRow] to where a task's outputs belong, group by group.
void scatter(const MapTask& task, const float* c, std::size_t cRow);

/// Columns 0 … in−1 of a row behind each other.
void gatherRow(std::size_t in, const Columns<const float>& x, std::size_t row, float* to);

}  // namespace headscope::attention::kernels
