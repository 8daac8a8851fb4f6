#pragma once

#include "app/scene/scene.h"
#include "attention/formats/files/file_io.h"

namespace headscope::app {

inline constexpr int kSceneVersion = 2;

/// Formats the scene as JSON, with every field, indented by two spaces. assets/manual/scenes.md describes the
/// format.
std::string formatScene(const Scene& scene);

/// Parses untrusted text. Missing fields keep the opening scene's values. Returns an Error naming the field,
/// prefixed by `name`, for unknown fields, wrong types, a later version and values out of range, or an Error
/// once `stop` is requested. Time and memory are proportional to the text.
attention::Result<Scene> parseScene(std::string_view text, const std::string& name,
                                    const std::stop_token& stop = {});

/// Both tell the mark of the file's content if asked to.
attention::Result<Scene> readScene(const std::filesystem::path& path, const std::stop_token& stop = {},
                                   attention::ContentMark* content = nullptr);
attention::Status writeScene(const std::filesystem::path& path, const Scene& scene,
                             attention::ContentMark* content = nullptr);

}  // namespace headscope::app
