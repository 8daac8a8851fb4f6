#include "app/pages/common/model_facts.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "app/kit/rows.h"
#include "app/platform/track.h"
#include "app/scene/models/model_cache.h"
#include "app/scene/models/open_model.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "attention/models/config/families.h"

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

}  // namespace headscope::app
