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

  /// What to do with an existing file: replace it, or ask first if something else wrote it since this window
  /// opened or saved it.
  enum class Existing { replace, askIfChanged };
  /// Saves the document being worked on.
  void save(const std::filesystem::path& path, Existing existing, const Outcome& outcome);
  /// Saves one of the unsaved scenes, then calls `done`.
  void save(const UnsavedScene& unsaved, const std::filesystem::path& path, Existing existing,
            const Outcome& outcome, std::function<void()> done);
  /// Asks for a path, saves one of the unsaved scenes there, then calls `done`.
  void saveAs(const UnsavedScene& unsaved, std::function<void()> done);

  /// Puts `file` first among the recent files.
  void remember(const RecentFile& file);
  void readRecent(const std::function<void(std::vector<RecentFile>)>& take);

  std::vector<Action> actions();

 private:
  void open(const NamedFile& file, const Requester& requester, const Outcome& outcome);
  void openJson(const NamedFile& file, const Requester& requester, const Outcome& outcome);
  UnsavedScene working() const;
  void askAboutChanged(const UnsavedScene& unsaved, const std::filesystem::path& path, const Outcome& outcome,
                       std::function<void()> done);

  PageServices& services_;
  Workspace& workspace_;
};

}  // namespace headscope::app
