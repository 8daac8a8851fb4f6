#pragma once

#include <string>
#include <vector>

#include "app/scene/scene.h"

namespace headscope::app {

/// A field that differs, before and now: "Window", "4", "6".
struct ChangedField {
  std::string label, before, now;
};
/// Returns the changed fields among `paths`, except cursor fields.
std::vector<ChangedField> changesBetween(const std::vector<std::string>& paths, const Scene& before,
                                         const Scene& now);
/// Returns every changed field of the document.
std::vector<ChangedField> changesBetween(const Scene& before, const Scene& now);
/// Names a change for a list: "Heads 4 → 8"; of several fields, the first two and how many more.
std::string changeName(const Scene& before, const Scene& now);

}  // namespace headscope::app
