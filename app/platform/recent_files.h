#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headscope::app {

enum class RecentKind { scene, talk, model };

/// What this person opened or saved: a scene or talk is a file, a model a folder or a file.
struct RecentFile {
  RecentKind kind = RecentKind::scene;
  std::string path;
  bool operator==(const RecentFile&) const = default;
};
/// "Talk": what a person calls it.
std::string recentWord(RecentKind kind);

/// Of each kind that are kept.
inline constexpr std::size_t kRecentOfAKind = 5;

/// The newest first. Never fails: there is none in what is something else.
std::vector<RecentFile> parseRecent(std::string_view json);
std::string formatRecent(const std::vector<RecentFile>& files);

/// $XDG_CONFIG_HOME/headscope/recent.json; none where it can't be read.
std::vector<RecentFile> loadRecent();
/// Of one kind alone.
std::vector<std::string> loadRecent(RecentKind kind);
/// A list that can't be kept is not worth a message.
void saveRecent(const std::vector<RecentFile>& files);
/// Puts it at the front of the list on disk. A file that was something else before is now of this kind.
void rememberRecent(const RecentFile& file);
void forgetRecent(const std::string& path);

}  // namespace headscope::app
