#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "app/platform/recent_files.h"
#include "app/platform/ui.h"
#include "app/scene/document.h"
#include "app/scene/links/link.h"
#include "app/shell/context_menu.h"
#include "app/shell/exports.h"
#include "app/shell/page_set.h"
#include "app/shell/stage_state.h"
#include "app/shell/unsaved_work.h"
#include "app/shell/view_fade.h"
#include "app/widgets/heatmap_layer.h"

namespace headscope::app {

/// The kind under which a scene's file is listed among the recent files.
RecentKind recentKind(const Scene& scene);

/// The state of one open window: the document, the pages and the page shown. Runs one frame at a time.
/// Everything except the workers runs on the calling thread.
class Session {
 public:
  /// `wake` is called from worker threads when there is something new to show.
  Session(Ui& ui, const Limits& limits, std::function<void()> wake,
          std::span<const PageRow> rows = pageTable());

  /// Draws one frame of width × height pixels at `scale` (the monitor's), `elapsed` seconds after the last.
  void frame(int width, int height, float scale, double elapsed);
  /// On platforms without threads, does a piece of the pending work, reading before computing; returns
  /// whether there was any. Call after a frame, so that what is on screen is requested first. May be called
  /// while an earlier call is suspended inside its work, which resumes when this one returns.
  bool work() { return services_.files.work() || (!services_.files.working() && services_.workers.work()); }
  /// Seconds until something has to be drawn again without input; 0 = at once, infinity = never.
  double nextFrameIn() const;

  /// Replaces the scene as an undoable step.
  void setScene(Scene scene, const std::filesystem::path& path = {});
  /// Opens a dropped or named file by its extension: a scene, or a file for a page, the shown page first.
  void openFile(const std::filesystem::path& path, const Outcome& outcome);
  /// Opens a file sent by another program, as the command line does: a safetensors file is recorded
  /// attention, whatever page is shown. Ignores a file that is already shown; it is reread when it changes.
  void openSent(const std::filesystem::path& path);
  /// Opens a pasted or given link: a scene as an undoable step, a lesson next to the window's own scene.
  void openLink(std::string link, const Outcome& outcome);
  /// Sets the address that "Copy link" puts before the "#".
  void setLinkAddress(std::string address) { linkAddress_ = std::move(address); }
  /// Returns the link to the document's scene, as "Copy link" copies it.
  attention::Result<std::string> link() const;
  /// Replaces the opening scene. Call before the first frame.
  void begin(Scene scene) { *document_ = Document(std::move(scene)); }
  /// Puts `file` first among the recent files.
  void remember(const RecentFile& file);
  /// Offers the recent files below the page until something is opened or changed.
  void offerRecent();
  /// Blocks until the picture shows the scene; returns whether anything was still missing. For headless
  /// rendering and tests. Throws std::runtime_error if answers keep coming.
  bool settle();
  /// Whether the picture may change without input: something is being computed or read, or about to be drawn.
  bool busy();

  const Document& document() const { return *document_; }
  /// The scene being worked on: the document's, or that of the document its page stages.
  const Scene& scene() const { return working()->scene(); }
  Scene& scene() { return working()->scene(); }
  const Snapshot* snapshot() const { return services_.layer.snapshot().get(); }
  /// The services shared by the pages.
  PageServices& services() { return services_; }
  const Ui& ui() const { return ui_; }
  View& view() { return services_.view; }
  const View& view() const { return services_.view; }
  StageState& stage() { return stage_; }
  Exports& exports() { return exports_; }
  /// Also passes the next frame that no dialog covers to `then` as a drawing.
  void takePicture(std::function<void(Drawing)> then) { services_.view.pictureWanted = std::move(then); }
  /// Draws a sheet of width × height pixels with `paint` instead of the window, with type of `unit` pixels
  /// per layout unit. The next frame draws the window again.
  Drawing sheet(int width, int height, float unit, const std::function<void(const View&, Canvas)>& paint);
  const HeatmapLayer& heatmaps() const { return heatmaps_; }
  const ActionTable& actions() const { return actions_; }
  /// Returns the page of type P. Throws std::bad_cast if there is none.
  template <typename P>
  P& page() const {
    return pages_.of<P>();
  }
  /// The shown page's notes and next scene while presenting, for the lecturer.
  std::string notes() const { return shown().notes(document_->scene()); }
  std::shared_ptr<const Scene> comesNext() const { return shown().comesNext(document_->scene()); }
  /// Why the shown page has nothing to show, as a sentence.
  std::optional<std::string> error() const;

