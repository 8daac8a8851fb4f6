#pragma once

#include <string>
#include <vector>

#include "app/widgets/actions.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// What can be done with what was clicked at: view.menu opens it beside the pointer, and a click acts.
class ContextMenu {
 public:
  void draw(View& view, const ActionTable& actions);

 private:
  std::vector<std::string> offered_;  ///< ids of the actions in it
};

}  // namespace headscope::app
