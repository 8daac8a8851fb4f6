#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/compute/jobs/folder_reads.h"
#include "app/platform/recent_files.h"
#include "app/widgets/dialog.h"
#include "app/widgets/outcome.h"

namespace headscope::app {

/// Returns the name users know: the file's, or the model's.
std::string recentName(const RecentFile& file);

/// A question for a file, answered from a list of folders and files or by typing a path.
struct FileQuestion {
  std::string title;
  std::vector<std::string> endings;  ///< with the dot; the first is the default
  std::string proposal;              ///< initial name when saving; "" = opens a file
  /// Called with the chosen path. The dialog stays open until the outcome is known, so that a bad name can be
  /// corrected.
  std::function<void(Scene&, const std::filesystem::path&, const Outcome&)> chosen;
  /// If set, a folder that contains a file of this name is an answer too.
  std::string folderFile = "";
  /// Recent files, newest first, and what a click on one does. The list may arrive after the dialog opens.
  std::shared_ptr<std::vector<RecentFile>> recent = nullptr;
  std::function<void(const RecentFile&, const Outcome&)> recentChosen = nullptr;
  bool saves() const { return !proposal.empty(); }
};

/// A dialog for a FileQuestion. Asks before replacing a file. Reads the disk through `folders`: the old list
/// stays until the answer arrives, and a slow read is announced and can be stopped.
class FilePicker : public Dialog {
 public:
  /// Starts in the folder where the last dialog ended.
  FilePicker(FileQuestion question, FolderReads& folders);

  std::string name() const override { return question_.title; }
  void draw(Scene& scene, View& view, bool opening) override;
  double nextFrameIn() const override;
  /// The error in the given name; "" if none.
  const std::string& refused() const { return refused_; }

 private:
  /// What to do with the path being looked up. A folder is entered either way.
  enum class Wish { enter, choose };

  void look(const std::filesystem::path& path, Wish wish);
  void takeLook(Scene& scene, View& view);
  void takeOutcome(View& view);
  void enter(FoundPath found);
  void choose(Scene& scene, View& view, const std::filesystem::path& path, FoundPath::Kind kind);
  /// Returns why the path can't be read or written, as far as its name tells; "" if it may be.
  std::string refusal(const std::filesystem::path& path, FoundPath::Kind kind) const;
  /// Whether this is a folder that can be chosen itself.
  bool isAnswer(const FoundPath& found) const;
  bool looksLong() const;
  void top(View& view);
  void list(View& view);
  bool row(const View& view, const FolderEntry& entry) const;
  void recentRows(View& view);
  void answerLine(View& view, bool opening);
  void belowTheLine(const View& view) const;

  FileQuestion question_;
  FolderReads& folders_;
  std::string typed_;
  std::filesystem::path folder_;  ///< base of relative names
  FoundPath found_;               ///< contents of folder_
  bool listed_ = false;           ///< found_ is known
  std::string refused_;           ///< the error in the name
  bool confirmReplace_ = false;
  bool typesOn_ = false;  ///< the name keeps the keyboard after Enter, so that an error can be corrected
  std::unique_ptr<FolderReads::Look> look_;  ///< null = nothing is being looked up
  Wish wish_ = Wish::enter;
  std::shared_ptr<Outcome::Answer> outcome_;  ///< null = no file is being read or written
};

}  // namespace headscope::app
