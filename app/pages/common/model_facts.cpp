#include "app/pages/common/model_facts.h"

#include <fmt/core.h>

#include <numeric>

#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app {

namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

void factLines(View& view, const Facts& facts) {
  Rows(view).pairs("model.facts", facts, "Sizes are fixed by the trained weights.");
}

/// Returns "BF16", or "BF16 + F32" if some tensors use another type.
std::string storedAs(const attention::Model& model) {
  std::map<std::string, std::uint64_t> numbers;
  for (const auto& [name, tensor] : model.checkpoint().tensors())
    numbers[std::string(tensor.kind)] += tensor.numbers();
  std::string most, rest;
  for (const auto& [type, size] : numbers)
    if (most.empty() || size > numbers[most]) most = type;
  for (const auto& [type, size] : numbers)
    if (type != most) rest += " + " + type;
  return most + rest;
}

/// "224 × 224".
std::string squareText(Index side) {
  return fmt::format("{0} × {0}", side);
}

/// Draws a progress bar, with figures, of how much of the mapped file a pass has read.
void readSoFar(const View& view, double read, double all) {
  Canvas list = *ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, y = at.y + view.px(6), half = view.px(2);
  const auto share = static_cast<float>(std::min(read / std::max(all, 1.0), 1.0));
  list.AddRectFilled(ImVec2(at.x, y - half), ImVec2(at.x + width, y + half), view.theme->raised, half);
  list.AddRectFilled(ImVec2(at.x, y - half), ImVec2(at.x + width * share, y + half), view.theme->secondary,
                     half);
  ImGui::Dummy(ImVec2(width, view.px(12)));
  trackItem("model.read");
  hint(view, fmt::format("{} of {} read so far (memory-mapped)", bytesText(read), bytesText(all)));
}

}  // namespace

void modelFacts(const Scene& scene, View& view, std::optional<std::uint64_t> read) {
  const SubjectSetup& subject = scene.setup.subject;
  if (sectionTitle(view, "MODEL", "model.open", "Open another…")) view.request("model.open");
  const ImVec2 after = ImGui::GetCursorScreenPos();
  Canvas list = *ImGui::GetWindowDrawList();
  const float width = ImGui::GetContentRegionAvail().x;
  const std::string name = subject.opened ? subject.opened->name : modelName(modelFolder(subject.model));
  paintFitted(view, list, view.fonts->hero, ImVec2(after.x, after.y + view.px(14)), width, view.theme->text,
              name);
  ImGui::Dummy(ImVec2(width, view.px(32)));
  if (!subject.opened) return problem(view, subject.problem);
  if (subject.opened->recorded) {
    const attention::ModelConfig& shape = subject.opened->config();
    hint(view, subject.opened->isCrossAttention ? "Imported cross-attention (view only)"
                                                : "Imported attention (view only)");
    return factLines(view, {{"Layers", countText(attention::asSize(shape.layerCount()))},
                            {"Heads", countText(attention::asSize(shape.heads))},
                            {"Tokens", countText(attention::asSize(shape.maxPositions))},
                            {"q and k", subject.opened->recorded->layers().front().q ? "yes" : "no"}});
  }
  const attention::Model& model = *subject.opened->model;
  const attention::ModelConfig& config = model.config();
  const std::string kind =
      std::string(config.family->name) + (config.cross()                    ? ", cross heads"
                                          : config.reads()                  ? ", decoder heads"
                                          : config.causal                   ? ""
                                          : config.isBidirectionalDecoder() ? ", two-sided"
                                                                            : ", an encoder");
  hint(view, kind + (subject.model == kLearned ? ", trained on short stories"
                     : config.picture          ? ", all layers on this picture"
                                               : ", all layers on this text"));
  gap(view, 2);
  const Index most = config.positionLimit().value_or(config.maxPositions);
  const std::string positions = most > 0 ? countText(attention::asSize(most)) : "any";
  factLines(
      view,
      {{"Layers", countText(attention::asSize(config.layerCount()))},
       {"Heads", countText(attention::asSize(config.heads))},
       config.latent.rank > 0
           ? Facts::value_type{"Latent", fmt::format("{} + {}", config.latent.rank, config.latent.ropeDim)}
           : Facts::value_type{"KV heads", countText(attention::asSize(config.kvHeads))},
       {"Head dim", countText(attention::asSize(config.headDim))},
       {"Width", countText(attention::asSize(config.modelDim))},
       config.picture ? Facts::value_type{"Picture", squareText(config.picture->side)}
                      : Facts::value_type{"Positions", positions},
       config.picture ? Facts::value_type{"Patch", squareText(config.picture->patch)}
                      : Facts::value_type{"Vocabulary", countText(attention::asSize(config.vocabulary))},
       {"Stored as", storedAs(model)}});
  if (read)
    readSoFar(view, static_cast<double>(*read), static_cast<double>(model.checkpoint().bytes()));
  else
    hint(view, fmt::format("{} of weights (memory-mapped)",
                           bytesText(static_cast<double>(model.checkpoint().bytes()))));
  for (const std::string& note : config.notes) {
    hint(view, note);
    trackItem("model.note");
  }
}

