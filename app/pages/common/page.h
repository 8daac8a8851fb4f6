#pragma once

#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/compute/jobs/file_queue.h"
#include "app/compute/layer/layer_inputs.h"
#include "app/compute/layer/snapshot.h"
#include "app/scene/document.h"
#include "app/widgets/actions.h"
#include "app/widgets/dialog.h"
#include "app/widgets/heat_parts.h"
#include "app/widgets/panel.h"
#include "app/widgets/view.h"

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

/// Something that advances by itself, one step at a time.
struct Playback {
  bool on = false;
  double since = 0;  ///< View::time of the last step
};

/// A page's names and shortcut.
struct PageInfo {
  std::string_view key;             ///< in scenes, on the command line and in tests: "heads"
  std::string_view name;            ///< on its tab
  KeyPress shortcut;                ///< switches to the page
  std::string_view goTo;            ///< name of the action that switches to it: "Go to Heads"
  std::string_view side;            ///< name of its right panel in narrow windows; "" = no right panel
  std::string_view hint = {};       ///< what the mouse and keys do there
  std::string_view words = {};      ///< of that action, for Search
  void (*again)(Scene&) = nullptr;  ///< what choosing the page does while it is shown; null = nothing
};

/// A path given to the program and what kind it is, determined beforehand because disk access may be slow.
struct NamedFile {
  std::filesystem::path path;
  bool folder = false;
  std::string page = {};  ///< key of the page that was shown when the path was given
};

/// A document on a page's stage, or one kept for its return there.
struct Staged {
  std::shared_ptr<Document> document;
  std::string place;  ///< where to find it, in words: "step 3 of Why scale"
};

/// The services that all pages share.
struct PageServices {
  PageServices(const Limits& limits, std::function<void()> wake, std::function<void()> releaseIdle)
      : resources(limits),
        workers(wake, std::move(releaseIdle)),
        files(wake),
        folders(wake),
        layer(workers, resources) {
    resources.memory.onShortage(wake);
  }

  View view;
  Resources resources;
  Workers workers;
  FileQueue files;
  FolderReads folders;
  ComputedLayer layer;
  Requester::Working working;  ///< set by the session
  Requester::Working own;      ///< the same, but always the window's document, never a staged one

  /// For a file requested now.
  Requester requester() const { return Requester(working); }
  /// Opens a dialog for a file.
  void ask(FileQuestion question) {
    view.dialog = std::make_shared<FilePicker>(std::move(question), folders);
  }
  /// Writes view.preferences on the file thread.
  void keepPreferences();
};

/// A figure of the diagnostics: "compute 1.8 ms".
struct Figure {
  std::string label, value;
  float room = 0;  ///< layout units it needs, with those after it, to be shown; 0 = always shown
};

/// What the status line shows for a page.
struct PageStatus {
  std::vector<std::string> facts;  ///< what changes what is shown and isn't seen in it
  std::string hint;                ///< what the mouse and keys do; "" = the page's from PageInfo
  std::vector<Figure> figures;     ///< in place of the hint if the person wants diagnostics
  std::string notFinite;           ///< a sentence on why visible numbers aren't finite; "" if all are
  std::string shape;               ///< on the right: a short description of what is shown
  double busySeconds = 0;          ///< how long a computation has been running; shown from half a second on
  std::string busyWords;           ///< "computing for 3 s"
  std::string busyName = "catching_up";  ///< name for tests
  bool canStop = false;                  ///< offers a button that returns to the current picture,
  bool hasPicture = false;               ///< if there is one
};

/// A page of the window: its view state, requests, textures, panels and actions. A page is a folder of
/// app/pages/ and a row in pages.cpp. Call on the thread of the session that owns it.
class Page {
 public:
  virtual ~Page() = default;

