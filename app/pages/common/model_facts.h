#pragma once

#include "app/kit/rows.h"
#include "app/pages/common/page.h"

namespace headscope::app {

/// A side panel's section about the scene's model: its name, its sizes, why they are fixed, and how to open
/// another. If the model couldn't be opened: the problem.
/// `read`: how many of the checkpoint's bytes have been read so far; not shown if empty.
void modelFacts(const Scene& scene, Rows& rows, std::optional<std::uint64_t> read = {});
void modelFacts(const Scene& scene, View& view, std::optional<std::uint64_t> read = {});
/// A slider for the layer to show, of the model or of the built stack.
void layerSlider(Scene& scene, View& view);
/// A choice of the model's layers to which masks, biases and gains apply.
void scopeChoice(Scene& scene, View& view);

/// A choice of the sequence of the batch that is shown; nothing if there is only one. `lengths`: their
/// tokens.
void sequenceChoice(Rows& rows, Scene& scene, const std::vector<Index>& lengths);
/// What is wrong at this place of the scene, or what it waits for; nothing if all is well.
void placedProblem(Rows& rows, const Snapshot* snapshot, Place place);

/// A sentence saying that the scene's tokens are, or will be, an image's patches; empty for text.
std::string patchesText(const Scene& scene);

/// A short description of the layer: "GQA 8/2 · d 256 · causal". `causal`: no query sees a later key.
std::string layerShape(const Scene& scene, bool causal);

/// Why the layer has no picture, as a sentence. `snapshot` may be null.
std::optional<std::string> layerError(const Snapshot* snapshot);

/// Clears the parts of `hover` that no longer exist. `snapshot` must have sequences.
void fitHover(Crosshair& hover, const Scene& scene, const Snapshot& snapshot);

/// The status line of a page that shows the scene's layer.
PageStatus layerStatus(const PageServices& services, const Scene& scene);

/// Why the planted patterns don't fit in a layer of these sizes, or "".
std::string plantedRefusal(const Setup& setup, const ModelSetup& model);
/// Why `stops` leave out divisors of the heads as numbers of kv heads, or "".
std::string kvHeadsLimit(const Setup& setup, std::span<const Index> stops);

/// A choice of MHA, GQA or MQA; `locked` says why none can be chosen, or is empty.
void kindChoice(Setup& setup, View& view, const std::string& locked);

/// Actions for MHA, GQA and MQA; an unavailable one reports why when run.
std::vector<Action> kindActions(View& view);

}  // namespace headscope::app
