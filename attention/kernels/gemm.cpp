#include "attention/kernels/gemm.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "attention/kernels/buffer.h"
#include "attention/kernels/map_tasks.h"
#include "attention/kernels/score_rules.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/kernels/gemm.cpp"
#include "hwy/foreach_target.h"
// Must follow foreach_target.h, which sets the target to compile for.
#include "attention/kernels/pack_weights-inl.h"
#include "attention/kernels/vector-inl.h"

// The loops around the product follow Goto and van de Geijn (2008): a panel of weights stays in the L1 cache
// and a block of input rows in L2, both packed in the order they are read.

HWY_BEFORE_NAMESPACE();
namespace headscope::attention::kernels::HWY_NAMESPACE {

size_t rowsOfPanel() {
  return kRows;
}

/// Packs one panel of kRows input rows, transposed.
void packInput(const Columns<const float>& x, size_t row, size_t rows, size_t in, float* packed) {
  for (size_t column = 0; column < in; column += x.width)
    packPanel(x.data + column / x.width * x.groupStride + row * x.rowStride, x.rowStride, rows, kRows,
              std::min(x.width, in - column), packed + column * kRows);
}

/// `bias` may be null.
void addBias(const float* HWY_RESTRICT bias, size_t rows, size_t columns, float* HWY_RESTRICT c,
             size_t cRow) {
  for (size_t row = 0; bias && row < rows; ++row)
    for (size_t column = 0; column < columns; ++column) c[row * cRow + column] += bias[column];
}

/// Computes up to kGemmDepth steps of a block's sums from packed operands. Adds them to c unless they are the
/// first, and adds the bias after the last, while the sums are in the cache.
void multiplyBlock(const GemmBlock& block, size_t step, size_t depth, const float* weights) {
  const size_t panel = panelColumns();
  for (size_t column = 0; column < block.columns; column += panel) {
    const float* const b = weights + column * depth;
    const float* const bias = block.bias && step + depth == block.in ? block.bias + column : nullptr;
    for (size_t row = 0; row < block.rows; row += kRows) {
      const size_t rows = std::min(kRows, block.rows - row);
      float* const c = block.c + row * block.cRow + column;
      productRows<true>(rows, depth, block.packed + row * block.in + step * kRows, 1, kRows, b, panel, c,
                        block.cRow, step > 0);
      addBias(bias, rows, std::min(panel, block.columns - column), c, block.cRow);
    }
  }
}

/// `panels` has space for the block's columns in whole panels and one panel more, each of kGemmDepth steps.
void gemmBlock(const GemmBlock& block, const WeightColumns& weight, float* panels) {
  float* const rows = panels + roundedUp(block.columns, panelColumns()) * std::min(block.in, kGemmDepth);
  for (size_t step = 0; step < block.in; step += kGemmDepth) {
    const size_t depth = std::min(kGemmDepth, block.in - step);
    packWeights(weight, block.columns, step, depth, rows, panels);
    multiplyBlock(block, step, depth, panels);
  }
}

/// Returns Σ w·x over `count` steps.
template <typename Number>
HWY_INLINE float dot(const Number* w, const float* x, size_t count) {
  const Lane d;
  const size_t n = hn::Lanes(d);
  Lanes a = hn::Zero(d), b = a, c = a, e = a;
  size_t k = 0;
  for (; k + 4 * n <= count; k += 4 * n) {
    a = hn::MulAdd(loadNumbers(w + k), hn::LoadU(d, x + k), a);
    b = hn::MulAdd(loadNumbers(w + k + n), hn::LoadU(d, x + k + n), b);
    c = hn::MulAdd(loadNumbers(w + k + 2 * n), hn::LoadU(d, x + k + 2 * n), c);
    e = hn::MulAdd(loadNumbers(w + k + 3 * n), hn::LoadU(d, x + k + 3 * n), e);
  }
  for (; k < count; k += n) {
    const size_t some = std::min(n, count - k);
    a = hn::MulAdd(loadNumbersPart(w + k, some), loadPart(x + k, some), a);
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e))));
}

/// Computes y = Σ x[k]·(row k of a transposed weight). y has space for whole vectors.
template <typename Number>
HWY_INLINE void addRows(const Number* w, size_t row, const float* x, size_t in, size_t count, float* y) {
  const Lane d;
  const size_t n = hn::Lanes(d);
  std::fill_n(y, roundedUp(count, n), 0.0f);
  for (size_t k = 0; k < in; ++k, w += row) {
    const Lanes factor = hn::Set(d, x[k]);
    size_t o = 0;
    // Load several vectors before storing any, so that reads from memory don't wait for stores.
    for (; o + 4 * n <= count; o += 4 * n) {
      const Lanes a = hn::MulAdd(factor, loadNumbers(w + o), hn::LoadU(d, y + o));
      const Lanes b = hn::MulAdd(factor, loadNumbers(w + o + n), hn::LoadU(d, y + o + n));
      const Lanes c = hn::MulAdd(factor, loadNumbers(w + o + 2 * n), hn::LoadU(d, y + o + 2 * n));
      const Lanes e = hn::MulAdd(factor, loadNumbers(w + o + 3 * n), hn::LoadU(d, y + o + 3 * n));
      hn::StoreU(a, d, y + o);
      hn::StoreU(b, d, y + o + n);
      hn::StoreU(c, d, y + o + 2 * n);
      hn::StoreU(e, d, y + o + 3 * n);
    }
    for (; o + n <= count; o += n)
      hn::StoreU(hn::MulAdd(factor, loadNumbers(w + o), hn::LoadU(d, y + o)), d, y + o);
    if (o < count)
      hn::StoreU(hn::MulAdd(factor, loadNumbersPart(w + o, count - o), hn::LoadU(d, y + o)), d, y + o);
  }
}

