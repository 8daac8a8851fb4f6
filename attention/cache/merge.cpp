#include "attention/cache/merge.h"

#include <fmt/core.h>

#include "attention/core/result.h"

namespace headscope::attention {

Stack mergedByMean(const Stack& heads, Index groups) {
  require(groups >= 1 && heads.count() % groups == 0,
          fmt::format("{} kv heads can't be merged into {}", heads.count(), groups));
  const Index each = heads.count() / groups;
  Stack merged(groups, heads.rows(), heads.cols());
  for (Index h = 0; h < heads.count(); ++h) merged[h / each] += heads[h];
  for (Index g = 0; g < groups; ++g) merged[g] /= static_cast<float>(each);
  return merged;
}

}  // namespace headscope::attention
