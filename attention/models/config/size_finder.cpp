#include "attention/models/config/size_finder.h"

#include <fmt/core.h>

namespace headscope::attention {

Index SizeFinder::optional(Keys keys, Index defaultValue, Index most) const {
  for (const char* key : keys)
    if (json_.has(key)) return json_.size(key, {}, 0, most);
  return defaultValue;
}

Index SizeFinder::needed(const char* what, Keys keys, Index most) {
  for (const char* key : keys)
    if (json_.has(key)) return json_.size(key, {}, 1, most);
  std::string names;
  for (auto key = keys.begin(); key != keys.end(); ++key)
    names += (key == keys.begin() ? "" : key + 1 == keys.end() ? " or " : ", ") + std::string(*key);
  missing_ += (missing_.empty() ? "" : "; ") + fmt::format("{} ({})", what, names);
  return 1;
}

Index SizeFinder::assumed(const char* what, Keys keys, Index usual, Index most) {
  for (const char* key : keys)
    if (json_.has(key)) return json_.size(key, {}, 0, most);
  assumed_ += (assumed_.empty() ? "" : "; ") + fmt::format("{} (taken as {})", what, usual);
  return usual;
}

}  // namespace headscope::attention
