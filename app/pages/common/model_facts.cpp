#include "app/pages/common/model_facts.h"

#include <fmt/core.h>

#include <numeric>

#include "app/kit/rows.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"

namespace headscope::app {

namespace {

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

/// Draws a progress bar, with figures, of how much of the mapped file a pass has read.
void readSoFar(Rows& rows, double read, double all) {
  const ImRect area = rows.area("model.read", 12);
  const float y = area.GetCenter().y, half = rows.view().px(2);
  const auto share = static_cast<float>(std::min(read / std::max(all, 1.0), 1.0));
  const auto bar = [&](float wide, std::uint32_t color) {
    Canvas(*ImGui::GetWindowDrawList())
        .AddRectFilled(ImVec2(area.Min.x, y - half), ImVec2(area.Min.x + area.GetWidth() * wide, y + half),
                       color, half);
  };
  bar(1, rows.theme().raised);
  bar(share, rows.theme().secondary);
  rows.hint(fmt::format("{} of {} read so far (memory-mapped)", bytesText(read), bytesText(all)));
}

std::string numberOf(Index count) {
  return countText(attention::asSize(count));
}

/// A model's kind, and what the page shows of it.
std::string kindText(const attention::ModelConfig& config, bool bundled) {
  return std::string(config.family->name) +
         (config.cross()                    ? ", cross heads"
          : config.reads()                  ? ", decoder heads"
          : config.causal                   ? ""
          : config.isBidirectionalDecoder() ? ", two-sided"
                                            : ", an encoder") +
         (bundled          ? ", trained on short stories"
          : config.picture ? ", all layers on this picture"
                           : ", all layers on this text");
}

}  // namespace

void modelFacts(const Scene& scene, View& view, std::optional<std::uint64_t> read) {
  Rows rows(view);
  modelFacts(scene, rows, read);
}

void modelFacts(const Scene& scene, Rows& rows, std::optional<std::uint64_t> read) {
  const SubjectSetup& subject = scene.setup.subject;
  using Facts = std::vector<std::pair<std::string, std::string>>;
  const auto sizes = [&](const Facts& facts) {
    rows.pairs("model.facts", facts, "Sizes are fixed by the trained weights.");
  };
  rows.section("MODEL", {"model.open", "Open another…", "model.open"});
  rows.line(Type::hero, {{subject.opened ? subject.opened->name : modelName(modelFolder(subject.model))}});
  if (!subject.opened) return rows.problem(subject.problem);
  if (subject.opened->recorded) {
    const attention::ModelConfig& shape = subject.opened->config();
    rows.hint(subject.opened->isCrossAttention ? "Imported cross-attention (view only)"
                                               : "Imported attention (view only)");
    return sizes({{"Layers", numberOf(shape.layerCount())},
                  {"Heads", numberOf(shape.heads)},
                  {"Tokens", numberOf(shape.maxPositions)},
                  {"q and k", subject.opened->recorded->layers().front().q ? "yes" : "no"}});
  }
  const attention::Model& model = *subject.opened->model;
  const attention::ModelConfig& config = model.config();
  rows.hint(kindText(config, subject.model == kLearned));
  const Index most = config.positionLimit().value_or(config.maxPositions);
  Facts facts{{"Layers", numberOf(config.layerCount())}, {"Heads", numberOf(config.heads)}};
  if (config.latent.rank > 0)
    facts.emplace_back("Latent", fmt::format("{} + {}", config.latent.rank, config.latent.ropeDim));
  else
    facts.emplace_back("KV heads", numberOf(config.kvHeads));
  facts.emplace_back("Head dim", numberOf(config.headDim));
  facts.emplace_back("Width", numberOf(config.modelDim));
  if (config.picture) {
    facts.emplace_back("Picture", fmt::format("{0} × {0}", config.picture->side));
    facts.emplace_back("Patch", fmt::format("{0} × {0}", config.picture->patch));
  } else {
    facts.emplace_back("Positions", most > 0 ? numberOf(most) : "any");
    facts.emplace_back("Vocabulary", numberOf(config.vocabulary));
  }
  facts.emplace_back("Stored as", storedAs(model));
  sizes(facts);
  const auto bytes = static_cast<double>(model.checkpoint().bytes());
  if (read)
    readSoFar(rows, static_cast<double>(*read), bytes);
  else
    rows.hint(fmt::format("{} of weights (memory-mapped)", bytesText(bytes)));
  for (const std::string& note : config.notes) rows.hint(note, "model.note");
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
  if (off > 0) status.facts.push_back(countedText(off, "head") + " switched off");
  if (snapshot) status.notFinite = snapshot->notFinite;
  status.shape = layerShape(scene, snapshot && snapshot->causal);
  status.busySeconds = services.layer.busySeconds();
  status.busyWords = "computing for " + timeText(status.busySeconds);
  status.canStop = true;
  status.hasPicture = snapshot != nullptr;
  return status;
}

namespace {

/// Why the heads can't have this many kv heads, or "".
std::string sharingRefusal(const Setup& setup, Index kvHeads) {
  ModelSetup trial = setup.model;
  trial.kvHeads = kvHeads;
  if (plantedRefusal(setup, trial).empty()) return "";
  const std::string dims = countedText(trial.headDim, "dimension");
  const std::string what =
      kvHeads == trial.heads
          ? fmt::format("Each head's own keys have {}, too few for its planted behaviour.", dims)
          : fmt::format("With {}, {} heads would share keys of {}, too few for their planted behaviours.",
                        countedText(kvHeads, "kv head"), trial.heads / kvHeads, dims);
  return what + " Raise the model dim or choose random weights.";
}

/// Why the heads can't use this kind of key sharing, or "".
std::string kindRefusal(const Setup& setup, AttentionKind kind) {
  const Index heads = setup.model.heads;
  if (kind == AttentionKind::gqa && divisors(heads).size() <= 2)
    return fmt::format("{0} heads have no divisor between 1 and {0}, so there are no groups", heads);
  return sharingRefusal(setup, kvHeadsFor(kind, heads));
}

}  // namespace

std::string plantedRefusal(const Setup& setup, const ModelSetup& model) {
  Setup trial = setup;
  trial.model = model;
  const std::string misfit = plantedMisfit(trial);
  return misfit.empty() ? "" : "Planted: " + misfit + ".";
}

std::string kvHeadsLimit(const Setup& setup, std::span<const Index> stops) {
  const std::vector<Index> all = divisors(setup.model.heads);
  // The most of those left out, since with fewer kv heads more heads share each.
  const auto left = std::find_if(all.rbegin(), all.rend(), [&](Index kvHeads) {
    return std::find(stops.begin(), stops.end(), kvHeads) == stops.end();
  });
  return left == all.rend() ? "" : sharingRefusal(setup, *left);
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
    const char *id, *name, *words;
  };
  std::vector<Action> actions;
  for (const Named& named :
       {Named{AttentionKind::mha, "kind.mha", "Use MHA: each head has its own keys and values",
              "multi-head attention"},
        Named{AttentionKind::gqa, "kind.gqa", "Use GQA: groups of heads share keys and values",
              "grouped-query attention"},
        Named{AttentionKind::mqa, "kind.mqa", "Use MQA: all heads share one pair of keys and values",
              "one kv head, single kv head, multi-query attention"}})
    actions.push_back({.id = named.id,
                       .name = named.name,
                       .section = "Settings",
                       .whileTyping = true,
                       .words = named.words,
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
