#include "attention/kernels/map_tasks.h"

#include <algorithm>
#include <cstring>

#include "attention/kernels/digits.h"

namespace headscope::attention::kernels {
namespace {

/// An input row split for one weight type.
struct SplitRow {
  WeightType type = WeightType::f32;
  bool usable = false;
  DigitRow row;
};

/// An input row, split for each weight type of some maps.
class SplitTypes {
 public:
  /// Splits x [in]. Reuses the memory of earlier rows.
  void split(Pool& pool, std::span<const LinearMap> maps, const float* x, std::size_t in) {
    used_ = 0;
    for (const LinearMap& map : maps) {
      if (!multipliesDigits(map.type) || find(map.type)) continue;
      if (used_ == types_.size()) types_.emplace_back();
      types_[used_++].type = map.type;
    }
    pool.run(used_, {}, [&](std::size_t i) {
      SplitRow& to = types_[i];
      to.usable = splitRow(to.type, x, in, to.row);
    });
  }

  /// Returns the row split for a type; null if it can't be split for it.
  const DigitRow* of(WeightType type) const {
    const SplitRow* const found = find(type);
    return found && found->usable ? &found->row : nullptr;
  }

 private:
  const SplitRow* find(WeightType type) const {
    const auto end = types_.begin() + static_cast<std::ptrdiff_t>(used_);
    const auto found =
        std::find_if(types_.begin(), end, [&](const auto& split) { return split.type == type; });
    return found == end ? nullptr : &*found;
  }

  std::vector<SplitRow> types_;
  std::size_t used_ = 0;
};

}  // namespace

bool anyDigits(std::span<const LinearMap> maps) {
  return std::any_of(maps.begin(), maps.end(),
                     [](const LinearMap& map) { return multipliesDigits(map.type); });
}

bool applyDigits(Pool& pool, std::size_t in, const Columns<const float>& x, std::span<const LinearMap> maps,
                 std::vector<LinearMap>& others, const std::stop_token& stop) {
  // Moved out while in use: another task running on this thread may need them too.
  static thread_local std::vector<float> keptInput;
  static thread_local SplitTypes keptTypes;
  std::vector<float> input = std::move(keptInput);
  SplitTypes types = std::move(keptTypes);
  input.resize(in);
  gatherRow(in, x, 0, input.data());
  types.split(pool, maps, input.data(), in);
  std::vector<MapTask> tasks;
  for (const LinearMap& map : maps) {
    if (!types.of(map.type)) {
      others.push_back(map);
      continue;
    }
    const std::vector<MapTask> own = tasksFor(1, in, {&map, 1}, 1);
    tasks.insert(tasks.end(), own.begin(), own.end());
  }
  const bool done = pool.run(tasks.size(), stop, [&](std::size_t i) {
    const MapTask& task = tasks[i];
    const WeightColumns weights = weightsOf(task, in);
    float own[kGemmColumns];
    multiplyDigits(weights, task.columns, *types.of(weights.type), own);
    if (const float* const bias = biasOf(task))
      for (std::size_t o = 0; o < task.columns; ++o) own[o] += bias[o];
    scatter(task, own, kGemmColumns);
  });
  keptInput = std::move(input);
  keptTypes = std::move(types);
  return done;
}

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