  std::string title() const;
  bool wantsToQuit() const;
  /// Handles the user's request to close the window: asks first if anything is unsaved.
  void requestQuit();
  /// Closes without asking, as soon as pending writes are done. Unsaved work is kept for recovery.
  void leave();
  /// Everything that closing the window would lose: the document's scenes, then those on stages.
  std::vector<UnsavedScene> unsaved() const;
  /// From now on keeps unsaved work in `store`; offers what windows that have ended left there.
  void recoverWith(std::shared_ptr<RecoveryStore> store) { recovery_.keepIn(std::move(store)); }
  /// Call after the last frame. Writes unsaved work that was not discarded for recovery, and stops the
  /// workers. Returns false if they run longer than `within`; the process must then exit at once.
  bool stop(std::chrono::milliseconds within = std::chrono::milliseconds(200));

 private:
  void prepareView(float scale, int height);
  void handOverPicture(int width, int height);
  void act(Page* page, Page* stage);
  void ask();
  void makeRoom();
  void drawFrame(const FrameInput& input, float width, float height);
  PageStatus status() const;
  Layout windowLayout(float width, float height);
  bool offersLesson() const;
  void readRecent(const std::function<void(std::vector<RecentFile>)>& take);
  void openRecent(const RecentFile& file, const Outcome& outcome);
  bool offersRecent();
  void drawOffer(const Layout& layout, float width);
  void drawPages(Page& page, Page* stage, const Layout& layout);
  void handleInput(const FrameInput& input);
  bool takenByControl(const InputEvent& event);
  const Action* actionFor(const InputEvent& event, bool typing) const;
  void perform(const std::string& id);
  bool takeAnswers();
  bool takeFonts();
  std::vector<Action> documentActions();
  std::vector<Action> editActions();
  std::vector<Action> windowActions();
  std::vector<Action> settingActions();
  std::vector<Action> helpActions();
  std::vector<Action> linkActions();
  void copyLink();
  std::vector<Action> stageActions();
  void nextExample();
  void nextKind(const Scene& scene);
  void prepareStage(int width, int height);
  void noteKey(const Action& action);
  void openManual(const std::string& page);
  void stepHead(Index by);
  void open(const NamedFile& file, const Asker& asker, const Outcome& outcome);
  void openJson(const NamedFile& file, const Asker& asker, const Outcome& outcome);
  void openScene(Scene scene, SceneFile file);
  void resetPages();
  void openBehind(Scene scene, const std::filesystem::path& path);
  void save(const std::filesystem::path& path, const Outcome& outcome);
  void save(const UnsavedScene& unsaved, const std::filesystem::path& path, const Outcome& outcome,
            std::function<void()> done);
  void saveAndQuit(const UnsavedScene& unsaved);
  std::string placeOf(const UnsavedScene& unsaved) const;
  Page& shown() const { return pages_.named(document_->scene().cursor.page); }
  /// The document being worked on. Hold the pointer while others act: they may open another document.
  std::shared_ptr<Document> working() const {
    std::shared_ptr<Document> staged = shown().staged();
    return staged ? staged : document_;
  }
  Document& undoes(bool redo) const;
  /// The document that undo acts on; hold the pointer while using it.
  std::shared_ptr<Document> undoable() const {
    return &undoes(false) == document_.get() ? document_ : working();
  }
  /// The document that saving writes.
  std::shared_ptr<Document> saved() const { return shown().stagesViews() ? document_ : working(); }
  /// The page on the shown page's stage; null if there is none.
  Page* onStage() const;
  /// The lesson shown, with its file if the library knows it; no lesson if none is shown.
  LessonEntry shownLesson() const;
  /// The page that shows what is being worked on.
  Page& worker() const {
    Page* stage = onStage();
    return stage ? *stage : shown();
  }

  Ui& ui_;
  const std::shared_ptr<Document> document_;
  HeatmapLayer heatmaps_;
  PageServices services_;
  PageSet pages_;
  ActionTable actions_;
  StageState stage_;
  ViewFade fade_;
  Exports exports_;
  std::vector<RecentFile> recent_;  ///< offered below the page; empty = no more offers
  ContextMenu menu_;                ///< opened by a right click
  bool layerShown_ = false;         ///< whether the shown page requested the layer
  double drawSeconds_ = 0;
  std::string linkAddress_ = kLinkAddress;
  enum class Leaving { no, whenWritten, now } leaving_ = Leaving::no;
  UnsavedWork recovery_;
};

}  // namespace headscope::app
