#include <fmt/core.h>

#include "app/pages/common/model_facts.h"
#include "app/pages/mask/mask_page.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/text_box.h"

namespace headscope::app::mask_page {

using attention::Combine;
using attention::Layer;

namespace {

const char* joinWord(Combine combine) {
  switch (combine) {
    case Combine::all:
      return "AND";
    case Combine::any:
      return "OR";
    case Combine::replace:
      return "THEN";
  }
  return "";
}

/// What to say about a layer in addition to its pattern: "AND NOT · heads 0-3".
std::string remarks(const Layer& layer, Index at) {
  std::string text = at > 0 ? joinWord(layer.combine) : "";
  if (layer.negated) text += text.empty() ? "NOT" : " NOT";
  Layer bare = layer;
  bare.name.clear();
  bare.on = true;
  bare.heads.reset();
  bare.sequences.reset();
  bare.negated = false;
  text += (text.empty() ? "" : "  ") + attention::layerText(bare);
  return text;
}

std::string scopeText(const Layer& layer) {
  if (!layer.heads) return "";
  Layer scoped;
  scoped.heads = layer.heads;
  const std::string text = attention::layerText(scoped);
  return text.substr(0, text.find(':'));
}

/// Draws a switch of fixed size. Returns whether it was clicked.
bool smallSwitch(const View& view, const std::string& name, ImVec2 right, bool on) {
  const float width = view.px(30), height = view.px(16);
  const ImVec2 from(right.x - width, right.y - height / 2), to(right.x, right.y + height / 2);
  const bool clicked = hitArea(name, from, ImVec2(width, height));
  Canvas list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(from, to, on ? view.theme->query : view.theme->background, height / 2);
  if (!on) compat::rectOutline(list, from, to, view.theme->line, height / 2, 1);
  const float x = on ? to.x - height / 2 : from.x + height / 2, knob = height / 2 - view.px(2.5f);
  if (drawsMark(list, "switch", ImVec2(x - knob, right.y - knob), ImVec2(x + knob, right.y + knob)))
    list.AddCircleFilled(ImVec2(x, right.y), knob, on ? view.theme->background : view.theme->secondary, 20);
  return clicked;
}

/// Where a dragged layer would be inserted: before the first row whose middle is below the pointer.
struct Drag {
  Index target = -1;
  float markY = 0;
};

void move(attention::MaskLayers& layers, Index from, Index to, Index& selected) {
  if (to > from) --to;
  if (to == from) return;
  Layer moved = std::move(layers[static_cast<std::size_t>(from)]);
  layers.erase(layers.begin() + from);
  layers.insert(layers.begin() + to, std::move(moved));
  selected = to;
}

/// Draws a layer's first line: handle, title, switch. A click selects, a drag moves.
void layerRow(const Layer& layer, Index at, Scene& scene, State& page, Drag& drag) {
  View& view = page.view;
  StudioCursor& studio = scene.cursor.studio;
  const Theme& theme = *view.theme;
  const std::string name = fmt::format("layer.{}", at);
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = view.px(46);
  const ImVec2 to(from.x + width, from.y + height);
  Canvas list = *ImGui::GetWindowDrawList();
  const bool chosen = studio.selected == at;
  const bool clicked = hitArea(name, from, ImVec2(width - view.px(44), height));
  const bool hovered = ImGui::IsItemHovered();
  if (hovered && ImGui::IsMouseClicked(1)) {
    studio.selected = at;
    view.menu = layerMenu(shownLayers(scene), at);
  }
  if (ImGui::IsItemActive() && ImGui::IsMouseDragging(0, view.px(6))) page.dragged = at;
  if (clicked && page.dragged < 0) studio.selected = chosen ? -1 : at;
  if (page.dragged >= 0 && drag.target < 0 && ImGui::GetIO().MousePos.y < (from.y + to.y) / 2)
    drag = {at, from.y};
  // A mask may have thousands of layers; build the text only for visible ones.
  if (!ImGui::IsRectVisible(from, to)) {
    ImGui::SetCursorScreenPos(ImVec2(from.x, to.y));
    return;
  }
  if (chosen || hovered)
    list.AddRectFilled(from, to, chosen ? theme.raised : faded(theme.raised, 0.5f), view.px(6));
  if (chosen && drawsMark(list, "chosen layer", from, ImVec2(from.x + view.px(3), to.y)))
    list.AddRectFilled(from, ImVec2(from.x + view.px(3), to.y), theme.text, view.px(1.5f));
  for (int row = 0; row < 3; ++row)
    for (int col = 0; col < 2; ++col)
      list.AddCircleFilled(ImVec2(from.x + view.px(11.0f + 5.0f * static_cast<float>(col)),
                                  from.y + view.px(17.0f + 6.0f * static_cast<float>(row))),
                           view.px(1.3f), hovered ? theme.secondary : theme.faint, 8);
  const float x = from.x + view.px(26);
  const std::string scope = scopeText(layer);
  const std::uint32_t ink = layer.on ? theme.text : theme.faint;
  const float scopeWidth = scope.empty() ? 0 : textWidth(view.fonts->small, scope) + view.px(10);
  paintFitted(view, list, view.fonts->text, ImVec2(x, from.y + view.px(15)),
              to.x - x - view.px(46) - scopeWidth, ink, layerTitle(layer));
  if (!scope.empty())
    paintText(list, view.fonts->small, ImVec2(to.x - view.px(44), from.y + view.px(15)), theme.secondary,
              scope, Align::right);
  paintFitted(view, list, view.fonts->monoSmall, ImVec2(x, from.y + view.px(33)), to.x - x - view.px(8),
              layer.on ? theme.secondary : theme.faint, remarks(layer, at));
  if (smallSwitch(view, name + ".on", ImVec2(to.x - view.px(8), from.y + view.px(15)), layer.on))
    editedLayers(scene)[static_cast<std::size_t>(at)].on = !layer.on;
  ImGui::SetCursorScreenPos(ImVec2(from.x, to.y));
}

void layerList(Scene& scene, State& page) {
  View& view = page.view;
  const SharedLayers layers = shownLayers(scene);  // a copy, because a row may edit them
  StudioCursor& studio = scene.cursor.studio;
  const auto& opened = scene.setup.subject.opened;
  const bool ofModel = opened && !isCross(scene.setup);
  if (layers.empty())
    hint(view, ofModel && opened->config().causal
                   ? "No layers: only the model's own causal mask applies. Add a pattern to mask more."
               : ofModel && opened->config().isBidirectionalDecoder()
                   ? "No layers: only the model's own bidirectional mask applies. Add a pattern to mask more."
                   : "No layers: every query sees every key. Add a pattern to mask some.");
  Drag drag;
  for (Index at = 0; at < static_cast<Index>(layers.size()); ++at) {
    layerRow(layers[static_cast<std::size_t>(at)], at, scene, page, drag);
    if (studio.selected == at && page.dragged < 0) {
      layerDetails(at, scene, page);
      if (shownLayers(scene).size() != layers.size()) break;
    }
  }
  if (page.dragged < 0) return;
  if (drag.target < 0) drag = {static_cast<Index>(layers.size()), ImGui::GetCursorScreenPos().y};
  const ImVec2 at(ImGui::GetCursorScreenPos().x, drag.markY);
  Canvas(*ImGui::GetWindowDrawList())
      .AddRectFilled(ImVec2(at.x, at.y - view.px(1.5f)),
                     ImVec2(at.x + ImGui::GetContentRegionAvail().x, at.y + view.px(1.5f)), view.theme->text,
                     view.px(1.5f));
  if (ImGui::IsMouseDown(0)) return;
  if (page.dragged < static_cast<Index>(layers.size()))
    move(editedLayers(scene), page.dragged, drag.target, studio.selected);
  page.dragged = -1;
}

/// A choice of the sequence of the batch whose mask is shown.
void sequenceChoice(Scene& scene, State& page) {
  View& view = page.view;
  const MaskStudy* study = page.study;
  if (!study || study->lines.size() < 2) return;
  std::vector<Choice> choices;
  for (std::size_t i = 0; i < study->lines.size(); ++i)
    choices.push_back({fmt::format("Sequence {} · {}", i, tokenCountText(study->lines[i].queryLength)), "",
                       std::to_string(i)});
  int chosen =
      static_cast<int>(std::clamp<Index>(scene.cursor.sequence, 0, static_cast<Index>(choices.size()) - 1));
  if (dropdown(view, "sequence", choices, chosen, ImGui::GetContentRegionAvail().x))
    scene.cursor.sequence = chosen;
}

void whichMask(Scene& scene, View& view) {
  if (!scene.setup.mask.compare) return;
  if (fieldChoice(view, scene, "cursor.studio.edits_other")) scene.cursor.studio.selected = -1;
  gap(view, 4);
}

void compareButtons(Scene& scene, View& view) {
  MaskSetup& mask = scene.setup.mask;
  if (!mask.compare) return;
  if (button(view, "swap_masks", "Swap A and B")) std::swap(mask.layers, mask.other);
  ImGui::SameLine(0, view.px(8));
  if (button(view, "drop_other", "Remove B")) {
    mask.compare = scene.cursor.studio.editsOther = false;
    mask.other = {};
  }
}

}  // namespace

void layersPanel(Scene& scene, const Snapshot* snapshot, State& page, const Layout& layout) {
  View& view = page.view;
  if (!layout.showLeft) return;
  fillSide(view, layout.left);
  if (beginPanel(view, "layers", layout.left, 20, 14, 0)) {
    const MaskStudy* study = page.study;
    const Index tokens = study && study->line() ? study->line()->queryLength : 0;
    sectionTitle(view, "TOKENS", tokens > 0 ? tokenCountText(tokens) : "");
    if (const std::string patches = patchesText(scene); !patches.empty())
      hint(view, patches);
    else if (scene.setup.input.source == EmbeddingSource::text)
      textBox(view, "text", scene.setup.input.text, 2, "Type a sentence. Each line is a sequence.");
    else
      hint(view, "Tokens are the rows of the typed table.");
    if (const PlacedError* error = errorAt(snapshot, Place::input)) problem(view, error->message);
    sequenceChoice(scene, page);
    gap(view, 10);
    whichMask(scene, view);
    sectionTitle(view, "LAYERS");
    layerList(scene, page);
    gap(view, 6);
    if (button(view, "add_pattern", "Add pattern…")) view.request("mask.gallery");
    ImGui::SameLine(0, view.px(8));
    if (button(view, "load_mask", "Load file…")) view.request("mask.open");
    compareButtons(scene, view);
    gap(view, 10);
    expressionBox(scene, page);
    gap(view, 16);
  }
  endPanel();
}

// Actions on one layer of the mask, and its context menu.

using attention::MaskLayers;

namespace {

using LayerChange = std::function<void(MaskLayers&, Index, Scene&)>;

/// An action on the selected layer; reports if none is selected.
Action layerAction(View& view, const char* id, const char* name, LayerChange run) {
  return {.id = id, .name = name, .run = [&view, run = std::move(run)](Scene& scene) {
            MaskLayers& layers = editedLayers(scene);
            const Index at = scene.cursor.studio.selected;
            if (scene.cursor.page != "mask" || at < 0 || at >= static_cast<Index>(layers.size()))
              return view.messages.fail("No layer is selected. Click one in the mask studio.");
            run(layers, at, scene);
          }};
}

Layer& layerAt(MaskLayers& layers, Index at) {
  return layers[static_cast<std::size_t>(at)];
}

LayerChange moveBy(Index by) {
  return [by](MaskLayers& layers, Index at, Scene& scene) {
    const Index to = at + by;
    if (to < 0 || to >= static_cast<Index>(layers.size())) return;
    std::swap(layerAt(layers, at), layerAt(layers, to));
    scene.cursor.studio.selected = to;
  };
}

}  // namespace

std::vector<std::string> layerMenu(const MaskLayers& layers, Index at) {
  std::vector<std::string> menu{"mask.layer.switch", "mask.layer.negate", "mask.layer.alone"};
  if (at > 0) menu.emplace_back("mask.layer.up");
  if (at + 1 < static_cast<Index>(layers.size())) menu.emplace_back("mask.layer.down");
  menu.insert(menu.end(), {"mask.layer.duplicate", "mask.layer.delete", "mask.gallery"});
  return menu;
}

std::vector<std::string> cellMenu(const State& page) {
  std::vector<std::string> menu{"mask.toggle"};
  if (page.snapshot) menu.emplace_back("look.focus");
  menu.insert(menu.end(),
              {"mask.copy.text", "mask.copy.flex", "mask.copy.torch", "mask.save", "picture.save_mask"});
  return menu;
}

std::vector<Action> layerActions(State& page) {
  View& view = page.view;
  return {layerAction(
              view, "mask.layer.switch", "Switch the selected layer on or off",
              [](MaskLayers& layers, Index at, Scene&) { layerAt(layers, at).on = !layerAt(layers, at).on; }),
          layerAction(view, "mask.layer.negate", "Invert the selected layer",
                      [](MaskLayers& layers, Index at, Scene&) {
                        layerAt(layers, at).negated = !layerAt(layers, at).negated;
                      }),
          layerAction(view, "mask.layer.alone", "Switch off all layers but the selected one",
                      [](MaskLayers& layers, Index at, Scene&) {
                        for (Layer& layer : layers) layer.on = &layer == &layerAt(layers, at);
                      }),
          layerAction(view, "mask.layer.up", "Move the selected layer up", moveBy(-1)),
          layerAction(view, "mask.layer.down", "Move the selected layer down", moveBy(1)),
          layerAction(view, "mask.layer.duplicate", "Duplicate the selected layer",
                      [](MaskLayers& layers, Index at, Scene& scene) {
                        const Layer twin = layerAt(layers, at);
                        layers.insert(layers.begin() + at + 1, twin);
                        scene.cursor.studio.selected = at + 1;
                      }),
          layerAction(view, "mask.layer.delete", "Delete the selected layer",
                      [](MaskLayers& layers, Index at, Scene& scene) {
                        layers.erase(layers.begin() + at);
                        scene.cursor.studio.selected = -1;
                      })};
}

}  // namespace headscope::app::mask_page
