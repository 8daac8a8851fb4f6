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

/// What a scene's file is called among those that were opened before.
RecentKind recentKind(const Scene& scene);

/// One open window's worth of state: the document, the pages and the one that is shown. Runs one frame at a
/// time. Everything but the workers is on the calling thread.
class Session {
 public:
  /// `wake` is called from worker threads when there is something new to show.
  Session(Ui& ui, const Limits& limits, std::function<void()> wake,
          std::span<const PageRow> rows = pageTable());

  /// Draws one frame of width × height pixels at `scale` (the monitor's), `elapsed` seconds after the last.
  void frame(int width, int height, float scale, double elapsed);
  /// Where there are no threads, does a piece of what is to be computed or read; whether there was any. After
  /// a frame, so that what is on screen is asked for first. May be called while an earlier call rests inside
  /// its work, which goes on when this one is done: files go before what is computed.
  bool work() { return services_.files.work() || (!services_.files.working() && services_.workers.work()); }
  /// Seconds until something has to be drawn again without input; 0 = at once, infinity = never.
  double nextFrameIn() const;

  /// Replaces the scene as a step that can be undone.
  void setScene(Scene scene, const std::filesystem::path& path = {});
  /// Opens what was dropped or named, by its ending: a scene, or what the page that is shown takes.
  void openFile(const std::filesystem::path& path, const Outcome& outcome);
  /// Opens what another program sent, as the command line does: a safetensors file is recorded attention,
  /// whatever page is shown. A file that is shown is left as it is, which reads it again when it changes.
  void openSent(const std::filesystem::path& path);
  /// Opens a link, as somebody pasted or was given it: a scene as a step that can be undone, a lesson beside
  /// the window's own scene.
  void openLink(std::string link, const Outcome& outcome);
  /// What "Copy link" puts in front of the "#".
  void setLinkAddress(std::string address) { linkAddress_ = std::move(address); }
  /// The link to what is worked on, as "Copy link" copies it.
  attention::Result<std::string> link() const;
  /// Begins with that scene in place of the opening one, before the first frame.
  void begin(Scene scene) { *document_ = Document(std::move(scene)); }
  /// Puts it at the front of what was opened.
  void remember(const RecentFile& file);
  /// Until something is opened or changed, what was opened before is below the page.
  void offerRecent();
  /// Blocks until the picture shows the scene; whether that was still to come. For headless rendering and
  /// tests. Throws std::runtime_error where answers go on without end.
  bool settle();
  /// Whether the picture may still change without input: something is computed, read or about to be drawn.
  bool busy();

  const Document& document() const { return *document_; }
  /// What is worked on: the document's scene, or that of what its page stages.
  const Scene& scene() const { return working()->scene(); }
  Scene& scene() { return working()->scene(); }
  const Snapshot* snapshot() const { return services_.layer.snapshot().get(); }
  /// What its pages share.
  PageServices& services() { return services_; }
  const Ui& ui() const { return ui_; }
  View& view() { return services_.view; }
  const View& view() const { return services_.view; }
  StageState& stage() { return stage_; }
  Exports& exports() { return exports_; }
  /// The next frame that no dialog covers is handed over as a drawing, too.
  void takePicture(std::function<void(Drawing)> then) { services_.view.pictureWanted = std::move(then); }
  /// What `paint` draws on a sheet of that many pixels, with type of `unit` pixels a layout unit, instead of
  /// the window. The next frame is the window's again.
  Drawing sheet(int width, int height, float unit, const std::function<void(const View&, Canvas)>& paint);
  const HeatmapLayer& heatmaps() const { return heatmaps_; }
  const ActionTable& actions() const { return actions_; }
  /// The page of that type. Throws std::bad_cast where there is none.
  template <typename P>
  P& page() const {
    return pages_.of<P>();
  }
  /// Of what is shown while it is presented, for the lecturer.
  std::string notes() const { return shown().notes(document_->scene()); }
  std::shared_ptr<const Scene> comesNext() const { return shown().comesNext(document_->scene()); }
  /// Why the page that is shown has nothing to show, in a sentence.
  std::optional<std::string> error() const;

  std::string title() const;
  bool wantsToQuit() const;
  /// The person asked to close the window: asks back when something is unsaved.
  void requestQuit();
  /// Closes without a question, as soon as what is being written is written: what is unsaved is for recovery.
  void leave();
  /// All that closing the window would lose, what is worked on last.
  std::vector<UnsavedScene> unsaved() const;
  /// Keeps what is unsaved in `store` from now on, and offers what windows that ended have left there.
  void recoverWith(std::shared_ptr<RecoveryStore> store) { recovery_.keepIn(std::move(store)); }
  /// After the last frame: what is unsaved, and was not given up, is written for recovery. Whether everything
  /// stopped `within` that time; where not, the program is left as it is.
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
  /// The document that is worked on. Who lets others act holds on to it: they may open another.
  std::shared_ptr<Document> working() const {
    std::shared_ptr<Document> staged = shown().staged();
    return staged ? staged : document_;
  }
  Document& undoes(bool redo) const;
  /// What undo acts on, to be held.
  std::shared_ptr<Document> undoable() const {
    return &undoes(false) == document_.get() ? document_ : working();
  }
  /// What saving saves.
  std::shared_ptr<Document> saved() const { return shown().stagesViews() ? document_ : working(); }
  /// The page that the shown one has on its stage; null without one.
  Page* onStage() const;
  /// The lesson that is shown, and its file where the library knows it; null where none is.
  LessonEntry shownLesson() const;
  /// The page that shows what is worked on.
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
  std::vector<RecentFile> recent_;  ///< that is offered; empty: nothing is, any more
  ContextMenu menu_;                ///< that a right click opens
  bool layerShown_ = false;         ///< the page that is shown asks for the layer
  double drawSeconds_ = 0;
  std::string linkAddress_ = kLinkAddress;
  enum class Leaving { no, whenWritten, now } leaving_ = Leaving::no;
  UnsavedWork recovery_;
};

}  // namespace headscope::app
