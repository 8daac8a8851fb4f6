#pragma once

#include <memory>
#include <vector>

#include "app/shell/document_files.h"
#include "app/shell/unsaved_work.h"
#include "app/shell/workspace.h"

namespace headscope::app {

/// Closes a window: asks about unsaved work, waits for pending writes, and keeps the rest for recovery.
class Closing {
 public:
  Closing(PageServices& services, Workspace& workspace, DocumentFiles& files);

  /// Handles the user's request to close the window: asks first if anything is unsaved.
  void request();
  /// Closes without asking, as soon as pending writes are done. Unsaved work is kept for recovery.
  void leave();
  /// Whether the window may close now.
  bool done() const;
  /// Whether the window is about to close.
  bool begun() const { return leaving_ != Leaving::no; }

  UnsavedWork& recovery() { return recovery_; }
  std::vector<Action> actions();

 private:
  void saveAndLeave(const UnsavedScene& unsaved);

  PageServices& services_;
  Workspace& workspace_;
  DocumentFiles& files_;
  UnsavedWork recovery_;
  enum class Leaving { no, whenWritten, now } leaving_ = Leaving::no;
};

}  // namespace headscope::app
