#include <fmt/core.h>

#include "app/pages/common/model_facts.h"
#include "app/pages/heads/heads_page.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/field_controls.h"

namespace headscope::app::heads_page {

namespace {

std::string sizeText(Index value) {
  return countText(static_cast<std::uint64_t>(value));
}

bool evenNeeded(const ModelSetup& model) {
  return model.position == PositionKind::rope;
}

/// Whether a head dim is possible in this model, however it was set.
bool headDimFits(const ModelSetup& model, Index headDim) {
  return headDim >= 1 && headDim <= kMaxHeadDim && !(evenNeeded(model) && headDim % 2 != 0);
}

/// Why modelDim can't be split over `heads`, or "".
std::string splitRefusal(const ModelSetup& model, Index modelDim, Index heads) {
  const std::string what =
      sizeText(modelDim) + " dimensions over " + sizeText(heads) + " " + attention::nounFor(heads, "head");
  if (modelDim % heads != 0)
    return what + " leaves " + numberText(static_cast<double>(modelDim) / static_cast<double>(heads)) +
           " per head, not a whole number. Choose a divisor or unlink the head dim.";
  const Index headDim = modelDim / heads;
  if (headDim > kMaxHeadDim)
    return what + " gives a head dim of " + sizeText(headDim) + "; the maximum is " + sizeText(kMaxHeadDim) +
           ".";
  if (evenNeeded(model) && headDim % 2 != 0)
    return what + " gives a head dim of " + sizeText(headDim) + "; RoPE needs an even one.";
  return "";
}

std::vector<Index> headStops(const Setup& setup, const ChosenHeads& chosen) {
  const ModelSetup& model = setup.model;
  const Suits suits = plantingSuits(setup);
  std::vector<Index> stops;
  for (Index heads = 1; heads <= kMaxHeads; ++heads) {
    if (model.linked && !splitRefusal(model, model.modelDim, heads).empty()) continue;
    ModelSetup trial = model;
    if (ChosenHeads(chosen).setHeads(trial, heads, suits)) stops.push_back(heads);
  }
  return stops.empty() ? std::vector<Index>{model.heads} : stops;
}

std::vector<Index> kvHeadStops(const Setup& setup) {
  const Suits suits = plantingSuits(setup);
  std::vector<Index> stops;
  for (const Index kvHeads : divisors(setup.model.heads)) {
    ModelSetup trial = setup.model;
    trial.kvHeads = kvHeads;
    if (!suits || suits(trial)) stops.push_back(kvHeads);
  }
  return stops.empty() ? std::vector<Index>{setup.model.kvHeads} : stops;
}

/// Model dims that suit a slider: every value at first, then growing steps. If the head dim is linked:
/// multiples of `heads`, and below them smaller values that work with fewer heads.
std::vector<Index> modelDimStops(const Setup& setup, const ChosenHeads& chosen, Index heads) {
  const ModelSetup& model = setup.model;
  const Suits suits = plantingSuits(setup);
  const Index even = evenNeeded(model) ? 2 : 1, unit = model.linked ? heads * even : 1;
  std::vector<Index> stops;
  const auto add = [&](Index value) {
    const bool fits = !model.linked || value < unit || headDimFits(model, value / heads);
    if (value > kMaxModelDim || !fits) return;
    ModelSetup trial = model;
    if (ChosenHeads(chosen).setModelDim(trial, value, suits)) stops.push_back(value);
  };
  if (model.linked)
    for (Index below = even; below < unit; below += below < 16 ? even : 8) add(below);
  for (double wanted = 1; wanted <= kMaxModelDim * 1.0001; wanted *= 1.03) {
    const Index value = std::max<Index>(1, std::lround(wanted / static_cast<double>(unit))) * unit;
    add(value > 64 && unit == 1 ? value / 8 * 8 : value);
  }
  for (Index power = 16; power <= kMaxModelDim; power *= 2)
    if (power % unit == 0) add(power);
  std::sort(stops.begin(), stops.end());
  stops.erase(std::unique(stops.begin(), stops.end()), stops.end());
  return stops.empty() ? std::vector<Index>{model.modelDim} : stops;
}

std::vector<Index> headDimStops(const Setup& setup) {
  const ModelSetup& model = setup.model;
  const Suits suits = plantingSuits(setup);
  std::vector<Index> stops;
  const Index step = evenNeeded(model) ? 2 : 1;
  for (Index size = step; size <= kMaxHeadDim; size += size < 32 ? step : size < 128 ? 8 : 32) {
    ModelSetup trial = model;
    trial.headDim = size;
    if (!suits || suits(trial)) stops.push_back(size);
  }
  return stops.empty() ? std::vector<Index>{model.headDim} : stops;
}

/// Recomputed only when a setting they depend on changes, because it tries hundreds of values.
const ModelStops& stopsOf(const Setup& setup, HeadSliders& sliders) {
  ModelStops& stops = sliders.stops;
  const InputSetup& input = setup.input;
  if (stops.model == setup.model && stops.weights == setup.weights && stops.embedding == input.source &&
      stops.chosen == sliders.chosen && !stops.heads.empty())
    return stops;
  const Index chosen = sliders.chosen.heads(setup.model);
  stops = {setup.model, setup.weights, input.source, sliders.chosen};
  stops.heads = headStops(setup, sliders.chosen);
  stops.kvHeads = kvHeadStops(setup);
  stops.headDim = headDimStops(setup);
  stops.modelDim = modelDimStops(setup, sliders.chosen, chosen);
  return stops;
}

void relink(ModelSetup& model) {
  if (model.linked) model.headDim = model.modelDim / model.heads;
}

/// Marks the sliders whose values changed because another one moved.
void sayWhatGaveWay(View& view, const ModelSetup& before, const ModelSetup& after, std::string_view moved) {
  if (moved != "heads" && before.heads != after.heads) view.markAdjusted("heads");
  if (before.kvHeads != after.kvHeads) view.markAdjusted("kv_heads");
}

void headSliders(Scene& scene, View& view, HeadSliders& sliders, const std::string& locked) {
  ModelSetup& model = scene.setup.model;
  const ModelSetup before = model;
  const auto refuseHeads = [&](Index heads) -> std::string {
    const std::string split = before.linked ? splitRefusal(before, before.modelDim, heads) : "";
    if (!split.empty()) return split;
    ModelSetup trial = before;
    return ChosenHeads(sliders.chosen).setHeads(trial, heads, plantingSuits(scene.setup))
               ? ""
               : plantedRefusal(scene.setup, trial);
  };
  if (fieldSlider(view, scene, "model.heads", {locked, stopsOf(scene.setup, sliders).heads, refuseHeads})) {
    const Index heads = std::exchange(model.heads, before.heads);
    sliders.chosen.setHeads(model, heads, plantingSuits(scene.setup));
    sayWhatGaveWay(view, before, model, "heads");
  }
  const auto refuseKv = [&](Index kvHeads) -> std::string {
    ModelSetup trial = model;
    trial.kvHeads = kvHeads;
    if (model.heads % kvHeads == 0) return plantedRefusal(scene.setup, trial);
    return sizeText(model.heads) + " query heads don't divide evenly among " + sizeText(kvHeads) +
           " kv heads: expected a divisor.";
  };
  const std::string one = model.heads == 1 ? "One head has one kv head" : locked;
  fieldSlider(view, scene, "model.kv_heads",
              {one, stopsOf(scene.setup, sliders).kvHeads, refuseKv, "divisors of " + sizeText(model.heads)});
}

void sizeSliders(Scene& scene, View& view, HeadSliders& sliders, const std::string& locked) {
  ModelSetup& model = scene.setup.model;
  const ModelSetup before = model;
  const std::string fromTable = scene.setup.input.source == EmbeddingSource::table
                                    ? "The typed table has " + sizeText(model.modelDim) + " dimensions"
                                    : locked;
  const auto refuseModel = [&](Index modelDim) -> std::string {
    const std::string split = before.linked ? splitRefusal(before, modelDim, before.heads) : "";
    if (!split.empty()) return split;
    ModelSetup trial = before;
    return ChosenHeads(sliders.chosen).setModelDim(trial, modelDim, plantingSuits(scene.setup))
               ? ""
               : plantedRefusal(scene.setup, trial);
  };
  if (fieldSlider(view, scene, "model.model_dim",
                  {fromTable, stopsOf(scene.setup, sliders).modelDim, refuseModel})) {
    const Index modelDim = std::exchange(model.modelDim, before.modelDim);
    sliders.chosen.setModelDim(model, modelDim, plantingSuits(scene.setup));
    sayWhatGaveWay(view, before, model, "model_dim");
  }
  const std::string linked = model.linked ? "Set by model dim / heads; unlink to change" : locked;
  const auto refuseHead = [&](Index headDim) -> std::string {
    ModelSetup trial = model;
    trial.headDim = headDim;
    return headDimFits(model, headDim) ? plantedRefusal(scene.setup, trial)
                                       : "RoPE rotates pairs of dimensions and needs an even head dim.";
  };
  fieldSlider(view, scene, "model.head_dim", {linked, stopsOf(scene.setup, sliders).headDim, refuseHead});
  std::string cannotLink = locked;
  if (cannotLink.empty() && !model.linked) cannotLink = splitRefusal(model, model.modelDim, model.heads);
  if (fieldToggle(view, scene, "model.linked", cannotLink)) relink(model);
}

/// Controls for the number of layers and the layer shown.
void layerControls(Scene& scene, View& view) {
  ModelSetup& model = scene.setup.model;
  const std::string cross = scene.setup.input.cross ? "Cross-attention works with one layer only" : "";
  if (fieldSlider(view, scene, "model.layers", {cross})) {
    Index& shown = scene.setup.subject.layer;
    shown = scene.cursor.model.layer = std::min(shown, model.layers - 1);
    if (growModelDim(model, plantingSuits(scene.setup))) view.markAdjusted("model_dim");
  }
  if (!isStack(scene.setup)) return;
  layerSlider(scene, view);
  fieldToggle(view, scene, "model.norm");
}

/// Says which query heads share which kv head, in the groups' colours.
void sharingHint(const ModelSetup& model, View& view) {
  const Index group = model.heads / model.kvHeads;
  std::string text;
  if (group == 1) {
    text = "Each query head has its own keys and values.";
  } else {
    const Index shown = std::min<Index>(model.kvHeads, 3);
    for (Index kv = 0; kv < shown; ++kv)
      text += (kv ? ", h" : "H") + std::string("eads ") + sizeText(kv * group) + "–" +
              sizeText((kv + 1) * group - 1) + " read " + kvName(kv);
    text += shown < model.kvHeads ? " … up to " + kvName(model.kvHeads - 1) + "." : ".";
  }
  hint(view, text);
}

}  // namespace

/// A layer of an opened model: its sizes are fixed, but what acts on it can be changed.
static void openedModelSection(Scene& scene, State& page) {
  View& view = page.view;
  modelFacts(scene, view);
  if (scene.setup.subject.opened) {
    gap(view, 4);
    layerSlider(scene, view);
    fieldSlider(view, scene, "model.sharpness");
    hint(view, "Apply sharpness, masks and biases");
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::SetCursorScreenPos(ImVec2(at.x, at.y - view.px(4)));
    scopeChoice(scene, view);
  }
  if (button(view, "model.overview", "See all layers")) view.request("page.model");
  ImGui::SameLine(0, view.px(8));
  if (button(view, "model.leave", "Use a synthetic layer", "", true)) view.request("model.leave");
  if (const PlacedError* error = errorAt(page.snapshot.get(), Place::model)) problem(view, error->message);
  if (const PlacedError* error = errorAt(page.snapshot.get(), Place::memory)) problem(view, error->message);
}

void modelSection(Scene& scene, State& page) {
  if (!scene.setup.subject.model.empty()) return openedModelSection(scene, page);
  View& view = page.view;
  const Snapshot* snapshot = page.snapshot.get();
  ModelSetup& model = scene.setup.model;
  const std::string locked =
      scene.setup.weights.source == WeightSource::file ? "Set by the weights file" : "";
  sectionTitle(view, "ATTENTION", scene.setup.input.cross ? "cross" : "self");
  kindChoice(scene.setup, view, locked);
  gap(view, 4);
  headSliders(scene, page.view, page.sliders, locked);
  sizeSliders(scene, page.view, page.sliders, locked);
  layerControls(scene, view);
  fieldSlider(view, scene, "model.sharpness");
  sharingHint(model, view);
  if (const PlacedError* error = errorAt(snapshot, Place::model)) problem(view, error->message);
  if (const PlacedError* error = errorAt(snapshot, Place::memory)) problem(view, error->message);
}

void moreSection(Scene& scene, View& view) {
  if (!scene.setup.subject.model.empty()) {
    sectionTitle(view, "MORE");
    return sectionSliders(view, scene, "MORE");
  }
  const std::string locked =
      scene.setup.weights.source == WeightSource::file ? "Set by the weights file" : "";
  sectionTitle(view, "MORE");
  fieldToggle(view, scene, "model.scaled");
  fieldToggle(view, scene, "model.bias", locked);
  sectionSliders(view, scene, "MORE");
}

}  // namespace headscope::app::heads_page
