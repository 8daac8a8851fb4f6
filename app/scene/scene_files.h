#pragma once

#include <filesystem>

#include "app/scene/scene.h"

namespace headscope::app {

/// Files that a scene of a file names stand relative to its folder; these are their paths from here.
void resolveFiles(Scene& scene, const std::filesystem::path& folder);
/// The other way: files in the folder or below move with it, others are named in full.
void relativeFiles(Scene& scene, const std::filesystem::path& folder);

}  // namespace headscope::app
