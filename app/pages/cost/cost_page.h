#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/compute/cost/cost_catalogue.h"
#include "app/compute/cost/cost_figures.h"
#include "app/kit/board.h"
#include "app/pages/common/page.h"
#include "app/widgets/panel.h"
#include "app/widgets/view.h"
#include "attention/models/config/model_catalogue.h"

namespace headscope::app::cost_page {

using attention::asSize;

/// The page's view state, which its panels may change.
struct State {
  explicit State(View& window) : view(window) {}

  View& view;
  CostCatalogue catalogue{attention::modelShapes(), attention::machines(), {}};
  std::optional<attention::ModelShape> config;  ///< the shape from scene.cost.config
  std::string configFile;                       ///< the file it was read from
  std::string problem;                          ///< why a config.json couldn't be read
  CostFigures figures;                          ///< of the scene, as drawn
  std::array<GpuChoice, 5> gpus;
  std::string unknown;  ///< why there is no shape; "" = there is one

  std::string search;
  bool focusSearch = false;
  int plotTab = 0;    ///< the plot that a small window shows
  int presented = 0;  ///< while presenting: 0 = what the bytes are made of, then each plot
  /// A factor being dragged: the setup before, and where the drag began.
  struct DraggedFactor {
    CostSetup from;
    float x = 0;
  } dragged;
  std::optional<double> tokensLit,
      nextTokensLit;  ///< hovered in a plot over tokens: as drawn, and in this frame
};

/// Tracks a figure, and shows its terms in a tooltip while hovered, below `clearTo` if that is lower.
void showTerms(const View& view, const std::string& name, const ImRect& area, const std::string& terms,
               float clearTo = 0);

// The page's parts from top to bottom.

void controls(Scene& scene, State& page, const Layout& layout);
/// The bytes, what they mean, and the sentence.
void bytesAnswer(const State& page, Board& board);
/// The product that yields the bytes.
void bytesProduct(Scene& scene, State& page, Board& board);
/// One GPU's contents, the cards' capacities, and a choice of GPUs.
void gpuRuler(Scene& scene, State& page, Board& board);
/// The plots' tab labels, and the names under which they are tracked.
inline constexpr std::array<const char*, 3> kPlotTabs{"Memory", "Work", "Roofline"};
inline constexpr std::array<std::string_view, 3> kPlotNames{"plot.memory", "plot.work", "plot.roofline"};
void plots(Scene& scene, State& page, Board& board);

/// The names of the shapes in the left list that match the search; kThisLayer is first.
std::vector<std::string> listedModels(const Scene& scene, const State& page);
/// Sets the scene's model to a name from that list.
void chooseModel(Scene& scene, const std::string& model);

/// What models of any size cost in memory, work and time, computed from their shapes alone.
class Page : public app::Page {
 public:
  explicit Page(PageServices& services);

  std::vector<Action> actions() override;
  std::vector<Action> places() override;
  void prepare(Scene& scene) override;
  void draw(Scene& scene, const Layout& layout) override;
  void ask(const Scene& scene) override;
  void leave() override { catalogueAsked_ = false; }  // the person may edit the files meanwhile
  void reset() override;
  bool showsSide(const Scene&) const override { return false; }
  std::vector<CaptionPart> caption(const Scene& scene) const override;
  PageStatus status(const Scene& scene) const override;
  std::optional<std::string> error(const Scene& scene) const override;
  bool open(const NamedFile& file, const Requester& requester, const Outcome& outcome) override;

  const State& state() const { return page_; }

 private:
  void loadCatalogue();
  /// Reads a config.json and makes it the page's if valid; calls `read` with the result.
  void readConfig(const std::filesystem::path& path,
                  std::function<void(const attention::Result<attention::ModelShape>&)> read);
  void openConfig(const std::filesystem::path& path, const Requester& requester, const Outcome& outcome);
  /// Draws everything in the middle.
  void drawFigures(Scene& scene, const ImRect& area, std::string_view named);
  /// Moves by `by` among plots that are shown one at a time; while presenting, the bytes come first.
  void showNext(int by);
  void handleKeys(Scene& scene);
  /// Selects entry `choice` of kGpuCounts; reports why if the model can't be spread over that many GPUs.
  void chooseGpus(Scene& scene, std::size_t choice);

  PageServices& services_;
  State page_;
  bool catalogueAsked_ = false;
  std::string configAsked_;  ///< the file requested last
};

}  // namespace headscope::app::cost_page
