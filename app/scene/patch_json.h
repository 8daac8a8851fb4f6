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

// Changes of a scene: an object whose names are field paths.

/// Opened models by name, so that the scenes of one file share them.
using OpenModels = std::map<std::string, std::shared_ptr<const OpenModel>>;

/// The scene in which `model` is opened before anything else changes: the scene itself if it has that model
/// already, else without what the former layer was made of.
Scene sceneWithModel(const Scene& scene, const std::string& model);

/// Applies the members of `patch` to the scene without opening anything they name; adds their paths to
/// `changed`. File names are relative to `folder`. Notes errors with the path of the field.
void readPatchFields(ObjectReader& patch, const std::filesystem::path& folder, Scene& scene,
                     std::vector<std::string>& changed);

/// Like readPatchFields(), but also opens the model that the patch names, and validates the scene.
void readPatch(ObjectReader& patch, const std::filesystem::path& folder, OpenModels& models,
               const std::stop_token& stop, Scene& scene, std::vector<std::string>& changed);

/// The fields in which `now` differs from `before`, by path, except the page, the talk's view and the
/// lesson's step. Files in or below `folder` are named relative to it; all in full if it is empty.
Json patchJson(const Scene& before, const Scene& now, const std::filesystem::path& folder);

}  // namespace headscope::app
