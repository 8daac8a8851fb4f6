#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "app/widgets/dialog.h"

namespace headscope::app {

/// Asks for a file: folders and files with the given endings, and a line for the path.
struct FileQuestion {
  std::string title;
  std::vector<std::string>
      endings;           ///< with the dot: those that work; the first is added to a name that has none
  std::string proposal;  ///< the name a file to write begins with; "" = a file is read
  /// The dialog stays until the window says what came of it, so that a name that didn't work can be mended.
  std::function<void(Scene&, const std::filesystem::path&)> chosen;
  bool saves() const { return !proposal.empty(); }
};

/// When saving, an existing file is named before it is replaced.
class FilePicker : public Dialog {
 public:
  /// Begins in `folder`, and leaves there the folder the person went to.
  FilePicker(FileQuestion question, std::filesystem::path& folder);

  std::string name() const override { return question_.title; }
  void draw(Scene& scene, View& view, bool opening) override;
  /// What is wrong with the name that was given; "" = nothing is.
  const std::string& refused() const { return refused_; }

 private:
  struct Entry {
    std::string name;
    bool folder = false;
  };
  void readFolder();
  void enter(const std::filesystem::path& folder);
  void choose(Scene& scene, View& view, const std::filesystem::path& path);
  /// Why this can't be read or written, as far as its name says; "" where nothing is wrong with it.
  std::string refusal(const std::filesystem::path& path) const;
  void takeOutcome(View& view);
  void nameLine(Scene& scene, View& view, bool opening);
  void place(const View& view);
  void list(Scene& scene, View& view);
  bool row(const View& view, const Entry& entry) const;

  FileQuestion question_;
  std::filesystem::path& folder_;
  std::string typed_;
  std::vector<Entry> entries_;  ///< kept between frames: the folder is not read sixty times a second
  std::string problem_;         ///< of the folder
  std::string refused_;         ///< of the name
  bool confirmReplace_ = false;
  bool waiting_ = false;  ///< for what comes of the file
};

}  // namespace headscope::app
