#pragma once

#include <string>
#include <vector>

#include "app/widgets/actions.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// The menu of actions for the item under the pointer. Setting view.menu opens it there; a click runs an
/// action.
class ContextMenu {
 public:
  void draw(View& view, const ActionTable& actions);

 private:
  std::vector<std::string> offered_;  ///< action ids
};

}  // namespace headscope::app
