#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "attention/cache/model_cost.h"

namespace headscope::attention {

/// A published model, described by the fields of its config.json that determine its cost.
struct CatalogueModel {
  std::string name;
  /// Parameters of the published files, in billions, including any layer that predicts further tokens.
  double published;
  std::string source;  ///< of the sizes and the parameter count
  std::string config;  ///< JSON
};

/// The models in assets/catalogue/models.json.
const std::vector<CatalogueModel>& catalogueModels();
/// The shapes of all models in the catalogue.
const std::vector<ModelShape>& modelShapes();

/// Returns the letters, digits and points of a name in lower case, without its publisher and words that don't
/// affect the size: "Instruct", "hf", dates, "A22B".
std::string plainModelName(std::string_view name);
/// Returns the shape with this name, else with this plain name, else the only one whose plain name begins
/// with it; null if there is none.
const ModelShape* findModel(const std::vector<ModelShape>& shapes, std::string_view name);
/// Returns "; did you mean …?" for the nearest name in the same family, or in the catalogue if the family is
/// unknown. If none is near: a list of the family's models, or "".
std::string nearestModel(const std::vector<ModelShape>& shapes, std::string_view name);

class Model;         // model.h
struct ModelConfig;  // model_config.h

/// Returns the shape of a model that can be computed. Only its files tell whether the head is the embedding
/// table.
ModelShape shapeOf(const ModelConfig& config);
/// The same, with the parameters and bytes in its files, if it has files.
ModelShape shapeOf(const Model& model);

/// Reads the shape that a config.json describes, for families computed here and for any other whose sizes
/// have the usual names. `name` becomes the shape's name. Returns an Error, one sentence that begins with
/// `name`, if the text isn't JSON or sizes are missing (listing all names tried) or inconsistent.
Result<ModelShape> readModelShape(std::string_view json, const std::string& name);
/// Whether a folder has a config.json, or the params.json of Llama and Mistral.
bool describesModel(const std::filesystem::path& folder);
/// The same for a file, GGUF or JSON, or for a folder with one of those. The shape of a config.json is named
/// after its folder.
Result<ModelShape> readModelShape(const std::filesystem::path& path);

}  // namespace headscope::attention
