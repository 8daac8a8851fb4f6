#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headscope::app {

enum class RecentKind { scene, talk, model };

/// A scene or talk (a file) or a model (a folder or a file) that the user opened or saved.
struct RecentFile {
  RecentKind kind = RecentKind::scene;
  std::string path;
  bool operator==(const RecentFile&) const = default;
};
/// Returns the kind as users call it: "Talk".
std::string recentWord(RecentKind kind);

/// The number of files kept of each kind.
inline constexpr std::size_t kRecentOfAKind = 5;

/// Returns the files, newest first. Never fails: skips everything that isn't a recent file.
std::vector<RecentFile> parseRecent(std::string_view json);
std::string formatRecent(const std::vector<RecentFile>& files);

/// Reads $XDG_CONFIG_HOME/headscope/recent.json; empty if it can't be read.
std::vector<RecentFile> loadRecent();
/// Returns the paths of one kind.
std::vector<std::string> loadRecent(RecentKind kind);
/// Ignores errors: losing this list is not worth a message.
void saveRecent(const std::vector<RecentFile>& files);
/// Moves the file to the front of the list on disk. Replaces an entry of another kind.
void rememberRecent(const RecentFile& file);
void forgetRecent(const std::string& path);

}  // namespace headscope::app
