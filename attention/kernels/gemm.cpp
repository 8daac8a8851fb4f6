#include "attention/kernels/gemm.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "attention/kernels/buffer.h"
#include "attention/kernels/gemm_block.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/kernels/gemm.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h, which sets the target that this is compiled for.
#include "attention/kernels/vector-inl.h"

// The loops around the product follow Goto and van de Geijn (2008): a panel of weights stays in the first
// cache, a block of input rows in the second, and both lie in the order they are read.

HWY_BEFORE_NAMESPACE();
namespace headscope::attention::kernels::HWY_NAMESPACE {

size_t rowsOfPanel() {
  return kRows;
}

size_t columnsOfPanel() {
  return panelColumns();
}

/// One panel of kRows input rows, transposed.
void packInput(const Columns<const float>& x, size_t row, size_t rows, size_t in, float* packed) {
  for (size_t column = 0; column < in; column += x.width)
    packPanel(x.data + column / x.width * x.groupStride + row * x.rowStride, x.rowStride, rows, kRows,
              std::min(x.width, in - column), packed + column * kRows);
}

/// kDepth steps of the sums of one block, from both operands in panels, added to c unless these are the
/// first.
void multiplyBlock(const GemmBlock& block, size_t step, size_t depth, const float* weights) {
  const size_t panel = panelColumns();
  for (size_t column = 0; column < block.columns; column += panel) {
    const float* const b = weights + column * depth;
    for (size_t row = 0; row < block.rows; row += kRows) {
      const float* const a = block.packed + row * block.in + step * kRows;
      productRows(std::min(kRows, block.rows - row), depth, a, 1, kRows, b, panel,
                  block.c + row * block.cRow + column, block.cRow, step > 0);
    }
  }
}

void gemmBlock(const GemmBlock& block, const float* weight, float* panels) {
  const size_t panel = panelColumns();
  for (size_t step = 0; step < block.in; step += kGemmDepth) {
    const size_t depth = std::min(kGemmDepth, block.in - step);
    for (size_t column = 0; column < block.columns; column += panel)
      packPanel(weight + column * block.in + step, block.in, std::min(panel, block.columns - column), panel,
                depth, panels + column * depth);
    multiplyBlock(block, step, depth, panels);
  }
}

/// Outputs first … first+count−1 of one input row: weights are read once and nothing is packed.
void mapRow(const float* x, const float* weight, const float* bias, size_t in, size_t count, float* y) {
  const Lane d;
  const size_t n = hn::Lanes(d);
  for (size_t o = 0; o < count; ++o) {
    const float* const w = weight + o * in;
    Lanes a = hn::Zero(d), b = a;
    size_t k = 0;
    for (; k + 2 * n <= in; k += 2 * n) {
      a = hn::MulAdd(hn::LoadU(d, w + k), hn::LoadU(d, x + k), a);
      b = hn::MulAdd(hn::LoadU(d, w + k + n), hn::LoadU(d, x + k + n), b);
    }
    float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(a, b)));
    for (; k < in; ++k) sum += w[k] * x[k];
    y[o] = sum + (bias ? bias[o] : 0.0f);
  }
}

}  // namespace headscope::attention::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headscope::attention::kernels {
namespace {

HWY_EXPORT(rowsOfPanel);
HWY_EXPORT(columnsOfPanel);
HWY_EXPORT(packInput);
HWY_EXPORT(gemmBlock);
HWY_EXPORT(mapRow);

/// Multiply-adds of a task at the most, so that a stop is noticed within milliseconds.
constexpr std::size_t kTaskWork = std::size_t{200} << 20;

struct Task {
  const LinearMap* map;
  std::size_t row, rows, column, columns;
};

std::vector<Task> tasksFor(std::size_t rows, std::size_t in, std::span<const LinearMap> maps,
                           std::size_t panelRows) {
  std::size_t step =
      std::clamp(kTaskWork / (kGemmColumns * std::max<std::size_t>(in, 1)), panelRows, kGemmRows);
  step = step / panelRows * panelRows;
  std::vector<Task> tasks;
  for (const LinearMap& map : maps)
    for (std::size_t column = 0; column < map.out; column += kGemmColumns)
      for (std::size_t row = 0; row < rows; row += step)
        tasks.push_back(
            {&map, row, std::min(step, rows - row), column, std::min(kGemmColumns, map.out - column)});
  return tasks;
}

void addBias(const Task& task, float* c, std::size_t cRow) {
  if (!task.map->bias) return;
  for (std::size_t row = 0; row < task.rows; ++row)
    for (std::size_t column = 0; column < task.columns; ++column)
      c[row * cRow + column] += task.map->bias[task.column + column];
}

float* place(const Columns<float>& y, std::size_t row, std::size_t column) {
  return y.data + column / y.width * y.groupStride + row * y.rowStride + column % y.width;
}

/// From a block to where its columns belong, group by group.
void scatter(const Task& task, const float* c, std::size_t cRow) {
  const Columns<float>& y = task.map->y;
  for (std::size_t column = 0; column < task.columns;) {
    const std::size_t count = std::min(task.columns - column, y.width - (task.column + column) % y.width);
    for (std::size_t row = 0; row < task.rows; ++row)
      std::memcpy(place(y, task.row + row, task.column + column), c + row * cRow + column,
                  count * sizeof(float));
    column += count;
  }
}

void perform(const Task& task, std::size_t in, const float* packed, std::size_t panel) {
  static thread_local Buffer panels, sums;
  const std::size_t wide = (task.columns + panel - 1) / panel * panel;
  const Columns<float>& y = task.map->y;
  // Straight to its place where whole panels fit it.
  const bool direct = wide == task.columns && task.column % y.width + task.columns <= y.width;
  GemmBlock block{.packed = packed + task.row * in, .in = in, .rows = task.rows, .columns = task.columns};
  block.c = direct ? place(y, task.row, task.column) : sums.atLeast(task.rows * wide);
  block.cRow = direct ? y.rowStride : wide;
  HWY_DYNAMIC_DISPATCH(gemmBlock)
  (block, task.map->weight + task.column * in, panels.atLeast(wide * std::min(in, kGemmDepth)));
  addBias(task, block.c, block.cRow);
  if (!direct) scatter(task, block.c, block.cRow);
}

/// One row has no use for panels: each weight takes part once.
bool applyToRow(Pool& pool, std::size_t in, const Columns<const float>& x, std::span<const LinearMap> maps,
                const std::stop_token& stop) {
  static thread_local std::vector<float> kept;
  std::vector<float> row = std::move(kept);
  row.clear();
  for (std::size_t column = 0; column < in; column += x.width) {
    const float* const group = x.data + column / x.width * x.groupStride;
    row.insert(row.end(), group, group + std::min(x.width, in - column));
  }
  const std::vector<Task> tasks = tasksFor(1, in, maps, 1);
  const bool done = pool.run(tasks.size(), stop, [&](std::size_t i) {
    const Task& task = tasks[i];
    float sums[kGemmColumns];
    HWY_DYNAMIC_DISPATCH(mapRow)
    (row.data(), task.map->weight + task.column * in, task.map->bias ? task.map->bias + task.column : nullptr,
     in, task.columns, sums);
    scatter(task, sums, kGemmColumns);
  });
  kept = std::move(row);
  return done;
}

}  // namespace

