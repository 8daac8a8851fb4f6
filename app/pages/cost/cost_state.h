#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "app/compute/cost/cost_figures.h"
#include "app/widgets/layout.h"
#include "app/widgets/view.h"
#include "attention/models/config/model_catalogue.h"

namespace headscope::app::cost_page {

/// The page's view state, which its panels may change.
struct State {
  explicit State(View& window) : view(window) {}

  View& view;
  CostCatalogue catalogue{attention::modelShapes(), attention::machines(), {}};
  std::optional<attention::ModelShape> config;  ///< the shape from scene.cost.config
  std::string configFile;                       ///< the file it was read from
  std::string problem;                          ///< why a config.json couldn't be read
  std::string machineProblem;                   ///< why machines couldn't be saved
  CostFigures figures;                          ///< of the scene, as drawn
  std::array<GpuChoice, 5> gpus;
  std::string unknown;  ///< why there is no shape; "" = there is one

  std::string search;
  bool focusSearch = false;
  std::string scrolledTo;  ///< the model that the list was last scrolled to
  int plotTab = 0;         ///< the plot that a small window shows
  int presented = 0;       ///< while presenting: 0 = what the bytes are made of, then each plot
  /// A factor being dragged: the setup before, and where the drag began.
  struct DraggedFactor {
    CostSetup from;
    float x = 0;
  } dragged;
  std::optional<double> tokensLit;  ///< hovered in a plot over tokens
};

// The page's parts from top to bottom. Each gets the area it may use.

void controls(Scene& scene, State& page, const Layout& layout);
/// Draws the bytes and the sentence. Returns the y of the bottom.
float bytesAnswer(State& page, const ImRect& area, bool small);
/// Draws the product that yields the bytes. Returns the y of the bottom.
float bytesProduct(Scene& scene, State& page, const ImRect& area, bool small);
/// Draws one GPU's contents, the cards' capacities, and a choice of GPUs. Returns the y of the bottom.
float gpuRuler(Scene& scene, State& page, const ImRect& area, bool small);
/// The plots' tab labels, and the names under which they are tracked.
inline constexpr std::array<const char*, 3> kPlotTabs{"Memory", "Work", "Roofline"};
inline constexpr std::array<std::string_view, 3> kPlotNames{"plot.memory", "plot.work", "plot.roofline"};
void plots(Scene& scene, State& page, const ImRect& area, bool small);
/// Draws a single plot by name. Returns false if there is none with that name.
bool plot(Scene& scene, State& page, const ImRect& area, std::string_view name);

/// The names of the shapes in the left list that match the search; kThisLayer is first.
std::vector<std::string> listedModels(const Scene& scene, const State& page);
/// Sets the scene's model to a name from that list.
void chooseModel(Scene& scene, const std::string& model);

}  // namespace headscope::app::cost_page
