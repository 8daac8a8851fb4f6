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

/// The values of `candidates` that `apply` can give to a copy of the model; `now` if there is none.
template <class Apply>
std::vector<Index> possible(const ModelSetup& model, std::vector<Index> candidates, Index now,
                            const Apply& apply) {
  std::erase_if(candidates, [&](Index value) {
    ModelSetup trial = model;
    return !apply(trial, value);
  });
  if (candidates.empty()) candidates.push_back(now);
  return candidates;
}

/// Model dims that suit a slider: every value at first, then growing steps. If the head dim is linked:
/// multiples of `heads`, and below them smaller values that work with fewer heads.
std::vector<Index> modelDims(const ModelSetup& model, Index heads) {
  const Index even = evenNeeded(model) ? 2 : 1, unit = model.linked ? heads * even : 1;
  std::vector<Index> values;
  if (model.linked)
    for (Index below = even; below < unit; below += below < 16 ? even : 8) values.push_back(below);
  for (double wanted = 1; wanted <= kMaxModelDim * 1.0001; wanted *= 1.03) {
    const Index value = std::max<Index>(1, std::lround(wanted / static_cast<double>(unit))) * unit;
    values.push_back(value > 64 && unit == 1 ? value / 8 * 8 : value);
  }
  for (Index power = 16; power <= kMaxModelDim; power *= 2)
    if (power % unit == 0) values.push_back(power);
  std::erase_if(values, [&](Index value) {
    return value > kMaxModelDim || (model.linked && value >= unit && !headDimFits(model, value / heads));
  });
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

/// Recomputed only when a setting they depend on changes, because it tries hundreds of values.
const ModelStops& stopsOf(const Setup& setup, HeadSliders& sliders) {
  ModelStops& stops = sliders.stops;
  const InputSetup& input = setup.input;
  const ModelSetup& model = setup.model;
  if (stops.model == model && stops.weights == setup.weights && stops.embedding == input.source &&
      stops.chosen == sliders.chosen && !stops.heads.empty())
    return stops;
  stops = {model, setup.weights, input.source, sliders.chosen};
  const Suits suits = plantingSuits(setup);
  const auto suited = [&](const ModelSetup& trial) { return !suits || suits(trial); };
  const ChosenHeads& chosen = sliders.chosen;
  std::vector<Index> sizes;
  const Index step = evenNeeded(model) ? 2 : 1;
  for (Index size = step; size <= kMaxHeadDim; size += size < 32 ? step : size < 128 ? 8 : 32)
    sizes.push_back(size);
  stops.heads = chosen.headCounts(model, suits);
  stops.kvHeads = kvHeadCounts(model, suits);
  stops.headDim = possible(model, sizes, model.headDim, [&](ModelSetup& trial, Index size) {
    trial.headDim = size;
    return suited(trial);
  });
  stops.modelDim = possible(model, modelDims(model, sliders.chosen.heads(model)), model.modelDim,
                            [&](ModelSetup& trial, Index modelDim) {
                              return ChosenHeads(chosen).setModelDim(trial, modelDim, suits);
                            });
  return stops;
}

/// A slider whose value other settings of the model follow: `set` gives it to a model and returns false if
/// none suits it. The sliders that gave way are marked.
template <class Set>
void followedSlider(Rows& rows, Scene& scene, const char* path, Index ModelSetup::*value, SliderState state,
                    const std::function<std::string(Index)>& split, const Set& set) {
  ModelSetup& model = scene.setup.model;
  const ModelSetup before = model;
  state.refuse = [&](Index wanted) -> std::string {
    if (const std::string reason = before.linked ? split(wanted) : ""; !reason.empty()) return reason;
    ModelSetup trial = before;
    return set(trial, wanted, true) ? "" : plantedRefusal(scene.setup, trial);
  };
  if (!rows.slider(scene, path, state)) return;
  set(model, std::exchange(model.*value, before.*value), false);
  if (value != &ModelSetup::heads && before.heads != model.heads) rows.view().markAdjusted("heads");
  if (before.kvHeads != model.kvHeads) rows.view().markAdjusted("kv_heads");
  if (value != &ModelSetup::modelDim && before.modelDim != model.modelDim)
    rows.view().markAdjusted("model_dim");
}

/// The limits of the number of heads; "" = those of the row.
std::string dividesDim(const ModelSetup& model, HeadSliders& sliders) {
  return model.linked ? "divisors of the model dim, " + sizeText(sliders.chosen.modelDim(model)) : "";
}

void headSliders(Rows& rows, Scene& scene, HeadSliders& sliders, const std::string& locked) {
  ModelSetup& model = scene.setup.model;
  const Suits suits = plantingSuits(scene.setup);
  followedSlider(
      rows, scene, "model.heads", &ModelSetup::heads,
      {locked, stopsOf(scene.setup, sliders).heads, {}, dividesDim(model, sliders)},
      [&, now = model.modelDim, chosen = sliders.chosen.modelDim(model)](Index heads) {
        return splitRefusal(model, chosen, heads).empty() ? "" : splitRefusal(model, now, heads);
      },
      [&](ModelSetup& to, Index heads, bool tries) {
        ChosenHeads trial = sliders.chosen;
        return (tries ? trial : sliders.chosen).setHeads(to, heads, suits);
      });
  const auto refuseKv = [&](Index kvHeads) -> std::string {
    ModelSetup trial = model;
    trial.kvHeads = kvHeads;
    if (model.heads % kvHeads == 0) return plantedRefusal(scene.setup, trial);
    return sizeText(model.heads) + " query heads don't divide evenly among " + sizeText(kvHeads) +
           " kv heads: expected a divisor.";
  };
  const ModelStops& stops = stopsOf(scene.setup, sliders);
  rows.slider(scene, "model.kv_heads",
              {model.heads == 1 ? "One head has one kv head" : locked, stops.kvHeads, refuseKv,
               "divisors of " + sizeText(model.heads), "", kvHeadsLimit(scene.setup, stops.kvHeads)});
}

/// Whether weights are made for so many kv heads, or for one per head and then merged.
void mergeChoice(Rows& rows, Scene& scene) {
  Setup& setup = scene.setup;
  if (setup.weights.source == WeightSource::file) return;
  const Field& field = fieldAt("weights.merged");
  std::vector<Choice> choices = choicesOf(field);
  choices[0].label = (setup.weights.source == WeightSource::planted ? "planted for " : "drawn for ") +
                     sizeText(setup.model.kvHeads);
  choices[1].label = "merged from " + sizeText(setup.model.heads);
  if (setup.model.kvHeads == setup.model.heads) choices[1].disabledReason = "Every head has its own K and V.";
  int chosen = chosenIn(field, scene);
  if (!segmented(rows.view(), "merged", choices, chosen, field.help)) return;
  choose(field, scene, chosen);
  // Heads that share keys may need more room than they had apart.
  if (growModelDim(setup.model, plantingSuits(setup))) rows.view().markAdjusted("model_dim");
}

void sizeSliders(Rows& rows, Scene& scene, HeadSliders& sliders, const std::string& locked) {
  ModelSetup& model = scene.setup.model;
  const Suits suits = plantingSuits(scene.setup);
  followedSlider(
      rows, scene, "model.model_dim", &ModelSetup::modelDim,
      {scene.setup.input.source == EmbeddingSource::table
           ? "The typed table has " + sizeText(model.modelDim) + " dimensions"
           : locked,
       stopsOf(scene.setup, sliders).modelDim},
      [&, heads = model.heads](Index modelDim) { return splitRefusal(model, modelDim, heads); },
      [&](ModelSetup& to, Index modelDim, bool tries) {
        ChosenHeads trial = sliders.chosen;
        return (tries ? trial : sliders.chosen).setModelDim(to, modelDim, suits);
      });
  const auto refuseHead = [&](Index headDim) -> std::string {
    ModelSetup trial = model;
    trial.headDim = headDim;
    return headDimFits(model, headDim) ? plantedRefusal(scene.setup, trial)
                                       : "RoPE rotates pairs of dimensions and needs an even head dim.";
  };
  rows.slider(scene, "model.head_dim",
              {model.linked ? "Set by model dim / heads; unlink to change" : locked,
               stopsOf(scene.setup, sliders).headDim, refuseHead});
  std::string cannotLink = locked;
  if (cannotLink.empty() && !model.linked) cannotLink = splitRefusal(model, model.modelDim, model.heads);
  if (rows.toggle(scene, "model.linked", cannotLink) && model.linked)
    model.headDim = model.modelDim / model.heads;
}

/// Controls for the number of layers and the layer shown.
void layerControls(Rows& rows, Scene& scene) {
  ModelSetup& model = scene.setup.model;
  if (rows.slider(scene, "model.layers",
                  {scene.setup.input.cross ? "Cross-attention works with one layer only" : ""})) {
    Index& shown = scene.setup.subject.layer;
    shown = scene.cursor.model.layer = std::min(shown, model.layers - 1);
    if (growModelDim(model, plantingSuits(scene.setup))) rows.view().markAdjusted("model_dim");
  }
  if (!isStack(scene.setup)) return;
  layerSlider(scene, rows.view());
  rows.toggle(scene, "model.norm");
}

/// Says which query heads share which kv head.
std::string sharingText(const ModelSetup& model) {
  const Index group = model.heads / model.kvHeads, shown = std::min<Index>(model.kvHeads, 3);
  if (group == 1) return "Each query head has its own keys and values.";
  std::string text;
  for (Index kv = 0; kv < shown; ++kv)
    text += (kv ? ", h" : "H") + std::string("eads ") + sizeText(kv * group) + "–" +
            sizeText((kv + 1) * group - 1) + " read " + kvName(kv);
  return text + (shown < model.kvHeads ? " … up to " + kvName(model.kvHeads - 1) + "." : ".");
}

/// A layer of an opened model: its sizes are fixed, but what acts on it can be changed.
void openedModelSection(Rows& rows, Scene& scene) {
  View& view = rows.view();
  rows.space(10);
  modelFacts(scene, view);
  if (scene.setup.subject.opened) {
    rows.space(4);
    layerSlider(scene, view);
    rows.slider(scene, "model.sharpness");
    rows.hint("Apply sharpness, masks and biases");
    scopeChoice(scene, view);
  }
  rows.action("model.overview", "See all layers", "page.model");
  ImGui::SameLine();
  if (button(view, "model.leave", "Use a synthetic layer", "", true)) view.request("model.leave");
}

std::string lockedBy(const Setup& setup) {
  return setup.weights.source == WeightSource::file ? "Set by the weights file" : "";
}

}  // namespace

