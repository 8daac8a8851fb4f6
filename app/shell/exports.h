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
#include "app/shell/figure_request.h"
#include "app/widgets/dialog.h"

namespace headscope::app {

/// The export of figures and handouts, drawn off screen, and of films, recorded by another process with the
/// command `record`. Runs one of each kind at a time. Use it on the drawing thread.
class Exports {
 public:
  /// `lesson` returns the lesson shown; its path is empty if there is none.
  Exports(PageServices& services, std::function<void()> wake, std::function<LessonEntry()> lesson)
      : services_(services), wake_(std::move(wake)), lesson_(std::move(lesson)) {}
  ~Exports();

  std::vector<Action> actions();
  /// Reports progress and results. Returns whether there was anything to report.
  bool take();
  /// The program's executable; settable for tests, whose own executable is another one.
  std::string program = kThisProgram;

 private:
  friend class RecordDialog;
  /// Runs `headscope record FILE WORDS… -o path` on the lesson's file, or on the scene if there is no lesson.
  void record(const Scene& scene, std::vector<std::string> words, const std::filesystem::path& path,
              const Outcome& outcome);
  void askForHandout();
  void askForFigure(PictureKind kind, bool light);
  /// Requests drawing the pages off screen and then saving them.
  void draw(std::vector<FigurePage> pages, bool light, const std::filesystem::path& path,
            const Outcome& outcome);
  /// Writes a picture, or a PDF for several pages, on the file worker, and reports the result.
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
  std::filesystem::path input_;  ///< temporary scene file, removed with the child
  std::string name_, told_;      ///< the file being written, and the last progress shown
  bool stopped_ = false;
};

}  // namespace headscope::app
