#pragma once

#include <string>
#include <vector>

#include "attention/models/config/config_reader.h"

namespace headscope::attention {

using NameList = std::vector<const char*>;
using Keys = const NameList&;

/// Looks up sizes under the names that architectures use for them.
class SizeFinder {
 public:
  explicit SizeFinder(const ConfigReader& json) : json_(json) {}

  /// Every key counts as read: a file that has several says the same with each.
  Index optional(Keys keys, Index defaultValue = 0, Index most = kMaxConfigSize) const;
  /// If no key is present, adds `what` to missing() and returns 1.
  Index needed(const char* what, Keys keys, Index most = kMaxConfigSize);
  /// If no key is present, adds `what` to assumed() and returns `usual`.
  Index assumed(const char* what, Keys keys, Index usual, Index most = kMaxConfigSize);
  const std::string& missing() const { return missing_; }
  const std::string& assumed() const { return assumed_; }

 private:
  const char* first(Keys keys) const;
  /// A list with the same number for each layer counts as that number.
  Index sizeOf(const char* key, Index least, Index most) const;
  const ConfigReader& json_;
  std::string missing_, assumed_;
};

}  // namespace headscope::attention
