#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "attention/cache/model_shape.h"

namespace headscope::attention {

class Model;         // model.h
struct ModelConfig;  // model_config.h

/// The shape of a model that is computed with; whether its head is the embedding table, its file alone says.
ModelShape shapeOf(const ModelConfig& config);
/// The same with parameters and bytes as its files have them, where it has some.
ModelShape shapeOf(const Model& model);

/// The shape a config.json describes: of the families this program computes with, and of any other whose
/// sizes have the usual names. Its name is `name`. Errors, each in one sentence that begins with `name`: no
/// JSON, sizes that are missing (by all the names they were looked for), or that don't fit each other.
Result<ModelShape> readModelShape(std::string_view json, const std::string& name);
/// The same of a file; its folder's name becomes the shape's.
Result<ModelShape> readModelShape(const std::filesystem::path& path);

}  // namespace headscope::attention
