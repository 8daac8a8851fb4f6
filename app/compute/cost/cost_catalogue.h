#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "attention/cache/machines.h"
#include "attention/cache/model_shape.h"
#include "attention/core/result.h"

namespace headscope::app {

/// Model shapes and machines to choose from: those that come with the program, and the person's own.
struct CostCatalogue {
  std::vector<attention::ModelShape> shapes;
  std::vector<attention::Machine> machines;
  std::vector<std::string>
      problems;  ///< what of the person's own files could not be taken, in a sentence each
};

/// Adds what `models.json` and `machines.json` of that folder hold; files that aren't there are none. What
/// has the name of something that is there replaces it.
CostCatalogue loadCatalogue(const std::filesystem::path& folder);

/// The same from the files' texts, JSON lists; an error in place of one is among the problems.
CostCatalogue readCatalogue(const attention::Result<std::string>& models,
                            const attention::Result<std::string>& machines);

/// The person's own files in the configuration folder.
inline constexpr const char *kModelsFile = "models.json", *kMachinesFile = "machines.json";
/// `source` of a machine that stands there, whoever published one of its name.
inline constexpr const char* kOwnMachine = "your machines.json";

/// What becomes of the machine of that name. Nothing: an own one goes, and one that comes with the program is
/// again as it was published.
struct MachineChange {
  std::string name;
  std::optional<attention::Machine> machine;
};
/// In the list, where a name that is not there yet is added.
void changeMachine(CostCatalogue& catalogue, const MachineChange& change);
/// In `machines.json` of that folder. Everything else there stays, also entries that could not be taken.
/// Errors: there is no folder, a file that is no list, and what writeFile() says.
attention::Status writeMachine(const std::filesystem::path& folder, const MachineChange& change);

/// A shape as one entry of models.json writes it, and as `headscope cost --json` prints it.
std::string shapeJson(const attention::ModelShape& shape);

/// Fields of a shape and of a machine in those files, in words: "name, layers, …".
std::string shapeFieldNames();

}  // namespace headscope::app