bool applyMaps(Pool& pool, std::size_t rows, std::size_t in, const Columns<const float>& x,
               std::span<const LinearMap> maps, const std::stop_token& stop) {
  if (rows == 1) return applyToRow(pool, in, x, maps, stop);
  static thread_local Buffer kept;
  // Taken for as long as it is in use: a task of somebody else's run on this thread may ask for its own.
  Buffer buffer = std::move(kept);
  const std::size_t panelRows = HWY_DYNAMIC_DISPATCH(rowsOfPanel)();
  const std::size_t panel = HWY_DYNAMIC_DISPATCH(columnsOfPanel)();
  const std::size_t rowPanels = (rows + panelRows - 1) / panelRows;
  float* const packed = buffer.atLeast(rowPanels * panelRows * in);
  // A few panels a task: packing one takes microseconds.
  constexpr std::size_t kPanels = 4;
  bool done = pool.run((rowPanels + kPanels - 1) / kPanels, stop, [&](std::size_t i) {
    for (std::size_t p = i * kPanels; p < std::min((i + 1) * kPanels, rowPanels); ++p) {
      const std::size_t row = p * panelRows;
      HWY_DYNAMIC_DISPATCH(packInput)
      (x, row, std::min(panelRows, rows - row), in, packed + row * in);
    }
  });
  if (done) {
    const std::vector<Task> tasks = tasksFor(rows, in, maps, panelRows);
    done = pool.run(tasks.size(), stop, [&](std::size_t i) { perform(tasks[i], in, packed, panel); });
  }
  kept = std::move(buffer);
  return done;
}

}  // namespace headscope::attention::kernels
#endif
