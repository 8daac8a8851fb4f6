#include "attention/kernels/digit_maps.h"

#include <algorithm>
#include <utility>

#include "attention/kernels/digits.h"
#include "attention/kernels/map_tasks.h"

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

}  // namespace headscope::attention::kernels
