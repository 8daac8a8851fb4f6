#pragma once

#include <optional>

#include "app/scene/scene.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// A side panel's section about the scene's model: its name, its sizes, why they are fixed, and how to open
/// another. If the model couldn't be opened: the problem.
/// `read`: how many of the checkpoint's bytes have been read so far; not shown if empty.
void modelFacts(const Scene& scene, View& view, std::optional<std::uint64_t> read = {});
/// A slider for the layer to show, of the model or of the built stack.
void layerSlider(Scene& scene, View& view);
/// A choice of the model's layers to which masks, biases and gains apply.
void scopeChoice(Scene& scene, View& view);

/// A sentence saying that the scene's tokens are, or will be, an image's patches; empty for text.
std::string patchesText(const Scene& scene);

}  // namespace headscope::app
