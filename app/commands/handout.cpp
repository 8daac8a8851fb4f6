#include "app/shell/handout.h"

#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "app/commands/commands.h"
#include "app/commands/report.h"
#include "app/compute/figures/picture_file.h"
#include "app/headless.h"
#include "app/platform/address_space.h"
#include "app/scene/lessons/lesson.h"
#include "app/scene/lessons/lesson_file.h"

namespace headscope::app {

namespace {

struct HandoutOptions {
  std::vector<std::string> files;
  std::string output, theme = "light";
  bool answers = false;
};

/// Returns the pages of a scene or lesson, or an Error if it can't be read.
attention::Result<std::vector<FigurePage>> pagesOf(const std::string& named, bool answers) {
  const std::string file = lessonOr(named).string();
  if (isLessonFile(file)) {
    const auto lesson = readLesson(file);
    if (!lesson) return lesson.error();
    return handoutPages(*lesson, answers);
  }
  const auto scene = sceneOrOpening(file);
  if (!scene) return scene.error();
  return handoutPages(*scene, std::filesystem::path(file).stem().string());
}

int runHandout(const HandoutOptions& options) {
  const auto format = pictureFormat(options.output);
  if (!format || *format != PictureFormat::pdf)
    return usage(
        {"--output is " + attention::quotedText(options.output) + ", expected a name that ends in .pdf"});
  std::vector<FigurePage> pages;
  for (const std::string& file : options.files) {
    auto read = pagesOf(file, options.answers);
    if (!read) return fail(read.error());
    pages.insert(pages.end(), std::make_move_iterator(read->begin()), std::make_move_iterator(read->end()));
  }
  requireAddressSpace();
  HeadlessApp headless(64, 64, 2);
  headless.session().view().preferences.light = options.theme == "light";
  const auto drawn = headless.figures(pages);
  if (!drawn) return fail(drawn.error());
  const auto written = writePdf(options.output, *drawn, kHandoutSize);
  return written.ok() ? kExitDone : fail(written.error());
}

}  // namespace

void addHandoutCommand(CLI::App& app, int& exitCode) {
  CLI::App* command = app.add_subcommand("handout",
                                         "Write a PDF to hand out, with one view per page, its text and its "
                                         "question");
  auto options = std::make_shared<HandoutOptions>();
  command
      ->add_option("FILE", options->files,
                   "Scenes and lessons, in order; a lesson has a page for each step, a talk for each view")
      ->required()
      ->check(checkFileName);
  command->add_option("-o,--output", options->output, "The PDF to write")->required()->check(checkFileName);
  command->add_option("--theme", options->theme, "dark or light; default light")
      ->check(CLI::IsMember({"dark", "light"}));
  command->add_flag("--answers", options->answers, "Include the answers, and the pictures after them");
  command->callback([options, &exitCode] { exitCode = guarded([&] { return runHandout(*options); }); });
}

}  // namespace headscope::app
