#include <fmt/core.h>

#include "app/compute/layer/mask_inputs.h"
#include "app/pages/mask/mask_page.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/text_box.h"

namespace headscope::app::mask_page {

using attention::Argument;
using attention::Combine;
using attention::HeadSet;
using attention::Layer;

namespace {

void joinChoice(Rows& rows, Layer& layer, Index at) {
  static const std::vector<Choice> kJoins{{"And", "", "and"}, {"Or", "", "or"}, {"Then", "", "then"}};
  if (int chosen = static_cast<int>(layer.combine); at > 0) {
    if (segmented(rows.view(), "join", kJoins, chosen)) layer.combine = static_cast<Combine>(chosen);
    rows.space(2);
  }
  toggle(rows.view(), "negate", "Not", layer.negated);
}

HeadSet setOf(HeadSet::Kind kind, Index first = 0) {
  return HeadSet{{{kind, first, first}}};
}

/// The heads in a set, written as ranges, with `head` toggled; nothing = all heads.
std::optional<HeadSet> turned(const std::optional<HeadSet>& set, Index head, const ModelSetup& model) {
  HeadSet result;
  Index named = 0;
  for (Index h = 0; h < model.heads; ++h) {
    const bool in = (!set || set->contains(h, model.kvHeadOf(h))) != (h == head);
    if (!in) continue;
    ++named;
    if (!result.items.empty() && result.items.back().last == h - 1)
      result.items.back().last = h;
    else
      result.items.push_back({HeadSet::Kind::range, h, h});
  }
  if (named == model.heads) return std::nullopt;
  if (result.items.empty()) return set;  // keep the last head; to have none, switch the layer off
  return result;
}

/// The sets of heads that are chosen by a name, in the order of the list; none = all heads.
std::vector<std::pair<Choice, std::optional<HeadSet>>> namedSets(const ModelSetup& model) {
  std::vector<std::pair<Choice, std::optional<HeadSet>>> sets{
      {{"All heads", "", "all"}, std::nullopt},
      {{"Even heads", "", "even"}, setOf(HeadSet::Kind::even)},
      {{"Odd heads", "", "odd"}, setOf(HeadSet::Kind::odd)}};
  const bool grouped = model.kvHeads > 1 && model.kvHeads < model.heads;
  for (Index g = 0; grouped && g < model.kvHeads; ++g)
    sets.push_back(
        {{fmt::format("Heads of KV {}", g), "", fmt::format("kv{}", g)}, setOf(HeadSet::Kind::kvHead, g)});
  return sets;
}

void headChoice(Rows& rows, Layer& layer, const ModelSetup& model) {
  if (model.heads == 1) return;
  rows.space(2);
  rows.hint("Applies to");
  const auto sets = namedSets(model);
  std::vector<Choice> choices;
  for (const auto& [choice, set] : sets) choices.push_back(choice);
  choices.push_back({"Heads chosen below", "", "chosen"});
  int chosen = 0;
  while (chosen < std::ssize(sets) && layer.heads != sets[static_cast<std::size_t>(chosen)].second) ++chosen;
  if (rows.list("layer_heads", choices, chosen))
    layer.heads = chosen < std::ssize(sets) ? sets[static_cast<std::size_t>(chosen)].second
                                            : HeadSet{{{HeadSet::Kind::range, 0, (model.heads - 1) / 2}}};
  rows.space(2);
  const auto applies = [&](Index head) {
    return !layer.heads || layer.heads->contains(head, model.kvHeadOf(head));
  };
  if (const auto head = rows.numbers("layer_head", model.heads, applies))
    layer.heads = turned(layer.heads, *head, model);
}

/// A layer may apply to one sequence of a batch only.
void sequenceScope(Rows& rows, Layer& layer, const Scene& scene, const State& page) {
  if (!layer.sequences && (!page.study || page.study->lines.size() < 2)) return;
  const Index shown = scene.cursor.sequence;
  const HeadSet one{{{HeadSet::Kind::range, shown, shown}}};
  std::vector<Choice> choices{{"All sequences", "", "all"},
                              {fmt::format("Sequence {} only", shown), "", "this"}};
  if (layer.sequences && layer.sequences != one) choices.push_back({"Some sequences", "", "some"});
  int chosen = !layer.sequences ? 0 : layer.sequences == one ? 1 : 2;
  rows.space(2);
  if (!rows.list("layer_sequences", choices, chosen)) return;
  if (chosen == 0) layer.sequences.reset();
  if (chosen == 1) layer.sequences = one;
}

/// Switches a parameter between one value for all heads and one per head.
void perHeadSwitch(Layer& layer, const ModelSetup& model, View& view) {
  const auto parameters = attention::infoOf(layer.pattern.kind).parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    std::optional<Argument>& argument = layer.pattern.arguments[i];
    if (parameters[i].kind != attention::ParameterKind::count || !argument || model.heads == 1 ||
        parameters[i].name == "seed")
      continue;
    bool list = argument->values.size() > 1;
    if (!toggle(view, "per_head." + std::string(parameters[i].name),
                capitalized(parameters[i].name) + " per head", list))
      continue;
    argument->values.resize(list ? static_cast<std::size_t>(model.heads) : 1, argument->values.front());
  }
}

void rename(Rows& rows, Layer& layer, Index at, State& page) {
  // Until someone types, the box follows the layer: switching masks, undo or a drag may put another name at
  // the same place of the list.
  if (page.renamed != at) page.renaming = layer.name;
  const bool entered = lineBox(
      rows.view(), "layer_name", page.renaming, rows.width(), false,
      std::string(layer.isGroup() ? "Name of the group" : attention::infoOf(layer.pattern.kind).title));
  if (entered || ImGui::IsItemDeactivated()) layer.name = page.renaming;
  page.renamed = ImGui::IsItemActive() ? at : -1;
}

}  // namespace

