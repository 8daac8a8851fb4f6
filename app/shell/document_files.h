#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "app/platform/recent_files.h"
#include "app/shell/workspace.h"

namespace headscope::app {

/// The kind under which a scene's file is listed among the recent files.
RecentKind recentKind(const Scene& scene);

/// Opens and saves a window's files, in the background.
class DocumentFiles {
 public:
  DocumentFiles(PageServices& services, Workspace& workspace) : services_(services), workspace_(workspace) {}

  /// Opens a dropped or named file by its extension: a scene, or a file for a page, the shown page first.
  void open(const std::filesystem::path& path, const Outcome& outcome);
  /// Opens a file sent by another program, as the command line does: a safetensors file is recorded
  /// attention, whatever page is shown. Ignores a file that is already shown; it is reread when it changes.
  void openSent(const std::filesystem::path& path);
  void openRecent(const RecentFile& file, const Outcome& outcome);

  /// Saves the document being worked on.
  void save(const std::filesystem::path& path, const Outcome& outcome);
  /// Saves one of the unsaved scenes, then calls `done`.
  void save(const UnsavedScene& unsaved, const std::filesystem::path& path, const Outcome& outcome,
            std::function<void()> done);

  /// Puts `file` first among the recent files.
  void remember(const RecentFile& file);
  void readRecent(const std::function<void(std::vector<RecentFile>)>& take);

  std::vector<Action> actions();

 private:
  void open(const NamedFile& file, const Requester& requester, const Outcome& outcome);
  void openJson(const NamedFile& file, const Requester& requester, const Outcome& outcome);

  PageServices& services_;
  Workspace& workspace_;
};

}  // namespace headscope::app
