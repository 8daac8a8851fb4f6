#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/compute/figures/drawing.h"
#include "app/compute/figures/picture_file.h"
#include "app/compute/layer/layer_inputs.h"
#include "app/compute/lessons/lesson_study.h"
#include "app/pages/common/page.h"
#include "app/platform/canvas.h"
#include "app/platform/child_program.h"
#include "app/platform/folders.h"
#include "app/scene/lessons/lesson.h"
#include "app/scene/scene.h"
#include "app/widgets/dialog.h"
#include "app/widgets/view.h"
#include "attention/core/result.h"

namespace headscope::app {

/// The text on a handout sheet. Formatted as in scene/text/rich_text.h.
struct HandoutWords {
  std::string file = {};  ///< the source file
  std::string title = {}, notes = {}, ask = {};
  std::vector<std::string> options = {};
  std::string answer = {};  ///< the right option, and why
};

/// A lesson step whose text is yet to be computed.
struct HandoutStep {
  std::shared_ptr<const Lesson> lesson = {};  ///< null = nothing to compute
  std::size_t at = 0;
  bool answers = false;  ///< reveals the right option
  bool operator==(const HandoutStep&) const = default;
};

/// A page drawn off screen: a figure, or a presented view with text on a sheet.
struct FigurePage {
  Scene scene;
  PictureKind kind = PictureKind::page;
  std::optional<FigureView> how = {};  ///< nothing = a view on a sheet
  HandoutWords words = {};             ///< the sheet's text, unless `step` provides it
  HandoutStep step = {};
};

/// A request to draw something off screen between frames: a figure, or the pages of a handout.
struct FigureRequest {
  std::vector<FigurePage> pages;  ///< at least one
  bool light = true;
  std::string name;  ///< of the target file
  double since = 0;  ///< View::time of the request
  /// Receives one drawing per page, or the error.
  std::function<void(attention::Result<std::vector<Drawing>>)> then;
  std::size_t drawn = 0;  ///< pages drawn so far
};

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
  std::string program = thisProgram().string();

 private:
  friend class RecordDialog;
  /// Runs `headscope record FILE WORDS… -o path` on the lesson's file, or on the scene if there is no lesson.
  void record(const Scene& scene, std::vector<std::string> words, const std::filesystem::path& path,
              const Outcome& outcome);
  void askForHandout();
  void askForFigure(const Scene& scene, PictureKind kind, bool light);
  void askForShown(const Scene& scene);
  /// Whether nothing else is being drawn, which would be said; then closes the dialog.
  bool mayDraw(const std::shared_ptr<FigureRequest>& own, const Outcome& outcome);
  /// Saves what was drawn, or says why nothing was.
  void saveDrawn(const std::filesystem::path& path, attention::Result<std::vector<Drawing>> drawn,
                 const PictureSize& size);
  /// Writes a picture, or a PDF for several pages, on the file worker, and reports the result.
  void save(const std::filesystem::path& path, std::vector<Drawing> pages, const PictureSize& size);
  std::vector<Action> pictureActions();
  std::vector<Action> filmActions();
  /// The window's own scene, which a stage hides.
  const Scene& own() const;
  void removeInput();

  PageServices& services_;
  std::function<void()> wake_;
  std::function<LessonEntry()> lesson_;
  std::shared_ptr<PictureFonts> fonts_ = pictureFonts();  ///< of all pictures, on the file thread
  std::unique_ptr<ChildProgram> child_;
  std::filesystem::path input_;  ///< temporary scene file, removed with the child
  std::string name_, told_;      ///< the file being written, and the last progress shown
  int pictureWidth_ = 0;         ///< as chosen for the last picture, see PictureChoices
  bool stopped_ = false;
};

/// An A4 sheet, and the place of the view's picture on it.
inline constexpr Frame kHandoutSheet{0, 0, 1460, 2064}, kHandoutPicture{90, 90, 1280, 720};
inline const PictureSize kHandoutSize{.width = Length{210, true}};

/// Returns one page per view of the scene's talk, or one for the scene if it has no talk. `name` is its
/// file's.
std::vector<FigurePage> handoutPages(const Scene& scene, const std::string& name);
/// Returns one page per step. With `answers`, pages show the scene after the question and reveal the right
/// option.
std::vector<FigurePage> handoutPages(const std::shared_ptr<const Lesson>& lesson, bool answers);

/// Returns the text for a step. Call on a worker. Returns the errors of studyStep().
attention::Result<HandoutWords> handoutWords(const HandoutStep& step, Resources& resources,
                                             std::stop_token stop);

/// Returns the pixels per sheet unit at which the text, in the view's type, fits on the sheet.
float sheetPixels(const View& view, const HandoutWords& said);
/// Paints the sheet without its picture. `place` is the page number.
void paintSheet(const View& view, Canvas list, const HandoutWords& said, const std::string& place,
                float pixels);

}  // namespace headscope::app
