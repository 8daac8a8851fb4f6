#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "app/commands/commands.h"
#include "app/commands/report.h"
#include "app/compute/lessons/lesson_study.h"
#include "app/pages/pages.h"
#include "app/scene/lessons/lesson_names.h"
#include "app/scene/text/number_text.h"

namespace headscope::app {

namespace {

using attention::Error;
using attention::Result;

struct LessonOptions {
  std::vector<std::string> files;
  bool check = false, names = false;
  std::string show, step;
};

/// The result of a step's question: "B of 4 is right".
std::string answerText(const StepStudy& study) {
  for (std::size_t i = 0; i < study.options.size(); ++i)
    if (study.options[i].holds)
      return fmt::format("{} of {} is right", static_cast<char>('A' + i), study.options.size());
  return "";
}

struct Tally {
  std::size_t steps = 0, claims = 0, questions = 0, wrong = 0;
  std::string report;
};

/// Computes one step and adds what was found to the tally.
void checkStep(LessonRunner& runner, const Lesson& lesson, std::size_t at, Tally& tally) {
  const LessonStep& step = lesson.steps[at];
  ++tally.steps;
  if (const auto page = checkPage(step.scene, pageTable()); !page) {
    ++tally.wrong;
    tally.report += fmt::format("  {}: look.page: {}\n", step.id, page.error().message);
  }
  const auto study = runner.study(at);
  if (!study) {
    ++tally.wrong;
    tally.report += fmt::format("  {}\n", study.error().message);
    return;
  }
  const auto& failed = (*study)->failedClaims;
  tally.claims += step.claims.size();
  tally.questions += step.question.has_value();
  tally.wrong += failed.size();
  std::string found = step.claims.empty() ? "no claims" : countedText(std::ssize(step.claims), "claim");
  if (!failed.empty()) found += fmt::format(", {} wrong", failed.size());
  if (step.question) found += ", " + answerText(**study);
  tally.report += fmt::format("  {}: {}\n", step.id, found);
  for (const std::string& claim : failed) tally.report += "    " + claim + "\n";
}

/// Prints what was found in a lesson. Returns kExitDone if everything holds.
int checkLesson(const std::string& file, Resources& resources) {
  const auto lesson = readLesson(file);
  if (!lesson) {
    return fail(lesson.error());
  }
  LessonRunner runner(**lesson, resources);
  Tally tally;
  tally.report = fmt::format("{}: {}\n", (*lesson)->name, (*lesson)->title);
  for (std::size_t at = 0; at < (*lesson)->steps.size(); ++at) checkStep(runner, **lesson, at, tally);
  if (const auto cover = runner.cover(); !cover) {
    ++tally.wrong;
    tally.report += "  " + cover.error().message + "\n";
  }
  tally.report += fmt::format("  {}, {}, {}: {}\n", countedText(tally.steps, "step"),
                              countedText(tally.claims, "claim"), countedText(tally.questions, "question"),
                              tally.wrong == 0 ? "all holds" : fmt::format("{} wrong", tally.wrong));
  const int printed = print(tally.report);
  return tally.wrong == 0 ? printed : kExitFailed;
}

int check(const LessonOptions& options) {
  Resources resources(defaultLimits());
  int code = kExitDone;
  for (const std::string& file : options.files) code = std::max(code, checkLesson(file, resources));
  return code;
}

/// Prints the value of an expression in a step, for authors of lessons.
int show(const LessonOptions& options) {
  const auto lesson = readLesson(options.files.front());
  if (!lesson) return fail(lesson.error());
  const auto expression = attention::Expression::parse(options.show);
  if (!expression) return usage({"--show: " + expression.error().message});
  const int at = options.step.empty() ? 0 : (*lesson)->stepAt(options.step);
  if (at < 0)
    return usage({"--step is " + attention::quotedText(options.step) + ", which is not a step's id"});
  Resources resources(defaultLimits());
  const auto shown = LessonRunner(**lesson, resources).shown(static_cast<std::size_t>(at), *expression);
  if (!shown) return fail(shown.error());
  return print(*shown + "\n");
}

int runCommand(const LessonOptions& options) {
  if (options.names) return print(lessonNamesMarkdown());
  if (options.files.empty()) return usage({"expected a lesson's file"});
  if (options.check) return check(options);
  if (options.files.size() > 1) return usage({"expected one file, or --check for several"});
  if (!options.show.empty()) return show(options);
  const auto lesson = readLesson(options.files.front());
  return lesson ? runLesson(options.files.front()) : fail(lesson.error());
}

}  // namespace

void addLessonCommand(CLI::App& app, int& exitCode) {
  CLI::App* command = app.add_subcommand("lesson", "Open a lesson, or check all its claims");
  auto options = std::make_shared<LessonOptions>();
  command->add_option("FILE", options->files, "Lessons: one to open, or any number to check")
      ->check(checkFileName);
  command->add_flag("--check", options->check,
                    "Compute every step and print the results; exit code 1 if a claim fails");
  command->add_option("--show", options->show, "Print the value of an expression")->type_name("EXPR");
  command->add_option("--step", options->step, "For --show: the step; default: the first")->type_name("ID");
  command->add_flag("--names", options->names,
                    "Print the manual's tables of names and functions in "
                    "expressions");
  command->callback([options, &exitCode] { exitCode = guarded([&] { return runCommand(*options); }); });
}

}  // namespace headscope::app
