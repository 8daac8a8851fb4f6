#include "app/scene/links/link.h"

#include <memory>

#include "app/commands/commands.h"
#include "app/commands/report.h"

namespace headscope::app {

namespace {

struct LinkOptions {
  std::string scene, base = kLinkAddress, lesson;
  Index step = 1;
};

int runLink(const LinkOptions& options, bool hasStep) {
  if (options.lesson.empty() && hasStep) return usage({"--step belongs to a lesson, expected --lesson too"});
  if (!options.lesson.empty() && !options.scene.empty())
    return usage({"expected a scene or --lesson, not both"});
  attention::Result<Scene> scene = sceneOrOpening(options.scene);
  if (!scene) return fail(scene.error());
  if (!options.lesson.empty()) {
    scene->cursor.page = "lessons";
    scene->cursor.lesson = {options.lesson, options.step - 1, -1, false};
  }
  const attention::Result<std::string> link = linkTo(*scene, options.base);
  if (!link) return fail(link.error());
  // Only links that open are printed.
  if (const auto opened = readLink(*link); !opened) return fail(opened.error());
  if (const std::string note = longLinkNote(*link); !note.empty()) warn(note);
  return print(*link + "\n");
}

}  // namespace

void addLinkCommand(CLI::App& app, int& exitCode) {
  CLI::App* command = app.add_subcommand("link", "Print a link that holds a whole scene, or opens a lesson");
  auto options = std::make_shared<LinkOptions>();
  command
      ->add_option("SCENE", options->scene,
                   "A scene, a link, a lesson or learned; default: the opening scene")
      ->check(checkFileName);
  command->add_option("--base", options->base, "The address in front of the #")
      ->type_name("ADDRESS")
      ->capture_default_str();
  command->add_option("--lesson", options->lesson, "A lesson by its id or number, in place of a scene")
      ->type_name("ID");
  CLI::Option* step =
      command->add_option("--step", options->step, "For --lesson: which step, from 1")->type_name("N");
  command->callback([options, step, &exitCode] {
    exitCode = guarded([&] { return runLink(*options, step->count() > 0); });
  });
}

}  // namespace headscope::app
