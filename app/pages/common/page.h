#pragma once

#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/compute/jobs/file_queue.h"
#include "app/compute/jobs/folder_reads.h"
#include "app/compute/layer/layer.h"
#include "app/compute/layer/resources.h"
#include "app/pages/common/asker.h"
#include "app/scene/document.h"
#include "app/widgets/actions.h"
#include "app/widgets/caption.h"
#include "app/widgets/layout.h"
#include "app/widgets/outcome.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// What a page is called.
struct PageInfo {
  std::string_view key;   ///< in scenes, on the command line and in tests: "heads"
  std::string_view name;  ///< on its tab
  KeyPress shortcut;      ///< goes there
  std::string_view goTo;  ///< the same in the list of actions: "Go to the heads"
  std::string_view side;  ///< what narrow windows call its panel at the right; "" = it has none
};

/// A path that was given to the program, and what it leads to: looking at the disk may take long.
struct NamedFile {
  std::filesystem::path path;
  bool folder = false;
  std::string page = {};  ///< the key of the page that was shown when it was given
};

/// A document that a page has on its stage, or that comes back to it.
struct Staged {
  std::shared_ptr<Document> document;
  std::string place;  ///< where a person finds it: "step 3 of Why scale"
};

/// What all pages share.
struct PageServices {
  PageServices(const Limits& limits, std::function<void()> wake, std::function<void()> releaseIdle)
      : resources(limits),
        workers(wake, std::move(releaseIdle)),
        files(wake),
        folders(wake),
        layer(workers, resources) {
    resources.memory.whenShort(wake);
  }

  View view;
  Resources resources;
  Workers workers;
  FileQueue files;
  FolderReads folders;
  ComputedLayer layer;
  Asker::Working working;  ///< set by the session
  Asker::Working own;      ///< the same: the window's document, whatever is on a stage

  /// For a file that is asked for now.
  Asker asker() const { return Asker(working); }
  /// Writes view.preferences, on the files' thread.
  void keepPreferences();
};

/// "compute 1.8 ms": a figure of the status line.
struct Figure {
  std::string label, value;
  float room = 0;  ///< is left out where less than so many units are left for it and what follows; 0 = never
};

/// What the status line says of a page.
struct PageStatus {
  std::vector<Figure> figures;
  std::string notFinite;                 ///< why numbers in sight aren't, in a sentence; "": they are
  std::string shape;                     ///< at the right: what is shown, in a few words
  double busySeconds = 0;                ///< that something has been computed for; said past half a second
  std::string busyWords;                 ///< "computing for 3 s"
  std::string busyName = "catching_up";  ///< for tests
  bool canStop = false;                  ///< has a button that goes back to what is shown,
  bool hasPicture = false;               ///< if anything is
};

/// A page of the window: its view state, questions, textures, panels and actions. A page is a folder of
/// app/pages/ and a row of pages.cpp. On the calling thread, like the session that owns it.
class Page {
 public:
  virtual ~Page() = default;

  /// The page's own actions, which can be asked for from every page.
  virtual std::vector<Action> actions() { return {}; }
  /// Those that came to be known since they were asked for last, from a file.
  virtual std::vector<Action> moreActions() { return {}; }
  /// At the start of a frame, shown or not: takes the answers that have come; whether there were any.
  virtual bool take(const Scene&) { return false; }
  /// While shown, before anything is drawn: passes time, and brings the cursor inside what there is.
  virtual void prepare(Scene&) {}
  /// The panels: answers in, edits of the scene out. Computes nothing.
  virtual void draw(Scene& scene, const Layout& layout) = 0;
  /// Asks for what is on screen, after the panels.
  virtual void ask(const Scene& scene) = 0;
  /// Another page is shown: what is under way for this one alone stops.
  virtual void leave() {}
  /// Another page needs the memory: drops pictures that can be computed again. Not while shown.
  virtual void releaseMemory() {}
  /// Another scene was opened.
  virtual void reset() {}

  /// Heads there are to choose from.
  virtual Index heads(const Scene& scene) const { return scene.setup.model.heads; }
  /// Whether the scene shows the strip below the page.
  virtual bool showsStrip(const Scene&) const { return false; }
  /// Whether the scene shows the panel at the right, where the page has one.
  virtual bool showsSide(const Scene&) const { return true; }
  /// While presenting: one sentence that says what is seen.
  virtual std::vector<CaptionPart> caption(const Scene&) const { return {}; }
  /// While presenting: what the lecturer says of what is shown, for the lecturer alone.
  virtual std::string notes(const Scene&) const { return ""; }
  /// Where the page is walked through: what comes after what is shown; null: nothing.
  virtual std::shared_ptr<const Scene> comesNext(const Scene&) const { return nullptr; }
  /// Whether what is staged is on its way from one view to the next by itself, so that its picture needs no
  /// fading.
  virtual bool travels() const { return false; }
  virtual PageStatus status(const Scene& scene) const = 0;
  /// Why nothing can be shown, in a sentence.
  virtual std::optional<std::string> error(const Scene&) const { return std::nullopt; }
  /// Seconds until it has to be drawn again without input.
  virtual double nextFrameIn() const { return std::numeric_limits<double>::infinity(); }
  virtual std::size_t gpuBytes() const { return 0; }

  // A page may put another one on a stage beside itself, with a document of its own: there all of that page
  // works on it, and the window's document waits untouched. The stage shows the page that the cursor of the
  // staged document names; `scene` above and below is the window's for the page that stages.

  /// Before everything else in a frame while shown: the one place, beside reset(), where what is staged may
  /// change. `own` is the window's document.
  virtual void arrange(Document& own) { (void)own; }
  /// What is staged; null: nothing. Who works on it holds on to it: an action may take it off the stage.
  virtual std::shared_ptr<Document> staged() const { return nullptr; }
  /// What closing the window would lose of stages: what is staged comes last, before it what was changed on a
  /// stage and waits until the person comes back to it.
  virtual std::vector<Staged> stages() const { return {}; }
  /// Whether what is staged is a view of the window's own document: that is then what is saved and, after the
  /// stage's own edits, undone, and the window says of the stage what it says of a page.
  virtual bool stagesViews() const { return false; }
  /// The stage's parts inside the window's. `hasSide` and `hasStrip` are of the page on it.
  virtual Layout stageLayout(const Layout& window, bool hasSide, bool hasStrip) const {
    (void)hasSide, (void)hasStrip;
    return window;
  }

  /// Opens a file that was dropped while the page is shown, or a folder, and says what came of it; false
  /// where it is not for this page.
  virtual bool open(const NamedFile&, const Asker&, const Outcome&) { return false; }
};

/// A row of the table of pages.
struct PageRow {
  PageInfo info;
  std::unique_ptr<Page> (*make)(PageServices&);
};

}  // namespace headscope::app
