#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headscope::app {

/// Models that this person opened, the newest first: folders and files, at most kRecentModels.
inline constexpr std::size_t kRecentModels = 5;

/// A JSON list of texts. Never fails: there is none in what is something else.
std::vector<std::string> parseRecentModels(std::string_view json);
std::string formatRecentModels(const std::vector<std::string>& models);

/// $XDG_CONFIG_HOME/headscope/recent_models.json; none where it can't be read.
std::vector<std::string> loadRecentModels();
/// A list that can't be kept is not worth a message.
void saveRecentModels(const std::vector<std::string>& models);
/// The list with `path` at its head.
std::vector<std::string> withRecentModel(std::vector<std::string> models, const std::string& path);
/// Puts it at the front of the list on disk.
void rememberModel(const std::string& path);

/// The same for files with scenes, in recent_scenes.json.
std::vector<std::string> loadRecentScenes();
void rememberScene(const std::string& path);

}  // namespace headscope::app