std::string patchesText(const Scene& scene) {
  const auto& opened = scene.setup.subject.opened;
  if (!opened || !opened->readsPictures()) return "";
  return opened->picture ? "Tokens are the patches of " + opened->picture->name + "."
                         : "This model reads pictures: drop a PNG or JPEG.";
}

void layerSlider(Scene& scene, View& view) {
  const Index layers = layerCount(scene.setup);
  Index& shown = scene.setup.subject.layer;
  std::vector<Index> stops(static_cast<std::size_t>(layers));
  std::iota(stops.begin(), stops.end(), 0);
  SliderSpec spec;
  spec.name = "model.layer";
  spec.label = scene.setup.subject.opened ? "Layer" : "Layer shown";
  spec.disabledReason = layers == 1 ? "The model has one layer" : "";
  spec.help = "The layer shown, counted from 0.";
  if (slider(view, spec, stops, shown)) scene.cursor.model.layer = shown;
}

void sequenceChoice(Rows& rows, Scene& scene, const std::vector<Index>& lengths) {
  if (lengths.size() < 2) return;
  std::vector<Choice> choices;
  for (std::size_t i = 0; i < lengths.size(); ++i)
    choices.push_back(
        {fmt::format("Sequence {} · {}", i, tokenCountText(lengths[i])), "", std::to_string(i)});
  int chosen = static_cast<int>(std::clamp<Index>(scene.cursor.sequence, 0, std::ssize(lengths) - 1));
  if (rows.list("sequence", choices, chosen)) scene.cursor.sequence = chosen;
}

void placedProblem(Rows& rows, const Snapshot* snapshot, Place place) {
  const PlacedError* error = errorAt(snapshot, place);
  if (error) error->waits ? rows.hint(error->message) : rows.problem(error->message);
}

void scopeChoice(Scene& scene, View& view) {
  SubjectSetup& subject = scene.setup.subject;
  std::array<Choice, 2> choices{Choice{"on all layers", "", "all"},
                                Choice{fmt::format("on layer {} only", subject.layer), "", "one"}};
  int chosen = subject.scope == EditScope::one;
  if (dropdown(view, "model.scope", choices, chosen, 0,
               "Apply masks, biases, sharpness, soft-cap and dropout to all layers, or only to the layer "
               "other pages show."))
    subject.scope = chosen ? EditScope::one : EditScope::all;
}

std::string layerShape(const Scene& scene, bool causal) {
  const ModelSetup& model = scene.setup.model;
  static constexpr std::array kNames{"MHA", "GQA", "MQA"};
  const SubjectSetup& subject = scene.setup.subject;
  const std::string of = subject.opened ? fmt::format("{} layer {} · ", subject.opened->name, subject.layer)
                         : isStack(scene.setup) ? fmt::format("layer {} of {} · ", shownLayer(scene.setup),
                                                              layerCount(scene.setup))
                                                : "";
  if (subject.opened && subject.opened->config().latent.rank > 0)
    return of + fmt::format("MLA, {} heads · d {}", model.heads, model.modelDim) +
           (causal ? " · causal" : "");
  std::string text = of + fmt::format("{} {}/{} · d {}", kNames[static_cast<std::size_t>(kindOf(model))],
                                      model.heads, model.kvHeads, model.modelDim);
  if (isCross(scene.setup))
    text += " · cross";
  else if (causal)
    text += " · causal";
  return text;
}

std::optional<std::string> layerError(const Snapshot* snapshot) {
  return snapshot && snapshot->error ? std::optional(snapshot->error->message) : std::nullopt;
}

void fitHover(Crosshair& hover, const Scene& scene, const Snapshot& snapshot) {
  const SequenceSnapshot& sequence = *shownSequence(scene, &snapshot);
  if (hover.query >= static_cast<Index>(sequence.queries.size())) hover.query = -1;
  if (hover.key >= static_cast<Index>(sequence.keys.size())) hover.key = -1;
  if (hover.head >= snapshot.config.heads) hover.head = -1;
}

