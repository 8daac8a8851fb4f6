#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/app/include_rules.h"

namespace headscope::test {

/// A unit is a header with the source of its name: "app/scene/scene". Units that include each other in
/// circles, directly or through others, each circle's units in order; those of one unit are none.
std::vector<std::vector<std::string>> circlesOfUnits(const Sources& sources);

/// "app/compute/layer/a.cpp: includes app/compute/model/b.h; model is above layer" for each arrow between the
/// folders of app/compute that runs up.
std::vector<std::string> upwardIncludes(const Sources& sources);

/// Types that a header or source defines for all to see, by their namespace: "headscope::app::Window". With
/// `kind`, as "struct" or "enum class".
struct DefinedType {
  std::string name, kind;
};
std::vector<DefinedType> typesOf(std::string_view text);

}  // namespace headscope::test
