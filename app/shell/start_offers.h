#pragma once

#include <vector>

#include "app/platform/recent_files.h"
#include "app/shell/document_files.h"
#include "app/shell/workspace.h"
#include "app/widgets/layout.h"

namespace headscope::app {

/// What a window offers below the opening scene while nothing has been opened: the first lesson, once, or the
/// recent files.
class StartOffer {
 public:
  StartOffer(PageServices& services, Workspace& workspace, DocumentFiles& files)
      : services_(services), workspace_(workspace), files_(files) {}

  /// Offers the recent files until something is opened or changed.
  void offerRecent();
  /// The height in pixels that the offer takes below the page; 0 = nothing is offered.
  float height();
  void draw(const Layout& layout, float width);

 private:
  bool offersLesson() const;
  bool offersRecent();

  PageServices& services_;
  Workspace& workspace_;
  DocumentFiles& files_;
  std::vector<RecentFile> recent_;  ///< empty = no longer offered
};

}  // namespace headscope::app
