#include <memory>

#include "app/commands/commands.h"
#include "app/commands/report.h"
#include "app/compute/layer/mask_inputs.h"
#include "app/compute/layer/snapshot_file.h"
#include "app/compute/model/recorded_study.h"
#include "app/scene/models/open_model.h"

namespace headscope::app {

namespace {

/// Warns about parts of the scene's masks that are easily missed or misread.
void tellOfMasks(const Scene& scene, const Snapshot& snapshot, InputCache& cache) {
  for (const std::string& note : maskFileNotes(scene.setup, cache)) warn(note);
  for (const auto& [layer, reason] : omittedLayers(scene.setup))
    warn("omitted: " + layer + " (" + reason + ")");
  const SequenceSnapshot& first = snapshot.sequences.front();
  const MaskSetup& mask = scene.setup.mask;
  const bool compares =
      attention::comparesPositions(mask.layers) || (mask.compare && attention::comparesPositions(mask.other));
  if (compares && scene.setup.input.cross)
    warn(attention::positionRule(static_cast<Index>(first.queries.size()),
                                 static_cast<Index>(first.keys.size()), 0));
}

int runSnapshot(const std::string& path, const std::string& output) {
  const attention::Result<Scene> scene = sceneOrOpening(path);
  if (!scene) return fail(scene.error());
  Resources resources(defaultLimits());
  const auto& opened = scene->setup.subject.opened;
  const Snapshot snapshot = opened && opened->recorded ? recordedSnapshot(scene->setup, resources)
                                                       : computeSnapshot(scene->setup, resources);
  if (snapshot.error) return fail({snapshot.error->message});
  if (snapshot.empty) return fail({"the scene has no tokens: there is nothing to compute"});
  const auto file = snapshotFile(*scene, snapshot, resources);
  if (!file) return fail(file.error());
  const auto written = attention::writeSafetensors(output, *file);
  if (!written) return fail(written.error());
  tellOfMasks(*scene, snapshot, resources.inputs);
  if (opened && opened->recorded)
    for (const std::string& note : recordedNotes(*opened->recorded)) warn(note);
  return kExitDone;
}

}  // namespace

void addSnapshotCommand(CLI::App& app, int& exitCode) {
  CLI::App* command = app.add_subcommand("snapshot", "Write everything computed from a scene as safetensors");
  auto scene = std::make_shared<std::string>(), output = std::make_shared<std::string>();
  command
      ->add_option(
          "SCENE", *scene,
          "A scene, a link, a lesson, a model (a folder or a GGUF file), recorded attention or learned; "
          "default: the opening scene")
      ->check(checkFileName);
  command->add_option("-o,--output", *output, "The safetensors file to write")
      ->required()
      ->check(checkFileName);
  command->callback(
      [scene, output, &exitCode] { exitCode = guarded([&] { return runSnapshot(*scene, *output); }); });
}

}  // namespace headscope::app
