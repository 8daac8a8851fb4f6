#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "attention/cache/model_shape.h"

namespace headscope::attention {

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
