#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/scene/scene.h"

namespace headscope::app {

/// Files that a scene of a file names stand relative to its folder; these are their paths from here.
void resolveFiles(Scene& scene, const std::filesystem::path& folder);
/// What of a scene, and of the views of its talk, names a file, as it names it: a model's folder that is not
/// the bundled one's, weights, queries and keys, a configuration, recorded attention, texts, masks.
std::vector<std::string> namedFiles(const Scene& scene);
/// The other way: files in the folder or below move with it, others are named in full.
void relativeFiles(Scene& scene, const std::filesystem::path& folder);

}  // namespace headscope::app
