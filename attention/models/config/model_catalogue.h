#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attention/cache/model_shape.h"

namespace headscope::attention {

/// A published model, described by the fields of its config.json.
struct CatalogueModel {
  std::string_view name;
  double published;         ///< parameters, in billions
  std::string_view source;  ///< of the sizes and the parameter count
  std::string_view config;  ///< JSON
};

std::span<const CatalogueModel> catalogueModels();
// The rows of each file.
std::span<const CatalogueModel> catalogueToGemma();
std::span<const CatalogueModel> catalogueFromQwen();
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

}  // namespace headscope::attention
