#pragma once

#include <memory>

#include "app/scene/document.h"

namespace headscope::app {

/// A scene beside the window's own that a page stages: as it was written, and as the person changed it. What
/// lessons and talks have on their stages.
class PageStage {
 public:
  /// A document of its own; null: nothing is staged.
  const std::shared_ptr<Document>& document() const { return document_; }
  /// As it was put there.
  const Scene& written() const { return written_; }
  /// Whether it is another document than that.
  bool changed() const { return document_ && !sameDocument(document_->scene(), written_); }

  /// Stages `written`; `left` is what take() gave when it was on the stage before, to go on with.
  void put(Scene written, std::shared_ptr<Document> left = nullptr);
  /// What was changed is put back, as a step that can be undone.
  void restore();
  /// The stage is empty from now on. What was there, where anything of it could be undone or redone; else
  /// null.
  std::shared_ptr<Document> take();

 private:
  std::shared_ptr<Document> document_;
  Scene written_;
};

}  // namespace headscope::app
