#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "app/scene/models/open_model.h"
#include "app/scene/scene.h"

namespace headscope::app {

// The model that a scene names, and what it makes of the scene.

/// Nothing is masked or added to scores but by the model itself.
void forgetLayer(Setup& setup);
/// Makes a layer of an opened model the scene's: its sizes, no masks and numbers besides its own, the text as
/// it is.
void adoptModel(Scene& scene, const std::string& model, std::shared_ptr<const OpenModel> opened);
/// The opening scene's layer again, with the text as it is.
void leaveModel(Scene& scene);

/// After an edit: what a model wrote behind another text than today's goes.
void forgetWritten(const Setup& before, Setup& setup);

/// The same of tokens that were tied by hand: their places are another text's.
void forgetAlignment(const Scene& before, Scene& scene);

/// Gives a scene whose subject was opened the model's sizes. The error is for what the model doesn't have: a
/// layer, a head.
attention::Status fitSubject(Scene& scene);
/// Opens the model that a scene names, which came out of a file, and those of its talk's views, each once;
/// `problem` says why where that failed. The error is for what the model doesn't have: a layer, a head.
attention::Status openSubject(Scene& scene, const std::stop_token& stop = {});

}  // namespace headscope::app
