#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "app/platform/ui.h"
#include "app/scene/document.h"
#include "app/shell/dialogs.h"
#include "app/shell/exports.h"
#include "app/shell/stage.h"
#include "app/shell/window_frame.h"
#include "app/shell/workspace.h"
#include "app/widgets/heatmap_layer.h"

namespace headscope::app {

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
  void setScene(Scene scene, std::filesystem::path path = {},
                std::optional<attention::ContentMark> content = {}) {
    workspace_.open(std::move(scene), std::move(path), content);
  }
  /// Replaces the opening scene. Call before the first frame.
  void begin(Scene scene) { own() = Document(std::move(scene)); }
  /// Blocks until the picture shows the scene; returns whether anything was still missing. For headless
  /// rendering and tests. Throws std::runtime_error if answers keep coming.
  bool settle();
  /// Whether the picture may change without input: something is being computed or read, or about to be drawn.
  bool busy();

  Workspace& workspace() { return workspace_; }
  DocumentFiles& files() { return files_; }
  SceneLinks& links() { return links_; }
  Closing& closing() { return closing_; }
  StartOffer& startOffer() { return offer_; }
  const Document& document() const { return own(); }
  /// The scene being worked on: the document's, or that of the document its page stages.
  const Scene& scene() const { return workspace_.working()->scene(); }
  Scene& scene() { return workspace_.working()->scene(); }
  const Snapshot* snapshot() const { return services_.layer.snapshot().get(); }
  /// The services shared by the pages.
  PageServices& services() { return services_; }
  const Ui& ui() const { return ui_; }
  View& view() { return services_.view; }
  const View& view() const { return services_.view; }
  StageState& stage() { return presentation_.state(); }
  Exports& exports() { return exports_; }
  /// Also passes the next frame that no dialog covers to `then` as a drawing.
  void takePicture(std::function<void(Drawing)> then) { services_.view.pictureWanted = std::move(then); }
  /// Draws a sheet of width × height pixels with `paint` instead of the window, with type of `unit` pixels
  /// per layout unit. The next frame draws the window again.
  Drawing sheet(int width, int height, float unit, const std::function<void(const View&, Canvas)>& paint);
  const HeatmapLayer& heatmaps() const { return heatmaps_; }
  const ActionTable& actions() const { return actions_; }
  /// What Search leads to besides actions, as far as it is known; empty until Search was opened.
  const Places& places() const { return places_; }
  /// Returns the page of type P. Throws std::bad_cast if there is none.
  template <typename P>
  P& page() const {
    return pages().of<P>();
  }
  /// The shown page's notes and next scene while presenting, for the lecturer.
  std::string notes() const { return workspace_.shown().notes(own().scene()); }
  std::shared_ptr<const Scene> nextScene() const { return workspace_.shown().nextScene(own().scene()); }
  /// Why the shown page has nothing to show, as a sentence.
  std::optional<std::string> error() const;

  std::string title() const;
  /// Call after the last frame. Writes unsaved work that was not discarded for recovery, and stops the
  /// workers. Returns false if they run longer than `within`; the process must then exit at once.
  bool stop(std::chrono::milliseconds within = std::chrono::milliseconds(200));

 private:
  void prepareView(float scale, int height);
  void chooseType();
  void handOverPicture(int width, int height);
  void act(Page* page, Page* stage);
  void ask();
  void makeRoom();
  void drawFrame(const FrameInput& input, float width, float height);
  PageStatus status(const Page* stage) const;
  Layout windowLayout(float width, float height);
  bool showsStrip(const Page& page, bool inLesson);
  /// Returns the staged page, or null if the page left it no room and shows something else in its place.
  Page* drawPages(Page& page, Page* stage, const Layout& layout);
  void handleInput(const FrameInput& input);
  bool takenByControl(const InputEvent& event);
  const Action* actionFor(const InputEvent& event, bool typing) const;
  void perform(const std::string& id);
  bool takeAnswers();
  bool takeFonts();
  std::vector<Action> editActions();
  std::vector<Action> windowActions();
  std::vector<Action> settingActions();
  std::vector<Action> helpActions();
  void openManual(const std::string& target);
  void openSearch(std::string typed = "");
  void openMenu();
  void gatherPlaces();
  void revealControl();
  const Action& actionNamed(const std::string& id) const;
  void stepHead(Index by);
  Document& own() const { return *workspace_.own(); }
  PageSet& pages() { return workspace_.pages(); }
  const PageSet& pages() const { return workspace_.pages(); }

  Ui& ui_;
  HeatmapLayer heatmaps_;
  PageServices services_;
  Workspace workspace_;
  ActionTable actions_;
  Places places_ = std::make_shared<std::vector<Action>>();
  std::vector<Action> chapters_;  ///< the manual's sections, as places; empty until read
  DocumentFiles files_;
  SceneLinks links_;
  Closing closing_;
  StartOffer offer_;
  Presentation presentation_;
  ViewFade fade_;
  Exports exports_;
  ContextMenu menu_;         ///< opened by a right click
  bool layerShown_ = false;  ///< the page shown requests the layer
  double drawSeconds_ = 0;
  Fonts stageFonts_;                                           ///< in which nothing is smaller than text
  std::tuple<std::string, std::string, Index, Index> cameUp_;  ///< page, lesson, its step, view of the talk
};

}  // namespace headscope::app
