#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/compute/lessons/lesson_library.h"
#include "app/scene/document.h"
#include "app/shell/page_set.h"

namespace headscope::app {

/// A window's document and pages. The user works on the window's own document, or on the one that the shown
/// page has on its stage.
class Workspace {
 public:
  /// Gives the services access to the documents. The pages are made separately, by pages().make().
  Workspace(PageServices& services, std::span<const PageRow> rows);

  PageSet& pages() { return pages_; }
  const PageSet& pages() const { return pages_; }
  /// The window's own document. Hold it while others act: they may open another scene.
  const std::shared_ptr<Document>& own() const { return document_; }
  /// The document being worked on. Hold it while others act: they may take it off the stage.
  std::shared_ptr<Document> working() const {
    std::shared_ptr<Document> staged = shown().staged();
    return staged ? staged : document_;
  }
  /// The document that saving saves.
  std::shared_ptr<Document> saved() const { return shown().stagesViews() ? document_ : working(); }
  /// The document that undo or redo acts on: edits on a stage first, then the talk that owns the view.
  Document& undoTarget(bool redo) const;
  /// The document that undo acts on, to be held.
  std::shared_ptr<Document> undoable() const {
    return &undoTarget(false) == document_.get() ? document_ : working();
  }

  /// The page shown in the window.
  Page& shown() const { return pages_.named(document_->scene().cursor.page); }
  /// The page on the shown page's stage; null if it has none.
  Page* onStage() const;
  /// The page that shows the document being worked on.
  Page& activePage() const {
    Page* stage = onStage();
    return stage ? *stage : shown();
  }
  /// The lesson shown, with its file if the library knows it; empty if none is shown.
  LessonEntry shownLesson() const;

  /// Opens a scene in the window's document as an undoable step. Resets the pages, and first adds what was
  /// changed on a stage to the history.
  void open(Scene scene, SceneFile file);
  /// The same with the contents of `path`; inside a talk, a scene without one opens in it (Document::open).
  void open(Scene scene, std::filesystem::path path, std::optional<attention::ContentMark> content = {});
  /// Opens a scene in the window's document while the shown lesson stays in front.
  void openBehind(Scene scene, const std::filesystem::path& path,
                  std::optional<attention::ContentMark> content);

  /// Everything that closing the window would lose: the document's scenes, then those on stages.
  std::vector<UnsavedScene> unsaved() const;
  /// Where to find an unsaved scene, in words.
  std::string placeOf(const UnsavedScene& unsaved) const;

 private:
  void resetPages();

  PageServices& services_;
  const std::shared_ptr<Document> document_;
  PageSet pages_;
};

}  // namespace headscope::app
