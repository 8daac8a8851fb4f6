#pragma once

#include <optional>

#include "app/scene/scene.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// A side panel's section on the scene's model: its name, what it is made of and why that can't be moved, and
/// how to open another. Without a model: what was wrong with the one that the scene names.
/// `read`: how many of the checkpoint's bytes were read so far; not said without it.
void modelFacts(const Scene& scene, View& view, std::optional<std::uint64_t> read = {});
/// Which of the layers the page shows, of the model or made here.
void layerSlider(Scene& scene, View& view);
/// Which of the model's layers masks, biases and gains act on.
void scopeChoice(Scene& scene, View& view);

/// That the scene's tokens are a picture's patches, or will be, in a sentence; empty where they are a text's.
std::string patchesText(const Scene& scene);

}  // namespace headscope::app
