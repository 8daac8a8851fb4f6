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

namespace {

/// The text of the tokens, or what replaces it.
void tokensText(Rows& rows, Scene& scene, bool decodes) {
  InputSetup& input = scene.setup.input;
  const attention::Table& table = *input.table;
  if (const std::string patches = patchesText(scene); !patches.empty()) {
    rows.hint(patches);
  } else if (decodes) {
    textBox(rows.view(), "decoder_text", input.contextText, 2,
            "How the decoder's text begins. Empty: its own answer.");
  } else if (input.source == EmbeddingSource::text) {
    textBox(rows.view(), "text", input.text, 3, "Type a sentence. Each line is a sequence.");
  } else {
    rows.hint(tokenCountText(table.values.rows()) + " × " + countedText(table.values.cols(), "dimension"));
    rows.actions({{"edit_table", "Edit table…", "table.edit"}, {"load_table", "Load file…", "table.open"}});
  }
}

/// A table to start with: the tokens shown (at most 64), with one dimension each, reused after 16.
attention::Table starterTable(const SequenceSnapshot* sequence) {
  constexpr Index kDims = 16;
  attention::Table table;
  const Index rows = sequence ? std::min<Index>(sequence->queryLength, 64) : 3;
  table.values = attention::Matrix::Zero(rows, kDims);
  for (Index row = 0; row < rows; ++row) {
    table.names.push_back(sequence ? sequence->queries[static_cast<std::size_t>(row)].text
                                   : fmt::format("t{}", row));
    table.values(row, row % kDims) = 1;
  }
  return table;
}

void contextChips(Rows& rows, Scene& scene, const SequenceSnapshot& sequence) {
  rows.space(2);
  tokenChips(rows.view(), "context_token", sequence.keys, {sequence.keyLength, false, true}, scene.cursor);
}

/// What the heads of a decoder that reads an encoder read.
void encoderSection(Rows& rows, Scene& scene, const SequenceSnapshot* sequence, bool chips) {
  const bool given = !scene.setup.subject.opened->model->source(), cross = sequence && isCross(scene.setup);
  rows.section(given ? "ENCODER'S OUTPUT" : "ENCODER'S TEXT",
               cross ? countedText(sequence->keyLength, given ? "frame" : "token") : "");
  if (!given)
    textBox(rows.view(), "text", scene.setup.input.text, 2, "Type a sentence for the encoder to read.");
  if (cross && chips) contextChips(rows, scene, *sequence);
}

/// What the tokens read in cross-attention of a synthetic layer.
void contextSection(Rows& rows, Scene& scene, const Snapshot* snapshot, const SequenceSnapshot* sequence,
                    bool chips) {
  rows.section("CONTEXT", sequence ? tokenCountText(sequence->keyLength) : "");
  textBox(rows.view(), "context", scene.setup.input.contextText, 2, "Text for keys and values.");
  placedProblem(rows, snapshot, Place::context);
  if (sequence && chips) contextChips(rows, scene, *sequence);
}

}  // namespace

void inputSection(Rows& rows, Scene& scene, const State& page) {
  const Snapshot* snapshot = page.snapshot.get();
  const SequenceSnapshot* sequence = shownSequence(scene, snapshot);
  const SubjectSetup& subject = scene.setup.subject;
  const bool ofModel = !subject.model.empty();  // which brings its own tokenizer and embeddings
  const bool decodes = subject.opened && subject.opened->sources;
  rows.section(decodes ? "DECODER'S TEXT" : "TOKENS", sequence ? tokenCountText(sequence->queryLength) : "");
  tokensText(rows, scene, decodes);
  placedProblem(rows, snapshot, Place::input);
  unknownWords(scene, rows.view());
  if (sequence) {
    rows.space(2);
    const Index written = std::ssize(subject.written);
    if (!page.showsSentence)
      tokenChips(rows.view(), "token", sequence->queries,
                 {sequence->queryLength, true, !isCross(scene.setup),
                  written > 0 ? sequence->queryLength - written : -1},
                 scene.cursor);
    std::vector<Index> lengths;
    std::ranges::transform(snapshot->sequences, std::back_inserter(lengths), &SequenceSnapshot::queryLength);
    sequenceChoice(rows, scene, lengths);
  }
  if (decodes) encoderSection(rows, scene, sequence, !page.showsSentence);
  if (scene.setup.input.cross && !ofModel)
    contextSection(rows, scene, snapshot, sequence, !page.showsSentence);
}

