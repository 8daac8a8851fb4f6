#include "attention/kernels/map_tasks.h"

#include <algorithm>
#include <cstring>

namespace headscope::attention::kernels {
namespace {

/// The most multiply-adds per task, so that a stop is noticed within milliseconds.
constexpr std::size_t kTaskWork = std::size_t{200} << 20;
/// The fewest rows per task: packing the weights, which each task does, takes a fifth of the work on this
/// many rows.
constexpr std::size_t kMinRows = 48;

std::size_t dividedUp(std::size_t size, std::size_t unit) {
  return (size + unit - 1) / unit;
}

}  // namespace

std::vector<MapTask> tasksFor(std::size_t rows, std::size_t in, std::span<const LinearMap> maps,
                              std::size_t panelRows, std::size_t threads) {
  const std::size_t most =
      std::clamp(kTaskWork / (kGemmColumns * std::max<std::size_t>(in, 1)), panelRows, kGemmRows);
  std::size_t groups = 0;
  for (const LinearMap& map : maps) groups += dividedUp(map.out, kGemmColumns);
  const std::size_t fewest = std::max<std::size_t>(dividedUp(rows, most), 1);
  const std::size_t parts = std::clamp(dividedUp(2 * threads, std::max<std::size_t>(groups, 1)), fewest,
                                       std::max(fewest, rows / kMinRows));
  // Divide rows evenly, rounded up to whole panels.
  const std::size_t step = std::max(dividedUp(dividedUp(rows, parts), panelRows) * panelRows, panelRows);
  std::vector<MapTask> tasks;
  for (const LinearMap& map : maps)
    for (std::size_t column = 0; column < map.out; column += kGemmColumns)
      for (std::size_t row = 0; row < rows; row += step)
        tasks.push_back(
            {&map, row, std::min(step, rows - row), column, std::min(kGemmColumns, map.out - column)});
  return tasks;
}

WeightColumns weightsOf(const MapTask& task, std::size_t in) {
  const LinearMap& map = *task.map;
  const std::size_t row = map.weightRow ? map.weightRow : map.transposed ? map.out : in;
  return {
      static_cast<const unsigned char*>(map.weight), map.type, map.transposed, row, task.column, map.paired,
      static_cast<const unsigned char*>(map.scales)};
}

const float* biasOf(const MapTask& task) {
  return task.map->bias ? task.map->bias + task.column : nullptr;
}

float* placeOf(const MapTask& task, std::size_t row, std::size_t column) {
  const Columns<float>& y = task.map->y;
  column += task.column;
  return y.data + column / y.width * y.groupStride + (task.row + row) * y.rowStride + column % y.width;
}

void scatter(const MapTask& task, const float* c, std::size_t cRow) {
  const Columns<float>& y = task.map->y;
  for (std::size_t column = 0; column < task.columns;) {
    const std::size_t count = std::min(task.columns - column, y.width - (task.column + column) % y.width);
    for (std::size_t row = 0; row < task.rows; ++row)
      std::memcpy(placeOf(task, row, column), c + row * cRow + column, count * sizeof(float));
    column += count;
  }
}

void gatherRow(std::size_t in, const Columns<const float>& x, std::size_t row, float* to) {
  for (std::size_t column = 0; column < in; column += x.width)
    std::memcpy(to + column, x.data + column / x.width * x.groupStride + row * x.rowStride,
                std::min(x.width, in - column) * sizeof(float));
}

}  // namespace headscope::attention::kernels
