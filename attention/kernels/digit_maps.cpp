#include "attention/kernels/digit_maps.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "attention/kernels/digits.h"
#include "attention/kernels/map_tasks.h"

namespace headscope::attention::kernels {
namespace {

/// Rows of input split for weights of a type.
struct SplitRows {
  WeightType type = WeightType::f32;
  bool usable[kFewRows] = {};
  DigitRow rows[kFewRows];
};

/// Rows split for each type of weights that some maps have.
class SplitTypes {
 public:
  /// x [rows, in]. Those that are there keep their memory.
  void split(Pool& pool, std::span<const LinearMap> maps, const float* x, std::size_t rows, std::size_t in) {
    used_ = 0;
    rows_ = rows;
    for (const LinearMap& map : maps) {
      if (!multipliesDigits(map.type) || find(map.type)) continue;
      if (used_ == types_.size()) types_.emplace_back();
      types_[used_++].type = map.type;
    }
    pool.run(used_ * rows, {}, [&](std::size_t i) {
      SplitRows& to = types_[i / rows];
      to.usable[i % rows] = splitRow(to.type, x + i % rows * in, in, to.rows[i % rows]);
    });
  }

  /// Of the type; none where a row can't be split for it.
  std::span<const DigitRow> of(WeightType type) const {
    const SplitRows* const found = find(type);
    const bool all = found && std::all_of(found->usable, found->usable + rows_, std::identity());
    return all ? std::span(found->rows, rows_) : std::span<const DigitRow>();
  }

 private:
  const SplitRows* find(WeightType type) const {
    const auto end = types_.begin() + static_cast<std::ptrdiff_t>(used_);
    const auto found =
        std::find_if(types_.begin(), end, [&](const auto& split) { return split.type == type; });
    return found == end ? nullptr : &*found;
  }

  std::vector<SplitRows> types_;
  std::size_t used_ = 0, rows_ = 0;
};

}  // namespace

bool anyDigits(std::span<const LinearMap> maps) {
  return std::any_of(maps.begin(), maps.end(),
                     [](const LinearMap& map) { return multipliesDigits(map.type); });
}

bool applyDigits(Pool& pool, std::size_t rows, std::size_t in, const Columns<const float>& x,
                 std::span<const LinearMap> maps, std::vector<LinearMap>& others,
                 const std::stop_token& stop) {
  // Taken for as long as they are in use: a task of somebody else's run on this thread may ask for its own.
  static thread_local std::vector<float> keptInput;
  static thread_local SplitTypes keptTypes;
  std::vector<float> input = std::move(keptInput);
  SplitTypes types = std::move(keptTypes);
  input.resize(rows * in);
  for (std::size_t row = 0; row < rows; ++row) gatherRow(in, x, row, input.data() + row * in);
  types.split(pool, maps, input.data(), rows, in);
  std::vector<MapTask> tasks;
  for (const LinearMap& map : maps) {
    if (types.of(map.type).empty()) {
      others.push_back(map);
      continue;
    }
    const std::vector<MapTask> own = tasksFor(rows, in, {&map, 1}, rows);
    tasks.insert(tasks.end(), own.begin(), own.end());
  }
  const bool done = pool.run(tasks.size(), stop, [&](std::size_t i) {
    const MapTask& task = tasks[i];
    const WeightColumns weights = weightsOf(task, in);
    float own[kFewRows * kGemmColumns];
    multiplyDigits(weights, task.columns, types.of(weights.type), own, kGemmColumns);
    if (const float* const bias = biasOf(task))
      for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t o = 0; o < task.columns; ++o) own[row * kGemmColumns + o] += bias[o];
    scatter(task, own, kGemmColumns);
  });
  keptInput = std::move(input);
  keptTypes = std::move(types);
  return done;
}

}  // namespace headscope::attention::kernels