void readingSection(Rows& rows, Scene& scene, const State& page) {
  InputSetup& input = scene.setup.input;
  if (!scene.setup.subject.model.empty()) return;  // it has its own tokenizer and embeddings
  const bool typed = input.source == EmbeddingSource::table;
  if (!rows.fold("INPUT", typed ? "typed vectors" : chosenLabel("input.tokenization", scene))) return;
  if (input.source == EmbeddingSource::text) {
    rows.choice(scene, "input.tokenization");
    rows.toggle(scene, "input.ignore_case");
    if (rows.toggle(scene, "input.cross",
                    isStack(scene.setup) ? "Cross-attention works with one layer only" : "")) {
      if (input.cross && input.contextText.empty()) input.contextText = kSampleContext;
      followCross(scene.setup);
    }
  }
  const char* const oneText =
      input.cross ? "Cross-attention needs two texts; a typed table is one sequence" : "";
  if (!rows.choice(scene, "input.embedding", 0, {"", oneText}) || input.source == EmbeddingSource::text)
    return;
  if (input.table->values.rows() == 0)
    takeTable(scene, starterTable(shownSequence(scene, page.snapshot.get())));
  rows.view().request("table.edit");
}

using attention::Layer;
using attention::PatternKind;

namespace {

void positionChoice(Rows& rows, Scene& scene) {
  const ModelSetup& model = scene.setup.model;
  if (!scene.setup.subject.model.empty()) {
    const std::string own = "The model has its own positions; ALiBi and T5 add to them";
    rows.choice(scene, "model.position", 0, {"", own, own});
    return;
  }
  rows.choice(scene, "model.position", 0,
              {"", "",
               model.headDim % 2 != 0
                   ? fmt::format("RoPE rotates pairs of dimensions; head dim {} is odd", model.headDim)
                   : ""});
  if (scene.setup.weights.source == WeightSource::planted && model.position != PositionKind::sinusoidal)
    rows.hint("Planted offset and local heads need sinusoids in the embedding to tell positions apart.");
}

struct Rule {
  PatternKind kind;
  const char *name, *label;
};
constexpr Rule kRules[] = {{PatternKind::causal, "causal", "Causal"},
                           {PatternKind::window, "window", "Sliding window"},
                           {PatternKind::streaming, "streaming", "Sinks + window"},
                           {PatternKind::padding, "padding", "Padding"}};

/// Whether the layer offers the rule as a switch.
bool offered(PatternKind rule, bool ofModel, bool ownCausal) {
  return !(rule == PatternKind::padding && ofModel) && !(rule == PatternKind::causal && ownCausal);
}

/// Why the rule would do nothing, or "".
std::string ruleReason(const Snapshot* snapshot, PatternKind kind) {
  const auto ragged = [](const SequenceSnapshot& each) { return each.keyLength < std::ssize(each.keys); };
  return kind != PatternKind::padding || (snapshot && std::ranges::any_of(snapshot->sequences, ragged))
             ? ""
             : "All sequences have the same length, so there is no padding";
}

/// Switches for the layers composed in the studio, up to a sensible number; `shown` have switches already.
void layerSwitches(Rows& rows, SharedLayers& layers, const std::vector<const Layer*>& shown) {
  constexpr Index kMaxSwitches = 32;
  Index more = std::ssize(layers) - std::ssize(shown);
  const Index hidden = std::max<Index>(0, more - kMaxSwitches);
  std::optional<std::size_t> switched;
  for (std::size_t i = 0; i < layers.size() && more > hidden; ++i) {
    if (std::ranges::find(shown, &layers[i]) != shown.end()) continue;
    bool on = layers[i].on;
    if (toggle(rows.view(), fmt::format("layer.{}", i), layerTitle(layers[i]), on)) switched = i;
    --more;
  }
  if (hidden > 0) rows.hint(fmt::format("and {} in the mask studio", countedText(hidden, "more layer")));
  if (switched) layers.edit()[*switched].on = !layers[*switched].on;
}

}  // namespace

