#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/compute/figures/picture_file.h"
#include "app/compute/figures/scene_picture.h"
#include "app/compute/lessons/lesson_library.h"
#include "app/pages/common/page.h"
#include "app/platform/child_program.h"
#include "app/shell/figure_wish.h"
#include "app/widgets/dialog.h"

namespace headscope::app {

/// Figures and hand-outs, which are drawn off screen, and films, which this program makes beside the window
/// as its command record does; one at a time of either. On the drawing thread.
class Exports {
 public:
  /// `lesson`: that is shown; null where none is.
  Exports(PageServices& services, std::function<void()> wake, std::function<LessonEntry()> lesson)
      : services_(services), wake_(std::move(wake)), lesson_(std::move(lesson)) {}
  ~Exports();

  std::vector<Action> actions();
  /// Says how far it is, and what came of it; whether there was anything to say.
  bool take();
  /// The file of the program; for tests, which are another one.
  std::string program = kThisProgram;

 private:
  friend class RecordDialog;
  /// Runs `headscope record FILE WORDS… -o path` on the lesson's file, or where there is none on the scene.
  void record(const Scene& scene, std::vector<std::string> words, const std::filesystem::path& path,
              const Outcome& outcome);
  void askForHandout();
  void askForFigure(PictureKind kind, bool light);
  /// Has them drawn off screen, and saved.
  void draw(std::vector<FigurePage> pages, bool light, const std::filesystem::path& path,
            const Outcome& outcome);
  /// Writes a picture, or a PDF of several pages, where files are written, and says so.
  void save(const std::filesystem::path& path, std::vector<Drawing> pages, const PictureSize& size);
  void saveShown(const std::filesystem::path& path, const Outcome& outcome);
  std::vector<Action> pictureActions();
  std::vector<Action> filmActions();
  /// The window's own scene, which a stage hides.
  const Scene& own() const;
  void removeInput();

  PageServices& services_;
  std::function<void()> wake_;
  std::function<LessonEntry()> lesson_;
  std::unique_ptr<ChildProgram> child_;
  std::filesystem::path input_;  ///< the scene's file, which goes with the child
  std::string name_, told_;      ///< of what is written; what was said of it last
  bool stopped_ = false;
};

}  // namespace headscope::app
