#pragma once

#include <filesystem>
#include <string>

namespace headscope::app {

/// Returns the folder that holds shaders/ and scenes/, the first that has them of: $HEADSCOPE_ASSETS, assets/
/// next to the binary, the install tree's share/headscope, and the source tree of the build. Throws
/// std::runtime_error listing the folders it tried.
std::filesystem::path assetFolder();

/// Returns the folder of the bundled small model, in Hugging Face's layout, with scores.json. Throws like
/// assetFolder().
std::filesystem::path miniatureFolder();

/// Returns the whole text of an asset. Throws std::runtime_error if it is missing.
std::string readAssetText(const std::string& name);

}  // namespace headscope::app
