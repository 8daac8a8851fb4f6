#pragma once

#include <string>
#include <vector>

#include "app/scene/links/link.h"
#include "app/shell/workspace.h"

namespace headscope::app {

/// Makes links to a window's scene, and opens links.
class SceneLinks {
 public:
  SceneLinks(PageServices& services, Workspace& workspace) : services_(services), workspace_(workspace) {}

  /// Sets the address that "Copy link" puts before the "#".
  void setAddress(std::string address) { address_ = std::move(address); }
  /// Returns the link to the window's own scene, as "Copy link" copies it.
  attention::Result<std::string> link() const;
  /// Opens a pasted or given link: a scene as an undoable step, a lesson next to the window's own scene.
  void open(std::string link, const Outcome& outcome);

  std::vector<Action> actions();

 private:
  void copy();

  PageServices& services_;
  Workspace& workspace_;
  std::string address_ = kLinkAddress;
};

}  // namespace headscope::app
