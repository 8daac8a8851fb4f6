#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "app/pages/heads/heads_state.h"
#include "app/platform/track.h"
#include "app/scene/mask_rules.h"
#include "app/scene/models/open_model.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/field_controls.h"
#include "app/widgets/pattern_sliders.h"

namespace headscope::app::heads_page {

using attention::Layer;
using attention::PatternKind;

namespace {

void positionChoice(Scene& scene, View& view) {
  const ModelSetup& model = scene.setup.model;
  const std::string odd =
      model.headDim % 2 != 0
          ? fmt::format("RoPE rotates pairs of dimensions; head dim {} is odd", model.headDim)
          : "";
  if (!scene.setup.subject.model.empty()) {
    const std::string own = "The model has its own positions; ALiBi and T5 add to them";
    fieldChoice(view, scene, "model.position", {"", own, own});
    return;
  }
  fieldChoice(view, scene, "model.position", {"", "", odd});
  if (scene.setup.weights.source == WeightSource::planted && model.position != PositionKind::sinusoidal)
    hint(view, "Planted offset and local heads need sinusoids in the embedding to tell positions apart.");
}

struct Rule {
  PatternKind kind;
  const char *name, *label;
};
constexpr Rule kRules[] = {{PatternKind::causal, "causal", "Causal"},
                           {PatternKind::window, "window", "Sliding window"},
                           {PatternKind::streaming, "streaming", "Sinks + window"},
                           {PatternKind::padding, "padding", "Padding"}};

std::string ruleReason(const Snapshot* snapshot, PatternKind kind) {
  if (kind != PatternKind::padding) return "";
  const bool ragged =
      snapshot && std::any_of(snapshot->sequences.begin(), snapshot->sequences.end(),
                              [](const auto& s) { return s.keyLength < static_cast<Index>(s.keys.size()); });
  return ragged ? "" : "All sequences have the same length, so there is no padding";
}

}  // namespace

void maskSection(Scene& scene, const Snapshot* snapshot, View& view) {
  SharedLayers& layers = scene.setup.mask.layers;
  sectionTitle(view, "MASK");
  MaskedText text;
  if (snapshot && !snapshot->sequences.empty())
    text.longest = std::max<Index>(2, static_cast<Index>(snapshot->sequences.front().keys.size()));
  if (const auto& opened = scene.setup.subject.opened; opened && opened->config().causalHeads()) {
    bool causal = true;
    toggle(view, "model.causal", "Causal (built into the model)", causal,
           "The model was trained with a causal mask: no token sees a later one.");
  }
  std::vector<PatternKind> rules;
  for (const Rule& rule : kRules) {
    const auto& opened = scene.setup.subject.opened;
    if (opened && (rule.kind == PatternKind::padding ||
                   (rule.kind == PatternKind::causal && opened->config().causalHeads())))
      continue;
    ruleSwitch(layers, rule.kind, rule.name, rule.label, text, view, ruleReason(snapshot, rule.kind));
    rules.push_back(rule.kind);
  }
  if (isCross(scene.setup) && attention::comparesPositions(layers))
    hint(view, "Positions in both texts start at 0. Causal lets query i see keys j ≤ i of the other text.");
  // Layers composed in the studio get a switch each, up to a sensible number.
  std::vector<const Layer*> shown;
  for (const PatternKind rule : rules)
    if (const Layer* layer = plainLayer(layers, rule)) shown.push_back(layer);
  constexpr std::size_t kMaxSwitches = 32;
  std::size_t switches = 0;
  std::optional<std::size_t> switched;
  for (std::size_t i = 0; i < layers.size() && switches < kMaxSwitches; ++i)
    if (std::find(shown.begin(), shown.end(), &layers[i]) == shown.end()) {
      bool on = layers[i].on;
      if (toggle(view, fmt::format("layer.{}", i), layerTitle(layers[i]), on)) switched = i;
      ++switches;
    }
  if (const std::size_t more = layers.size() - std::min(layers.size(), shown.size() + switches); more > 0)
    hint(view, fmt::format("and {} in the mask studio", countedText(std::ssize(layers) - std::ssize(shown) -
                                                                        static_cast<std::ptrdiff_t>(switches),
                                                                    "more layer")));
  if (switched) layers.edit()[*switched].on = !layers[*switched].on;
  if (snapshot && !snapshot->hidesFuture.empty()) {
    hint(view, fmt::format("{} also hides the future, so turning Causal off changes nothing.",
                           alternatives(snapshot->hidesFuture)));
    trackItem("mask.future");
  }
  if (const PlacedError* error = errorAt(snapshot, Place::mask)) problem(view, error->message);
  if (button(view, "open_studio", "Mask studio…")) view.request("page.mask");
  gap(view, 8);
  sectionTitle(view, "POSITION");
  positionChoice(scene, view);
}

}  // namespace headscope::app::heads_page
