#pragma once

#include <string>
#include <vector>

#include "app/scene/scene.h"

namespace headscope::test {

/// What can be in sight: every page with every tab and room that it has.
struct PageView {
  std::string name;  ///< "cache/shapes"
  app::Cursor cursor;
};
std::vector<PageView> pageViews();

/// The scene with another view of it in sight.
app::Scene withView(app::Scene scene, const PageView& view);

}  // namespace headscope::test
