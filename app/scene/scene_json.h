#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>

#include "app/scene/scene.h"

namespace headscope::app {

inline constexpr int kSceneVersion = 2;

/// The scene as JSON, two spaces of indentation, every field written. The format is in the manual,
/// assets/manual/scenes.md.
std::string formatScene(const Scene& scene);

/// Untrusted text in. Fields that are missing keep the opening scene's values; unknown fields, wrong types,
/// a later version and values out of range are errors that name the field. `name` stands in front. Takes time
/// and memory in proportion to the text; an error once `stop` is requested.
attention::Result<Scene> parseScene(std::string_view text, const std::string& name,
                                    const std::stop_token& stop = {});

attention::Result<Scene> readScene(const std::filesystem::path& path, const std::stop_token& stop = {});
attention::Status writeScene(const std::filesystem::path& path, const Scene& scene);

}  // namespace headscope::app
