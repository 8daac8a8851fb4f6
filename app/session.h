#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "app/compute/file_job.h"
#include "app/compute/head_study.h"
#include "app/compute/latest_job.h"
#include "app/compute/mask_study.h"
#include "app/compute/resources.h"
#include "app/compute/snapshot.h"
#include "app/compute/workers.h"
#include "app/platform/ui.h"
#include "app/scene/history.h"
#include "app/scene/scene.h"
#include "app/widgets/heatmap_layer.h"
#include "app/widgets/view.h"

namespace headscope::app {

class MapRoom;

/// One open window's worth of state: the scene and its history, the worker, the textures. Runs one frame at
/// a time. Everything but the workers is on the calling thread.
class Session {
 public:
  /// `wake` is called from worker threads when there is something new to show.
  Session(Ui& ui, const Limits& limits, std::function<void()> wake);
  ~Session();

  /// Draws one frame of width × height pixels at `scale` (the monitor's), `elapsed` seconds after the last.
  void frame(int width, int height, float scale, double elapsed);

  /// Seconds until something has to be drawn again without input; 0 = at once, infinity = never.
  double nextFrameIn() const;

  /// Replaces the scene as a step that can be undone.
  void setScene(Scene scene, const std::filesystem::path& path = {});
  void openFile(const std::filesystem::path& path);
  /// Blocks until the picture shows the scene. For headless rendering and tests.
  void settle();

  const Scene& scene() const { return scene_; }
  Scene& scene() { return scene_; }
  const Snapshot* snapshot() const { return snapshot_.get(); }
  View& view() { return view_; }
  const HeatmapLayer& heatmaps() const { return heatmaps_; }
  const MapRoom& map() const { return *map_; }
  /// Draws all that is there in every frame, however long that takes: for pictures and tests.
  void drawAtLeisure() { quickFrames_ = false; }
  /// What sending pictures to the GPU took the last time there were any to send, in seconds.
  double uploadSeconds() const { return uploadSeconds_; }
  bool wantsToQuit() const { return quit_; }
  /// The person asked to close the window: asks back when something is unsaved.
  void requestQuit();
  std::string title() const;

 private:
  void drawPanels(const FrameInput& input, float width, float height);
  void takeResults();
  void showPictures();
  void handleInput(const FrameInput& input);
  void perform(Action action);
  void performDialog(Action action);
  void performDecode(Action action);
  /// Whether the action was one of the mask studio's.
  bool performMask(Action action);
  bool performMaskFile(Action action);
  void toggleCell();
  void advancePlay();
  void keepCursorInside();
  void recordHistory(const Scene& before);
  void submitIfChanged();
  void askAboutMasks();
  void showMasks();
  void takeFile(FileAnswer answer);
  void applyWeights(const LoadedWeights& weights, const std::string& path);
  void applyTable(attention::Table table);
  /// The file's queries and keys become the map.
  void openMapFile(const std::filesystem::path& path);
  /// Heads there are to choose from on the page that is shown.
  Index headCount() const;
  void addMaskFile(const attention::MaskFile& file, const FileRequest& request);
  void save(const std::filesystem::path& path);
  void requestFile(FileRequest request);
  void notice(const std::string& text);
  void fail(const std::string& text);
  void applyStyle(float scale);

  Ui& ui_;
  Resources resources_;
  Scene scene_;
  History history_;
  View view_;
  HeatmapLayer heatmaps_;
  std::shared_ptr<const Snapshot> snapshot_;
  Setup submitted_;
  std::string neededText_;
  bool anySubmitted_ = false;
  Scene saved_;
  Cell wantedCell_, keptCell_;  ///< where the person pointed, and that place inside what there is now
  std::filesystem::path path_;
  std::string pendingEdit_;  ///< the control whose continuous edit is not in the history yet
  double pendingAt_ = 0;
  double uploadSeconds_ = 0;
  int settling_ = 3;
  bool quit_ = false;
  /// What the textures hold, so that they are filled anew only when something else is to be seen.
  struct Shown {
    const void* sequence = nullptr;
    Quantity quantity = Quantity::weights;
    Index focus = -1;
    int gridFactor = 0, focusFactor = 0;
    bool operator==(const Shown&) const = default;
  } shown_;
  std::uint64_t ticket_ = 0, answered_ = 0;
  LatestJob<FileRequest, FileAnswer> files_;
  std::shared_ptr<const MaskStudy> study_;
  std::shared_ptr<const HeadStudy> headStudy_;
  std::optional<MaskQuestion> askedMasks_;
  HeadQuestion askedHead_;
  std::shared_ptr<const ReachStudy> reachStudy_;
  ReachQuestion askedReach_;
  /// What the studio's textures hold.
  struct ShownMasks {
    const void *study = nullptr, *sequence = nullptr, *headStudy = nullptr, *reach = nullptr;
    Index head = -1;
    float pixels = 0;
    bool editsOther = false, compareWeights = true;
    bool operator==(const ShownMasks&) const = default;
  } shownMasks_;
  LatestJob<MaskQuestion, MaskStudy> studies_;
  LatestJob<HeadQuestion, HeadStudy> headStudies_;
  LatestJob<ReachQuestion, ReachStudy> reaches_;
  Workers workers_;
  std::unique_ptr<MapRoom> map_;
  bool quickFrames_ = true;
  LatestJob<Setup, Snapshot> job_;  // last: joins before anything it touches goes
};

/// $XDG_CONFIG_HOME/headscope/preferences.json; defaults where it can't be read.
Preferences loadPreferences();
void savePreferences(const Preferences& preferences);

}  // namespace headscope::app
