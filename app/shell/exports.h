#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/compute/figures/picture_file.h"
#include "app/compute/figures/scene_picture.h"
#include "app/pages/common/page.h"
#include "app/platform/child_program.h"
#include "app/widgets/dialog.h"

namespace headscope::app {

/// Figures, which are drawn off screen, and films and hand-outs, which this program makes beside the window
/// as its commands record and handout do, one at a time. On the drawing thread.
class Exports {
 public:
  /// `lesson`: the file of the lesson that is shown; empty where none is.
  Exports(PageServices& services, std::function<void()> wake, std::function<std::filesystem::path()> lesson)
      : services_(services), wake_(std::move(wake)), lesson_(std::move(lesson)) {}
  ~Exports();

  std::vector<Action> actions();
  /// Says how far it is, and what came of it; whether there was anything to say.
  bool take();
  /// The file of the program; for tests, which are another one.
  std::string program = kThisProgram;

 private:
  friend class RecordDialog;
  /// Runs `headscope COMMAND FILE WORDS… -o path` on the lesson's file, or where there is none on the scene.
  void run(const Scene& scene, std::filesystem::path lesson, std::vector<std::string> words,
           const std::filesystem::path& path, const Outcome& outcome);
  void askForHandout();
  /// Whether this program can be run here; else says where films and hand-outs are made.
  bool available() const;
  void askForFigure(PictureKind kind, bool light);
  /// Writes it where files are written, and says so.
  void save(const std::filesystem::path& path, Drawing drawing, const PictureSize& size);
  void saveShown(const std::filesystem::path& path, const Outcome& outcome);
  std::vector<Action> pictureActions();
  std::vector<Action> filmActions();
  /// The window's own scene, which a stage hides.
  const Scene& own() const;
  void removeInput();

  PageServices& services_;
  std::function<void()> wake_;
  std::function<std::filesystem::path()> lesson_;
  std::unique_ptr<ChildProgram> child_;
  std::filesystem::path input_;  ///< the scene's file, which goes with the child
  std::string name_, told_;      ///< of what is written; what was said of it last
  bool stopped_ = false;
};

}  // namespace headscope::app
