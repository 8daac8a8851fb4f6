#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "app/compute/layer/layer_inputs.h"
#include "app/compute/layer/layer_weights.h"
#include "app/pages/heads/heads_state.h"
#include "app/scene/model_fit.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/field_controls.h"
#include "app/widgets/paint.h"

namespace headscope::app::heads_page {

namespace {

using attention::Behaviour;
using attention::PlantedHead;

struct NamedPlant {
  const char* label;
  const char* name;
  PlantedHead head;
};

constexpr std::array<NamedPlant, 13> kPlants{{{"previous token", "previous", {Behaviour::offset, 1}},
                                              {"self", "self", {Behaviour::offset, 0}},
                                              {"next token", "next", {Behaviour::offset, -1}},
                                              {"2 back", "back2", {Behaviour::offset, 2}},
                                              {"3 back", "back3", {Behaviour::offset, 3}},
                                              {"4 back", "back4", {Behaviour::offset, 4}},
                                              {"first token", "first_token", {Behaviour::firstToken, 1}},
                                              {"same token", "same_token", {Behaviour::sameToken, 1}},
                                              {"local band", "local_band", {Behaviour::localBand, 1}},
                                              {"separator", "separator", {Behaviour::separator, 1}},
                                              {"induction", "induction", {Behaviour::induction, 1}},
                                              {"uniform", "uniform", {Behaviour::uniform, 1}},
                                              {"random", "random", {Behaviour::random, 1}}}};

/// The behaviour choices of all heads, two per row.
void plantedChoices(Scene& scene, View& view) {
  std::vector<Choice> choices;
  for (const NamedPlant& plant : kPlants) choices.push_back({plant.label, "", plant.name});
  const std::vector<PlantedHead> heads = plantedHeads(scene.setup);
  const float width = (ImGui::GetContentRegionAvail().x - view.px(8)) / 2;
  const float numberWidth = view.px(26);
  for (std::size_t i = 0; i < heads.size(); ++i) {
    if (i % 2) ImGui::SameLine(0, view.px(8));
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const Index kv = static_cast<Index>(i) / (scene.setup.model.heads / scene.setup.model.kvHeads);
    paintText(*ImGui::GetWindowDrawList(), view.fonts->monoSmall,
              ImVec2(at.x + view.px(2), at.y + view.px(13)), groupColor(*view.theme, kv), std::to_string(i));
    ImGui::SetCursorScreenPos(ImVec2(at.x + numberWidth, at.y));
    std::vector<Choice> all = choices;
    int chosen = -1;
    for (std::size_t k = 0; k < kPlants.size(); ++k)
      if (kPlants[k].head.behaviour == heads[i].behaviour &&
          (heads[i].behaviour != Behaviour::offset || kPlants[k].head.offset == heads[i].offset))
        chosen = static_cast<int>(k);
    if (chosen < 0) {  // an offset that only a scene file can specify
      chosen = static_cast<int>(all.size());
      all.push_back({attention::describe(heads[i]), "", "other"});
    }
    if (dropdown(view, "plant." + std::to_string(i), all, chosen, width - numberWidth) &&
        chosen < static_cast<int>(kPlants.size()))
      plantHead(scene.setup, static_cast<Index>(i), kPlants[static_cast<std::size_t>(chosen)].head);
  }
}

/// Explains if an induction head lacks what it needs to find its word, or has too few dimensions for it.
void inductionHint(const Setup& setup, const View& view) {
  const auto heads = plantedHeads(setup);
  const bool any = std::ranges::find(heads, Behaviour::induction, &PlantedHead::behaviour) != heads.end();
  if (!any) return;
  if (carriedBelow(setup)) {
    if (const Index narrow = narrowInduction(setup); narrow > 0)
      hint(view, fmt::format("Induction has only {} of the head's {} to tell words apart, too "
                             "few. Raise the head dim, or give its kv head fewer behaviours.",
                             narrow, countedText(setup.model.headDim, "dimension")));
    return;
  }
  hint(view, isStack(setup) ? "Induction needs a previous-token head in an earlier layer."
                            : "Induction needs two layers: the first copies each token's predecessor.");
}

/// The settings for drawing random weights.
void drawControls(Scene& scene, View& view) {
  if (scene.setup.weights.source != WeightSource::random || !scene.setup.subject.model.empty()) return;
  fieldChoice(view, scene, "weights.init");
  fieldSlider(view, scene, "weights.gain");
}

void seedControls(Scene& scene, View& view) {
  const bool file = scene.setup.weights.source == WeightSource::file;
  fieldSlider(view, scene, "weights.seed", {file ? "The weights come from a file" : ""});
  const bool typed = scene.setup.input.source == EmbeddingSource::table;
  fieldSlider(view, scene, "input.seed", {typed ? "The embeddings are typed" : ""});
}

}  // namespace

void weightsSection(Scene& scene, const Snapshot* snapshot, View& view) {
  WeightSetup& weights = scene.setup.weights;
  sectionTitle(view, "WEIGHTS");
  const std::string typed =
      scene.setup.input.source == EmbeddingSource::table && weights.source != WeightSource::planted
          ? "Planted heads need the parts of a text embedding; a typed table has none"
          : "";
  const WeightSource before = weights.source;
  if (fieldChoice(view, scene, "weights.source", {"", typed})) {
    if (weights.source == WeightSource::file && weights.file.empty()) {
      // Without a file there is nothing to switch to yet; the dialog switches once a file is opened.
      weights.source = before;
      view.request("weights.open");
    }
    if (growModelDim(scene.setup.model, plantingSuits(scene.setup))) view.markAdjusted("model_dim");
  }
  drawControls(scene, view);
  gap(view, 3);
  if (weights.source == WeightSource::planted) {
    if (isStack(scene.setup)) hint(view, fmt::format("Heads of layer {}", shownLayer(scene.setup)));
    plantedChoices(scene, view);
    inductionHint(scene.setup, view);
  }
  if (weights.source == WeightSource::file) {
    hint(view, std::filesystem::path(weights.file).filename().string());
    SliderState layer;
    if (weights.layer < 0) layer.shown = isStack(scene.setup) ? "the first" : "the only";
    fieldSlider(view, scene, "weights.layer", layer);
    if (button(view, "load_weights", "Load another…")) view.request("weights.open");
  }
  if (const PlacedError* error = errorAt(snapshot, Place::weights)) problem(view, error->message);
  if (button(view, "learned", "Open the bundled model")) view.request("model.learned");
  gap(view, 4);
  seedControls(scene, view);
}

}  // namespace headscope::app::heads_page
