#pragma once

#include <functional>
#include <memory>
#include <string>

#include "app/scene/document.h"

namespace headscope::app {

/// The document in which a file was asked for: what the file brings goes there, however late it comes, and
/// nowhere else.
class Asker {
 public:
  /// Which document is worked on at the time of the call.
  using Working = std::function<std::shared_ptr<Document>()>;
  /// The one that is worked on now asks.
  explicit Asker(Working working)
      : working_(std::move(working)), document_(working_()), file_(working_()->file()) {}

  /// Its scene; null where it is gone: it was closed, or another scene was opened in its place.
  const Scene* scene() const;
  /// Whether it is what is worked on.
  bool inFront() const { return document_.lock() == working_(); }
  /// Lets `change` edit the scene, as a step that can be undone. Where the document is not in front, the page
  /// that it shows stays as it is. `file` names what was read, in the error that the document is gone.
  attention::Status edit(const std::string& file, const std::function<void(Scene&)>& change) const;

 private:
  std::shared_ptr<Document> alive() const;

  Working working_;
  std::weak_ptr<Document> document_;
  std::weak_ptr<SceneFile> file_;
};

}  // namespace headscope::app
