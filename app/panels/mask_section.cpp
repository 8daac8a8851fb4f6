#include <algorithm>

#include "app/panels/panels.h"
#include "app/widgets/controls.h"

namespace headscope::app {

namespace {

std::vector<Index> countStops(Index most) {
  std::vector<Index> stops;
  for (Index i = 1; i <= most; i += i < 64 ? 1 : i < 256 ? 8 : 32) stops.push_back(i);
  return stops;
}

void positionChoice(Scene& scene, View& view) {
  ModelSetup& model = scene.setup.model;
  const std::string odd = model.headDim % 2 != 0 ? "RoPE rotates pairs of dimensions; the head size " +
                                                       std::to_string(model.headDim) + " is odd"
                                                 : "";
  const std::vector<Choice> choices{
      {"None", "", "none"}, {"Sinus", "", "sinusoidal"}, {"RoPE", odd, "rope"}, {"ALiBi", "", "alibi"}};
  int chosen = static_cast<int>(model.position);
  if (segmented(view, "position", choices, chosen)) model.position = static_cast<PositionKind>(chosen);
  if (scene.setup.weights.source == WeightSource::planted && model.position != PositionKind::sinusoidal)
    hint(view,
         "Planted offset and local heads read sinusoids from the embedding; without them they can't tell "
         "places apart.");
}

}  // namespace

void maskSection(Scene& scene, const Snapshot* snapshot, View& view) {
  MaskSetup& mask = scene.setup.mask;
  const bool cross = scene.setup.input.cross;
  const std::string apart =
      cross ? "Queries and keys are different texts: their positions don't compare" : "";
  sectionTitle(view, "MASK");
  toggle(view, "causal", "Causal", mask.causal, apart);
  toggle(view, "window", "Sliding window", mask.window, apart);
  const Index most = snapshot && !snapshot->sequences.empty()
                         ? std::max<Index>(2, static_cast<Index>(snapshot->sequences.front().keys.size()))
                         : 64;
  if (mask.window && !cross)
    slider(view, {"window_size", "Window", "", "1 to " + std::to_string(most)}, countStops(most),
           mask.windowSize);
  const std::string noWindow = !apart.empty() ? apart
                               : mask.window  ? ""
                                              : "Sinks stay visible outside a sliding window: turn one on";
  toggle(view, "sinks", "Sink tokens", mask.sinks, noWindow);
  if (mask.sinks && noWindow.empty())
    slider(view, {"sink_count", "First keys", "", "1 to " + std::to_string(most)}, countStops(most),
           mask.sinkCount);
  const bool ragged =
      snapshot && std::any_of(snapshot->sequences.begin(), snapshot->sequences.end(),
                              [](const auto& s) { return s.keyLength < static_cast<Index>(s.keys.size()); });
  toggle(view, "padding", "Padding", mask.padding,
         ragged ? "" : "All sequences have the same length: nothing is padded");
  gap(view, 8);
  sectionTitle(view, "POSITION");
  positionChoice(scene, view);
}

}  // namespace headscope::app