/// Computes outputs of one input row, reading weights once without packing. For a transposed map, starts at
/// `step`. `xSums` are the sums of each kSummed numbers of x, for weights in blocks only.
void mapRow(const float* x, const float* xSums, const WeightColumns& weight, size_t step, size_t in,
            size_t count, float* y) {
  if (!isPlain(weight.type)) {
    const size_t blocks = in / weightBlock(weight.type).numbers;
    for (size_t o = 0; o < count; ++o)
      y[o] = readBlocks<BlockProducts>(weight.type, weight.output(o), weight.scale(o), blocks, x, xSums);
    return;
  }
  withNumbers(weight.type, [&](const auto* number) HWY_ATTR {
    using Number = decltype(number);
    if (weight.transposed)
      return addRows(reinterpret_cast<Number>(weight.input(step)), weight.row, x, in, count, y);
    for (size_t o = 0; o < count; ++o) y[o] = dot(reinterpret_cast<Number>(weight.output(o)), x, in);
  });
}

}  // namespace headscope::attention::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headscope::attention::kernels {
namespace {

HWY_EXPORT(rowsOfPanel);
HWY_EXPORT(packInput);
HWY_EXPORT(gemmBlock);
HWY_EXPORT(addBias);
HWY_EXPORT(mapRow);
HWY_EXPORT(unpack);

void perform(const MapTask& task, std::size_t in, const float* packed, std::size_t panel) {
  static thread_local Buffer panels, sums;
  const std::size_t wide = (task.columns + panel - 1) / panel * panel;
  const Columns<float>& y = task.map->y;
  // Write directly to the output if whole panels fit there.
  const bool direct = wide == task.columns && task.column % y.width + task.columns <= y.width;
  GemmBlock block{.packed = packed + task.row * in,
                  .in = in,
                  .rows = task.rows,
                  .columns = task.columns,
                  .bias = biasOf(task)};
  block.c = direct ? placeOf(task, 0, 0) : sums.atLeast(task.rows * wide);
  block.cRow = direct ? y.rowStride : wide;
  HWY_DYNAMIC_DISPATCH(gemmBlock)
  (block, weightsOf(task, in), panels.atLeast((wide + panel) * std::min(in, kGemmDepth)));
  if (!direct) scatter(task, block.c, block.cRow);
}

/// Some outputs of a single input row, over steps step … step+steps−1 of the sums.
struct RowTask {
  MapTask outputs;
  std::size_t step, steps;
  float* partial;        ///< partial sums of these steps; null if they are all
  std::size_t maps = 1;  ///< number of maps whose outputs are adjacent in the weight's rows
};

/// Returns how many of the first maps are adjacent in one transposed weight, like a fused q, k and v. Its
/// rows can then be read whole.
std::size_t neighbours(std::span<const LinearMap> maps) {
  const auto* place = static_cast<const unsigned char*>(maps.front().weight);
  std::size_t count = 0;
  for (const LinearMap& map : maps) {
    const bool next = map.transposed && map.weight == place && map.type == maps.front().type &&
                      map.weightRow == maps.front().weightRow && (count == 0 || map.weightRow > 0);
    if (!next) break;
    place += weightBytes(map.type, map.out);
    ++count;
  }
  return count;
}

/// Divides outputs into groups, or the steps if the weight is transposed.
std::vector<RowTask> rowTasks(std::size_t in, std::span<const LinearMap> maps, Buffer& sums) {
  constexpr std::size_t kSpare = 64;     // a vector of any target
  constexpr std::size_t kMaxParts = 16;  // one thread adds all parts up
  const std::size_t steps = std::max(kRowSteps, (in + kMaxParts - 1) / kMaxParts);
  const std::size_t parts = (in + steps - 1) / steps;
  std::size_t floats = 0;
  for (const LinearMap& map : maps) floats += map.transposed ? parts * (map.out + kSpare) : 0;
  float* partial = sums.atLeast(floats);
  std::vector<RowTask> tasks;
  for (std::size_t m = 0; m < maps.size();) {
    if (!maps[m].transposed) {
      for (const MapTask& task : tasksFor(1, in, maps.subspan(m, 1), 1))
        tasks.push_back({task, 0, in, nullptr});
      ++m;
      continue;
    }
    const std::size_t together = neighbours(maps.subspan(m));
    std::size_t out = 0;
    for (std::size_t i = m; i < m + together; ++i) out += maps[i].out;
    for (std::size_t step = 0; step < in; step += steps, partial += out + kSpare)
      tasks.push_back({{&maps[m], 0, 1, 0, out}, step, std::min(steps, in - step), partial, together});
    m += together;
  }
  return tasks;
}

void finishRow(const MapTask& outputs, float* sums) {
  HWY_DYNAMIC_DISPATCH(addBias)(biasOf(outputs), 1, outputs.columns, sums, outputs.columns);
  scatter(outputs, sums, outputs.columns);
}

/// If task i is the first of its outputs, adds the other tasks' partial sums to it, in order.
void addPartials(const std::vector<RowTask>& tasks, std::size_t i) {
  const RowTask& first = tasks[i];
  if (!first.partial || first.step > 0) return;
  for (std::size_t t = i + 1; t < tasks.size() && tasks[t].outputs.map == first.outputs.map; ++t)
    for (std::size_t o = 0; o < first.outputs.columns; ++o) first.partial[o] += tasks[t].partial[o];
  float* sums = first.partial;
  for (const LinearMap& map : std::span(first.outputs.map, first.maps)) {
    finishRow({&map, 0, 1, 0, map.out}, sums);
    sums += map.out;
  }
}

/// Computes a single row. Panels wouldn't help, since each weight is used once.
bool applyToRow(Pool& pool, std::size_t in, const Columns<const float>& x, std::span<const LinearMap> maps,
                const std::stop_token& stop) {
  static thread_local std::vector<float> kept;
  std::vector<float> row = std::move(kept);
  row.resize(in);
  gatherRow(in, x, 0, row.data());
  if (std::any_of(maps.begin(), maps.end(), [](const LinearMap& map) { return !isPlain(map.type); }))
    for (std::size_t k = 0; k < in; k += kSummed)
      row.push_back(std::accumulate(row.begin() + k, row.begin() + std::min(k + kSummed, in), 0.0f));
  static thread_local Buffer keptSums;
  Buffer sums = std::move(keptSums);
  const std::vector<RowTask> tasks = rowTasks(in, maps, sums);
  const bool done = pool.run(tasks.size(), stop, [&](std::size_t i) {
    const RowTask& task = tasks[i];
    const WeightColumns weights = weightsOf(task.outputs, in);
    float own[kGemmColumns];
    float* const to = task.partial ? task.partial : own;
    HWY_DYNAMIC_DISPATCH(mapRow)
    (row.data() + task.step, row.data() + in, weights, task.step, task.steps, task.outputs.columns, to);
    if (!task.partial) finishRow(task.outputs, own);
  });
  for (std::size_t i = 0; done && i < tasks.size(); ++i) addPartials(tasks, i);
  keptSums = std::move(sums);
  kept = std::move(row);
  return done;
}

}  // namespace

