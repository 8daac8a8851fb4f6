#pragma once

#include <filesystem>
#include <string>

namespace headscope::app {

/// The folder that holds shaders/ and scenes/: $HEADSCOPE_ASSETS, beside the binary, the install tree's
/// share/headscope, or the source tree it was built from, whichever is there first.
/// Throws std::runtime_error naming where it looked.
std::filesystem::path assetFolder();

/// The folder of the small model that comes with the program, as Hugging Face lays it out, with scores.json.
/// Throws as assetFolder().
std::filesystem::path miniatureFolder();

/// A text asset, whole. Throws std::runtime_error if it is missing.
std::string readAssetText(const std::string& name);

}  // namespace headscope::app