void modelSection(Rows& rows, Scene& scene, State& page) {
  if (!scene.setup.subject.model.empty()) {
    openedModelSection(rows, scene);
  } else {
    const std::string locked = lockedBy(scene.setup);
    rows.section(
        scene.setup.input.cross ? "CROSS-ATTENTION" : "SELF-ATTENTION",
        Rows::Button{"wiring", scene.cursor.wiring ? "Hide wiring" : "Wiring", "heads.wiring", true});
    kindChoice(scene.setup, rows.view(), locked);
    rows.space(4);
    headSliders(rows, scene, page.sliders, locked);
    mergeChoice(rows, scene);
    sizeSliders(rows, scene, page.sliders, locked);
    layerControls(rows, scene);
    rows.slider(scene, "model.sharpness");
    rows.hint(sharingText(scene.setup.model));
    const ModelSetup& model = scene.setup.model;
    if (const Index chosen = page.sliders.chosen.modelDim(model); chosen < model.modelDim)
      rows.hint("The model dim grew from " + sizeText(chosen) +
                ": planted heads that share keys need more room in them.");
  }
  placedProblem(rows, page.snapshot.get(), Place::model);
  placedProblem(rows, page.snapshot.get(), Place::memory);
}

void moreSection(Rows& rows, Scene& scene) {
  const ModelSetup& model = scene.setup.model;
  std::string changed;
  const auto add = [&](bool is, const std::string& words) {
    if (is) changed += (changed.empty() ? "" : " · ") + words;
  };
  add(!model.scaled, "not scaled");
  add(model.bias, "bias");
  add(model.dropout > 0, "dropout");
  add(model.softcap > 0, "soft-cap");
  if (!rows.fold("MORE", changed)) return;
  if (scene.setup.subject.model.empty()) {
    rows.toggle(scene, "model.scaled");
    rows.toggle(scene, "model.bias", lockedBy(scene.setup));
  }
  sectionSliders(rows.view(), scene, "MORE");
}

}  // namespace headscope::app::heads_page
