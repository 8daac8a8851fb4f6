#include <fmt/core.h>

#include "app/pages/common/model_facts.h"
#include "app/pages/common/token_chips.h"
#include "app/pages/heads/heads_page.h"
#include "app/platform/track.h"
#include "app/scene/mask_rules.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/field_controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/text_box.h"

namespace headscope::app::heads_page {

void sidePanel(Scene& scene, State& page, const Layout& layout) {
  View& view = page.view;
  const Snapshot* snapshot = page.snapshot.get();
  if (!layout.showLeft) return;
  fillSide(view, layout.left);
  if (beginPanel(view, "heads.controls", layout.left, 20, 14, 0)) {
    inputSection(scene, snapshot, view);
    gap(view, 12);
    modelSection(scene, page);
    gap(view, 12);
    maskSection(scene, snapshot, view);
    gap(view, 12);
    if (scene.setup.subject.model.empty()) {
      weightsSection(scene, snapshot, view);
      gap(view, 12);
    }
    moreSection(scene, view);
    gap(view, 16);
    scrollEdge(view, layout.left);
  }
  endPanel();
}

namespace {

/// A choice of the sequence of the batch that the heatmaps show.
void sequenceChoice(Scene& scene, const Snapshot& snapshot, View& view) {
  if (snapshot.sequences.size() < 2) return;
  gap(view, 4);
  std::vector<Choice> choices;
  for (std::size_t i = 0; i < snapshot.sequences.size(); ++i) {
    const SequenceSnapshot& sequence = snapshot.sequences[i];
    choices.push_back(
        {fmt::format("Sequence {} · {}", i, tokenCountText(sequence.queryLength)), "", std::to_string(i)});
  }
  int chosen =
      static_cast<int>(std::clamp<Index>(scene.cursor.sequence, 0, static_cast<Index>(choices.size()) - 1));
  if (dropdown(view, "sequence", choices, chosen, ImGui::GetContentRegionAvail().x))
    scene.cursor.sequence = chosen;
}

void embeddingChoice(Scene& scene, View& view) {
  const InputSetup& input = scene.setup.input;
  const std::string crossReason =
      input.cross ? "Cross-attention needs two texts; a typed table is one sequence" : "";
  if (fieldChoice(view, scene, "input.embedding", {"", crossReason}) &&
      input.source == EmbeddingSource::table)
    view.request("table.edit");
}

void tableControls(Scene& scene, View& view) {
  const attention::Table& table = *scene.setup.input.table;
  hint(view, tokenCountText(table.values.rows()) + " × " + countedText(table.values.cols(), "dimension"));
  if (button(view, "edit_table", "Edit table…")) view.request("table.edit");
  ImGui::SameLine(0, view.px(8));
  if (button(view, "load_table", "Load file…")) view.request("table.open");
}

}  // namespace

void inputSection(Scene& scene, const Snapshot* snapshot, View& view) {
  InputSetup& input = scene.setup.input;
  const SequenceSnapshot* sequence = shownSequence(scene, snapshot);
  const bool typed = input.source == EmbeddingSource::text;
  const bool ofModel = !scene.setup.subject.model.empty();  // which brings its own tokenizer and embeddings
  const auto& opened = scene.setup.subject.opened;
  const bool decodes = opened && opened->sources, given = decodes && !opened->model->source();
  sectionTitle(view, decodes ? "DECODER'S TEXT" : "TOKENS",
               sequence ? tokenCountText(sequence->queryLength) : "");
  if (const std::string patches = patchesText(scene); !patches.empty()) {
    hint(view, patches);
  } else if (decodes) {
    textBox(view, "decoder_text", input.contextText, 2,
            "How the decoder's text begins. Empty: its own answer.");
    gap(view, 2);
  } else if (typed) {
    textBox(view, "text", input.text, 3, "Type a sentence. Each line is a sequence.");
    gap(view, 2);
    if (!ofModel) fieldChoice(view, scene, "input.tokenization");
  } else {
    tableControls(scene, view);
  }
  if (const PlacedError* error = errorAt(snapshot, Place::input)) problem(view, error->message);
  unknownWords(scene, view);
  if (sequence) {
    gap(view, 2);
    const auto written = static_cast<Index>(scene.setup.subject.written.size());
    tokenChips(view, "token", sequence->queries,
               {sequence->queryLength, true, !isCross(scene.setup),
                written > 0 ? sequence->queryLength - written : -1},
               scene.cursor);
    sequenceChoice(scene, *snapshot, view);
  }
  if (decodes) {
    const bool cross = sequence && isCross(scene.setup);
    gap(view, 6);
    sectionTitle(view, given ? "ENCODER'S OUTPUT" : "ENCODER'S TEXT",
                 cross ? countedText(sequence->keyLength, given ? "frame" : "token") : "");
    if (!given) textBox(view, "text", input.text, 2, "Type a sentence for the encoder to read.");
    if (cross) {
      gap(view, 2);
      tokenChips(view, "context_token", sequence->keys, {sequence->keyLength, false, true}, scene.cursor);
    }
  }
  if (input.cross && !ofModel) {
    gap(view, 6);
    sectionTitle(view, "CONTEXT", sequence ? tokenCountText(sequence->keyLength) : "");
    textBox(view, "context", input.contextText, 2, "Text for keys and values.");
    if (const PlacedError* error = errorAt(snapshot, Place::context))
      error->waits ? hint(view, error->message) : problem(view, error->message);
    if (sequence) {
      gap(view, 2);
      tokenChips(view, "context_token", sequence->keys, {sequence->keyLength, false, true}, scene.cursor);
    }
  }
  gap(view, 2);
  if (ofModel) return;
  if (typed) {
    fieldToggle(view, scene, "input.ignore_case");
    const std::string one = isStack(scene.setup) ? "Cross-attention works with one layer only" : "";
    if (fieldToggle(view, scene, "input.cross", one)) {
      if (input.cross && input.contextText.empty()) input.contextText = kSampleContext;
      followCross(scene.setup);
    }
  }
  embeddingChoice(scene, view);
}

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
