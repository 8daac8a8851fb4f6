#include "app/compute/snapshot.h"

#include <memory>

#include "app/commands/commands.h"
#include "app/commands/report.h"
#include "attention/formats/attention_file.h"

namespace headscope::app {

namespace {

int runSnapshot(const std::string& path, const std::string& output) {
  const attention::Result<Scene> scene = sceneOrOpening(path);
  if (!scene) return fail(scene.error());
  Snapshot snapshot = computeSnapshot(scene->setup, defaultLimits());
  if (snapshot.error) return fail({snapshot.error->message});
  if (snapshot.empty) return fail({"the scene has no tokens: there is nothing to compute"});
  std::vector<attention::AttentionResult> results;
  for (SequenceSnapshot& sequence : snapshot.sequences) results.push_back(std::move(sequence.attention));
  const auto written =
      attention::writeSafetensors(output, attention::resultFile(results, results.size() > 1));
  return written.ok() ? 0 : fail(written.error());
}

}  // namespace

void addSnapshotCommand(CLI::App& app, int& exitCode) {
  CLI::App* command = app.add_subcommand("snapshot", "Write everything computed from a scene as safetensors");
  auto scene = std::make_shared<std::string>(), output = std::make_shared<std::string>();
  command->add_option("SCENE", *scene, "A scene file; the opening scene if left out")->check(namesFile);
  command->add_option("-o,--output", *output, "The safetensors file to write")->required()->check(namesFile);
  command->callback(
      [scene, output, &exitCode] { exitCode = guarded([&] { return runSnapshot(*scene, *output); }); });
}

}  // namespace headscope::app
