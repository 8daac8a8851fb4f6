#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "app/compute/lessons/lesson_study.h"
#include "app/pages/pages.h"
#include "app/platform/preferences.h"
#include "app/scene/document.h"
#include "app/scene/links/link.h"
#include "app/scene/recovery_store.h"
#include "app/widgets/dialog.h"
#include "app/widgets/panel.h"

namespace headscope::app {

/// A window's pages, one per row of the table, in tab order.
class PageSet {
 public:
  explicit PageSet(std::span<const PageRow> rows) : rows_(rows) {}
  /// Call once, when the services are ready: pages may use them at once.
  void make(PageServices& services) {
    for (const PageRow& row : rows_) pages_.push_back(row.make(services));
  }

  std::span<const PageRow> rows() const { return rows_; }
  /// Returns the index of the page with that key; 0 if there is none.
  std::size_t at(const std::string& key) const {
    const auto row = std::ranges::find(rows_, key, [](const PageRow& each) { return each.info.key; });
    return row == rows_.end() ? 0 : static_cast<std::size_t>(row - rows_.begin());
  }
  Page& named(const std::string& key) const { return *pages_[at(key)]; }
  const PageInfo& info(const std::string& key) const { return rows_[at(key)].info; }
  /// Returns the page of that type. Throws std::bad_cast if there is none.
  template <typename P>
  P& of() const {
    for (const auto& page : pages_)
      if (auto* found = dynamic_cast<P*>(page.get())) return *found;
    throw std::bad_cast();
  }
  /// Indices of the pages to offer for the window's scene, which is on the page `shown`.
  std::vector<std::size_t> tabs(const Scene& own, std::size_t shown) const {
    std::vector<std::size_t> tabs;
    for (std::size_t i = 0; i < pages_.size(); ++i)
      if (i == shown || pages_[i]->hasTab(own)) tabs.push_back(i);
    return tabs;
  }
  std::size_t gpuBytes() const {
    std::size_t bytes = 0;
    for (const auto& page : pages_) bytes += page->gpuBytes();
    return bytes;
  }
  auto begin() const { return pages_.begin(); }
  auto end() const { return pages_.end(); }

 private:
  std::span<const PageRow> rows_;
  std::vector<std::unique_ptr<Page>> pages_;
};

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

/// The kind under which a scene's file is listed among the recent files.
RecentKind recentKind(const Scene& scene);

/// Opens and saves a window's files, in the background.
class DocumentFiles {
 public:
  DocumentFiles(PageServices& services, Workspace& workspace) : services_(services), workspace_(workspace) {}

  /// Opens a dropped or named file by its extension: a scene, or a file for a page, the shown page first.
  void open(const std::filesystem::path& path, const Outcome& outcome);
  /// Opens a file sent by another program, as the command line does: a safetensors file is recorded
  /// attention, whatever page is shown. Ignores a file that is already shown; it is reread when it changes.
  void openSent(const std::filesystem::path& path);
  void openRecent(const RecentFile& file, const Outcome& outcome);

  /// What to do with an existing file: replace it, or ask first if something else wrote it since this window
  /// opened or saved it.
  enum class Existing { replace, askIfChanged };
  /// Saves the document being worked on.
  void save(const std::filesystem::path& path, Existing existing, const Outcome& outcome);
  /// Saves one of the unsaved scenes, then calls `done`.
  void save(const UnsavedScene& unsaved, const std::filesystem::path& path, Existing existing,
            const Outcome& outcome, std::function<void()> done);
  /// Asks for a path, saves one of the unsaved scenes there, then calls `done`.
  void saveAs(const UnsavedScene& unsaved, std::function<void()> done);

  /// Puts `file` first among the recent files.
  void remember(const RecentFile& file);
  void readRecent(const std::function<void(std::vector<RecentFile>)>& take);

  std::vector<Action> actions();

 private:
  void open(const NamedFile& file, const Requester& requester, const Outcome& outcome);
  void openJson(const NamedFile& file, const Requester& requester, const Outcome& outcome);
  UnsavedScene working() const;
  void askAboutChanged(const UnsavedScene& unsaved, const std::filesystem::path& path, const Outcome& outcome,
                       std::function<void()> done);

  PageServices& services_;
  Workspace& workspace_;
};

/// Makes links to a window's scene, and opens links.
class SceneLinks {
 public:
  SceneLinks(PageServices& services, Workspace& workspace) : services_(services), workspace_(workspace) {}

  /// Sets the address that "Copy link" puts before the "#".
  void setAddress(std::string address) { address_ = std::move(address); }
  /// Returns the link to the window's own scene, as "Copy link" copies it.
  attention::Result<std::string> link() const;
  /// Opens a pasted or given link: a scene as an undoable step, a lesson next to the window's own scene.
  void open(std::string link, const Outcome& outcome);

  std::vector<Action> actions();

 private:
  void copy();

  PageServices& services_;
  Workspace& workspace_;
  std::string address_ = kLinkAddress;
};

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

/// An unsaved scene: its name, such as "demo.json", and where to find it.
struct UnsavedLine {
  std::string name, place;
  bool hasFile = false;  ///< can be saved without asking for a path
};

/// The question before leaving, which would lose these scenes.
class QuitDialog : public Dialog {
 public:
  /// `save` receives the index in `unsaved` of the scene to save.
  QuitDialog(std::vector<UnsavedLine> unsaved, std::function<void(std::size_t)> save,
             std::function<void()> leave)
      : unsaved_(std::move(unsaved)), save_(std::move(save)), leave_(std::move(leave)) {}
  std::string name() const override { return "discard"; }
  void draw(Scene& scene, View& view, bool opening) override;

 private:
  const std::vector<UnsavedLine> unsaved_;
  const std::function<void(std::size_t)> save_;
  const std::function<void()> leave_;
};

/// The question before replacing a file that something else wrote since this window opened or saved it.
class ChangedFileDialog : public Dialog {
 public:
  ChangedFileDialog(std::string file, std::function<void()> replace, std::function<void()> saveAs)
      : file_(std::move(file)), replace_(std::move(replace)), saveAs_(std::move(saveAs)) {}
  std::string name() const override { return "changed"; }
  void draw(Scene& scene, View& view, bool opening) override;

 private:
  const std::string file_;
  const std::function<void()> replace_, saveAs_;
};

/// The recovered scenes for the pictures, filled in as they arrive.
struct RecoveryPreview {
  std::vector<std::shared_ptr<const Scene>> scenes;
  bool refused = false;  ///< there will be no pictures
};

/// The question whether to restore the work of a window that ended without saving.
class RecoveryDialog : public Dialog {
 public:
  struct OfferedScene {
    std::string name, page, words;  ///< "demo.json", "Heads", and the text its heads read
  };
  struct Offer {
    std::string when, ago;             ///< "24 November 2026, 02:46", "3 minutes"
    std::vector<OfferedScene> scenes;  ///< the scene last worked on comes last
    std::string problem;               ///< why they can't be read; "" = they can
    std::shared_ptr<RecoveryPreview> preview = {};
    std::function<void()> previewed = {};  ///< called when all pictures are settled, or on "Not now"
  };
  RecoveryDialog(Offer offer, std::function<void()> restore, std::function<void()> discard)
      : offer_(std::move(offer)), restore_(std::move(restore)), discard_(std::move(discard)) {}
  std::string name() const override { return "recovery"; }
  void draw(Scene& scene, View& view, bool opening) override;

 private:
  const Offer offer_;
  const std::function<void()> restore_, discard_;
  bool previewed_ = false;
};

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
