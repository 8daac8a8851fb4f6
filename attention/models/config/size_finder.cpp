#include <fmt/core.h>

#include "attention/models/config/layer_plan.h"

namespace headscope::attention {

const char* SizeFinder::first(Keys keys) const {
  const char* found = nullptr;
  for (const char* key : keys)
    if (json_.has(key) && !found) found = key;
  return found;
}

Index SizeFinder::sizeOf(const char* key, Index least, Index most) const {
  if (!json_.isList(key)) return json_.size(key, {}, least, most);
  const std::vector<Index> each = json_.tokens(key);
  const bool same = !each.empty() && std::ranges::count(each, each[0]) == std::ssize(each);
  if (!same || each[0] < least || each[0] > most)
    json_.refuse(key, fmt::format("a list of {}", each.size()),
                 fmt::format("one whole number from {} to {} for all layers", least, most));
  return same ? std::clamp(each[0], least, most) : least;
}

Index SizeFinder::optional(Keys keys, Index defaultValue, Index most) const {
  const char* const key = first(keys);
  return key ? sizeOf(key, 0, most) : defaultValue;
}

Index SizeFinder::needed(const char* what, Keys keys, Index most) {
  if (const char* const key = first(keys)) return sizeOf(key, 1, most);
  std::string names;
  for (auto key = keys.begin(); key != keys.end(); ++key)
    names += (key == keys.begin() ? "" : key + 1 == keys.end() ? " or " : ", ") + std::string(*key);
  missing_ += (missing_.empty() ? "" : "; ") + fmt::format("{} ({})", what, names);
  return 1;
}

Index SizeFinder::assumed(const char* what, Keys keys, Index usual, Index most) {
  if (const char* const key = first(keys)) return sizeOf(key, 0, most);
  assumed_ += (assumed_.empty() ? "" : "; ") + fmt::format("{} (taken as {})", what, usual);
  return usual;
}

}  // namespace headscope::attention
