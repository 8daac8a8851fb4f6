#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "attention/cache/model_cost.h"
#include "attention/cache/serving.h"
#include "attention/core/result.h"

namespace headscope::app {

/// The model shapes and machines to choose from: those included in the program, and the user's own.
struct CostCatalogue {
  std::vector<attention::ModelShape> shapes;
  std::vector<attention::Machine> machines;
  std::vector<std::string> problems;  ///< a sentence for each part of the user's files that could not be read
};

/// Adds the contents of `models.json` and `machines.json` in that folder; missing files count as empty. An
/// entry replaces an existing one with the same name.
CostCatalogue loadCatalogue(const std::filesystem::path& folder);

/// The same from the texts of the files, JSON lists; an error in place of a text becomes a problem.
CostCatalogue readCatalogue(const attention::Result<std::string>& models,
                            const attention::Result<std::string>& machines);

/// The user's files in the configuration folder.
inline constexpr const char *kModelsFile = "models.json", *kMachinesFile = "machines.json";

/// Returns a shape as an entry of models.json, as printed by `headscope cost --json`.
std::string shapeJson(const attention::ModelShape& shape);

/// Returns the names of a shape's fields in models.json: "name, layers, …".
std::string shapeFieldNames();

}  // namespace headscope::app
