#pragma once

#include <functional>
#include <memory>
#include <string>

#include "app/scene/document.h"

namespace headscope::app {

/// The document that requested a file. The contents go to this document only, however long the read takes.
class Requester {
 public:
  /// Returns the document being worked on at the time of the call.
  using Working = std::function<std::shared_ptr<Document>()>;
  /// Captures the document being worked on now.
  explicit Requester(Working working)
      : working_(std::move(working)), document_(working_()), file_(working_()->file()) {}

  /// The document's scene; null if it was closed or replaced by another scene.
  const Scene* scene() const;
  /// Whether the document is still the one being worked on.
  bool inFront() const { return document_.lock() == working_(); }
  /// Applies `change` to the scene as one undo step. If the document isn't in front, its visible page doesn't
  /// change. Returns an Error, naming `file`, if the document is gone.
  attention::Status edit(const std::string& file, const std::function<void(Scene&)>& change) const;

 private:
  std::shared_ptr<Document> alive() const;

  Working working_;
  std::weak_ptr<Document> document_;
  std::weak_ptr<SceneFile> file_;
};

}  // namespace headscope::app
