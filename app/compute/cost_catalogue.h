#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "attention/cache/machines.h"
#include "attention/cache/model_shape.h"

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

/// A shape as one entry of models.json writes it, and as `headscope cost --json` prints it.
std::string shapeJson(const attention::ModelShape& shape);

/// Fields of a shape and of a machine in those files, in words: "name, layers, …".
std::string shapeFieldNames();

}  // namespace headscope::app
