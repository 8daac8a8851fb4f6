#include "attention/masks/lookup.h"

#include <fmt/core.h>

namespace headscope::attention {

void limitCode(Index found, Index most, const std::string& what) {
  if (found > most) throw CodeLimit(fmt::format("{} {}, expected at most {} for code", what, found, most));
}

std::string TableSource::filled(const std::string& shape, const char* type,
                                const std::vector<std::string>& items, const std::string& variables,
                                const std::string& assignment) const {
  const std::string zeros = "@ = " + dialect.zeros(shape, type) + "\n";
  if (items.empty()) return zeros;
  return zeros + "for " + variables + " in " + codeList(items) + ":\n    @" + assignment + "\n";
}

}  // namespace headscope::attention