void layerDetails(Rows& rows, Index at, Scene& scene, State& page) {
  View& view = rows.view();
  const auto place = static_cast<std::size_t>(at);
  Layer layer = shownLayers(scene)[place];
  ImGui::Indent(view.px(12));
  rows.space(4);
  if (!layer.isGroup()) {
    const attention::PatternInfo& info = attention::infoOf(layer.pattern.kind);
    rows.hint(std::string(info.formula) + (info.users.empty() ? "" : "  ·  " + std::string(info.users)));
  }
  if (page.study && page.study->line() && layer.on)
    if (const std::string reason = attention::omittedReason(layer, page.study->geometry); !reason.empty())
      rows.hint("Not applied here, " + reason + ".");
  joinChoice(rows, layer, at);
  parameterSliders(layer, "parameter", maskedText(page), view);
  if (!layer.isGroup()) perHeadSwitch(layer, scene.setup.model, view);
  headChoice(rows, layer, scene.setup.model);
  sequenceScope(rows, layer, scene, page);
  rows.space(4);
  rename(rows, layer, at, page);
  rows.space(2);
  if (layer != shownLayers(scene)[place]) editedLayers(scene)[place] = layer;
  rows.actions(
      {{"copy_layer", "Duplicate", "mask.layer.duplicate"}, {"delete_layer", "Delete", "mask.layer.delete"}});
  ImGui::Unindent(view.px(12));
  rows.space(6);
}

namespace {

/// The part of a text around `offset` that fits on one line of the panel.
std::string caretFor(const View& view, const std::string& text, std::size_t offset) {
  const auto fits =
      static_cast<std::size_t>(ImGui::GetContentRegionAvail().x / textWidth(view.fonts->monoSmall, "0"));
  const std::size_t from = offset + 8 > fits ? offset + 8 - fits : 0;
  return attention::caretText(text.substr(from, fits), offset - from);
}

/// Applies the typed expression once typing pauses: a half-typed one is often valid, but not what was meant.
void takeOver(Scene& scene, State& page) {
  View& view = page.view;
  TypedExpression& typed = page.expression;
  const bool rests = !ImGui::IsItemActive() || view.time - typed.typedAt > kTypingRests;
  if (typed.typedAt < 0 || !rests) return;
  typed.typedAt = -1;
  attention::ParsedMask parsed = attention::parseMask(typed.text);
  if (parsed.error) return;
  if (const auto refusal = refusalOf(scene.setup, parsed.layers)) {
    typed.error = *refusal;
    typed.caret = std::string::npos;
    return;
  }
  editedLayers(scene) = std::move(parsed.layers);
  typed.of = shownLayers(scene);
  scene.cursor.studio.selected = -1;
}

}  // namespace

void expressionBox(Rows& rows, Scene& scene, State& page) {
  View& view = page.view;
  TypedExpression& typed = page.expression;
  // Keep the text as typed while it means the same mask; replace it if the mask is another one.
  if (const SharedLayers& shown = shownLayers(scene); typed.of != shown) {
    std::string canonical = attention::maskText(shown);
    if (canonical != attention::maskText(typed.of)) {
      typed.text = std::move(canonical);
      typed.error.clear();
    }
    typed.of = shown;
  }
  rows.section("AS AN EXPRESSION");
  if (textBox(view, "expression", typed.text, 3, "causal & (window(128) | sinks(4))")) {
    const attention::ParsedMask parsed = attention::parseMask(typed.text);
    typed.error = parsed.error ? parsed.error->message : "";
    typed.caret = parsed.error ? parsed.error->offset : 0;
    typed.typedAt = view.time;
  }
  takeOver(scene, page);
  rows.problem(typed.error);
  if (!typed.error.empty() && typed.caret != std::string::npos)
    rows.paragraph(view.fonts->monoSmall,
                   caretFor(view, typed.text, std::min(typed.caret, typed.text.size())), "",
                   view.theme->error);
  if (const StudiedMask* study = editedStudy(scene, page)) rows.problem(study->error.value_or(""));
}

}  // namespace headscope::app::mask_page
