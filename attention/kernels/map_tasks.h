#pragma once

#include <span>

#include "attention/kernels/linear_map.h"
#include "attention/kernels/pool.h"

namespace headscope::attention::kernels {

/// Whether any of the maps can be computed in whole numbers.
bool anyDigits(std::span<const LinearMap> maps);

/// Like applyMaps() for one row, but only for maps that can be computed in whole numbers with it (digits.h).
/// Appends the other maps to `others`.
bool applyDigits(Pool& pool, std::size_t in, const Columns<const float>& x, std::span<const LinearMap> maps,
                 std::vector<LinearMap>& others, const std::stop_token& stop);

/// Some outputs of a map for some input rows.
struct MapTask {
  const LinearMap* map = nullptr;
  std::size_t row = 0, rows = 0, column = 0, columns = 0;
};

/// Divides the outputs of all maps into groups of kGemmColumns, and `rows` input rows into multiples of
/// `panelRows`. Splits rows further if there would be fewer than two tasks per thread.
std::vector<MapTask> tasksFor(std::size_t rows, std::size_t in, std::span<const LinearMap> maps,
                              std::size_t panelRows, std::size_t threads = 1);

/// Returns the weights of a task's outputs.
WeightColumns weightsOf(const MapTask& task, std::size_t in);

/// Returns the bias of a task's outputs; null if the map has none.
const float* biasOf(const MapTask& task);

/// Returns the address of an output; row and column are relative to the task's first.
float* placeOf(const MapTask& task, std::size_t row, std::size_t column);

/// Copies c [rows, cRow] to a task's outputs, group by group.
void scatter(const MapTask& task, const float* c, std::size_t cRow);

/// Copies columns 0 … in−1 of a row to contiguous memory.
void gatherRow(std::size_t in, const Columns<const float>& x, std::size_t row, float* to);

}  // namespace headscope::attention::kernels
