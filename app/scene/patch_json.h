#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "app/scene/json_reader.h"
#include "app/scene/models/open_model.h"
#include "app/scene/scene.h"

namespace headscope::app {

// Changes of a scene: an object whose names are paths of fields.

/// Models that were opened, by what they are called, so that scenes of one file share them.
using OpenModels = std::map<std::string, std::shared_ptr<const OpenModel>>;

/// What a scene is that `model` is opened in, before anything else is changed: the scene itself where it has
/// that model already, else without what the layer before was made of.
Scene sceneWithModel(const Scene& scene, const std::string& model);

/// Applies the members of `patch` to the scene, and opens nothing that they name. Files are named relative to
/// `folder`. What is wrong is noted, with the path of the field.
void readPatchFields(ObjectReader& patch, const std::filesystem::path& folder, Scene& scene,
                     std::vector<std::string>& changed);

/// Applies the members of `patch` to the scene and opens the model that it names. Files are named relative to
/// `folder`. What is wrong is noted, with the path of the field.
void readPatch(ObjectReader& patch, const std::filesystem::path& folder, OpenModels& models,
               const std::stop_token& stop, Scene& scene, std::vector<std::string>& changed);

/// The fields in which `now` is other than `before`, by their paths; neither the page nor the lesson's step
/// is among them. Files in `folder` or below are named relative to it; all in full where it is empty.
Json patchJson(const Scene& before, const Scene& now, const std::filesystem::path& folder);

}  // namespace headscope::app
