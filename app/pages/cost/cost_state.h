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

/// What the cost page shows beside the scene: free for its panels to change.
struct State {
  explicit State(View& window) : view(window) {}

  View& view;
  CostCatalogue catalogue{attention::modelShapes(), attention::machines(), {}};
  std::optional<attention::ModelShape> config;  ///< of scene.cost.config
  std::string configFile;                       ///< which that was read from
  std::string problem;                          ///< why a config.json could not be taken
  std::string machineProblem;                   ///< why machines could not be read or kept
  CostFigures figures;                          ///< of the scene, as it is drawn
  std::array<GpuChoice, 5> gpus;
  std::string unknown;  ///< why there is no shape

  std::string search;
  bool focusSearch = false;
  std::string scrolledTo;  ///< the model that the list was scrolled to
  int plotTab = 0;         ///< which plot a small window shows
  int presented = 0;       ///< while presenting: 0 what the bytes are made of, then each plot
  /// A factor that is being dragged: what it was, and where the pointer took hold of it.
  struct DraggedFactor {
    CostSetup from;
    float x = 0;
  } dragged;
  std::optional<double> tokensLit;  ///< pointed at in a plot over tokens
};

// The page's parts, from the top down. Each takes the area it may use.

void controls(Scene& scene, State& page, const Layout& layout);
/// The bytes and the sentence; returns where they end.
float bytesAnswer(State& page, const ImRect& area, bool small);
/// The product that makes the bytes; returns where it ends.
float bytesProduct(Scene& scene, State& page, const ImRect& area, bool small);
/// What one GPU holds and where the cards end, and the choice of GPUs below it.
float gpuRuler(Scene& scene, State& page, const ImRect& area, bool small);
/// The plots: how their tabs are called, and the names under which they are tracked.
inline constexpr std::array<const char*, 3> kPlotTabs{"Memory", "Work", "Roofline"};
inline constexpr std::array<std::string_view, 3> kPlotNames{"plot.memory", "plot.work", "plot.roofline"};
void plots(Scene& scene, State& page, const ImRect& area, bool small);
/// One of them alone, by its name. Whether there is such a one.
bool plot(Scene& scene, State& page, const ImRect& area, std::string_view name);

/// Names of shapes in the list at the left, as the search leaves them; kThisLayer is the first.
std::vector<std::string> listedModels(const Scene& scene, const State& page);
/// Makes a name of that list the scene's.
void chooseModel(Scene& scene, const std::string& model);

}  // namespace headscope::app::cost_page
