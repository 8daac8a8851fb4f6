#pragma once

#include <memory>

#include "app/scene/document.h"

namespace headscope::app {

/// A scene that a page stages next to the window's own: as written, and as the person changed it. Used by
/// lessons and talks.
class PageStage {
 public:
  /// The staged document; null if none.
  const std::shared_ptr<Document>& document() const { return document_; }
  /// The scene as it was staged.
  const Scene& written() const { return written_; }
  /// Whether the document differs from written().
  bool changed() const { return document_ && !sameDocument(document_->scene(), written_); }

  /// Stages `written`, continuing with `left`, which take() returned earlier for this scene; may be null.
  void put(Scene written, std::shared_ptr<Document> left = nullptr);
  /// Restores written() as one undo step.
  void restore();
  /// Empties the stage. Returns its document if it has anything to undo or redo, else null.
  std::shared_ptr<Document> take();

 private:
  std::shared_ptr<Document> document_;
  Scene written_;
};

}  // namespace headscope::app
