#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/scene/recovery_store.h"
#include "app/shell/page_set.h"

namespace headscope::app {

struct RecoveryPreview;

/// A window's unsaved work, kept for the next start however the window ends. Also offers the work left by
/// windows that have ended.
class UnsavedWork {
 public:
  /// `unsaved` returns everything that closing the window would lose; `open` opens a scene in the window.
  UnsavedWork(PageServices& services, const PageSet& pages,
              std::function<std::vector<UnsavedScene>()> unsaved, std::function<void(Scene, SceneFile)> open)
      : services_(services), pages_(pages), unsaved_(std::move(unsaved)), open_(std::move(open)) {}

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
  void restore(const std::shared_ptr<Recovery>& recovery);
  void preview(const std::shared_ptr<Recovery>& recovery, const std::shared_ptr<RecoveryPreview>& preview);

  PageServices& services_;
  const PageSet& pages_;
  const std::function<std::vector<UnsavedScene>()> unsaved_;
  const std::function<void(Scene, SceneFile)> open_;
  std::shared_ptr<RecoveryStore> store_;
  std::vector<std::shared_ptr<Recovery>> waiting_;  ///< unanswered, newest first
  std::string problem_;                             ///< last problem reported
  bool offers_ = false;                             ///< make the offer once no other dialog is open
  bool discards_ = false;
};

}  // namespace headscope::app
