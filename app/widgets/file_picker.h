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
  std::vector<std::string> endings;  ///< with the dot; the first is added to a name that has none
  std::string proposal;              ///< the name a file to write begins with; "" = a file is read
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

 private:
  struct Entry {
    std::string name;
    bool folder = false;
  };
  void readFolder();
  void enter(const std::filesystem::path& folder);
  void choose(Scene& scene, View& view, const std::filesystem::path& path);
  void place(const View& view);
  void list(Scene& scene, View& view);
  bool row(const View& view, const Entry& entry) const;

  FileQuestion question_;
  std::filesystem::path& folder_;
  std::string typed_;
  std::vector<Entry> entries_;  ///< kept between frames: the folder is not read sixty times a second
  std::string problem_;
  bool confirmReplace_ = false;
};

}  // namespace headscope::app