PageStatus layerStatus(const PageServices& services, const Scene& scene) {
  PageStatus status;
  const Snapshot* snapshot = services.layer.snapshot().get();
  const bool timings = services.view.showTimings;
  if (snapshot && timings) status.figures.push_back({"compute", timeText(snapshot->seconds), 0});
  if (snapshot) status.figures.push_back({"matrices", bytesText(static_cast<double>(snapshot->bytes)), 0});
  if (timings)  // of the machine's memory
    status.figures.push_back({"of", bytesText(static_cast<double>(services.resources.memory.total())), 420});
  const auto off =
      std::ranges::count(scene.setup.subject.switchedOff, shownLayer(scene.setup), &SwitchedHead::layer);
  if (off > 0) status.figures.push_back({"switched off", countedText(off, "head"), 0});
  if (snapshot) status.notFinite = snapshot->notFinite;
  status.shape = layerShape(scene, snapshot && snapshot->causal);
  status.busySeconds = services.layer.busySeconds();
  status.busyWords = "computing for " + timeText(status.busySeconds);
  status.canStop = true;
  status.hasPicture = snapshot != nullptr;
  return status;
}

namespace {

/// Why the heads can't use this kind of key sharing, or "".
std::string kindRefusal(const Setup& setup, AttentionKind kind) {
  ModelSetup trial = setup.model;
  if (kind == AttentionKind::gqa && divisors(trial.heads).size() <= 2)
    return fmt::format("{0} heads have no divisor between 1 and {0}, so there are no groups", trial.heads);
  trial.kvHeads = kvHeadsFor(kind, trial.heads);
  return plantedRefusal(setup, trial).empty()
             ? ""
             : fmt::format(
                   "{} of these heads would share keys of {}, too few for their planted "
                   "behaviours. Raise the model dim or choose random weights.",
                   trial.heads / trial.kvHeads, countedText(trial.headDim, "dimension"));
}

}  // namespace

std::string plantedRefusal(const Setup& setup, const ModelSetup& model) {
  Setup trial = setup;
  trial.model = model;
  const std::string misfit = plantedMisfit(trial);
  return misfit.empty() ? "" : "Planted: " + misfit + ".";
}

void kindChoice(Setup& setup, View& view, const std::string& locked) {
  ModelSetup& model = setup.model;
  std::vector<Choice> choices{{"MHA", locked, "mha"}, {"GQA", locked, "gqa"}, {"MQA", locked, "mqa"}};
  for (std::size_t kind = 0; kind < choices.size() && locked.empty(); ++kind)
    choices[kind].disabledReason = kindRefusal(setup, static_cast<AttentionKind>(kind));
  int chosen = static_cast<int>(kindOf(model));
  const auto& opened = setup.subject.opened;
  if (const Index rank = opened ? opened->config().latent.rank : 0; rank > 0) {
    chosen = static_cast<int>(choices.size());
    choices.push_back({"MLA", locked, "mla"});
  }
  if (segmented(view, "kind", choices, chosen,
                "MHA: each query head has its own keys and values. GQA: groups of heads share them. MQA: all "
                "heads share one pair. The cache shrinks to kv_heads / heads."))
    model.kvHeads = kvHeadsFor(static_cast<AttentionKind>(chosen), model.heads);
}

std::vector<Action> kindActions(View& view) {
  struct Named {
    AttentionKind kind;
    const char *id, *name;
  };
  std::vector<Action> actions;
  for (const Named& named :
       {Named{AttentionKind::mha, "kind.mha", "Use MHA: each head has its own keys and values"},
        Named{AttentionKind::gqa, "kind.gqa", "Use GQA: groups of heads share keys and values"},
        Named{AttentionKind::mqa, "kind.mqa", "Use MQA: all heads share one pair of keys and values"}})
    actions.push_back({.id = named.id,
                       .name = named.name,
                       .section = "Settings",
                       .whileTyping = true,
                       .run = [&view, kind = named.kind](Scene& scene) {
                         Setup& setup = scene.setup;
                         const std::string reason = !setup.subject.model.empty() ? "Set by the opened model."
                                                    : setup.weights.source == WeightSource::file
                                                        ? "Set by the weights file."
                                                        : kindRefusal(setup, kind);
                         if (!reason.empty()) return view.messages.fail(reason);
                         setup.model.kvHeads = kvHeadsFor(kind, setup.model.heads);
                       }});
  return actions;
}

}  // namespace headscope::app