  /// The page's own actions, available on every page.
  virtual std::vector<Action> actions() { return {}; }
  /// Actions that have become known, from a file, since the last call.
  virtual std::vector<Action> moreActions() { return {}; }
  /// What Search finds on the page besides its actions, as far as it is known; begins to read the rest.
  virtual std::vector<Action> places() { return {}; }
  /// Called at the start of each frame, visible or not. Takes new answers; returns whether there were any.
  virtual bool take(const Scene&) { return false; }
  /// Called while visible, before drawing. Advances time and clamps the cursor to the available range.
  virtual void prepare(Scene&) {}
  /// Draws the panels: shows answers and edits the scene. Must not compute anything.
  virtual void draw(Scene& scene, const Layout& layout) = 0;
  /// Requests what is on screen, after the panels are drawn.
  virtual void ask(const Scene& scene) = 0;
  /// Called when another page is shown. Stops work that only this page needs.
  virtual void leave() {}
  /// Called when another page needs memory, never while visible. Drops pictures that can be recomputed.
  virtual void releaseMemory() {}
  /// Called when another scene was opened.
  virtual void reset() {}

  /// The number of heads to choose from.
  virtual Index heads(const Scene& scene) const { return scene.setup.model.heads; }
  /// Whether the scene has anything for this page. Otherwise it has no tab unless it is shown.
  virtual bool hasTab(const Scene&) const { return true; }
  /// Whether the scene shows the strip below the page.
  virtual bool showsStrip(const Scene&) const { return false; }
  /// Whether the scene shows the right panel, if the page has one.
  virtual bool showsSide(const Scene&) const { return true; }
  /// While presenting: one sentence that describes what is shown.
  virtual std::vector<CaptionPart> caption(const Scene&) const { return {}; }
  /// While presenting: a title before the sentence, such as a view's; "" if none.
  virtual std::string headline(const Scene&) const { return {}; }
  /// While presenting: the meaning of the picture's colours, unless the picture says it itself.
  virtual FigureLegend legend(const Scene&) const { return {}; }
  /// While presenting: speaker notes for what is shown, visible to the lecturer only.
  virtual std::string notes(const Scene&) const { return ""; }
  /// If the page has a sequence of scenes: the one after the current scene; null if none.
  virtual std::shared_ptr<const Scene> nextScene(const Scene&) const { return nullptr; }
  /// Whether the stage is currently animating from one view to the next, so that its picture needs no fading.
  virtual bool travels() const { return false; }
  virtual PageStatus status(const Scene& scene) const = 0;
  /// Why nothing can be shown, as a sentence.
  virtual std::optional<std::string> error(const Scene&) const { return std::nullopt; }
  /// Seconds until the page must be redrawn without input.
  virtual double nextFrameIn() const { return std::numeric_limits<double>::infinity(); }
  virtual std::size_t gpuBytes() const { return 0; }

  // A page may stage another page: show it inside itself, working on a separate document, while the
  // window's document stays unchanged. The stage shows the page named by the staged document's cursor; for
  // the page that stages it, `scene` above and below is the window's.

  /// Called first in each frame while visible. Only this and reset() may change what is staged. `own` is the
  /// window's document.
  virtual void arrange(Document& own) { (void)own; }
  /// The staged document; null if none. Keep a reference while using it: an action may unstage it.
  virtual std::shared_ptr<Document> staged() const { return nullptr; }
  /// The documents on stages that closing the window would lose: first those that were changed and wait for
  /// the person's return, last the staged one.
  virtual std::vector<Staged> stages() const { return {}; }
  /// Whether the staged document is a view of the window's document. If so, saving applies to the window's
  /// document, undo reaches it after the stage's own edits, and the window treats the stage like a page.
  virtual bool stagesViews() const { return false; }
  /// The stage's areas inside the window's. `hasSide` and `hasStrip` describe the staged page.
  virtual Layout stageLayout(const Layout& window, bool hasSide, bool hasStrip) const {
    (void)hasSide, (void)hasStrip;
    return window;
  }

  /// Opens a file or folder that was dropped while the page is visible, and reports the outcome. Returns
  /// false if the file isn't for this page.
  virtual bool open(const NamedFile&, const Requester&, const Outcome&) { return false; }
};

/// A row in the table of pages.
struct PageRow {
  PageInfo info;
  std::unique_ptr<Page> (*make)(PageServices&);
};

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

  /// Stages `written`, continuing with `left`, which take() returned earlier for this scene; may be null. A
  /// page that stages others is replaced by Heads.
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
