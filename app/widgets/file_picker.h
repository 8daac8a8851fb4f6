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

/// What a person calls it: the file's name, or the model's.
std::string recentName(const RecentFile& file);

/// Asks for a file: folders and files with the given endings, and a line for the path.
struct FileQuestion {
  std::string title;
  std::vector<std::string>
      endings;           ///< with the dot: those that work; the first is added to a name that has none
  std::string proposal;  ///< the name a file to write begins with; "" = a file is read
  /// The dialog stays until the outcome is told, so that a name that didn't work can be mended.
  std::function<void(Scene&, const std::filesystem::path&, const Outcome&)> chosen;
  /// A folder that holds a file of this name is given in its place; "" = none is.
  std::string folderFile = "";
  /// What was opened or saved before, the newest first, and what a click on it does; they may be known later
  /// than the dialog is shown.
  std::shared_ptr<std::vector<RecentFile>> recent = nullptr;
  std::function<void(const RecentFile&, const Outcome&)> recentChosen = nullptr;
  bool saves() const { return !proposal.empty(); }
};

/// When saving, an existing file is named before it is replaced. The disk is looked at by `folders`: what is
/// shown stays until the answer comes, and what takes long is said and can be stopped.
class FilePicker : public Dialog {
 public:
  /// Begins in the folder in which the last dialog was left.
  FilePicker(FileQuestion question, FolderReads& folders);

  std::string name() const override { return question_.title; }
  void draw(Scene& scene, View& view, bool opening) override;
  double nextFrameIn() const override;
  /// What is wrong with the name that was given; "" = nothing is.
  const std::string& refused() const { return refused_; }

 private:
  /// What the person did with the path that is being looked at: a folder is entered either way.
  enum class Wish { enter, choose };

  void look(const std::filesystem::path& path, Wish wish);
  void takeLook(Scene& scene, View& view);
  void takeOutcome(View& view);
  void enter(FoundPath found);
  void choose(Scene& scene, View& view, const std::filesystem::path& path, FoundPath::Kind kind);
  /// Why this can't be read or written, as far as its name says; "" where nothing is wrong with it.
  std::string refusal(const std::filesystem::path& path, FoundPath::Kind kind) const;
  /// Whether what is shown is a folder that can be given itself.
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
  std::filesystem::path folder_;  ///< where names are looked for
  FoundPath found_;               ///< what is in it
  bool listed_ = false;           ///< that is known
  std::string refused_;           ///< what is wrong with the name
  bool confirmReplace_ = false;
  bool typesOn_ = false;  ///< the name keeps the keyboard after Enter: what is refused is put right there
  std::unique_ptr<FolderReads::Look> look_;  ///< null = nothing is being looked at
  Wish wish_ = Wish::enter;
  std::shared_ptr<Outcome::Answer> outcome_;  ///< null = no file is under way
};

}  // namespace headscope::app
