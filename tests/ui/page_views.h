#pragma once

#include <string>
#include <vector>

#include "app/scene/scene.h"

namespace headscope::test {

/// A view of the program: a page with one of its tabs and views.
struct PageView {
  std::string name;  ///< "cache/shapes"
  app::Cursor cursor;
};
std::vector<PageView> pageViews();

/// The scene, showing another view.
app::Scene withView(app::Scene scene, const PageView& view);

}  // namespace headscope::test
