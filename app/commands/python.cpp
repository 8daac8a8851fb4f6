#include "app/commands/commands.h"
#include "app/commands/report.h"
#include "app/platform/assets.h"

namespace headscope::app {

void addPythonCommand(CLI::App& app, int& exitCode) {
  CLI::App* command = app.add_subcommand(
      "python",
      "Print headscope.py, which shows and saves attention from Python: headscope python > headscope.py");
  command->callback(
      [&exitCode] { exitCode = guarded([] { return print(readAssetText("python/headscope.py")); }); });
}

}  // namespace headscope::app