void maskSection(Rows& rows, Scene& scene, const Snapshot* snapshot) {
  SharedLayers& layers = scene.setup.mask.layers;
  const auto& opened = scene.setup.subject.opened;
  const bool ownCausal = opened && opened->config().causalHeads();
  rows.section("MASK");
  MaskedText text;
  if (snapshot && !snapshot->sequences.empty())
    text.longest = std::max<Index>(2, std::ssize(snapshot->sequences.front().keys));
  if (bool causal = true; ownCausal)
    toggle(rows.view(), "model.causal", "Causal (built into the model)", causal,
           "The model was trained with a causal mask: no token sees a later one.");
  for (const Rule& rule : kRules)
    if (offered(rule.kind, opened != nullptr, ownCausal))
      ruleSwitch(layers, rule.kind, rule.name, rule.label, text, rows.view(),
                 ruleReason(snapshot, rule.kind));
  if (isCross(scene.setup) && attention::comparesPositions(layers))
    rows.hint("Positions in both texts start at 0. Causal lets query i see keys j ≤ i of the other text.");
  std::vector<const Layer*> shown;
  for (const Rule& rule : kRules)
    if (const Layer* layer = plainLayer(layers, rule.kind);
        layer && offered(rule.kind, opened != nullptr, ownCausal))
      shown.push_back(layer);
  layerSwitches(rows, layers, shown);
  if (snapshot && !snapshot->hidesFuture.empty())
    rows.hint(fmt::format("{} also hides the future, so turning Causal off changes nothing.",
                          alternatives(snapshot->hidesFuture)),
              "mask.future");
  placedProblem(rows, snapshot, Place::mask);
  rows.action("open_studio", "Mask studio…", "page.mask");
}

namespace {

using attention::Behaviour;
using attention::PlantedHead;

struct NamedPlant {
  Choice choice;
  PlantedHead head;
};

/// The choices for a planted head.
const std::vector<NamedPlant>& plants() {
  static const std::vector<NamedPlant> kPlants{
      {{"previous token", "", "previous"}, {Behaviour::offset, 1}},
      {{"self", "", "self"}, {Behaviour::offset, 0}},
      {{"next token", "", "next"}, {Behaviour::offset, -1}},
      {{"2 back", "", "back2"}, {Behaviour::offset, 2}},
      {{"3 back", "", "back3"}, {Behaviour::offset, 3}},
      {{"4 back", "", "back4"}, {Behaviour::offset, 4}},
      {{"first token", "", "first_token"}, {Behaviour::firstToken, 1}},
      {{"same token", "", "same_token"}, {Behaviour::sameToken, 1}},
      {{"local band", "", "local_band"}, {Behaviour::localBand, 1}},
      {{"separator", "", "separator"}, {Behaviour::separator, 1}},
      {{"induction", "", "induction"}, {Behaviour::induction, 1}},
      {{"uniform", "", "uniform"}, {Behaviour::uniform, 1}},
      {{"random", "", "random"}, {Behaviour::random, 1}}};
  return kPlants;
}

bool sameBehaviour(const PlantedHead& a, const PlantedHead& b) {
  return a.behaviour == b.behaviour && (a.behaviour != Behaviour::offset || a.offset == b.offset);
}

/// The behaviour choices of all heads, two per row.
void plantedChoices(Rows& rows, Scene& scene) {
  View& view = rows.view();
  const std::vector<PlantedHead> heads = plantedHeads(scene.setup);
  const Index group = scene.setup.model.heads / scene.setup.model.kvHeads, known = std::ssize(plants());
  std::vector<Choice> choices;
  for (const NamedPlant& plant : plants()) choices.push_back(plant.choice);
  const float width = rows.width() / 2 - view.px(30);
  for (Index head = 0; head < std::ssize(heads); ++head) {
    const PlantedHead& now = heads[static_cast<std::size_t>(head)];
    choices.resize(plants().size());
    Index at =
        std::ranges::find_if(plants(), [&](const auto& each) { return sameBehaviour(each.head, now); }) -
        plants().begin();
    // An offset that only a scene file can specify.
    if (at == known) choices.push_back({attention::describe(now), "", "other"});
    if (head % 2) ImGui::SameLine(0, view.px(8));
    rows.tag(std::to_string(head), groupColor(rows.theme(), head / group), 26);
    if (int chosen = static_cast<int>(at);
        dropdown(view, fmt::format("plant.{}", head), choices, chosen, width) && chosen < known)
      plantHead(scene.setup, head, plants()[static_cast<std::size_t>(chosen)].head);
  }
}

/// Explains if an induction head lacks what it needs to find its word, or has too few dimensions for it.
std::string inductionText(const Setup& setup) {
  const auto heads = plantedHeads(setup);
  if (std::ranges::find(heads, Behaviour::induction, &PlantedHead::behaviour) == heads.end()) return "";
  if (!carriedBelow(setup))
    return isStack(setup) ? "Induction needs a previous-token head in an earlier layer."
                          : "Induction needs two layers: the first copies each token's predecessor.";
  const Index dims = narrowInduction(setup);
  return dims == 0 ? ""
                   : fmt::format(
                         "Induction has only {} of the head's {} to tell words apart, too few. "
                         "Raise the head dim, or give its kv head fewer behaviours.",
                         dims, countedText(setup.model.headDim, "dimension"));
}

void sourceChoice(Rows& rows, Scene& scene) {
  WeightSetup& weights = scene.setup.weights;
  const WeightSource before = weights.source;
  const bool typed = scene.setup.input.source == EmbeddingSource::table && before != WeightSource::planted;
  if (!rows.choice(
          scene, "weights.source", 0,
          {"", typed ? "Planted heads need the parts of a text embedding; a typed table has none" : ""}))
    return;
  if (weights.source == WeightSource::file && weights.file.empty()) {
    // Without a file there is nothing to switch to yet; the dialog switches once a file is opened.
    weights.source = before;
    rows.view().request("weights.open");
  }
  if (growModelDim(scene.setup.model, plantingSuits(scene.setup))) rows.view().markAdjusted("model_dim");
}

}  // namespace