void unpackWeights(WeightType type, const void* from, std::size_t count, float* to, const void* scales) {
  HWY_DYNAMIC_DISPATCH(unpack)(type, from, count, to, scales);
}

bool applyMaps(Pool& pool, std::size_t rows, std::size_t in, const Columns<const float>& x,
               std::span<const LinearMap> maps, const std::stop_token& stop) {
  std::vector<LinearMap> others;
  if (rows == 1 && anyDigits(maps)) {
    if (!applyDigits(pool, in, x, maps, others, stop)) return false;
    if (others.empty()) return true;
    maps = others;
  }
  if (rows == 1) return applyToRow(pool, in, x, maps, stop);
  static thread_local Buffer kept;
  // Moved out while in use: another task running on this thread may need it too.
  Buffer buffer = std::move(kept);
  const std::size_t panelRows = HWY_DYNAMIC_DISPATCH(rowsOfPanel)();
  const std::size_t panel = panelWidth();
  const std::size_t rowPanels = (rows + panelRows - 1) / panelRows;
  float* const packed = buffer.atLeast(rowPanels * panelRows * in);
  // Several panels per task, since packing one takes microseconds.
  constexpr std::size_t kPanels = 4;
  bool done = pool.run((rowPanels + kPanels - 1) / kPanels, stop, [&](std::size_t i) {
    for (std::size_t p = i * kPanels; p < std::min((i + 1) * kPanels, rowPanels); ++p) {
      const std::size_t row = p * panelRows;
      HWY_DYNAMIC_DISPATCH(packInput)
      (x, row, std::min(panelRows, rows - row), in, packed + row * in);
    }
  });
  if (done) {
    const std::vector<MapTask> tasks =
        tasksFor(rows, in, maps, panelRows, static_cast<std::size_t>(pool.threads()));
    done = pool.run(tasks.size(), stop, [&](std::size_t i) { perform(tasks[i], in, packed, panel); });
  }
  kept = std::move(buffer);
  return done;
}

}  // namespace headscope::attention::kernels
#endif
