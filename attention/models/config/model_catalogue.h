#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attention/cache/model_shape.h"

namespace headscope::attention {

/// A published model: one row for each, in the fields of its config.json.
struct CatalogueModel {
  std::string_view name;
  double published;         ///< parameters, in billions
  std::string_view source;  ///< of the sizes and of that number
  std::string_view config;  ///< JSON
};

std::span<const CatalogueModel> catalogueModels();
// The rows, a file each.
std::span<const CatalogueModel> catalogueToGemma();
std::span<const CatalogueModel> catalogueFromQwen();
/// Their shapes.
const std::vector<ModelShape>& modelShapes();

/// Letters, digits and points of a name in lower case, without its publisher and words that change no size:
/// "Instruct", "hf", dates, "A22B".
std::string plainModelName(std::string_view name);
/// The shape whose plain name that is, or the only one whose plain name begins so. Null where there is none.
const ModelShape* findModel(const std::vector<ModelShape>& shapes, std::string_view name);
/// "; did you mean …?" for the nearest of the same family; "" where none is near.
std::string nearestModel(const std::vector<ModelShape>& shapes, std::string_view name);

}  // namespace headscope::attention
