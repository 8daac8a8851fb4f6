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

/// Draws a layer: handle, title, the heads it applies to, and below it what it is.
void paintLayer(const View& view, const Layer& layer, Index at, const ImRect& area, bool chosen,
                bool hovered) {
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const auto [from, to] = std::pair(area.Min, area.Max);
  if (chosen || hovered)
    list.AddRectFilled(from, to, chosen ? theme.raised : faded(theme.raised, 0.5f), view.px(6));
  if (chosen && drawsMark(list, "chosen layer", from, ImVec2(from.x + view.px(3), to.y)))
    list.AddRectFilled(from, ImVec2(from.x + view.px(3), to.y), theme.text, view.px(1.5f));
  for (int dot = 0; dot < 6; ++dot)
    list.AddCircleFilled(ImVec2(from.x + view.px(dot % 2 ? 16 : 11),
                                from.y + view.px(17.0f + 6.0f * static_cast<float>(dot / 2))),
                         view.px(1.3f), hovered ? theme.secondary : theme.faint, 8);
  const float x = from.x + view.px(26), end = to.x - view.px(44), y = from.y + view.px(15);
  const std::string scope = scopeText(layer);
  const float taken =
      paintText(list, view.fonts->small, ImVec2(end, y), theme.secondary, scope, Align::right);
  paintFitted(view, list, view.fonts->text, ImVec2(x, y),
              end - x - view.px(2) - (scope.empty() ? 0 : taken + view.px(10)),
              layer.on ? theme.text : theme.faint, layerTitle(layer));
  paintFitted(view, list, view.fonts->monoSmall, ImVec2(x, y + view.px(18)), to.x - x - view.px(8),
              layer.on ? theme.secondary : theme.faint, remarks(layer, at));
}

/// A layer's line with its switch. A click selects, a drag moves.
void layerRow(const Layer& layer, Index at, Scene& scene, State& page, Drag& drag) {
  View& view = page.view;
  StudioCursor& studio = scene.cursor.studio;
  const std::string name = fmt::format("layer.{}", at);
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const ImRect area(from, ImVec2(from.x + ImGui::GetContentRegionAvail().x, from.y + view.px(46)));
  const bool chosen = studio.selected == at;
  const bool clicked = hitArea(name, ImVec2(area.GetWidth() - view.px(44), area.GetHeight()));
  const bool hovered = ImGui::IsItemHovered();
  if (hovered && ImGui::IsMouseClicked(1)) {
    studio.selected = at;
    view.menu = layerMenu(shownLayers(scene), at);
  }
  if (ImGui::IsItemActive() && ImGui::IsMouseDragging(0, view.px(6))) page.dragged = at;
  if (clicked && page.dragged < 0) studio.selected = chosen ? -1 : at;
  if (page.dragged >= 0 && drag.target < 0 && ImGui::GetIO().MousePos.y < area.GetCenter().y)
    drag = {at, from.y};
  // A mask may have thousands of layers; build the text only for visible ones.
  if (ImGui::IsRectVisible(area.Min, area.Max)) {
    paintLayer(view, layer, at, area, chosen, hovered);
    const ImRect onOff(area.Max.x - view.px(38), from.y + view.px(7), area.Max.x - view.px(8),
                       from.y + view.px(23));
    paintSwitch(view, onOff, layer.on, layer.on ? view.theme->query : view.theme->background);
    if (hitArea(name + ".on", onOff)) editedLayers(scene)[static_cast<std::size_t>(at)].on = !layer.on;
  }
  ImGui::SetCursorScreenPos(ImVec2(from.x, area.Max.y));
}

/// Marks where the dragged layer would go, and puts it there when it is let go.
void dropLayer(Rows& rows, Scene& scene, State& page, Drag drag) {
  const Index count = std::ssize(shownLayers(scene));
  const ImVec2 end = ImGui::GetCursorScreenPos();
  if (drag.target < 0) drag = {count, end.y};
  const float half = rows.view().px(1.5f);
  Canvas(*ImGui::GetWindowDrawList())
      .AddRectFilled(ImVec2(end.x, drag.markY - half), ImVec2(end.x + rows.width(), drag.markY + half),
                     rows.theme().text, half);
  if (ImGui::IsMouseDown(0)) return;
  if (page.dragged < count)
    move(editedLayers(scene), page.dragged, drag.target, scene.cursor.studio.selected);
  page.dragged = -1;
}

