#pragma once

#include <string>
#include <vector>

#include "app/scene/scene.h"

namespace headscope::app {

/// One field that differs, as it was and as it is: "Window", "4", "6".
struct ChangedField {
  std::string label, before, now;
};
/// Of these paths. Cursor fields are no changes.
std::vector<ChangedField> changesBetween(const std::vector<std::string>& paths, const Scene& before,
                                         const Scene& now);
/// Every field of the document in which two scenes differ.
std::vector<ChangedField> changesBetween(const Scene& before, const Scene& now);
/// What a change is called in a list: "Heads 4 → 8", of several the first two and how many more.
std::string changeName(const Scene& before, const Scene& now);

}  // namespace headscope::app
