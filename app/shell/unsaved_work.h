#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/scene/recovery_store.h"
#include "app/shell/page_set.h"

namespace headscope::app {

struct RecoveryPreview;

/// Keeps what is unsaved for the next start, however the window ends, and offers what windows that ended have
/// left.
class UnsavedWork {
 public:
  /// `unsaved` is all that closing the window would lose; `open` makes a scene the window's.
  UnsavedWork(PageServices& services, const PageSet& pages,
              std::function<std::vector<UnsavedScene>()> unsaved, std::function<void(Scene, SceneFile)> open)
      : services_(services), pages_(pages), unsaved_(std::move(unsaved)), open_(std::move(open)) {}

  /// From now on in `store`, whose abandoned work is offered. Without one nothing is kept.
  void keepIn(std::shared_ptr<RecoveryStore> store);
  /// After every frame: writes what has changed, in the background.
  void note();
  /// After every frame: asks about the newest that is not answered yet, once no other question is open.
  void offer();
  void offerAgain() { offers_ = true; }
  /// The person gave up what is unsaved.
  void discard() { discards_ = true; }
  /// After the last frame: writes at once.
  void write();

 private:
  void restore(const std::shared_ptr<Recovery>& recovery);
  void preview(const std::shared_ptr<Recovery>& recovery, const std::shared_ptr<RecoveryPreview>& preview);

  PageServices& services_;
  const PageSet& pages_;
  const std::function<std::vector<UnsavedScene>()> unsaved_;
  const std::function<void(Scene, SceneFile)> open_;
  std::shared_ptr<RecoveryStore> store_;
  std::vector<std::shared_ptr<Recovery>> waiting_;  ///< not answered yet, newest first
  std::string problem_;                             ///< that was said
  bool offers_ = false;                             ///< as soon as no other question is open
  bool discards_ = false;
};

}  // namespace headscope::app
