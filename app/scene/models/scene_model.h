#pragma once

#include "app/scene/models/open_model.h"
#include "app/scene/scene.h"

namespace headscope::app {

// The model that a scene names, and its effects on the scene.

/// Removes the scene's own masks and score terms; only the model's remain.
void forgetLayer(Setup& setup);
/// Makes a layer of an opened model the scene's, with the model's sizes and without masks or score terms
/// other than the model's own. Keeps the text.
void adoptModel(Scene& scene, const std::string& model, std::shared_ptr<const OpenModel> opened);
/// Restores the opening scene's layer. Keeps the text.
void leaveModel(Scene& scene);

/// Call after an edit: clears the tokens that a model generated if the text before them has changed.
void forgetWritten(const Setup& before, Setup& setup);

/// The same for tokens aligned by hand, whose positions belong to the former texts.
void forgetAlignment(const Scene& before, Scene& scene);

/// Gives a scene whose subject is open the model's sizes. Returns an Error if the model lacks a layer, head
/// or token that the scene names.
attention::Status fitSubject(Scene& scene);
/// Opens the model named by a scene from a file, and those of its talk's views, each once. If that fails,
/// `problem` says why. Returns an Error as fitSubject() does.
attention::Status openSubject(Scene& scene, const std::stop_token& stop = {});

}  // namespace headscope::app
