#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/scene/scene.h"

namespace headscope::app {

/// Replaces file names relative to `folder`, as a scene's file has them, by paths from the working folder.
void resolveFiles(Scene& scene, const std::filesystem::path& folder);
/// The file names in a scene and in its talk's views, as written: a model's folder other than the bundled
/// one, a picture, features, weights, queries and keys, a configuration, recorded attention, texts and masks.
std::vector<std::string> namedFiles(const Scene& scene);
/// The inverse: files in or below `folder` get relative names and move with it, others get full names.
void relativeFiles(Scene& scene, const std::filesystem::path& folder);

}  // namespace headscope::app
