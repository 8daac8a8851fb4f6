#include <fmt/core.h>

#include "app/compute/layer/mask_inputs.h"
#include "app/pages/mask/mask_page.h"
#include "app/platform/track.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/text_box.h"

namespace headscope::app::mask_page {

using attention::Argument;
using attention::Combine;
using attention::HeadSet;
using attention::Layer;

namespace {

void joinChoice(Layer& layer, Index at, View& view) {
  static const std::vector<Choice> kJoins{{"And", "", "and"}, {"Or", "", "or"}, {"Then", "", "then"}};
  if (at > 0) {
    int chosen = static_cast<int>(layer.combine);
    if (segmented(view, "join", kJoins, chosen)) layer.combine = static_cast<Combine>(chosen);
    gap(view, 2);
  }
  toggle(view, "negate", "Not", layer.negated);
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

/// A chip per head, highlighted if the layer applies to it.
void headChips(Layer& layer, const ModelSetup& model, View& view) {
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, side = view.px(24), space = view.px(4);
  ImVec2 at = start;
  Canvas list = *ImGui::GetWindowDrawList();
  for (Index head = 0; head < model.heads; ++head) {
    if (at.x + side > start.x + width) at = ImVec2(start.x, at.y + side + space);
    const std::string name = fmt::format("layer_head.{}", head);
    const bool clicked = hitArea(name, at, ImVec2(side, side));
    const bool in = !layer.heads || layer.heads->contains(head, model.kvHeadOf(head));
    const ImVec2 to(at.x + side, at.y + side);
    list.AddRectFilled(
        at, to, in ? mixed(view.theme->panel, view.theme->text, 0.28f) : view.theme->background, view.px(4));
    if (ImGui::IsItemHovered()) compat::rectOutline(list, at, to, view.theme->secondary, view.px(4), 1);
    paintText(list, view.fonts->monoSmall, ImVec2((at.x + to.x) / 2, (at.y + to.y) / 2),
              in ? view.theme->text : view.theme->faint, std::to_string(head), Align::center);
    if (clicked) layer.heads = turned(layer.heads, head, model);
    at.x += side + space;
  }
  ImGui::SetCursorScreenPos(start);
  ImGui::Dummy(ImVec2(width, at.y + side - start.y));
}

void headChoice(Layer& layer, const ModelSetup& model, View& view) {
  if (model.heads == 1) return;
  gap(view, 2);
  hint(view, "Applies to");
  std::vector<Choice> choices{{"All heads", "", "all"}, {"Even heads", "", "even"}, {"Odd heads", "", "odd"}};
  const bool grouped = model.kvHeads > 1 && model.kvHeads < model.heads;
  for (Index g = 0; grouped && g < model.kvHeads; ++g)
    choices.push_back({fmt::format("Heads of KV {}", g), "", fmt::format("kv{}", g)});
  choices.push_back({"Heads chosen below", "", "chosen"});
  int now = static_cast<int>(choices.size()) - 1;
  if (!layer.heads) now = 0;
  if (layer.heads == setOf(HeadSet::Kind::even)) now = 1;
  if (layer.heads == setOf(HeadSet::Kind::odd)) now = 2;
  for (Index g = 0; grouped && g < model.kvHeads; ++g)
    if (layer.heads == setOf(HeadSet::Kind::kvHead, g)) now = 3 + static_cast<int>(g);
  int chosen = now;
  if (dropdown(view, "layer_heads", choices, chosen, ImGui::GetContentRegionAvail().x)) {
    if (chosen == 0) layer.heads.reset();
    if (chosen == 1) layer.heads = setOf(HeadSet::Kind::even);
    if (chosen == 2) layer.heads = setOf(HeadSet::Kind::odd);
    if (chosen >= 3 && chosen < static_cast<int>(choices.size()) - 1)
      layer.heads = setOf(HeadSet::Kind::kvHead, chosen - 3);
    if (chosen == static_cast<int>(choices.size()) - 1)
      layer.heads = HeadSet{{{HeadSet::Kind::range, 0, (model.heads - 1) / 2}}};
  }
  gap(view, 2);
  headChips(layer, model, view);
}

/// A layer may apply to one sequence of a batch only.
void sequenceScope(Layer& layer, const Scene& scene, State& page) {
  View& view = page.view;
  const MaskStudy* study = page.study;
  if (!layer.sequences && (!study || study->lines.size() < 2)) return;
  const Index shown = scene.cursor.sequence;
  const HeadSet one{{{HeadSet::Kind::range, shown, shown}}};
  std::vector<Choice> choices{{"All sequences", "", "all"},
                              {fmt::format("Sequence {} only", shown), "", "this"}};
  if (layer.sequences && layer.sequences != one) choices.push_back({"Some sequences", "", "some"});
  int chosen = !layer.sequences ? 0 : layer.sequences == one ? 1 : 2;
  gap(view, 2);
  if (!dropdown(view, "layer_sequences", choices, chosen, ImGui::GetContentRegionAvail().x)) return;
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

void rename(Layer& layer, Index at, State& page) {
  View& view = page.view;
  // Until someone types, the box follows the layer: switching masks, undo or a drag may put another name at
  // the same place of the list.
  if (page.renamed != at) page.renaming = layer.name;
  const bool entered = lineBox(
      view, "layer_name", page.renaming, ImGui::GetContentRegionAvail().x, false,
      std::string(layer.isGroup() ? "Name of the group" : attention::infoOf(layer.pattern.kind).title));
  if (entered || ImGui::IsItemDeactivated()) layer.name = page.renaming;
  page.renamed = ImGui::IsItemActive() ? at : -1;
}

}  // namespace

void layerDetails(Index at, Scene& scene, State& page) {
  View& view = page.view;
  const auto place = static_cast<std::size_t>(at);
  Layer layer = shownLayers(scene)[place];
  ImGui::Indent(view.px(12));
  gap(view, 4);
  if (!layer.isGroup()) {
    const attention::PatternInfo& info = attention::infoOf(layer.pattern.kind);
    hint(view, std::string(info.formula) + (info.users.empty() ? "" : "  ·  " + std::string(info.users)));
  }
  if (const MaskStudy* study = page.study; study && study->line())
    if (const std::string reason = attention::omittedReason(layer, study->geometry);
        layer.on && !reason.empty())
      hint(view, "Not applied here, " + reason + ".");
  joinChoice(layer, at, view);
  parameterSliders(layer, "parameter", maskedText(page), view);
  if (!layer.isGroup()) perHeadSwitch(layer, scene.setup.model, view);
  headChoice(layer, scene.setup.model, view);
  sequenceScope(layer, scene, page);
  gap(view, 4);
  rename(layer, at, page);
  gap(view, 2);
  const bool copy = button(view, "copy_layer", "Duplicate");
  ImGui::SameLine(0, view.px(8));
  const bool remove = button(view, "delete_layer", "Delete");
  ImGui::Unindent(view.px(12));
  gap(view, 6);
  if (layer != shownLayers(scene)[place]) editedLayers(scene)[place] = layer;
  if (copy) {
    attention::MaskLayers& layers = editedLayers(scene);
    layers.insert(layers.begin() + at + 1, layer);
    scene.cursor.studio.selected = at + 1;
  } else if (remove) {
    attention::MaskLayers& layers = editedLayers(scene);
    layers.erase(layers.begin() + at);
    scene.cursor.studio.selected = -1;
  }
}

namespace {

/// Draws the lines that point at the error, in a monospaced font.
void caretLines(const View& view, const std::string& text) {
  Canvas list = *ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float line = lineHeight(view.fonts->monoSmall) * 1.25f;
  float y = at.y + line / 2;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find('\n', from), text.size());
    paintText(list, view.fonts->monoSmall, ImVec2(at.x, y), view.theme->error, text.substr(from, to - from));
    y += line;
    from = to + 1;
  }
  ImGui::Dummy(ImVec2(1, y - line / 2 - at.y));
}

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

void expressionBox(Scene& scene, State& page) {
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
  sectionTitle(view, "AS AN EXPRESSION");
  if (textBox(view, "expression", typed.text, 3, "causal & (window(128) | sinks(4))")) {
    const attention::ParsedMask parsed = attention::parseMask(typed.text);
    typed.error = parsed.error ? parsed.error->message : "";
    typed.caret = parsed.error ? parsed.error->offset : 0;
    typed.typedAt = view.time;
  }
  takeOver(scene, page);
  if (!typed.error.empty()) {
    problem(view, typed.error);
    if (typed.caret != std::string::npos)
      caretLines(view, caretFor(view, typed.text, std::min(typed.caret, typed.text.size())));
  }
  if (const StudiedMask* study = editedStudy(scene, page); study && study->error)
    problem(view, *study->error);
}

}  // namespace headscope::app::mask_page