void layerList(Rows& rows, Scene& scene, State& page) {
  const SharedLayers layers = shownLayers(scene);  // a copy, because a row may edit them
  const auto& opened = scene.setup.subject.opened;
  if (layers.empty()) {
    const attention::ModelConfig* model = opened && !isCross(scene.setup) ? &opened->config() : nullptr;
    const char* own = model && model->causal                     ? "causal"
                      : model && model->isBidirectionalDecoder() ? "bidirectional"
                                                                 : nullptr;
    rows.hint(
        own ? fmt::format("No layers: only the model's own {} mask applies. Add a pattern to mask more.", own)
            : "No layers: every query sees every key. Add a pattern to mask some.");
  }
  Drag drag;
  for (Index at = 0; at < std::ssize(layers); ++at) {
    layerRow(layers[static_cast<std::size_t>(at)], at, scene, page, drag);
    if (scene.cursor.studio.selected == at && page.dragged < 0) layerDetails(rows, at, scene, page);
  }
  if (page.dragged >= 0) dropLayer(rows, scene, page, drag);
}

void maskB(Rows& rows, Scene& scene) {
  MaskSetup& mask = scene.setup.mask;
  if (!mask.compare) return;
  if (button(rows.view(), "swap_masks", "Swap A and B")) std::swap(mask.layers, mask.other);
  ImGui::SameLine();
  if (!button(rows.view(), "drop_other", "Remove B")) return;
  mask.compare = scene.cursor.studio.editsOther = false;
  mask.other = {};
}

}  // namespace

void layersPanel(Scene& scene, const Snapshot* snapshot, State& page, const Layout& layout) {
  leftPanel(page.view, layout, "layers", [&](Rows& rows) {
    const MaskStudy* study = page.study.get();
    const Index tokens = study && study->line() ? study->line()->queryLength : 0;
    rows.section("TOKENS", tokens > 0 ? tokenCountText(tokens) : "");
    if (const std::string patches = patchesText(scene); !patches.empty())
      rows.hint(patches);
    else if (scene.setup.input.source == EmbeddingSource::text)
      textBox(page.view, "text", scene.setup.input.text, 2, "Type a sentence. Each line is a sequence.");
    else
      rows.hint("Tokens are the rows of the typed table.");
    placedProblem(rows, snapshot, Place::input);
    std::vector<Index> lengths;
    if (study) std::ranges::transform(study->lines, std::back_inserter(lengths), &LineTokens::queryLength);
    sequenceChoice(rows, scene, lengths);
    if (scene.setup.mask.compare) {
      rows.space(6);
      if (rows.choice(scene, "cursor.studio.edits_other")) scene.cursor.studio.selected = -1;
    }
    rows.section("LAYERS");
    layerList(rows, scene, page);
    rows.space(6);
    rows.actions({{"add_pattern", "Add pattern…", "mask.gallery"}, {"load_mask", "Load file…", "mask.open"}});
    maskB(rows, scene);
    expressionBox(rows, scene, page);
  });
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
            if (scene.cursor.page != "mask" || at < 0 || at >= std::ssize(layers))
              return view.messages.fail("No layer is selected. Click one in the mask studio.");
            run(layers, at, scene);
          }};
}

/// The same for one that changes only the layer.
Action layerAction(View& view, const char* id, const char* name, void (*run)(Layer&)) {
  return layerAction(view, id, name, [run](MaskLayers& layers, Index at, Scene&) {
    run(layers[static_cast<std::size_t>(at)]);
  });
}

LayerChange moveBy(Index by) {
  return [by](MaskLayers& layers, Index at, Scene& scene) {
    const Index to = at + by;
    if (to < 0 || to >= std::ssize(layers)) return;
    std::iter_swap(layers.begin() + at, layers.begin() + to);
    scene.cursor.studio.selected = to;
  };
}

}  // namespace

std::vector<std::string> layerMenu(const MaskLayers& layers, Index at) {
  std::vector<std::string> menu{"mask.layer.switch", "mask.layer.negate", "mask.layer.alone"};
  if (at > 0) menu.emplace_back("mask.layer.up");
  if (at + 1 < std::ssize(layers)) menu.emplace_back("mask.layer.down");
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
  return {layerAction(view, "mask.layer.switch", "Switch the selected layer on or off",
                      [](Layer& layer) { layer.on = !layer.on; }),
          layerAction(view, "mask.layer.negate", "Invert the selected layer",
                      [](Layer& layer) { layer.negated = !layer.negated; }),
          layerAction(view, "mask.layer.alone", "Switch off all layers but the selected one",
                      [](MaskLayers& layers, Index at, Scene&) {
                        for (Layer& layer : layers) layer.on = &layer - layers.data() == at;
                      }),
          layerAction(view, "mask.layer.up", "Move the selected layer up", moveBy(-1)),
          layerAction(view, "mask.layer.down", "Move the selected layer down", moveBy(1)),
          layerAction(view, "mask.layer.duplicate", "Duplicate the selected layer",
                      [](MaskLayers& layers, Index at, Scene& scene) {
                        const Layer twin = layers[static_cast<std::size_t>(at)];
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
