// Actions on one layer of the mask, and its context menu.

#include <algorithm>

#include "app/pages/mask/mask_state.h"

namespace headscope::app::mask_page {

using attention::Layer;
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
