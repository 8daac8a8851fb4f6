#pragma once

#include "app/compute/jobs/file_queue.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// The outcome of reading or writing a file that the user named. Call done(), tell() or fail() once, perhaps
/// many frames later. If the dialog that asked for the name is still open, success closes it, and a failure
/// is shown there next to the name, so that it can be corrected. Otherwise the status line shows it.
class Outcome {
 public:
  /// For a file without a dialog, such as a dropped one.
  explicit Outcome(View& view) : view_(&view), pressedAt_(view.pressedAt) {}

  /// Shows `said` in the status line; "" = nothing to report yet.
  void done(std::string said = "") const {
    answer("");
    if (!said.empty()) view_->say(std::move(said));
  }
  /// Also shows `said` next to the place of the request.
  void tell(std::string said) const {
    answer("");
    view_->tell(std::move(said), pressedAt_);
  }
  /// Reports a failure in one sentence.
  void fail(std::string why) const {
    if (!answer(why)) view_->messages.fail(std::move(why));
  }

 private:
  friend class FilePicker;
  /// The result reported to the dialog.
  struct Answer {
    bool came = false;
    std::string failure;
  };
  Outcome(View& view, const std::shared_ptr<Answer>& dialog) : Outcome(view) { dialog_ = dialog; }

  /// Returns whether a dialog took the answer.
  bool answer(const std::string& failure) const {
    const std::shared_ptr<Answer> dialog = dialog_.lock();
    if (dialog) *dialog = {true, failure};
    return dialog != nullptr;
  }

  View* view_;
  ImVec2 pressedAt_;
  std::weak_ptr<Answer> dialog_;  ///< expired if the dialog was closed
};

/// A dialog that covers the window until it is answered. Its state lasts as long as the object. Escape or a
/// click outside closes it.
class Dialog {
 public:
  virtual ~Dialog() = default;
  /// The name used by tests and by its window.
  virtual std::string name() const = 0;
  /// Draws the dialog and handles input; `opening` is true in its first frame.
  virtual void draw(Scene& scene, View& view, bool opening) = 0;
  /// Returns the seconds until it must be redrawn without input.
  virtual double nextFrameIn() const { return std::numeric_limits<double>::infinity(); }

  void frame(Scene& scene, View& view) {
    draw(scene, view, opening_);
    opening_ = false;
  }

 private:
  bool opening_ = true;
};

/// Begins a box at a place of the window; a click outside closes it.
bool beginDialog(View& view, const char* name, const ImRect& box, bool shaded, ImVec2 padding);
/// Begins a titled box in the middle of the window over a shade; a click outside closes it. Sizes are in
/// layout units. With `atBottom`, the box is at the lower edge and there is no shade, so the heads above stay
/// visible.
bool beginDialog(View& view, const char* name, const std::string& title, float width, float height,
                 bool atBottom = false);
void endDialog();

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
  /// Draws further choices right of the list, in wide enough windows.
  std::function<void(View&)> beside = nullptr;
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
  void list(View& view, const ImVec2& size);
  void files(View& view);
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
