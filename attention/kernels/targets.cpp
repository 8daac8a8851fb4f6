#include "attention/kernels/targets.h"

#include <cstdint>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/kernels/targets.cpp"
#include "hwy/foreach_target.h"
// Must follow foreach_target.h, which sets the target to compile for.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace headscope::attention::kernels::HWY_NAMESPACE {

const char* compiledFor() {
  return hwy::TargetName(HWY_TARGET);
}

}  // namespace headscope::attention::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headscope::attention::kernels {
namespace {

HWY_EXPORT(compiledFor);

}  // namespace

const char* targetName() {
  return HWY_DYNAMIC_DISPATCH(compiledFor)();
}

namespace {

std::vector<std::int64_t> targets() {
  std::vector<std::int64_t> found = hwy::SupportedAndGeneratedTargets();
  // The query makes Highway choose among all targets of the processor, even disabled ones; restore the
  // choice.
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  return found;
}

}  // namespace

bool restrictTarget(std::string_view name) {
  for (const std::int64_t target : targets()) {
    if (name != hwy::TargetName(target)) continue;
    // Newer instruction sets have lower bits.
    hwy::DisableTargets(target - 1);
    return true;
  }
  return false;
}

std::string targetNames() {
  std::string names;
  for (const std::int64_t target : targets())
    names += (names.empty() ? "" : ", ") + std::string(hwy::TargetName(target));
  return names;
}

}  // namespace headscope::attention::kernels
#endif