void weightsSection(Rows& rows, Scene& scene, const Snapshot* snapshot) {
  const WeightSetup& weights = scene.setup.weights;
  const bool file = weights.source == WeightSource::file;
  const bool wrong = snapshot && snapshot->error && snapshot->error->place == Place::weights;
  if (!rows.fold("WEIGHTS",
                 chosenLabel("weights.source", scene) + (file ? "" : fmt::format(" · seed {}", weights.seed)),
                 wrong))
    return;
  sourceChoice(rows, scene);
  if (weights.source == WeightSource::random) {
    rows.choice(scene, "weights.init");
    rows.slider(scene, "weights.gain");
  }
  rows.space(3);
  if (weights.source == WeightSource::planted) {
    if (isStack(scene.setup)) rows.hint(fmt::format("Heads of layer {}", shownLayer(scene.setup)));
    plantedChoices(rows, scene);
    rows.hint(inductionText(scene.setup));
  }
  if (file) {
    rows.hint(std::filesystem::path(weights.file).filename().string());
    SliderState layer;
    if (weights.layer < 0) layer.shown = isStack(scene.setup) ? "the first" : "the only";
    rows.slider(scene, "weights.layer", layer);
    rows.action("load_weights", "Load another…", "weights.open");
  }
  placedProblem(rows, snapshot, Place::weights);
  rows.action("learned", "Open the bundled model", "model.learned");
  rows.space(4);
  rows.slider(scene, "weights.seed", {file ? "The weights come from a file" : ""});
  rows.slider(scene, "input.seed",
              {scene.setup.input.source == EmbeddingSource::table ? "The embeddings are typed" : ""});
}

void sidePanel(Scene& scene, State& page, const Layout& layout) {
  leftPanel(page.view, layout, "heads.controls", [&](Rows& rows) {
    const Snapshot* snapshot = page.snapshot.get();
    inputSection(rows, scene, page);
    modelSection(rows, scene, page);
    maskSection(rows, scene, snapshot);
    readingSection(rows, scene, page);
    if (rows.fold("POSITION", chosenLabel("model.position", scene))) positionChoice(rows, scene);
    if (scene.setup.subject.model.empty()) weightsSection(rows, scene, snapshot);
    moreSection(rows, scene);
  });
}

}  // namespace headscope::app::heads_page
