#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/scene/recovery_store.h"
#include "app/shell/workspace.h"

namespace headscope::app {

struct RecoveryPreview;

/// A window's unsaved work, kept for the next start however the window ends. Also offers the work left by
/// windows that have ended.
class UnsavedWork {
 public:
  UnsavedWork(PageServices& services, Workspace& workspace) : services_(services), workspace_(workspace) {}

  /// Starts keeping work in `store`, and offers its abandoned work. Without a store, nothing is kept.
  void keepIn(std::shared_ptr<RecoveryStore> store);
  /// Call after every frame. Writes changes in the background.
  void note();
  /// Call after every frame. Asks about the newest unanswered recovery once no other dialog is open.
  void offer();
  void offerAgain() { offers_ = true; }
  /// Call when the user gave up the unsaved work.
  void discard() { discards_ = true; }
  /// Call after the last frame. Writes at once.
  void write();

 private:
  /// Reads the abandoned work in the background, and then makes the offer.
  void look();
  void restore(const std::shared_ptr<Recovery>& recovery);
  void preview(const std::shared_ptr<Recovery>& recovery, const std::shared_ptr<RecoveryPreview>& preview);

  PageServices& services_;
  Workspace& workspace_;
  std::shared_ptr<RecoveryStore> store_;
  std::vector<std::shared_ptr<Recovery>> waiting_;  ///< unanswered, newest first
  std::string problem_;                             ///< last problem reported
  bool offers_ = false;                             ///< make the offer once no other dialog is open
  bool discards_ = false;
};

}  // namespace headscope::app
