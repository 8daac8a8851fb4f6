#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/app/include_rules.h"

namespace headscope::test {

/// Cycles of units that include each other, directly or through others, with each cycle's units in order. A
/// unit is a header with the source of the same name: "app/scene/scene". A single unit is not a cycle.
std::vector<std::vector<std::string>> circlesOfUnits(const Sources& sources);

/// "app/compute/layer/a.cpp: includes app/compute/model/b.h; model is above layer" for each upward include
/// between folders of app/compute.
std::vector<std::string> upwardIncludes(const Sources& sources);

/// A type that a header or source defines in a namespace: the qualified name "headscope::app::Window", and
/// the `kind`, such as "struct" or "enum class".
struct DefinedType {
  std::string name, kind;
};
std::vector<DefinedType> typesOf(std::string_view text);

}  // namespace headscope::test
